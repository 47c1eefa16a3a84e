//! Cases of searches as the families' own tools ask for them: context, types, spans of lines,
//! parts of lines, pages of results.

use super::case::{Case, case};
use innerloop_core::action::ToolError::InvalidArguments;
use serde_json::{Value, json};

pub(super) fn cases() -> Vec<Case> {
    [context(), lines(), spans(), pages(), files()].concat()
}

fn grep(mut fields: Value) -> Value {
    fields["action"] = json!("grep");
    fields
}

fn ten(case: Case) -> Case {
    let text: String = (1..=10).map(|n| format!("line {n}\n")).collect();
    case.file("a.txt", text)
}

fn context() -> Vec<Case> {
    vec![
        ten(case("c12 lines around a match", grep(json!({"pattern":"5","before":2,"after":1}))))
            .says("a.txt-3-line 3\na.txt-4-line 4\na.txt:5:line 5\na.txt-6-line 6"),
        ten(case(
            "c12 lines around are shown once and matches among them as such",
            grep(json!({"pattern":"[35]","before":2,"after":2})),
        ))
        .says(
            "a.txt-1-line 1\na.txt-2-line 2\na.txt:3:line 3\na.txt-4-line 4\na.txt:5:line 5\n\
             a.txt-6-line 6\na.txt-7-line 7",
        ),
        ten(case("c12 a rule between groups", grep(json!({"pattern":"[18]$","after":1}))))
            .says("a.txt:1:line 1\na.txt-2-line 2\n--\na.txt:8:line 8\na.txt-9-line 9"),
        ten(case("c12 the file's ends", grep(json!({"pattern":"1","before":5,"after":1})))).says(
            "a.txt:1:line 1\na.txt-2-line 2\n--\na.txt-5-line 5\na.txt-6-line 6\n\
                 a.txt-7-line 7\na.txt-8-line 8\na.txt-9-line 9\na.txt:10:line 10",
        ),
        case("c12 a rule between files", grep(json!({"pattern":"x","after":1})))
            .file("a", "x\ny\n")
            .file("b", "x")
            .says("a:1:x\na-2-y\n--\nb:1:x"),
        ten(case(
            "c12 lines by file",
            grep(json!({"pattern":"[25]$","before":1,"layout":"by_file"})),
        ))
        .file("b.txt", "2")
        .says(
            "File: a.txt\nL1- line 1\nL2: line 2\nL4- line 4\nL5: line 5\n---\nFile: b.txt\n\
             L1: 2\n---",
        ),
        case("c12 Windows lines around a match", grep(json!({"pattern":"b","before":1,"after":1})))
            .file("a", "a\r\nb\r\nc\r\n")
            .says("a-1-a\na:2:b\na-3-c"),
    ]
}

fn lines() -> Vec<Case> {
    let text = |case: Case| case.file("t", "a.b axb\nab\nA.B\n");
    vec![
        text(case("c12 a text for itself", grep(json!({"pattern":"a.b","literal":true}))))
            .says("t:1:a.b axb"),
        text(case(
            "c12 a text for itself in any case",
            grep(json!({"pattern":"a.b","literal":true,"ignore_case":true})),
        ))
        .says("t:1:a.b axb\nt:3:A.B"),
        text(case("c12 only what matches", grep(json!({"pattern":"a.b","only_matching":true}))))
            .says("t:1:a.b\nt:1:axb"),
        text(case("c12 without numbers", grep(json!({"pattern":"ab","unnumbered":true}))))
            .says("t:ab"),
        text(case(
            "c12 lines that match another expression are left out",
            grep(json!({"pattern":"b","unless":"x|^ab"})),
        ))
        .says("No matches found."),
        text(case(
            "c12 lines left out are not counted",
            grep(json!({"pattern":"a","unless":"x","mode":"count"})),
        ))
        .says("t:1"),
        case("c12 an invalid expression to leave out", grep(json!({"pattern":"a","unless":"("})))
            .fails(
                InvalidArguments,
                "The regular expression \"(\" is invalid: found open group without closing ')'. \
                 To search for . * + ? ( ) [ ] { } | ^ $ \\ themselves, put a backslash before \
                 each.",
            ),
    ]
}

fn spans() -> Vec<Case> {
    let code = "fn a(\n  x: u8,\n) {}\nfn b() {}\n";
    let span = |pattern: &str| grep(json!({"pattern":pattern,"multiline":true}));
    vec![
        case("c12 a match spans lines", span(r"fn a\(.*?\)"))
            .file("t", code)
            .says("t:1:fn a(\nt:2:  x: u8,\nt:3:) {}"),
        case("c12 two matches of one line that spans", span(r"a\(|u8,\n\) \{\}\nfn"))
            .file("t", code)
            .says("t:1:fn a(\nt:2:  x: u8,\nt:3:) {}\nt:4:fn b() {}"),
        case("c12 anchors hold for lines of a span", span(r"^fn b.*?$"))
            .file("t", code)
            .says("t:4:fn b() {}"),
        case(
            "c12 spans are counted once",
            grep(json!({"pattern":"f.*?\\{","multiline":true,"mode":"count"})),
        )
        .file("t", code)
        .says("t:2"),
        case("c12 an empty match shows each line once", span("x*"))
            .file("t", "x\n\ny\n")
            .says("t:1:x\nt:2:\nt:3:y"),
        case("c12 a span in other encodings", span("b.c"))
            .file("t", b"a\xff\nb\nc")
            .says("t:2:b\nt:3:c"),
        case(
            "c12 lines around a span",
            grep(json!({"pattern":"u8.*?\\)","multiline":true,"before":1,"after":1})),
        )
        .file("t", code)
        .says("t-1-fn a(\nt:2:  x: u8,\nt:3:) {}\nt-4-fn b() {}"),
    ]
}

fn pages() -> Vec<Case> {
    let cut = |max: u32| {
        format!("[Cut at {max} results; there are more. Narrow the pattern, the path or the glob.]")
    };
    vec![
        ten(case(
            "c12 the first results are passed over",
            grep(json!({"pattern":"line","offset":3,"max_results":2})),
        ))
        .says(format!("a.txt:4:line 4\na.txt:5:line 5\n{}", cut(2)))
        .capped(),
        ten(case("c12 all are passed over", grep(json!({"pattern":"line","offset":10}))))
            .says("No matches found."),
        ten(case(
            "c12 so many of one file",
            grep(json!({"pattern":"line","max_per_file":2,"after":1})),
        ))
        .file("b", "line")
        .says("a.txt:1:line 1\na.txt:2:line 2\na.txt-3-line 3\n--\nb:1:line"),
        case(
            "c12 files are passed over",
            grep(json!({"pattern":"x","mode":"files_with_matches","offset":1})),
        )
        .file("a", "x")
        .file("b", "x")
        .says("b"),
        case("c12 none of one file", grep(json!({"pattern":"x","max_per_file":0})))
            .fails(InvalidArguments, "The number of results is limited to 0. Allow at least 1."),
    ]
}

fn files() -> Vec<Case> {
    vec![
        case("c12 files of a type", grep(json!({"pattern":"x","file_type":"js"})))
            .file("a.js", "x")
            .file("b.mjs", "x")
            .file("c.ts", "x")
            .file("js", "x")
            .says("a.js:1:x\nb.mjs:1:x"),
        case("c12 files that git ignores", grep(json!({"pattern":"x","hidden":"nothing"})))
            .file(".gitignore", "a\n")
            .file("a", "x")
            .file(".git/b", "x")
            .says("a:1:x"),
        case("c13 names in any case", json!({"action":"glob","pattern":"*.MD","ignore_case":true}))
            .file("Readme.md", "")
            .says("Readme.md"),
        case("c13 so many names", json!({"action":"glob","pattern":"*","max_results":1}))
            .file("a", "")
            .file("b", "")
            .says("b\n[Cut at the newest 1 of 2 files. Narrow the pattern.]")
            .capped(),
        case("c13 no names", json!({"action":"glob","pattern":"*","max_results":0}))
            .fails(InvalidArguments, "The number of files is limited to 0. Allow at least 1."),
        case(
            "c13 names that git ignores",
            json!({"action":"glob","pattern":"a","hidden":"nothing"}),
        )
        .file(".gitignore", "a\n")
        .file("a", "")
        .says("a"),
    ]
}
