//! Cases of texts that are not UTF-8.

use super::case::{Case, case};
use innerloop_core::action::ToolError::{Binary, InvalidArguments};
use innerloop_tools::ENCODINGS;
use serde_json::{Value, json};

/// "Grüße aus Köln, 5 €" in windows-1252.
const LATIN: &[u8] = b"# Gr\xfc\xdfe aus K\xf6ln\r\nprice = \"5 \x80\"\r\n";
const GBK: &[u8] = b"// \xd5\xe2\xca\xc7\xd2\xbb\xb8\xf6\xd3\xc3\xc0\xb4\xbc\xec\xb2\xe9\xb1\
    \xe0\xc2\xeb\xb5\xc4\xb2\xe2\xca\xd4\xce\xc4\xbc\xfe\n\
    int main() { return 0; }\n";
const GBK_EDITED: &[u8] = b"// \xd5\xe2\xca\xc7\xd2\xbb\xb8\xf6\xd3\xc3\xc0\xb4\xbc\xec\xb2\
    \xe9\xb1\xe0\xc2\xeb\xb5\xc4\xb2\xe2\xca\xd4\xce\xc4\xbc\xfe\n\
    int main() { return 1; } // \xd6\xd0\xce\xc4\n";
const SHIFT_JIS: &[u8] = b"# \x82\xb1\x82\xea\x82\xcd\x83e\x83X\x83g\x82\xcc\x82\xbd\x82\xdf\
    \x82\xcc\x83t\x83@\x83C\x83\x8b\x82\xc5\x82\xb7\n\
    print(1)\n";
const SHIFT_JIS_EDITED: &[u8] = b"# \x82\xb1\x82\xea\x82\xcd\x83e\x83X\x83g\x82\xcc\x82\xbd\
    \x82\xdf\x82\xcc\x83t\x83@\x83C\x83\x8b\x82\xc5\x82\xb7\n\
    print('\x93\xfa\x96{')\n";

pub(super) fn cases() -> Vec<Case> {
    [marked(), latin(), of_the_web(), broken()].concat()
}

fn read(name: &'static str) -> Case {
    case(name, json!({"action":"read","path":"a"}))
}

fn edit(name: &'static str, old: &str, new: &str) -> Case {
    case(name, json!({"action":"edit","path":"a","old":old,"new":new}))
}

fn grep(pattern: &str) -> Value {
    json!({"action":"grep","pattern":pattern})
}

fn utf16(text: &str, order: fn(u16) -> [u8; 2]) -> Vec<u8> {
    format!("\u{feff}{text}").encode_utf16().flat_map(order).collect()
}

fn marked() -> Vec<Case> {
    let little = |text: &str| utf16(text, u16::to_le_bytes);
    let big = |text: &str| utf16(text, u16::to_be_bytes);
    vec![
        read("c8 UTF-16 with a mark").file("a", little("größe 🙂\r\n2\r\n")).says("größe 🙂\n2"),
        read("c8 UTF-16 with the high byte first").file("a", big("größe\n2\n")).says("größe\n2"),
        case("c12 UTF-16 with a mark", grep("^gr.ße"))
            .file("a", little("größe\r\n2\r\n"))
            .file("b", big("x\ngröße\n"))
            .file("c", "größe\n")
            .says("a:1:größe\nb:2:größe\nc:1:größe"),
        case("c12 one file of UTF-16", json!({"action":"grep","pattern":"2","path":"a"}))
            .file("a", little("1\r\n2\r\n"))
            .says("a:2:2"),
        case("c12 matches over lines of UTF-16", {
            json!({"action":"grep","pattern":"1.*2","multiline":true,"mode":"count"})
        })
        .file("a", little("1\n2\n"))
        .says("a:1"),
        case("c16 UTF-16 with a mark", json!({"action":"read_many","include":["*"]}))
            .file("a", little("größe\n"))
            .says("--- a ---\n\ngröße\n\n--- End of content ---"),
        edit("c10 UTF-16 stays UTF-16", "2", "zwei 🙂\n3")
            .file("a", little("größe\r\n2\r\n"))
            .says("Edited a: 1 replacement at line 2.\n1 | \u{feff}größe\n2 | zwei 🙂\n3 | 3")
            .writes("a", little("größe\r\nzwei 🙂\r\n3\r\n")),
        edit("c10 UTF-16 with the high byte first stays so", "2", "3")
            .file("a", big("2\n"))
            .says("Edited a: 1 replacement at line 1.\n1 | \u{feff}3")
            .writes("a", big("3\n")),
        case("c9 UTF-16 stays UTF-16", json!({"action":"write","path":"a","content":"neu\n"}))
            .file("a", little("alt\n"))
            .says("Wrote 10 bytes to a (overwritten).")
            .writes("a", little("neu\n")),
        case("h1 UTF-16 stays UTF-16", {
            json!({
                "action": "patch",
                "patch": "*** Begin Patch\n*** Update File: a\n-zwei\n+2\n+3\n*** End Patch\n",
            })
        })
        .file("a", little("eins\r\nzwei\r\n"))
        .says("Success. Updated the following files:\nM a\n")
        .writes("a", little("eins\r\n2\r\n3\r\n")),
    ]
}

fn latin() -> Vec<Case> {
    let windows = "# Grüße aus Köln\r\nprice = \"5 €\"";
    let lines = "# Grüße aus Köln\nprice = \"5 €\"";
    let refused = |letter: &str| {
        format!(
            "a was not written: {letter} has no place in windows-1252, the encoding of the file. \
             Use other characters, or ask the user whether it may become UTF-8."
        )
    };
    vec![
        read("c8 Latin-1").file("a", LATIN).says(lines),
        case("c12 Latin-1", grep("grüße"))
            .file("a", b"gr\xfc\xdfe: 1\n")
            .file("b", "grüße: 2\n")
            .says("a:1:grüße: 1\nb:1:grüße: 2"),
        case("c16 Latin-1", json!({"action":"read_many","include":["a"]}))
            .file("a", LATIN)
            .says(format!("--- a ---\n\n{windows}\r\n\n--- End of content ---")),
        edit("c10 Latin-1 stays Latin-1", "aus Köln", "für Düsseldorf")
            .file("a", LATIN)
            .says(
                "Edited a: 1 replacement at line 1.\n1 | # Grüße für Düsseldorf\n2 | price = \"5 \
                 €\"",
            )
            .writes("a", b"# Gr\xfc\xdfe f\xfcr D\xfcsseldorf\r\nprice = \"5 \x80\"\r\n"),
        edit("c10 a character that has no place in Latin-1", "aus Köln", "aus 大阪")
            .file("a", LATIN)
            .fails(InvalidArguments, refused("大 (U+5927)")),
        case("c9 Latin-1 stays Latin-1", json!({"action":"write","path":"a","content":"ü\n"}))
            .file("a", LATIN)
            .says("Wrote 2 bytes to a (overwritten).")
            .writes("a", b"\xfc\n"),
        case("h1 Latin-1 stays Latin-1", {
            json!({
                "action": "patch",
                "patch": "*** Begin Patch\n*** Update File: a\n*** Move to: b\n-# Grüße aus Köln\n\
                          +# Grüße aus Zürich\n*** End Patch\n",
            })
        })
        .file("a", LATIN)
        .says("Success. Updated the following files:\nM b\n")
        .writes("b", b"# Gr\xfc\xdfe aus Z\xfcrich\r\nprice = \"5 \x80\"\r\n")
        .removes("a"),
        case("h4 a character that has no place in Latin-1", {
            json!({
                "action": "patch",
                "patch": "*** Begin Patch\n*** Add File: b\n+x\n*** Update File: a\n-# Grüße aus \
                          Köln\n+# 🙂\n*** End Patch\n",
            })
        })
        .file("a", LATIN)
        .fails(InvalidArguments, refused("🙂 (U+1F642)") + " No file was changed."),
    ]
}

/// Texts for which tables are needed.
fn of_the_web() -> Vec<Case> {
    let unknown = "a is not a text file: it is neither UTF-8, UTF-16 with a mark nor Latin-1, \
                   which are all that is known here.";
    if !ENCODINGS {
        return vec![
            read("c8 GBK in the page").file("a", GBK).fails(Binary, unknown),
            edit("c10 Shift_JIS in the page", "1", "2").file("a", SHIFT_JIS).fails(Binary, unknown),
        ];
    }
    vec![
        read("c8 GBK")
            .file("a", GBK)
            .says("// 这是一个用来检查编码的测试文件\nint main() { return 0; }"),
        case("c12 GBK and Shift_JIS", grep("测试|テスト"))
            .file("a", GBK)
            .file("b", SHIFT_JIS)
            .says(
                "a:1:// 这是一个用来检查编码的测试文件\nb:1:# これはテストのためのファイルです",
            ),
        edit("c10 GBK stays GBK", "return 0; }", "return 1; } // 中文")
            .file("a", GBK)
            .says(
                "Edited a: 1 replacement at line 2.\n1 | // 这是一个用来检查编码的测试文件\n2 | int \
                 main() { return 1; } // 中文",
            )
            .writes("a", GBK_EDITED),
        edit("c10 Shift_JIS stays Shift_JIS", "print(1)", "print('日本')")
            .file("a", SHIFT_JIS)
            .says(
                "Edited a: 1 replacement at line 2.\n1 | # これはテストのためのファイルです\n2 | \
                 print('日本')",
            )
            .writes("a", SHIFT_JIS_EDITED),
        edit("c10 a character that has no place in Shift_JIS", "print(1)", "print('한')")
            .file("a", SHIFT_JIS)
            .fails(
                InvalidArguments,
                "a was not written: 한 (U+D55C) has no place in Shift_JIS, the encoding of the \
                 file. Use other characters, or ask the user whether it may become UTF-8.",
            ),
    ]
}

fn broken() -> Vec<Case> {
    vec![
        read("c8 UTF-16 that is cut off")
            .file("a", b"\xff\xfea\0b")
            .fails(Binary, "a is not a text file: it is UTF-16 with broken characters."),
        read("c8 UTF-32")
            .file("a", b"\xff\xfe\0\0a\0\0\0")
            .fails(Binary, "a is not a text file: it contains NUL bytes."),
        edit("c10 UTF-8 that is cut off", "x", "y")
            .file("a", b"x \xc3\xa4 \xc3\xb6 \xc3\xbc \xe2\x82")
            .fails(Binary, "a is not a text file: it is UTF-8 with broken characters."),
        case("c12 UTF-8 that is cut off is searched", grep("ü"))
            .file("a", b"x \xc3\xa4 \xc3\xb6 \xc3\xbc \xe2\x82")
            .says("a:1:x ä ö ü \u{fffd}"),
    ]
}
