//! Bytes in base64, as RFC 4648 describes it, with padding. Decoding is strict: it accepts only the
//! text that encoding the bytes gives.

use alloc::{string::String, vec::Vec};

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Returns the bytes in base64.
#[must_use]
pub fn encoded(bytes: &[u8]) -> String {
    let mut text = Vec::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |at: usize| group.get(at).copied().map_or(0, usize::from);
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let digit = DIGITS.get(bits >> (18 - 6 * place) & 63);
            // A group of one byte has two digits, one of two bytes three.
            text.push(*digit.filter(|_| place <= group.len()).unwrap_or(&b'='));
        }
    }
    String::from_utf8(text).unwrap_or_default()
}

/// Returns the bytes of a text in base64; `None` if it is not valid.
#[must_use]
pub fn decoded(text: &str) -> Option<Vec<u8>> {
    let padding = text.bytes().rev().take(2).take_while(|byte| *byte == b'=').count();
    let digits = text.as_bytes().get(..text.len() - padding)?;
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0);
    for digit in digits {
        bits = bits << 6 | u32::from(value(*digit)?);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count).ok()?);
            bits &= (1 << count) - 1;
        }
    }
    // Bits left over would make this a second text for the same bytes.
    (bits == 0 && text.len().is_multiple_of(4)).then_some(bytes)
}

/// Returns the six bits of a digit; `None` for another character.
#[must_use]
pub const fn value(digit: u8) -> Option<u8> {
    match digit {
        b'A'..=b'Z' => Some(digit - b'A'),
        b'a'..=b'z' => Some(digit - b'a' + 26),
        b'0'..=b'9' => Some(digit - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{decoded, encoded};
    use alloc::{format, vec, vec::Vec};

    #[test]
    fn bytes_have_the_texts_of_the_standard() {
        let texts = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"];
        for (length, text) in texts.into_iter().enumerate() {
            let bytes = b"foobar".get(..length).unwrap();
            assert_eq!(encoded(bytes), text);
            assert_eq!(decoded(text).as_deref(), Some(bytes));
        }
        assert_eq!(encoded(&[0xff, 0xef, 0xbe]), "/+++");
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(decoded(&encoded(&all)), Some(all));
    }

    #[test]
    fn each_text_of_two_digits_that_is_read_is_the_one_that_is_written() {
        let mut read = 0;
        for (one, other) in (0..128).flat_map(|one| (0..128).map(move |other| (one, other))) {
            let text = format!("{}{}==", char::from(one), char::from(other));
            if let Some(bytes) = decoded(&text) {
                assert_eq!((bytes.len(), encoded(&bytes)), (1, text));
                read += 1;
            }
        }
        assert_eq!(read, 256);
    }

    #[test]
    fn what_is_no_base64_is_not_read() {
        let texts =
            ["Z", "Zg", "Zg=", "Zm8", "Zg===", "Zm9v=", "====", "=", "Zm=v", "Zm9v\n", "Zm-v"];
        for text in texts {
            assert_eq!(decoded(text), None, "{text}");
        }
        assert_eq!(decoded("AA=="), Some(vec![0]));
    }
}
