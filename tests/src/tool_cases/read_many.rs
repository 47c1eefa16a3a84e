//! Cases of `read_many` and `view_image`, and of reading and listing as Gemini's tools ask for it.

use super::case::{Case, case};
use innerloop_core::action::ToolError::{
    InvalidArguments, NotFound, PermissionDenied, WrongFileType,
};
use serde_json::{Value, json};

/// A picture of one pixel.
const GIF: &[u8] = b"GIF89a\x01\x00\x01\x00\x00\x00\x00;";

pub(super) fn cases() -> Vec<Case> {
    [many(), none(), parts(), folders(), images()].concat()
}

fn tree(case: Case) -> Case {
    case.file("src/a.ts", "one\n")
        .file("src/lib/b.ts", "two\n\nthree")
        .file("src/lib/c.js", "four\n")
        .file("blob.ts", b"\0")
        .file("dot.gif", GIF)
        .file(".gitignore", "*.log\n")
        .file("x.log", "log\n")
}

fn read_many(include: &[&str]) -> Value {
    json!({"action":"read_many","include":include})
}

fn many() -> Vec<Case> {
    let (a, b, c) = (
        "--- src/a.ts ---\n\none\n\n",
        "--- src/lib/b.ts ---\n\ntwo\n\nthree\n\n",
        "--- src/lib/c.js ---\n\nfour\n\n",
    );
    let end = "--- End of content ---";
    vec![
        tree(case("c16 files of a pattern, one after the other", read_many(&["**/*.ts"])))
            .says(format!("{a}{b}{end}")),
        tree(case("c16 a folder with all below", read_many(&["src"])))
            .says(format!("{a}{b}{c}{end}")),
        tree(case(
            "c16 a folder alone",
            json!({"action":"read_many","include":["src/"],"flat":true}),
        ))
        .says(format!("{a}{end}")),
        tree(case(
            "c16 the workspace alone",
            json!({"action":"read_many","include":["."],"flat":true,"exclude":["*.gif"]}),
        ))
        .says(format!("--- .gitignore ---\n\n*.log\n\n{end}")),
        tree(case(
            "c16 but those",
            json!({"action":"read_many","include":["src"],"exclude":["**/lib/*.ts"]}),
        ))
        .says(format!("{a}{c}{end}")),
        tree(case(
            "c16 who names a file wants it",
            json!({"action":"read_many","include":["x.log","src/a.ts"],"exclude":["*.ts"]}),
        ))
        .says(format!("{a}--- x.log ---\n\nlog\n\n{end}")),
        tree(case(
            "c16 files that git ignores",
            json!({"action":"read_many","include":["*.log"],"hidden":"nothing"}),
        ))
        .says(format!("--- x.log ---\n\nlog\n\n{end}")),
        tree(case("c16 what is missing or no text", read_many(&["src/a.ts", "nix", "blob.ts"])))
            .says(format!(
                "{a}{end}\n[Nothing found for nix.]\n[Skipped blob.ts: it contains NUL bytes.]"
            )),
        case("c16 a folder's name is no pattern", read_many(&["[id]"]))
            .file("[id]/a", "x")
            .file("i/b", "y")
            .says(format!("--- [id]/a ---\n\nx\n\n{end}")),
        Case {
            image: Some(("image/gif", "R0lGODlhAQABAAAAADs=")),
            ..tree(case("c16 an image that is named", read_many(&["dot.gif", "src/a.ts"])))
                .says(format!("{a}{end}\ndot.gif: image/gif, 14 bytes."))
        },
    ]
}

fn none() -> Vec<Case> {
    vec![
        tree(case("c16 nothing is found", read_many(&["*.py"])))
            .fails(NotFound, "No files to read were found.\n[Nothing found for *.py.]"),
        case("c16 nothing is asked for", read_many(&[]))
            .fails(InvalidArguments, "No files are named. Give at least one path or pattern."),
        case("c16 outside", read_many(&["../*"])).fails(
            PermissionDenied,
            "../* leads out of the workspace. Use a path relative to the workspace.",
        ),
    ]
}

fn parts() -> Vec<Case> {
    let note = |lines: &str, action: &str| {
        format!(
            "IMPORTANT: The file content has been truncated.\nStatus: Showing lines {lines} of 3 \
             total lines.\nAction: {action}\n\n--- FILE CONTENT (truncated) ---\n"
        )
    };
    let read = |first: u64, limit: u64| -> Value {
        let mut page = json!({"action":"read","path":"a","offset":first,"limit":limit});
        page["notice"] = json!("above");
        page
    };
    let file = |case: Case| case.file("a", "1\n2\n3\n");
    vec![
        file(case("c8 what follows is told above", read(1, 2)))
            .says(format!("{}1\n2", note("1-2", "To read on, use start_line: 3."))),
        file(case("c8 the last part is told above", read(3, 2)))
            .says(format!("{}3", note("3-3", "The file ends here."))),
        file(case("c8 a whole file needs no note", read(1, 3))).says("1\n2\n3"),
        file(case("c8 numbers and tabs", json!({"action":"read","path":"a","numbering":"tab"})))
            .says("     1\t1\n     2\t2\n     3\t3"),
        case("c8 long lines are cut", json!({"action":"read","path":"a","line_chars":3}))
            .file("a", "äöü\näöüß\n")
            .says("äöü\näöü... [truncated]"),
    ]
}

fn folders() -> Vec<Case> {
    let list = |mut fields: Value| {
        fields["action"] = json!("list");
        fields
    };
    vec![
        tree(case("folders with a tag", list(json!({"style":"tag"}))))
            .says("[DIR] src\n.gitignore\nblob.ts\ndot.gif\nx.log"),
        tree(case("entries but those", list(json!({"ignore":["*.ts","src"]}))))
            .says(".gitignore\ndot.gif\nx.log"),
        tree(case("entries that git does not ignore", list(json!({"hidden":"ignored"}))))
            .says("src/\n.gitignore\nblob.ts\ndot.gif"),
        case(
            "git's rules hold for folders below, and their own do",
            list(json!({"hidden":"ignored","depth":3})),
        )
        .file(".gitignore", "x\n")
        .file("a/.gitignore", "y\n")
        .file("a/b/x", "")
        .file("a/b/y", "")
        .file("a/b/z", "")
        .says("a/\na/b/\na/b/z\na/.gitignore\n.gitignore"),
    ]
}

fn images() -> Vec<Case> {
    let view = |path: &str| json!({"action":"view_image","path":path});
    vec![
        Case {
            image: Some(("image/gif", "R0lGODlhAQABAAAAADs=")),
            ..tree(case("an image is looked at", view("dot.gif")))
                .says("dot.gif: image/gif, 14 bytes.")
        },
        tree(case("a text is no image", view("src/a.ts"))).fails(
            WrongFileType,
            "src/a.ts is not an image that models take: PNG, JPEG, GIF or WebP.",
        ),
    ]
}
