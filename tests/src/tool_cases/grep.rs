//! Cases of `grep`.

use super::{
    case::{Case, case},
    glob::{TOO_MANY_RULES, crowded},
};
use innerloop_core::action::ToolError::{Binary, InvalidArguments, NotFound, PermissionDenied};
use serde_json::{Value, json};

pub(super) fn cases() -> Vec<Case> {
    [places(), patterns(), contents(), limits(), failures()].concat()
}

fn grep(pattern: &str) -> Value {
    json!({"action":"grep","pattern":pattern})
}

/// The files of the cases.
fn tree(case: Case) -> Case {
    case.file("src/a.ts", "import x\n\nlet Foo = x\nfoo(1)\n")
        .file("src/lib/b.ts", "// foo\nlet bar = foo + foo\n")
        .file("a.md", "Foo and bar\r\n")
        .file("node_modules/m.js", "foo\n")
        .file(".gitignore", "node_modules\n")
        .file(".git/config", "foo\n")
        .file("blob", b"foo\0foo")
}

fn places() -> Vec<Case> {
    vec![
        tree(case("c12 path, line and text, by path", grep("foo")))
            .says("src/a.ts:4:foo(1)\nsrc/lib/b.ts:1:// foo\nsrc/lib/b.ts:2:let bar = foo + foo"),
        tree(case(
            "c12 paths of files",
            json!({"action":"grep","pattern":"foo","mode":"files_with_matches"}),
        ))
        .says("src/a.ts\nsrc/lib/b.ts"),
        tree(case("c12 counts of lines", json!({"action":"grep","pattern":"foo","mode":"count"})))
            .says("src/a.ts:1\nsrc/lib/b.ts:2"),
        tree(case(
            "c12 below a folder",
            json!({"action":"grep","pattern":"foo","path":"src/lib/"}),
        ))
        .says("src/lib/b.ts:1:// foo\nsrc/lib/b.ts:2:let bar = foo + foo"),
        tree(case("c12 one file", json!({"action":"grep","pattern":"^let","path":"src/a.ts"})))
            .says("src/a.ts:3:let Foo = x"),
        tree(case(
            "c12 a file that is named though git ignores it",
            json!({"action":"grep","pattern":"foo","path":"node_modules/m.js"}),
        ))
        .says("node_modules/m.js:1:foo"),
        tree(case(
            "c12 files by their name",
            json!({"action":"grep","pattern":"bar","glob":"*.md"}),
        ))
        .says("a.md:1:Foo and bar"),
        tree(case(
            "c12 files by their path",
            json!({"action":"grep","pattern":"foo","glob":"lib/*.ts","path":"src"}),
        ))
        .says("src/lib/b.ts:1:// foo\nsrc/lib/b.ts:2:let bar = foo + foo"),
        tree(case("c12 files but those", json!({"action":"grep","pattern":"bar","glob":"!*.md"})))
            .says("src/lib/b.ts:2:let bar = foo + foo"),
        tree(case("c12 none", grep("quux")))
            .says("No matches found. Files that .gitignore names are left out."),
        case("c12 none at all", grep("quux")).file("a", "x").says("No matches found."),
    ]
}

fn patterns() -> Vec<Case> {
    let ignoring = |pattern: &str| json!({"action":"grep","pattern":pattern,"ignore_case":true});
    let text = |case: Case| {
        case.file(
            "t",
            "fn alpha() {\n    let Beta = 10;\nGAMMA_DELTA\nx = a.b(c)\n\nTODO: größe\nfixme \
             later\nend",
        )
    };
    vec![
        text(case("c12 case is ignored", ignoring("gamma"))).says("t:3:GAMMA_DELTA"),
        text(case("c12 case is ignored in expressions", ignoring(r"B\w+ =")))
            .says("t:2:    let Beta = 10;"),
        text(case("c12 case is ignored from within", grep("(?i)todo|FIXME")))
            .says("t:6:TODO: größe\nt:7:fixme later"),
        text(case("c12 alternatives", grep("alpha|Beta|nothing")))
            .says("t:1:fn alpha() {\nt:2:    let Beta = 10;"),
        text(case("c12 escapes", grep(r"a\.b\(c\)"))).says("t:4:x = a.b(c)"),
        text(case("c12 classes and repetitions", grep(r"^\s*let [A-Z]\w* = \d{2};$")))
            .says("t:2:    let Beta = 10;"),
        text(case("c12 anchors hold for each line", grep(r"^[a-z]+$"))).says("t:8:end"),
        text(case("c12 empty lines", grep("^$"))).says("t:5:"),
        text(case("c12 an optional text is not required", grep("(nothing)?later")))
            .says("t:7:fixme later"),
        text(case("c12 a repeated text", grep("(al){1}p?h+a*"))).says("t:1:fn alpha() {"),
        text(case("c12 a text that may be missing", grep("Bet[a-z]x*|zz{0,}q")))
            .says("t:2:    let Beta = 10;"),
        text(case("c12 letters of any script", grep("gr.ße"))).says("t:6:TODO: größe"),
        text(case("c12 word borders", grep(r"\ba\b"))).says("t:4:x = a.b(c)"),
        text(case("c12 a match never spans lines", grep(r"later\s+end"))).says("No matches found."),
        text(case("c12 a line feed is never found", grep(r"later\nend")))
            .says("No matches found. Lines are searched one by one: \\n never matches."),
    ]
}

fn contents() -> Vec<Case> {
    let far = format!("{}needle{}", "x".repeat(5000), "y".repeat(5000));
    let near = format!("needle{}", "é".repeat(600));
    vec![
        case("c12 the end of a Windows line", grep("b$")).file("a", "ab\r\nb c\r\n").says("a:1:ab"),
        case("c12 other encodings", grep("caf.")).file("a", b"x\ncaf\xe9 1\n").says("a:2:café 1"),
        case("c12 a long line is shown around the match", grep("needle"))
            .file("a", &far)
            .says(format!("a:1:[…] {}needle{} […]", "x".repeat(100), "y".repeat(394))),
        case("c12 a long line is shown from its start", grep("n.edle"))
            .file("a", &near)
            .says(format!("a:1:needle{} […]", "é".repeat(494))),
        case("c12 an empty file", grep("x*")).file("a", "").says("No matches found."),
    ]
}

fn limits() -> Vec<Case> {
    let cut = |max: u32| {
        format!("[Cut at {max} results; there are more. Narrow the pattern, the path or the glob.]")
    };
    let hundred: String = (1..=100).map(|n| format!("a:{n}:x\n")).collect();
    vec![
        crowded(case("c12 rules beyond the limit", grep("here")))
            .says(format!("kept.txt:1:here\nsub/late.txt:1:here\n{TOO_MANY_RULES}")),
        case("c12 a hundred results unless told otherwise", grep("x"))
            .file("a", "x\n".repeat(101))
            .says(format!("{hundred}{}", cut(100)))
            .capped(),
        case("c12 as many as may be", grep("x"))
            .file("a", "x\n".repeat(100))
            .says(hundred.trim_end()),
        tree(case(
            "c12 fewer results",
            json!({"action":"grep","pattern":"foo","max_results":1,"mode":"files_with_matches"}),
        ))
        .says(format!("src/a.ts\n{}", cut(1)))
        .capped(),
        case("c12 none are allowed", json!({"action":"grep","pattern":"x","max_results":0}))
            .fails(InvalidArguments, "The number of results is limited to 0. Allow at least 1."),
    ]
}

fn failures() -> Vec<Case> {
    let advice =
        "To search for . * + ? ( ) [ ] { } | ^ $ \\ themselves, put a backslash before each.";
    let invalid = |pattern: &str, why: &str| {
        format!("The regular expression \"{pattern}\" is invalid: {why}. {advice}")
    };
    vec![
        case("c12 an invalid expression", grep("foo("))
            .fails(InvalidArguments, invalid("foo(", "found open group without closing ')'")),
        case("c12 look-around", grep("(?=x)"))
            .fails(InvalidArguments, invalid("(?=x)", "look-around is not supported")),
        case("c12 an expression that is too large", grep("((a{1000}){1000}){1000}")).fails(
            InvalidArguments,
            invalid("((a{1000}){1000}){1000}", "compiled regex exceeded size limit"),
        ),
        case("c12 an invalid glob", json!({"action":"grep","pattern":"x","glob":"["})).fails(
            InvalidArguments,
            "The pattern \"[\" is invalid: unclosed character class at byte 0; missing ']' (to \
             match a literal '[', escape it as '\\[' or '[[]').",
        ),
        case("c12 no such folder", json!({"action":"grep","pattern":"x","path":"lib"}))
            .file("libs/a", "x")
            .fails(NotFound, "No such file or folder: lib. Did you mean libs?"),
        case("c12 a binary file", json!({"action":"grep","pattern":"x","path":"b"}))
            .file("b", "x\0")
            .fails(Binary, "b is not a text file: it contains NUL bytes."),
        case("c12 outside", json!({"action":"grep","pattern":"x","path":".."})).fails(
            PermissionDenied,
            ".. leads out of the workspace. Use a path relative to the workspace.",
        ),
    ]
}
