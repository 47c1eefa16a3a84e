//! Cases of `read`.

use super::case::{Case, case};
use innerloop_core::action::ToolError::{
    Binary, InvalidArguments, NotFound, PermissionDenied, WrongFileType,
};
use serde_json::json;

/// A picture of one pixel.
const GIF: &[u8] = b"GIF89a\x01\x00\x01\x00\x00\x00\x00;";

pub(super) fn cases() -> Vec<Case> {
    [lines(), contents(), failures(), paths()].concat()
}

fn lines() -> Vec<Case> {
    let ten: String = (1..=10).map(|n| format!("line {n}\n")).collect();
    vec![
        case(
            "c8 lines are numbered from 1",
            json!({"action":"read","path":"a","numbering":"pipe"}),
        )
        .file("a", "one\ntwo\n")
        .says("1 | one\n2 | two"),
        case(
            "c8 numbers are right-aligned",
            json!({"action":"read","path":"a","numbering":"pipe"}),
        )
        .file("a", &ten)
        .says(
            " 1 | line 1\n 2 | line 2\n 3 | line 3\n 4 | line 4\n 5 | line 5\n 6 | line 6\n \
                 7 | line 7\n 8 | line 8\n 9 | line 9\n10 | line 10",
        ),
        case("c8 without numbers", json!({"action":"read","path":"a"}))
            .file("a", "one\n\n  two")
            .says("one\n\n  two"),
        case(
            "c8 offset and limit choose lines",
            json!({"action":"read","path":"a","offset":9,"limit":1,"numbering":"pipe"}),
        )
        .file("a", &ten)
        .says("9 | line 9\n[Lines 9 to 9 of 10. Read on from line 10.]"),
        case(
            "c8 a page that reaches the end",
            json!({"action":"read","path":"a","offset":9,"limit":9}),
        )
        .file("a", &ten)
        .says("line 9\nline 10"),
        case(
            "c8 an offset of 0 is the first line",
            json!({"action":"read","path":"a","offset":0,"limit":1}),
        )
        .file("a", "one\ntwo")
        .says("one\n[Lines 1 to 1 of 2. Read on from line 2.]"),
        case(
            "c8 the greatest numbers do no harm",
            json!({"action":"read","path":"a","offset":1,"limit":u64::MAX}),
        )
        .file("a", "one\ntwo")
        .says("one\ntwo"),
        case("c8 an offset past the end", json!({"action":"read","path":"a","offset":11}))
            .file("a", &ten)
            .fails(InvalidArguments, "The offset 11 is past the end: a has 10 lines."),
        case("c8 an offset past one line", json!({"action":"read","path":"a","offset":2}))
            .file("a", "one\n")
            .fails(InvalidArguments, "The offset 2 is past the end: a has 1 line."),
        case("c8 a limit of 0", json!({"action":"read","path":"a","limit":0}))
            .file("a", "one\n")
            .fails(InvalidArguments, "The limit is 0 lines. Give at least 1, or leave it out."),
    ]
}

fn contents() -> Vec<Case> {
    let long = "x".repeat(300_000);
    vec![
        case("c8 an empty file says so", json!({"action":"read","path":"a"}))
            .file("a", "")
            .says("The file a is empty."),
        case(
            "c8 one line feed is one empty line",
            json!({"action":"read","path":"a","numbering":"pipe"}),
        )
        .file("a", "\n")
        .says("1 | "),
        case(
            "c8 carriage returns are not shown",
            json!({"action":"read","path":"a","numbering":"pipe"}),
        )
        .file("a", "one\r\ntwo\r\n")
        .says("1 | one\n2 | two"),
        case("c8 a byte order mark is not shown", json!({"action":"read","path":"a"}))
            .file("a", "\u{feff}one\n")
            .says("one"),
        case("c8 a long line stays whole", json!({"action":"read","path":"a"}))
            .file("a", &long)
            .says(long),
        case("c8 letters of any script", json!({"action":"read","path":"ordner/größe.txt"}))
            .file("ordner/größe.txt", "größe 大小 🙂\n")
            .says("größe 大小 🙂"),
        Case {
            image: Some(("image/gif", "R0lGODlhAQABAAAAADs=")),
            ..case("c8 an image is handed on", json!({"action":"read","path":"dot.gif"}))
                .file("dot.gif", GIF)
                .says("dot.gif: image/gif, 14 bytes.")
        },
        Case {
            image: Some(("image/png", "iVBORw0KGgo=")),
            ..case(
                "c8 an image by its bytes, not its name",
                json!({"action":"read","path":"a.txt"}),
            )
            .file("a.txt", b"\x89PNG\r\n\x1a\n")
            .says("a.txt: image/png, 8 bytes.")
        },
        Case {
            image: Some(("image/webp", "UklGRgAAAABXRUJQ")),
            ..case("c8 a webp image", json!({"action":"read","path":"a"}))
                .file("a", b"RIFF\0\0\0\0WEBP")
                .says("a: image/webp, 12 bytes.")
        },
        Case {
            image: Some(("image/jpeg", "/9j/4A==")),
            ..case("c8 a jpeg image", json!({"action":"read","path":"a"}))
                .file("a", b"\xff\xd8\xff\xe0")
                .says("a: image/jpeg, 4 bytes.")
        },
    ]
}

fn failures() -> Vec<Case> {
    vec![
        case("c8 a NUL makes it binary", json!({"action":"read","path":"a"}))
            .file("a", "one\0two")
            .fails(Binary, "a is not a text file: it contains NUL bytes."),
        case("c8 what is UTF-8 but for one place is binary", json!({"action":"read","path":"a"}))
            .file("a", b"caf\xc3\xa9 cr\xc3\xa8me br\xc3\xbbl\xc3\xa9e \xff")
            .fails(Binary, "a is not a text file: it is UTF-8 with broken characters."),
        case("c8 not found, nothing similar", json!({"action":"read","path":"x.py"}))
            .file("readme", "")
            .fails(NotFound, "No such file or folder: x.py. List . to see what is there."),
        case("c8 not found, a similar name", json!({"action":"read","path":"src/mian.ts"}))
            .file("src/main.ts", "")
            .file("src/other.ts", "")
            .fails(NotFound, "No such file or folder: src/mian.ts. Did you mean src/main.ts?"),
        case("c8 not found, another ending or case", json!({"action":"read","path":"src/app.js"}))
            .file("src/App.ts", "")
            .fails(NotFound, "No such file or folder: src/app.js. Did you mean src/App.ts?"),
        case("c8 not found, the folder is wrong", json!({"action":"read","path":"scr/a.ts"}))
            .file("src/a.ts", "")
            .fails(NotFound, "No such folder: scr. Did you mean src?"),
        case("c8 a file where a folder should be", json!({"action":"read","path":"a.txt/b"}))
            .file("a.txt", "")
            .fails(WrongFileType, "a.txt is a file, not a folder."),
        case("c8 a folder", json!({"action":"read","path":"src"}))
            .file("src/a", "")
            .fails(WrongFileType, "src is a folder. Name a file, or list the folder."),
        case("c8 a folder by its slash", json!({"action":"read","path":"src/"}))
            .file("src/a", "")
            .fails(WrongFileType, "src/ names a folder. Name a file."),
        case("c8 the workspace itself", json!({"action":"read","path":"."}))
            .fails(WrongFileType, ". names a folder. Name a file."),
    ]
}

fn paths() -> Vec<Case> {
    let read = |path: &str| json!({"action":"read","path":path});
    let outside = "leads out of the workspace. Use a path relative to the workspace.";
    vec![
        case("a leading slash is the workspace", read("/src/a")).file("src/a", "x").says("x"),
        case("dots and slashes are resolved", read("./src//lib/.././a"))
            .file("src/a", "x")
            .says("x"),
        case("a backslash is a slash", read("src\\a")).file("src/a", "x").says("x"),
        case("two dots above the workspace", read("../secret"))
            .fails(PermissionDenied, format!("../secret {outside}")),
        case("two dots above the workspace, later", read("src/../../secret"))
            .fails(PermissionDenied, format!("src/../../secret {outside}")),
        case("a leading slash climbs no further", read("/../etc/passwd"))
            .fails(PermissionDenied, format!("/../etc/passwd {outside}")),
        case("a drive", read("C:\\a")).fails(PermissionDenied, format!("C:\\a {outside}")),
        case("a home folder", read("~/a")).fails(PermissionDenied, format!("~/a {outside}")),
        case("an empty path", read(""))
            .fails(InvalidArguments, "The path is empty. Name a file, for example src/main.rs."),
        case("a NUL in a path", read("a\0b"))
            .fails(InvalidArguments, "The path contains a NUL character. Remove it."),
        case("a path without end", read(&"a/".repeat(3000)))
            .fails(InvalidArguments, "The path is longer than 4,096 bytes. Use a shorter one."),
    ]
}
