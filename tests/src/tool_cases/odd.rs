//! Cases of what files can be like, over all actions: names of any script, line ends and byte order
//! marks of any system, lines of ten million bytes.

use super::case::{Case, case};
use innerloop_core::action::ToolError::{EditConflict, NotFound};
use innerloop_core::secret::mask_key;
use serde_json::{Value, json};

pub(super) fn cases() -> Vec<Case> {
    [marks(), masks(), ends(), patterns(), brackets(), files_of_any_name(), long_lines()].concat()
}

fn marks() -> Vec<Case> {
    let marked = "\u{feff}one\ntwo\n";
    vec![
        case("c12 a byte order mark is no part of the first line", {
            json!({"action":"grep","pattern":"^one"})
        })
        .file("a", marked)
        .file("b", "\u{feff}")
        .file("c", "x\u{feff}one\n")
        .says("a:1:one"),
        case("c12 a byte order mark is found nowhere", {
            json!({"action":"grep","pattern":"^.o","mode":"count"})
        })
        .file("a", marked)
        .file("b", "\u{feff}o\n")
        .says("No matches found."),
        case("c12 a span begins behind the byte order mark", {
            json!({"action":"grep","pattern":"\\Aone.two","multiline":true})
        })
        .file("a", marked)
        .says("a:1:one\na:2:two"),
        case("c12 a marked file of Windows", {
            json!({"action":"grep","pattern":"^one$","after":1})
        })
        .file("a", "\u{feff}one\r\ntwo\r\n")
        .says("a:1:one\na-2-two"),
        case("c10 a byte order mark stays", {
            json!({"action":"edit","path":"a","old":"one\ntwo","new":"1"})
        })
        .file("a", marked)
        .says("Edited a: 1 replacement at line 1.\n1 | \u{feff}1")
        .writes("a", "\u{feff}1\n"),
        case("c16 a byte order mark is not read", {
            json!({"action":"read_many","include":["a"]})
        })
        .file("a", marked)
        .says("--- a ---\n\none\ntwo\n\n--- End of content ---"),
        case("c9 a byte order mark is written", {
            json!({"action":"write","path":"a","content":marked})
        })
        .says("Wrote 11 bytes to a (created).")
        .writes("a", marked),
    ]
}

/// Masks of a key that is known by its text: the file at hand has it, or has it not.
fn masks() -> Vec<Case> {
    let key = "test-0123456789abcdef";
    let env = format!("# Keys\nAPI_KEY={key}\nDEBUG=1\n");
    let changed = format!("# Keys\nAPI_KEY={key}\nDEBUG=0\n");
    let mask = mask_key(key.as_bytes());
    let patch = |files: &str| {
        json!({
            "action": "patch",
            "patch": format!("*** Begin Patch\n{files}*** End Patch\n"),
            "salt": 7,
        })
    };
    let of = |name: &'static str, action: Value| case(name, action).file(".env", &env);
    vec![
        of("n24 a file is written with its secret in the place of the mask", {
            let content = env.replace(key, &mask).replace("=1", "=0");
            json!({"action":"write","path":".env","content":content,"salt":7})
        })
        .says("Wrote 45 bytes to .env (overwritten).")
        .writes(".env", &changed),
        of("n24 an edit finds what the mask stands for", {
            let old = format!("API_KEY={mask}\nDEBUG=1");
            let new = format!("API_KEY={mask}\nDEBUG=0");
            json!({"action":"edit","path":".env","old":old,"new":new,"salt":7})
        })
        .says(format!(
            "Edited .env: 1 replacement at line 2.\n1 | # Keys\n2 | API_KEY={key}\n3 | DEBUG=0"
        ))
        .writes(".env", &changed),
        of("n24 a patch finds what the mask stands for", {
            patch(&format!("*** Update File: .env\n API_KEY={mask}\n-DEBUG=1\n+DEBUG=0\n"))
        })
        .says("Success. Updated the following files:\nM .env\n")
        .writes(".env", &changed),
        of("n24 a patch writes a file anew with its secret", {
            let file = "# Keys\nAPI_KEY=M\nDEBUG=0".replace('M', &mask).replace('\n', "\n+");
            patch(&format!("*** Delete File: .env\n*** Add File: .env\n+{file}\n"))
        })
        .says("Success. Updated the following files:\nM .env\n")
        .writes(".env", &changed),
        of("n24 a mask of another file stays a mask", {
            json!({"action":"write","path":"a","content":format!("KEY={mask}\n"),"salt":7})
        })
        .says(
            "Wrote 30 bytes to a (created). One mask stands for no secret that the file has, and \
             was written as it is.",
        )
        .writes("a", format!("KEY={mask}\n")),
        of("n24 without a salt masks are text", {
            json!({"action":"write","path":".env","content":format!("KEY={mask}\n")})
        })
        .says("Wrote 30 bytes to .env (overwritten).")
        .writes(".env", format!("KEY={mask}\n")),
        of("n24 a mask that stands for nothing is not found", {
            let old = "API_KEY=‹secret:github:000000›";
            json!({"action":"edit","path":".env","old":old,"new":"x","salt":7})
        })
        .fails(
            EditConflict,
            "The old text does not stand in .env. A mask in the old text stands for no secret \
             that the file has. Read the file again and copy the text exactly, white space \
             included.",
        ),
    ]
}

fn ends() -> Vec<Case> {
    vec![
        case("c8 a carriage return alone ends no line", {
            json!({"action":"read","path":"a","numbering":"pipe"})
        })
        .file("a", "one\rtwo\r\nthree\r")
        .says("1 | one\rtwo\n2 | three\r"),
        case("c12 a carriage return alone ends no line", {
            json!({"action":"grep","pattern":"^t"})
        })
        .file("a", "one\rtwo\r\nthree\r")
        .says("a:2:three"),
        case("c10 a carriage return alone stays", {
            json!({"action":"edit","path":"a","old":"two","new":"2"})
        })
        .file("a", "one\rtwo\r\nthree\r")
        .says("Edited a: 1 replacement at line 1.\n1 | one\r2\n2 | three\r")
        .writes("a", "one\r2\r\nthree\r"),
        case("c8 other ends of lines are characters", {
            json!({"action":"read","path":"a","numbering":"pipe"})
        })
        .file("a", "one\u{2028}two\u{85}three\u{b}four\n")
        .says("1 | one\u{2028}two\u{85}three\u{b}four"),
    ]
}

/// Names that are one letter in two forms, of other scripts, with signs of patterns and options.
fn tree(case: Case) -> Case {
    case.file("größe/ärger.txt", "eins\n")
        .file("gro\u{308}ße/a.txt", "zwei\n")
        .file("資料/報告 🙂.txt", "three\n")
        .file("-rf", "four\n")
        .file("a b/c [1].txt", "five\n")
        .file("a b/c 1.txt", "six\n")
        .file("עברית.txt", "seven\n")
}

fn patterns() -> Vec<Case> {
    vec![
        tree(case("c13 names of any script", json!({"action":"glob","pattern":"**"}))).says(
            "עברית.txt\na b/c 1.txt\na b/c [1].txt\n-rf\n資料/報告 🙂.txt\ngro\u{308}ße/a.txt\n\
             größe/ärger.txt",
        ),
        tree(case("c13 a form of a letter is another letter", {
            json!({"action":"glob","pattern":"größe/*"})
        }))
        .says("größe/ärger.txt"),
        tree(case("c13 brackets that are escaped", {
            json!({"action":"glob","pattern":"a b/c \\[1\\].txt"})
        }))
        .says("a b/c [1].txt"),
        tree(case("c13 brackets that a name has", {
            json!({"action":"glob","pattern":"a b/c [1].*"})
        }))
        .says("a b/c [1].txt"),
        tree(case("c13 brackets that no name has", {
            json!({"action":"glob","pattern":"a b/c[ _][1].*"})
        }))
        .says("a b/c 1.txt"),
    ]
}

fn brackets() -> Vec<Case> {
    vec![
        routes(case("c13 a folder with brackets", {
            json!({"action":"glob","pattern":"app/[id]/*.tsx"})
        }))
        .says("app/[id]/page.tsx"),
        routes(case("c13 a path with brackets", {
            json!({"action":"glob","pattern":"app/[id]/page.tsx"})
        }))
        .says("app/[id]/page.tsx"),
        routes(case("c13 brackets at any depth", {
            json!({"action":"glob","pattern":"**/[id]/*"})
        }))
        .says("app/[id]/page.tsx"),
        routes(case("c13 brackets with dots", {
            json!({"action":"glob","pattern":"app/[...slug]/*"})
        }))
        .says("app/[...slug]/page.tsx"),
        routes(case("c13 two brackets", json!({"action":"glob","pattern":"app/[[lang]]/**"})))
            .says("app/[[lang]]/page.tsx"),
        routes(case("c13 a name and a class", {
            json!({"action":"glob","pattern":"**/[id]/[a-p]*.tsx"})
        }))
        .says("app/[id]/page.tsx"),
        routes(case("c13 a class", json!({"action":"glob","pattern":"app/[hij]/*"})))
            .says("app/i/page.tsx"),
        routes(case("c13 a name with brackets of any case", {
            json!({"action":"glob","pattern":"APP/[ID]/*","ignore_case":true})
        }))
        .says("app/[id]/page.tsx"),
        routes(case("c13 a folder with brackets is no file", {
            json!({"action":"glob","pattern":"**/[id]"})
        }))
        .says("No files found."),
        routes(case("c12 a folder with brackets", {
            json!({"action":"grep","pattern":"page","glob":"app/[id]/*.tsx"})
        }))
        .says("app/[id]/page.tsx:1:page 1"),
        routes(case("c12 a class of folders", {
            json!({"action":"grep","pattern":"page","glob":"app/[hij]/*.tsx"})
        }))
        .says("app/i/page.tsx:1:page 4"),
        routes(case("c16 all but a folder with brackets", {
            json!({
                "action": "read_many",
                "include": ["app/[[]*/*", "app/i/*"],
                "exclude": ["app/[id]/*"],
            })
        }))
        .says(
            "--- app/[...slug]/page.tsx ---\n\npage 2\n\n--- app/[[lang]]/page.tsx ---\n\npage \
             3\n\n--- app/i/page.tsx ---\n\npage 4\n\n--- End of content ---",
        ),
        routes(case("c16 a folder with brackets", {
            json!({"action":"read_many","include":["app/[id]/*.tsx"]})
        }))
        .says("--- app/[id]/page.tsx ---\n\npage 1\n\n--- End of content ---"),
        routes(case("d1 all but a folder with brackets", {
            json!({"action":"list","path":"app","ignore":["[id]", "[[lang]]"]})
        }))
        .says("[...slug]/\ni/"),
    ]
}

/// Folders as frameworks of the web name them.
fn routes(case: Case) -> Case {
    case.file("app/[id]/page.tsx", "page 1\n")
        .file("app/[...slug]/page.tsx", "page 2\n")
        .file("app/[[lang]]/page.tsx", "page 3\n")
        .file("app/i/page.tsx", "page 4\n")
}

fn files_of_any_name() -> Vec<Case> {
    vec![
        tree(case("c12 files of any script", {
            json!({"action":"grep","pattern":"e","glob":"**/報*"})
        }))
        .says("資料/報告 🙂.txt:1:three"),
        tree(case("c12 in a folder of another form", {
            json!({"action":"grep","pattern":"i","path":"gro\u{308}ße"})
        }))
        .says("gro\u{308}ße/a.txt:1:zwei"),
        tree(case("c8 a name that looks like an option", json!({"action":"read","path":"-rf"})))
            .says("four"),
        tree(case("c8 a name that looks like a pattern", {
            json!({"action":"read","path":"a b/c [1].txt"})
        }))
        .says("five"),
        tree(case("c16 a name that looks like a pattern", {
            json!({"action":"read_many","include":["a b/c [1].txt"]})
        }))
        .says("--- a b/c [1].txt ---\n\nfive\n\n--- End of content ---"),
        tree(case("d1 names of any script", json!({"action":"list","depth":2}))).says(
            "a b/\na b/c 1.txt\na b/c [1].txt\ngro\u{308}ße/\ngro\u{308}ße/a.txt\ngröße/\n\
             größe/ärger.txt\n資料/\n資料/報告 🙂.txt\n-rf\nעברית.txt",
        ),
        tree(case("c8 another form is another file", {
            json!({"action":"read","path":"gro\u{308}ße/ärger.txt"})
        }))
        .fails(
            NotFound,
            "No such file or folder: gro\u{308}ße/ärger.txt. List gro\u{308}ße to see what is \
             there.",
        ),
        tree(case("c9 a name of any script", {
            json!({"action":"write","path":"資料/новый.md","content":"x"})
        }))
        .says("Wrote 1 byte to 資料/новый.md (created).")
        .writes("資料/новый.md", "x"),
        tree(case("c10 in a file of any script", {
            json!({"action":"edit","path":"größe/ärger.txt","old":"ei","new":"EI"})
        }))
        .says("Edited größe/ärger.txt: 1 replacement at line 1.\n1 | EIns")
        .writes("größe/ärger.txt", "EIns\n"),
        tree(case("h1 files of any script", {
            json!({
                "action": "patch",
                "patch": "*** Begin Patch\n*** Update File: 資料/報告 🙂.txt\n\
                          *** Move to: 資料/報告.txt\n-three\n+3\n*** Delete File: עברית.txt\n\
                          *** End Patch\n",
            })
        }))
        .says("Success. Updated the following files:\nM 資料/報告.txt\nD עברית.txt\n")
        .writes("資料/報告.txt", "3\n")
        .removes("資料/報告 🙂.txt")
        .removes("עברית.txt"),
    ]
}

fn long_lines() -> Vec<Case> {
    let half = "0123456789".repeat(500_000);
    let line = format!("{half}needle{half}\n");
    vec![
        case("c12 a line of ten million bytes", json!({"action":"grep","pattern":"ne+dle"}))
            .file("a", &line)
            .says(format!("a:1:[…] {}needle{} […]", &half[..100], &half[..394])),
        case("c8 a line of ten million bytes", {
            json!({"action":"read","path":"a","line_chars":20})
        })
        .file("a", &line)
        .says("01234567890123456789... [truncated]"),
        case("c10 in a line of ten million bytes", {
            json!({"action":"edit","path":"a","old":"9needle0","new":"9nail0"})
        })
        .file("a", &line)
        .says(format!("Edited a: 1 replacement at line 1.\n1 | {} […]", &half[..200]))
        .writes("a", format!("{half}nail{half}\n")),
        case("c10 not unique in a line of ten million bytes", {
            json!({"action":"edit","path":"a","old":"0123456789","new":"x"})
        })
        .file("a", &line)
        .fails(
            EditConflict,
            "The old text stands 1000000 times in a, at lines 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 and \
             999990 more. Give more lines around it so that it is unique, or replace all \
             occurrences.",
        ),
        case("h1 a line of ten million bytes before the place", {
            json!({
                "action": "patch",
                "patch": "*** Begin Patch\n*** Update File: a\n@@\n-two\n+2\n*** End Patch\n",
            })
        })
        .file("a", format!("{line}two\n"))
        .says("Success. Updated the following files:\nM a\n")
        .writes("a", format!("{line}2\n")),
    ]
}
