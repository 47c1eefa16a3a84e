//! Bytes as JSON: a text where they are UTF-8, base64 where they are not.

use innerloop_core::{
    bytes::BodyBytes,
    json::{from_str, to_string},
};

#[test]
fn bytes_that_are_no_text_are_written_in_base64_and_read_again() {
    for (bytes, json) in [
        (&b""[..], r#""""#),
        (b"caf\xc3\xa9", r#""café""#),
        (b"\xff", r#"{"base64":"/w=="}"#),
        (b"\xff\xfe", r#"{"base64":"//4="}"#),
        (b"\xfb\xef\xbe", r#"{"base64":"++++"}"#),
        (b"\x00\xff\x10\x80", r#"{"base64":"AP8QgA=="}"#),
    ] {
        let bytes = BodyBytes::from(bytes.to_vec());
        assert_eq!(to_string(&bytes), json);
        assert_eq!(from_str::<BodyBytes>(json).unwrap(), bytes);
    }
}

#[test]
fn base64_is_read_in_one_spelling_only() {
    let read = |text: &str| from_str::<BodyBytes>(&format!(r#"{{"base64":"{text}"}}"#));
    assert_eq!(read("").unwrap(), BodyBytes::default());
    assert_eq!(read("AAAA").unwrap(), BodyBytes::from(vec![0; 3]));
    for text in ["/", "/w", "/w=", "/w===", "/x==", "//5=", "_w==", "-_-_", " /w==", "/w==\\n", "é"]
    {
        assert!(read(text).is_err(), "{text}");
    }
}
