//! The text of a page from its bytes, by the character set that the page declares or that its bytes
//! show.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use std::str;

/// The number of bytes at a page's start in which it may name its character set, as in HTML.
const HEAD: usize = 1024;

/// Returns the text of a page: by its byte order mark, the set that its header names, or the one
/// that it names itself; else as UTF-8 if it is that, and as windows-1252 if not. Where it
/// `is_cut`, its last character may be cut, too.
pub(super) fn decode(body: &[u8], is_cut: bool, header: Option<&str>) -> String {
    let named = header.and_then(|label| Encoding::for_label(label.as_bytes()));
    let set = named.or_else(|| named_inside(body)).unwrap_or_else(|| match str::from_utf8(body) {
        Ok(_) => UTF_8,
        Err(error) if is_cut && error.error_len().is_none() => UTF_8,
        Err(_) => WINDOWS_1252,
    });
    // `decode` prefers a byte order mark to the given set.
    let (text, ..) = set.decode(body);
    text.into_owned()
}

/// Returns the character set that HTML or XML names at its start.
fn named_inside(body: &[u8]) -> Option<&'static Encoding> {
    let head = body.get(..HEAD).unwrap_or(body).to_ascii_lowercase();
    let head = String::from_utf8_lossy(&head);
    let start = head.trim_start_matches('\u{feff}').trim_start();
    let named = if start.starts_with("<?xml") {
        let (declaration, _) = start.split_once("?>")?;
        declaration.split_once("encoding=")
    } else if start.starts_with('<') {
        start.split_once("charset=")
    } else {
        None
    };
    let (_, label) = named?;
    let label = label.trim_start_matches(['"', '\'', ' ']);
    let end = label.find(['"', '\'', ' ', '>', '/', ';', '?']).unwrap_or(label.len());
    let set = Encoding::for_label(label.get(..end)?.as_bytes())?;
    // The name could be read as ASCII, so that the page can't be UTF-16. The HTML standard takes it
    // for UTF-8.
    Some(if set == UTF_16BE || set == UTF_16LE { UTF_8 } else { set })
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn c16_a_page_is_read_in_its_character_set() {
        for (body, header, text) in [
            (&b"caf\xc3\xa9"[..], None, "café"),
            (b"caf\xe9 \x80", None, "café €"),
            (b"caf\xe9", Some("ISO-8859-1"), "café"),
            (b"caf\xc3\xa9", Some("nonsense"), "café"),
            (b"caf\xc3\xa9 \xff", Some("utf-8"), "café \u{fffd}"),
            (b"caf\xe9", None, "café"),
            (b"\xef\xbb\xbfcaf\xc3\xa9", Some("iso-8859-1"), "café"),
            (b"\xff\xfec\0a\0", None, "ca"),
            (b"\x83e\x83X\x83g", Some("shift_jis"), "テスト"),
            (b"<meta charset=koi8-r>\xd4", None, "<meta charset=koi8-r>т"),
            (b"<meta charset=\"utf-16\">\xc3\xa9", None, "<meta charset=\"utf-16\">é"),
            (
                b"<?xml version='1.0' encoding='windows-1251'?><a>\xd4</a>",
                None,
                "<?xml version='1.0' encoding='windows-1251'?><a>Ф</a>",
            ),
            (b"charset=koi8-r \xc3\xa9", None, "charset=koi8-r é"),
            (b"", None, ""),
        ] {
            assert_eq!(decode(body, false, header), text);
        }
        assert_eq!(decode(b"caf\xc3\xa9 \xe2\x82", true, None), "café \u{fffd}");
        assert_eq!(decode(b"caf\xe9 ", true, None), "café ");
    }
}
