//! Cases of `write`.

use super::case::{Case, case};
use innerloop_core::action::ToolError::{PermissionDenied, WrongFileType};
use serde_json::json;

pub(super) fn cases() -> Vec<Case> {
    let write = |path: &str, content: &str| json!({"action":"write","path":path,"content":content});
    let large = "0123456789abcdef".repeat(20_000);
    vec![
        case("c9 a new file", write("a.txt", "hi\n"))
            .says("Wrote 3 bytes to a.txt (created).")
            .writes("a.txt", "hi\n"),
        case("c9 with the folders above it", write("/x/y/z.txt", "é"))
            .file("a", "")
            .says("Wrote 2 bytes to x/y/z.txt (created).")
            .writes("x/y/z.txt", "é"),
        case("c9 one byte", write("a", "x")).says("Wrote 1 byte to a (created).").writes("a", "x"),
        case("c9 an empty file", write("a", ""))
            .says("Wrote 0 bytes to a (created).")
            .writes("a", ""),
        case("c9 over an old one", write("a", "new"))
            .file("a", "old and longer")
            .says("Wrote 3 bytes to a (overwritten).")
            .writes("a", "new"),
        case("c9 over a binary one", write("a", "new"))
            .file("a", b"\xff\0")
            .says("Wrote 3 bytes to a (overwritten).")
            .writes("a", "new"),
        case("c9 the same content is no change", write("a", "same"))
            .file("a", "same")
            .says("a has this content already. Nothing changed."),
        case("c9 a large text travels once", write("a", &large))
            .says("Wrote 320000 bytes to a (created).")
            .writes("a", &large),
        case("c9 over a folder", write("src", "x"))
            .file("src/a", "")
            .fails(WrongFileType, "src is a folder. Name a file, or list the folder."),
        case("c9 with a slash at the end", write("src/", "x"))
            .fails(WrongFileType, "src/ names a folder. Name a file."),
        case("c9 below a file", write("a/b/c", "x"))
            .file("a", "")
            .fails(WrongFileType, "a is a file, not a folder."),
        case("c9 outside of the workspace", write("../a", "x")).fails(
            PermissionDenied,
            "../a leads out of the workspace. Use a path relative to the workspace.",
        ),
        case("c9 git's own files", write("sub/.git/hooks/pre-commit", "x")).fails(
            PermissionDenied,
            "sub/.git/hooks/pre-commit is protected: files of .git are not changed by tools.",
        ),
        case("c9 git's own files in capitals", write(".GIT/config", "x")).fails(
            PermissionDenied,
            ".GIT/config is protected: files of .git are not changed by tools.",
        ),
        case("c9 another version system's own files", write("sub/.HG/hgrc", "x")).fails(
            PermissionDenied,
            "sub/.HG/hgrc is protected: files of .hg are not changed by tools.",
        ),
        case("c9 .gitignore is like any other", write(".gitignore", "x"))
            .says("Wrote 1 byte to .gitignore (created).")
            .writes(".gitignore", "x"),
    ]
}
