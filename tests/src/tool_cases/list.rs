//! Cases of `list`.

use super::{
    case::{Case, case},
    glob::{TOO_MANY_RULES, crowded},
};
use innerloop_core::action::ToolError::{InvalidArguments, NotFound, WrongFileType};
use serde_json::json;

pub(super) fn cases() -> Vec<Case> {
    let tree = |case: Case| {
        case.file("src/lib/deep/x.rs", "")
            .file("src/main.rs", "")
            .file("src-old/y", "")
            .file("README", "")
            .file(".gitignore", "target\n")
            .file("target/out", "")
            .file(".git/config", "")
    };
    let many: Vec<String> = (0..2001).map(|n| format!("f{n:04}")).collect();
    let first = many.iter().take(2000).fold(String::new(), |all, name| all + name + "\n");
    let cut = "[Cut at 2000 entries. List a subfolder, or fewer levels.]";
    let mut crowd = case("d1 many entries are cut", json!({"action":"list"}))
        .says(format!("{first}{cut}"))
        .capped();
    crowd.files = many.iter().map(|name| (name.clone(), Vec::new())).collect();
    vec![
        crowded(case(
            "d1 rules beyond the limit",
            json!({"action":"list","depth":2,"hidden":"ignored"}),
        ))
        .says(format!(
            "sub/\nsub/.gitignore\nsub/late.txt\n.gitignore\nkept.txt\n{TOO_MANY_RULES}"
        )),
        tree(case("d1 the workspace, folders first", json!({"action":"list"})))
            .says("src/\nsrc-old/\ntarget/\n.gitignore\nREADME"),
        tree(case("d1 two levels", json!({"action":"list","depth":2}))).says(
            "src/\nsrc/lib/\nsrc/main.rs\nsrc-old/\nsrc-old/y\ntarget/\ntarget/out\n.gitignore\n\
             README",
        ),
        tree(case(
            "d1 paths are seen from the folder",
            json!({"action":"list","path":"src","depth":9}),
        ))
        .says("lib/\nlib/deep/\nlib/deep/x.rs\nmain.rs"),
        tree(case("d1 a folder with a slash", json!({"action":"list","path":"/src/lib/"})))
            .says("deep/"),
        crowd,
        case("d1 an empty workspace", json!({"action":"list","path":"."}))
            .says("The folder . is empty."),
        tree(case("d1 a file", json!({"action":"list","path":"README"})))
            .fails(WrongFileType, "README is a file, not a folder. Read it instead."),
        tree(case("d1 no such folder", json!({"action":"list","path":"srcs"})))
            .fails(NotFound, "No such file or folder: srcs. Did you mean src?"),
        case("d1 a depth of 0", json!({"action":"list","depth":0}))
            .fails(InvalidArguments, "The depth is 0. Give at least 1."),
    ]
}
