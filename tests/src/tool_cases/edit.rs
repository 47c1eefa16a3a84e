//! Cases of `edit`.

use super::case::{Case, case};
use innerloop_core::action::ToolError::{
    Binary, EditConflict, InvalidArguments, NotFound, PermissionDenied, WrongFileType,
};
use serde_json::{Value, json};

pub(super) fn cases() -> Vec<Case> {
    [exact(), line_ends(), fuzzy(), indented(), refused(), conflicts(), failures()].concat()
}

fn edit(old: &str, new: &str) -> Value {
    json!({"action":"edit","path":"a.rs","old":old,"new":new})
}

fn edit_all(old: &str, new: &str) -> Value {
    json!({"action":"edit","path":"a.rs","old":old,"new":new,"all":true})
}

fn exact() -> Vec<Case> {
    let twelve: String = (1..=12).map(|n| format!("x{n}\n")).collect();
    vec![
        case("c10 a text in a line", edit("two", "2"))
            .file("a.rs", "one\nbig two here\nthree\n")
            .says("Edited a.rs: 1 replacement at line 2.\n1 | one\n2 | big 2 here\n3 | three")
            .writes("a.rs", "one\nbig 2 here\nthree\n"),
        case("c10 several lines for others", edit("b\nc\n", "B\n"))
            .file("a.rs", "a\nb\nc\nd")
            .says("Edited a.rs: 1 replacement at line 2.\n1 | a\n2 | B\n3 | d")
            .writes("a.rs", "a\nB\nd"),
        case("c10 nothing in its place", edit("b\n", ""))
            .file("a.rs", "a\nb\nc\n")
            .says("Edited a.rs: 1 replacement at line 2.\n1 | a\n2 | c")
            .writes("a.rs", "a\nc\n"),
        case("c10 the result may be empty", edit("a\n", ""))
            .file("a.rs", "a\n")
            .says("Edited a.rs: 1 replacement at line 1.")
            .writes("a.rs", ""),
        case("c10 all occurrences", edit_all("x", "yy\nz"))
            .file("a.rs", "x x\nx")
            .says(
                "Edited a.rs: 3 replacements at lines 1, 2, 4.\n1 | yy\n2 | z yy\n3 | z\n4 | \
                 yy\n5 | z",
            )
            .writes("a.rs", "yy\nz yy\nz\nyy\nz"),
        case("c10 many occurrences", edit_all("x", "y"))
            .file("a.rs", &twelve)
            .says(
                "Edited a.rs: 12 replacements at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 2 \
                 more.\n1 | y1\n2 | y2\n3 | y3\n4 | y4",
            )
            .writes("a.rs", twelve.replace('x', "y")),
        case("c10 letters of any script", edit("größe", "大小"))
            .file("a.rs", "let größe = 1;")
            .says("Edited a.rs: 1 replacement at line 1.\n1 | let 大小 = 1;")
            .writes("a.rs", "let 大小 = 1;"),
        case("c10 no old text makes a new file", edit("", "new\n"))
            .says("Wrote 4 bytes to a.rs (created).")
            .writes("a.rs", "new\n"),
        case("c10 no old text fills an empty file", edit("", "new\n"))
            .file("a.rs", "")
            .says("Wrote 4 bytes to a.rs (overwritten).")
            .writes("a.rs", "new\n"),
        case("c10 a long line is shown cut", edit("end", "END"))
            .file("a.rs", "x".repeat(1000) + "end")
            .says(format!("Edited a.rs: 1 replacement at line 1.\n1 | {} […]", "x".repeat(200)))
            .writes("a.rs", "x".repeat(1000) + "END"),
    ]
}

fn line_ends() -> Vec<Case> {
    vec![
        case("c10 line ends of Windows are kept", edit("b\nc", "B\nBB\nC"))
            .file("a.rs", "a\r\nb\r\nc\r\nd\r\n")
            .says("Edited a.rs: 1 replacement at line 2.\n1 | a\n2 | B\n3 | BB\n4 | C\n5 | d")
            .writes("a.rs", "a\r\nB\r\nBB\r\nC\r\nd\r\n"),
        case("c10 one line end of Windows does not decide for all", edit("c", "C\nCC"))
            .file("a.rs", "a\r\nb\nc\nd\n")
            .says("Edited a.rs: 1 replacement at line 3.\n1 | a\n2 | b\n3 | C\n4 | CC\n5 | d")
            .writes("a.rs", "a\r\nb\nC\nCC\nd\n"),
        case("c10 line ends of Windows in the call", edit("b\r\nc", "B\r\nC"))
            .file("a.rs", "a\nb\nc\n")
            .says("Edited a.rs: 1 replacement at line 2.\n1 | a\n2 | B\n3 | C")
            .writes("a.rs", "a\nB\nC\n"),
        case("c10 line ends can be changed", edit_all("\r\n", "\n"))
            .file("a.rs", "a\r\nb\r\n")
            .says("Edited a.rs: 2 replacements at lines 1, 2.\n1 | a\n2 | b")
            .writes("a.rs", "a\nb\n"),
        case("c10 each line keeps its own end", edit("a\nb\nc\nd", "A\nb\nx\nC\nd"))
            .file("a.rs", "a\r\nb\nc\r\nd\n")
            .says("Edited a.rs: 1 replacement at line 1.\n1 | A\n2 | b\n3 | x\n4 | C\n5 | d")
            .writes("a.rs", "A\r\nb\nx\r\nC\r\nd\n"),
        case("c10 new lines end as those around them", edit("b", "b\nB"))
            .file("a.rs", "a\nb\r\nc\nd\n")
            .says("Edited a.rs: 1 replacement at line 2.\n1 | a\n2 | b\n3 | B\n4 | c\n5 | d")
            .writes("a.rs", "a\nb\r\nB\r\nc\nd\n"),
        case("c10 line ends of Windows in the new text alone", edit("b", "B\r\nC"))
            .file("a.rs", "a\nb\n")
            .says("Edited a.rs: 1 replacement at line 2.\n1 | a\n2 | B\n3 | C")
            .writes("a.rs", "a\nB\nC\n"),
        case("c10 line ends of Windows in the old text alone", edit("a\r\nb", "A\nB\nC"))
            .file("a.rs", "a\r\nb\r\n")
            .says("Edited a.rs: 1 replacement at line 1.\n1 | A\n2 | B\n3 | C")
            .writes("a.rs", "A\r\nB\r\nC\r\n"),
        case("c10 a line feed at the end of the old text", edit_all("x\n", "y\n"))
            .file("a.rs", "x\r\nx\r\nx")
            .says("Edited a.rs: 2 replacements at lines 1, 2.\n1 | y\n2 | y\n3 | x")
            .writes("a.rs", "y\r\ny\r\nx"),
    ]
}

fn fuzzy() -> Vec<Case> {
    let aside = |what: &str| {
        format!(" The old text was not found exactly; it was matched with {what} left aside.")
    };
    vec![
        case("c10 white space at line ends", edit("one\ntwo", "1\n2"))
            .file("a.rs", "one  \ntwo\t\nthree\n")
            .says(format!(
                "Edited a.rs: 1 replacement at line 1.{}\n1 | 1\n2 | 2\n3 | three",
                aside("white space at line ends")
            ))
            .writes("a.rs", "1\n2\nthree\n"),
        case(
            "c10 indentation is taken from the file",
            edit("if x {\n  y();\n}", "if z {\n  y();\n}"),
        )
        .file("a.rs", "fn f() {\n    if x {\n      y();\n    }\n}\n")
        .says(format!(
            "Edited a.rs: 1 replacement at line 2.{}\n1 | fn f() {{\n2 |     if z {{\n3 |       \
                 y();\n4 |     }}\n5 | }}",
            aside("indentation")
        ))
        .writes("a.rs", "fn f() {\n    if z {\n      y();\n    }\n}\n"),
        case("c10 less indentation in the file", edit("    a\n    b\n", "    c\n\n    d\n"))
            .file("a.rs", "\ta\n\tb\nrest\n")
            .says(format!(
                "Edited a.rs: 1 replacement at line 1.{}\n1 | \tc\n2 | \n3 | \td\n4 | rest",
                aside("indentation")
            ))
            .writes("a.rs", "\tc\n\n\td\nrest\n"),
        case("c10 typographic quotes", edit("say(\"it's\")", "say(\"no\")"))
            .file("a.rs", "é; say(“it’s”); ü\n")
            .says(format!(
                "Edited a.rs: 1 replacement at line 1.{}\n1 | é; say(\"no\"); ü",
                aside("typographic punctuation")
            ))
            .writes("a.rs", "é; say(\"no\"); ü\n"),
        case("c10 typographic dashes and spaces with indentation", edit("a - b\nc", "A\nC"))
            .file("a.rs", "  a\u{a0}– b\r\n  c\r\n")
            .says(format!(
                "Edited a.rs: 1 replacement at line 1.{}\n1 |   A\n2 |   C",
                aside("indentation and typographic punctuation")
            ))
            .writes("a.rs", "  A\r\n  C\r\n"),
        case("c10 what stands there already", edit("a ", "a"))
            .file("a.rs", "a\n")
            .says("a.rs has the new text there already. Nothing changed."),
        case("c10 the strictest match wins", edit("x \ny", "z"))
            .file("a.rs", "x\ny\nx \ny\n")
            .says("Edited a.rs: 1 replacement at line 3.\n1 | x\n2 | y\n3 | z")
            .writes("a.rs", "x\ny\nz\n"),
        case("c10 all occurrences, fuzzy", edit_all("x \ny ", "z"))
            .file("a.rs", "x\ny\n\nx\ny")
            .says(format!(
                "Edited a.rs: 2 replacements at lines 1, 3.{}\n1 | z\n2 | \n3 | z",
                aside("white space at line ends")
            ))
            .writes("a.rs", "z\n\nz"),
    ]
}

/// New lines in the file's own indentation.
fn indented() -> Vec<Case> {
    let edited = |lines: &str| {
        let aside = "The old text was not found exactly; it was matched with indentation left \
                     aside.";
        format!("Edited a.rs: 1 replacement at line 2. {aside}\n{lines}")
    };
    let again = "The new text began with the indentation that stands there already; it was not \
                 repeated.";
    vec![
        case("c10 spaces for the tabs of a file", {
            edit(
                "    if a {\n        x()\n    }",
                "    if a {\n        x()\n        if b {\n            z()\n        }\n    }",
            )
        })
        .file("a.rs", "f {\n\tif a {\n\t\tx()\n\t}\n}\n")
        .says(edited(
            "1 | f {\n2 | \tif a {\n3 | \t\tx()\n4 | \t\tif b {\n5 | \t\t\tz()\n6 | \t\t}\n7 | \
             \t}\n8 | }",
        ))
        .writes("a.rs", "f {\n\tif a {\n\t\tx()\n\t\tif b {\n\t\t\tz()\n\t\t}\n\t}\n}\n"),
        case(
            "c10 a deeper line than the old text has",
            edit("    x()\n", "    if b {\n      y()\n"),
        )
        .file("a.rs", "f {\n\tx()\n}\n")
        .says(edited("1 | f {\n2 | \tif b {\n3 | \t\ty()\n4 | }"))
        .writes("a.rs", "f {\n\tif b {\n\t\ty()\n}\n"),
        case("c10 tabs for the spaces of a file", edit("\tx()\n", "\tif b {\n\t\ty()\n\t}\n"))
            .file("a.rs", "f {\n  x()\n}\n")
            .says(edited("1 | f {\n2 |   if b {\n3 |     y()\n4 |   }\n5 | }"))
            .writes("a.rs", "f {\n  if b {\n    y()\n  }\n}\n"),
        case("c10 old text without indentation, new text with the file's", {
            edit("a\nb\n", "    c\n        d\n    b\n")
        })
        .file("a.rs", "f:\n    a\n    b\n")
        .says(edited("1 | f:\n2 |     c\n3 |         d\n4 |     b"))
        .writes("a.rs", "f:\n    c\n        d\n    b\n"),
        case("c10 spaces in the old text, the file's tabs in the new", {
            edit("  a\n    b\n", "\tc\n\t\td\n")
        })
        .file("a.rs", "f:\n\ta\n\t\tb\n")
        .says(edited("1 | f:\n2 | \tc\n3 | \t\td"))
        .writes("a.rs", "f:\n\tc\n\t\td\n"),
        case(
            "c10 indentation that stands there is not repeated",
            edit("a = 1", "    b = 2\n    c"),
        )
        .file("a.rs", "f:\n    a = 1\n")
        .says(format!(
            "Edited a.rs: 1 replacement at line 2. {again}\n1 | f:\n2 |     b = 2\n3 |     c"
        ))
        .writes("a.rs", "f:\n    b = 2\n    c\n"),
        case("c10 indentation may be what is wanted", edit("a = 1", "    a = 1"))
            .file("a.rs", "f:\n    a = 1\n")
            .says("Edited a.rs: 1 replacement at line 2.\n1 | f:\n2 |         a = 1")
            .writes("a.rs", "f:\n        a = 1\n"),
        case("c10 an item of a list keeps its place", edit("- x", "- x\n- y"))
            .file("a.rs", "f:\n- x\n")
            .says("Edited a.rs: 1 replacement at line 2.\n1 | f:\n2 | - x\n3 | - y")
            .writes("a.rs", "f:\n- x\n- y\n"),
    ]
}

/// Edits that would write another structure.
fn refused() -> Vec<Case> {
    let refused = |line: u32, there: &str| {
        format!(
            "The old text stands in a.rs only with another indentation, at line {line}, and the \
             new text cannot take that on. The file has there:\n{there}\nGive the old and the new \
             text with the indentation of the file."
        )
    };
    let yaml = "a:\n  b:\n    - x\n    - y\n  c: 1\n";
    vec![
        case("c10 lines shifted by different amounts", {
            edit("a:\n    b:\n        - x", "a:\n    b:\n        - z\n        - x")
        })
        .file("a.rs", yaml)
        .fails(EditConflict, refused(1, "a:\n  b:\n    - x")),
        case("c10 a line that would stand left of the margin", {
            edit("    a:\n      b:", "    a:\n      d: 1\n  e:\n      b:")
        })
        .file("a.rs", yaml)
        .fails(EditConflict, refused(1, "a:\n  b:")),
        case("c10 tabs and spaces in one line", edit("a:\n  b\n", "a:\n  c\n    d\n"))
            .file("a.rs", "\ta:\n\t  b\n")
            .fails(EditConflict, refused(1, "\ta:\n\t  b")),
        case("c10 a step that is none of the file's", {
            edit("    a\n        b", "    a\n        b\n      c")
        })
        .file("a.rs", "x\n\ta\n\t\tb\n")
        .fails(EditConflict, refused(2, "\ta\n\t\tb")),
        case("c10 new text that begins at no depth of the old", edit("a\nb\n", "  c\n  d\n"))
            .file("a.rs", "f:\n    a\n    b\n")
            .fails(EditConflict, refused(2, "    a\n    b")),
        case("c10 nothing but another indentation", edit("a\nb\n", "  a\n  b\n"))
            .file("a.rs", "f:\n    a\n    b\n")
            .fails(EditConflict, refused(2, "    a\n    b")),
    ]
}

fn conflicts() -> Vec<Case> {
    let again = "Read the file again and copy the text exactly, white space included.";
    let unique = "Give more lines around it so that it is unique, or replace all occurrences.";
    vec![
        case("c10 not unique", edit("x", "y")).file("a.rs", "x\na\nx\n").fails(
            EditConflict,
            format!("The old text stands 2 times in a.rs, at lines 1, 3. {unique}"),
        ),
        case("c10 not unique, fuzzy", edit("x \nx ", "y")).file("a.rs", "x\nx\n\nx\nx\n").fails(
            EditConflict,
            format!("The old text stands 2 times in a.rs, at lines 1, 4. {unique}"),
        ),
        case("c10 not there", edit("nothing", "y"))
            .file("a.rs", "x\n")
            .fails(EditConflict, format!("The old text does not stand in a.rs. {again}")),
        case("c10 not there, but nearly", edit("fn f() {\n    one();\n    two();\n}", "y"))
            .file("a.rs", "fn f() {\n}\n\nfn f() {\n    one();\n    three();\n}\n")
            .fails(
                EditConflict,
                format!(
                    "The old text does not stand in a.rs. The closest place differs at line 6: \
                     the file has \"    three();\", the old text has \"    two();\". {again}"
                ),
            ),
        case("c10 not there, past the end", edit("a\nb\n\n\nc", "y")).file("a.rs", "a\nb\n").fails(
            EditConflict,
            format!(
                "The old text does not stand in a.rs. The closest place differs at line 3: the \
                 file has \"(the end of the file)\", the old text has \"\". {again}"
            ),
        ),
        case("c10 white space alone is not matched loosely", edit("\t\n\t", "y"))
            .file("a.rs", " \n \n")
            .fails(EditConflict, format!("The old text does not stand in a.rs. {again}")),
        case("c10 no old text, but the file exists", edit("", "y")).file("a.rs", "x").fails(
            EditConflict,
            "a.rs exists already. Give the text to replace, or write the whole file.",
        ),
    ]
}

fn failures() -> Vec<Case> {
    vec![
        case("c10 old and new are the same", edit("x", "x")).file("a.rs", "x").fails(
            InvalidArguments,
            "The old and the new text are the same. Give a new text that differs.",
        ),
        case("c10 no such file", edit("x", "y"))
            .file("b.rs", "x")
            .fails(NotFound, "No such file or folder: a.rs. Did you mean b.rs?"),
        case("c10 a folder", edit("x", "y"))
            .file("a.rs/b", "x")
            .fails(WrongFileType, "a.rs is a folder. Name a file, or list the folder."),
        case("c10 a binary file", edit("x", "y"))
            .file("a.rs", "x\0")
            .fails(Binary, "a.rs is not a text file: it contains NUL bytes."),
        case(
            "c10 git's own files",
            json!({"action":"edit","path":".git/config","old":"x","new":"y"}),
        )
        .file(".git/config", "x")
        .fails(
            PermissionDenied,
            ".git/config is protected: files of .git are not changed by tools.",
        ),
    ]
}
