//! Cases of `patch`.

use super::case::{Case, case};
use innerloop_core::action::ToolError::{
    Binary, EditConflict, InvalidArguments, NotFound, PermissionDenied, WrongFileType,
};
use serde_json::json;

pub(super) fn cases() -> Vec<Case> {
    [operations(), several(), places(), loose(), ends(), failures(), misses(), whole()].concat()
}

/// A patch with these operations, in the name of the case.
fn patch(name: &'static str, operations: &str) -> Case {
    let text = format!("*** Begin Patch\n{operations}*** End Patch\n");
    case(name, json!({"action": "patch", "patch": text}))
}

/// A patch of the file `a`.
fn update(name: &'static str, hunks: &str) -> Case {
    patch(name, &format!("*** Update File: a\n{hunks}"))
}

impl Case {
    fn succeeds(self, lines: &str) -> Self {
        self.says(format!("Success. Updated the following files:\n{lines}"))
    }

    /// The file `a` before and after.
    fn turns(self, before: &str, after: &str) -> Self {
        let case = self.succeeds("M a\n").file("a", before);
        if after == before { case } else { case.writes("a", after) }
    }
}

fn operations() -> Vec<Case> {
    vec![
        patch("h1 a new file in new folders", "*** Add File: x/y/a.py\n+one\n+\n+ two\n")
            .succeeds("A x/y/a.py\n")
            .writes("x/y/a.py", "one\n\n two\n"),
        patch("h1 a new empty file", "*** Add File: a\n").succeeds("A a\n").writes("a", ""),
        patch("h1 a new file in another's place", "*** Add File: a\n+new\n")
            .file("a", "old\n")
            .succeeds("M a\n")
            .writes("a", "new\n"),
        patch("h1 a file is removed", "*** Delete File: x/a\n")
            .file("x/a", "one\n")
            .file("x/b", "two\n")
            .succeeds("D x/a\n")
            .removes("x/a"),
        update("h1 a hunk with context", " one\n-two\n+2\n+2½\n three\n")
            .turns("one\ntwo\nthree\n", "one\n2\n2½\nthree\n"),
        update(
            "h1 the specification's example",
            "@@ def main():\n     print(\"Hello\")\n-    return 0\n+    print(\"World\")\n+    \
             return 1\n",
        )
        .turns(
            "def main():\n    print(\"Hello\")\n    return 0\n",
            "def main():\n    print(\"Hello\")\n    print(\"World\")\n    return 1\n",
        ),
        update("h1 a change at the end of the file", "@@\n-x\n+y\n*** End of File\n")
            .turns("x\na\nx\n", "x\na\ny\n"),
        update("h1 new lines without context go to the end", "@@\n+b\n+c\n")
            .turns("a\n", "a\nb\nc\n"),
        update("h1 new lines below a hint", "@@ one\n+1.5\n")
            .turns("one\ntwo\n", "one\n1.5\ntwo\n"),
        update("h1 lines of an empty file", "@@\n+a\n").turns("", "a\n"),
        update("h1 all lines go", "-a\n-b\n").turns("a\nb\n", ""),
        update("h1 nothing new", "-a\n+a\n")
            .file("a", "a\n")
            .says("The files have what the patch would write. Nothing changed."),
    ]
}

fn several() -> Vec<Case> {
    vec![
        update(
            "h2 two hunks",
            "@@ DEFAULT_TIMEOUT = 30\n-DEFAULT_TIMEOUT = 30\n+DEFAULT_TIMEOUT = 60\n@@ def \
             load():\n     c = {}\n-    c[0] = False\n+    c[0] = True\n",
        )
        .turns(
            "DEFAULT_TIMEOUT = 30\n\ndef load():\n    c = {}\n    c[0] = False\n",
            "DEFAULT_TIMEOUT = 60\n\ndef load():\n    c = {}\n    c[0] = True\n",
        ),
        patch(
            "h2 several files",
            "*** Update File: b\n-b\n+B\n*** Add File: a\n+a\n*** Delete File: c\n*** Add File: \
             d\n+d\n",
        )
        .file("b", "b\n")
        .file("c", "c\n")
        .succeeds("A a\nA d\nM b\nD c\n")
        .writes("b", "B\n")
        .writes("a", "a\n")
        .writes("d", "d\n")
        .removes("c"),
        patch(
            "h2 a file is renamed and changed",
            "*** Update File: old/a\n*** Move to: new/b\n-x\n+y\n",
        )
        .file("old/a", "x\nz\n")
        .file("old/other", "")
        .succeeds("M new/b\n")
        .writes("new/b", "y\nz\n")
        .removes("old/a"),
        patch("h2 a file is only renamed", "*** Update File: a\n*** Move to: b\n")
            .file("a", "x")
            .succeeds("M b\n")
            .writes("b", "x")
            .removes("a"),
        patch(
            "h2 a renamed file takes another's place",
            "*** Update File: a\n*** Move to: b\n-x\n+y\n",
        )
        .file("a", "x\n")
        .file("b", "old\n")
        .succeeds("M b\n")
        .writes("b", "y\n")
        .removes("a"),
        patch(
            "h2 a file twice",
            "*** Update File: a\n-x\n+y\n*** Update File: ./a\n-y\n+z\n*** Add File: b\n+b\n*** \
             Update File: b\n-b\n+B\n*** Add File: c\n+c\n*** Delete File: c\n",
        )
        .file("a", "x\n")
        .succeeds("A b\nM a\n")
        .writes("a", "z\n")
        .writes("b", "B\n"),
    ]
}

fn places() -> Vec<Case> {
    vec![
        update("h3 the first place after the hunk before", " a\n-x\n+1\n@@\n-x\n+2\n")
            .turns("x\na\nx\nx\nx\n", "x\na\n1\n2\nx\n"),
        update(
            "h3 hints lead to the place",
            "@@ class B\n@@     def f():\n-        x\n+        y\n",
        )
        .turns(
            "class A\n    def f():\n        x\nclass B\n    def g():\n        x\n    def \
                 f():\n        x\n",
            "class A\n    def f():\n        x\nclass B\n    def g():\n        x\n    def \
                 f():\n        y\n",
        ),
        update("h3 a hint that both hunks have", "@@ fn f()\n-a\n+A\n@@ fn f()\n-b\n+B\n")
            .turns("b\nfn f()\na\nb\n", "b\nfn f()\nA\nB\n"),
        update("h3 hunks in the wrong order", "-b\n+B\n@@\n-a\n+A\n").turns("a\nb\n", "A\nB\n"),
        update("h3 no line is changed twice", "-x\n+1\n@@\n-y\n+2\n@@\n-x\n+3\n@@\n-x\n+4\n")
            .turns("x\nx\ny\nx\n", "1\n4\n2\n3\n"),
        update("h3 a hint that is the first line itself, indented", "@@ f()\n-f()\n+g()\n")
            .file("a", "  f()\n")
            .succeeds("M a\nMatched at line 1 of a with indentation left aside.\n")
            .writes("a", "  g()\n"),
        update("h3 new lines before and after a line", "+0\n 1\n+2\n").turns("1\n", "0\n1\n2\n"),
    ]
}

fn loose() -> Vec<Case> {
    let note = |line: u32, aside: &str| {
        format!("M a\nMatched at line {line} of a with {aside} left aside.\n")
    };
    vec![
        update("h3 white space at line ends", " one\n-two\n+2\n")
            .file("a", "one  \ntwo\t\nthree\n")
            .succeeds(&note(1, "white space at line ends"))
            .writes("a", "one  \n2\nthree\n"),
        update(
            "h3 indentation is taken from the file",
            "@@ def f():\n if x:\n-  y()\n+  z()\n+\n+w()\n",
        )
        .file("a", "  def f():\n    if x:\n      y()\n    v()\n")
        .succeeds(&note(2, "indentation"))
        .writes("a", "  def f():\n    if x:\n      z()\n\n    w()\n    v()\n"),
        update("h3 typographic punctuation", " it's - \"so\"\n-a b\n+c\n")
            .file("a", "it’s – “so”\na\u{a0}b\n")
            .succeeds(&note(1, "indentation and typographic punctuation"))
            .writes("a", "it’s – “so”\nc\n"),
        update("h3 the strictest comparison wins", "-x\n+y\n")
            .turns("  x\nx \nx\n", "  x\nx \ny\n"),
        update("h3 a blank line that is not there", " one\n-two\n+2\n \n")
            .file("a", "one\ntwo\nthree\n")
            .succeeds(&note(1, "blank lines at the hunk's ends"))
            .writes("a", "one\n2\nthree\n"),
        update("h3 blank lines after the end", "@@\n-x\n+y\n*** End of File\n")
            .turns("x\nx\n\n", "x\ny\n\n"),
        update("h3 not at the end", "@@\n-x\n+y\n*** End of File\n")
            .file("a", "x\na\n")
            .succeeds(&note(1, "the end of the file"))
            .writes("a", "y\na\n"),
        update("h3 many loose hunks", &"@@\n-x\n+y\n".repeat(7))
            .file("a", "x \n".repeat(7))
            .succeeds(&format!(
                "M a\n{}2 more hunks were not matched exactly.\n",
                (1..=5)
                    .map(|line| format!(
                        "Matched at line {line} of a with white space at line ends left aside.\n"
                    ))
                    .collect::<String>()
            ))
            .writes("a", "y\n".repeat(7)),
    ]
}

fn ends() -> Vec<Case> {
    vec![
        update("h6 line ends of Windows are kept", " a\n-b\n+B\n+BB\n c\n")
            .turns("a\r\nb\r\nc\r\n", "a\r\nB\r\nBB\r\nc\r\n"),
        update("h6 line ends of Windows in the patch", " a\r\n-b\r\n+B\r\n")
            .turns("a\nb\n", "a\nB\n"),
        update("h6 mixed line ends stay mixed", "-b\n+B\n").turns("a\nb\nc\r\n", "a\nB\nc\r\n"),
        update("h6 new lines end as those in whose place they come", "-a\n-b\n+A\n+B\n+C\n")
            .turns("a\r\nb\nc\nd\n", "A\r\nB\nC\nc\nd\n"),
        update("h6 new lines end as the line before", " a\n+A\n")
            .turns("a\r\nb\nc\n", "a\r\nA\r\nb\nc\n"),
        update("h6 no line feed at the end, and none after", "-b\n+B\n+C\n")
            .turns("a\nb", "a\nB\nC"),
        update("h6 lines after one without a line feed", "@@\n+b\n").turns("a", "a\nb"),
        update("h6 the last line goes", "-b\n").turns("a\r\nb", "a"),
        update("h6 a byte order mark is no part of the first line", "+0\n-a\n+A\n b\n")
            .turns("\u{feff}a\nb\n", "\u{feff}0\nA\nb\n"),
        update("h6 a mark of a file that is emptied", "-a\n").turns("\u{feff}a\n", "\u{feff}"),
        case(
            "h6 a shell's heredoc",
            json!({
                "action": "patch",
                "patch": "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: a\n+x\n*** End \
                          Patch\nEOF\n",
            }),
        )
        .succeeds("A a\n")
        .writes("a", "x\n"),
    ]
}

fn failures() -> Vec<Case> {
    vec![
        case("h4 no patch", json!({"action": "patch", "patch": "change it"})).fails(
            InvalidArguments,
            "Invalid patch: The first line of the patch must be '*** Begin Patch'",
        ),
        update("h4 a bad line", "@@\nx\n").fails(
            InvalidArguments,
            "Invalid patch hunk on line 4: Unexpected line found in update hunk: 'x'. Every line \
             should start with ' ' (context line), '+' (added line), or '-' (removed line)",
        ),
        update("h4 a file that is not there", "-x\n")
            .file("b", "")
            .fails(NotFound, "No such file or folder: a. Did you mean b?"),
        patch("h4 nothing to remove", "*** Delete File: x\n")
            .fails(NotFound, "No such file or folder: x. List . to see what is there."),
        patch("h4 a folder", "*** Delete File: x\n")
            .file("x/a", "")
            .fails(WrongFileType, "x is a folder. Name a file, or list the folder."),
        patch("h4 outside", "*** Add File: ../x\n+y\n").fails(
            PermissionDenied,
            "../x leads out of the workspace. Use a path relative to the workspace.",
        ),
        patch("h4 protected", "*** Update File: a\n*** Move to: .git/hooks/x\n-a\n+b\n")
            .file("a", "a\n")
            .fails(
                PermissionDenied,
                ".git/hooks/x is protected: files of .git are not changed by tools.",
            ),
        update("h4 no text", "-x\n")
            .file("a", b"x\0")
            .fails(Binary, "a is not a text file: it contains NUL bytes."),
    ]
}

const AGAIN: &str = "Read the file again and copy its lines exactly.";

/// What is said of lines that were not found, in the hunk on that line of the patch.
fn lost(lines: &str, line: u32, more: &str) -> String {
    format!(
        "Failed to find expected lines in a:\n{lines}\n(the hunk on line {line} of the \
         patch).{more} {AGAIN}"
    )
}

fn misses() -> Vec<Case> {
    vec![
        update("h4 a hint that is not there", "@@ fn mian() {\n-x\n+y\n")
            .file("a", "one\nfn main() {\nx\n")
            .fails(
                EditConflict,
                format!(
                    "Failed to find context 'fn mian() {{' in a. The most similar line is line \
                     2: \"fn main() {{\". {AGAIN}"
                ),
            ),
        update("h4 lines that are nearly there", "@@\n one\n-two\n+2\n three\n")
            .file("a", "one\nTWO\n\none\ntwo\nTHREE\n")
            .fails(
                EditConflict,
                lost(
                    "one\ntwo\nthree",
                    3,
                    " The closest place differs at line 6: the file has \"THREE\", the patch has \
                     \"three\".",
                ),
            ),
        update("h4 lines beyond the end", "-one\n-two\n").file("a", "one\n").fails(
            EditConflict,
            lost(
                "one\ntwo",
                3,
                " The closest place ends with the file before line 2, where the patch has \
                     \"two\".",
            ),
        ),
        update("h4 a line that is similar", "-let total = price * count;\n")
            .file("a", "a\nlet total = price * amount;\nb\n")
            .fails(
                EditConflict,
                lost(
                    "let total = price * count;",
                    3,
                    " The closest place differs at line 2: the file has \"let total = price * \
                     amount;\", the patch has \"let total = price * count;\".",
                ),
            ),
        update("h4 lines that are nowhere", "-zzz\n+y\n")
            .file("a", "one\n")
            .fails(EditConflict, lost("zzz", 3, "")),
    ]
}

fn whole() -> Vec<Case> {
    vec![
        update(
            "h4 a line that another hunk has taken",
            "-b\n+1\n*** End of File\n@@\n-a\n+2\n@@\n-b\n+3\n*** End of File\n",
        )
        .file("a", "a\nb\n")
        .fails(EditConflict, lost("b", 9, "")),
        patch(
            "h4 one bad hunk and no file changes",
            "*** Add File: b\n+b\n*** Delete File: c\n*** Update File: a\n-zzz\n+y\n",
        )
        .file("a", "one\n")
        .file("c", "")
        .fails(EditConflict, lost("zzz", 6, "") + " No file was changed."),
        patch(
            "h4 a file that the patch moved away",
            "*** Update File: a\n*** Move to: b\n*** Delete File: a\n",
        )
        .file("a", "one\n")
        .fails(
            NotFound,
            "a is gone: the patch itself removes or moves it before. No file was changed.",
        ),
    ]
}
