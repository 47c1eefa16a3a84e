//! The encodings of texts: how they are recognised, read, and written back byte for byte
//! (`docs/decisions.md#texts-that-are-not-utf-8`). UTF-16 with a mark and Windows' Latin-1 are
//! understood everywhere; the feature `encodings` adds all others of the web.

use innerloop_json::IntoList;
use memchr::memchr;
use std::{borrow::Cow, str};

/// True if all encodings of the web are known here.
pub const ENCODINGS: bool = cfg!(feature = "encodings");

/// The encoding of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum TextEncoding {
    #[default]
    Utf8,
    /// With a mark, the low byte first.
    Utf16Le,
    /// With a mark, the high byte first.
    Utf16Be,
    /// Windows-1252, of which Latin-1 is a part.
    Western,
    #[cfg(feature = "encodings")]
    Other(&'static encoding_rs::Encoding),
}

/// The byte order mark, as a character.
pub(crate) const MARK: char = '\u{feff}';

/// The characters of windows-1252 from 0x80 to 0x9f. Five places are unassigned and stand for the
/// control characters of their numbers.
const WESTERN: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// The number of bytes of a file that are inspected to tell whether it is text.
const SNIFFED_BYTES: usize = 8 << 10;

/// The reason why bytes that contain NUL are not text.
const NUL: &str = "it contains NUL bytes";

/// Decodes bytes to text, with its byte order mark, and its encoding; the error says why they are
/// not text.
pub(crate) fn decode(bytes: &[u8]) -> Result<(Cow<'_, str>, TextEncoding), &'static str> {
    if let Some(encoding) = marked(bytes) {
        const BROKEN: &str = "it is UTF-16 with broken characters";
        if !bytes.len().is_multiple_of(2) {
            return Err(BROKEN);
        }
        let mut text = String::with_capacity(bytes.len());
        for letter in char::decode_utf16(units(bytes, encoding)) {
            text.push(letter.map_err(|_| BROKEN)?);
        }
        return if text.contains('\0') { Err(NUL) } else { Ok((Cow::Owned(text), encoding)) };
    }
    if looks_binary(bytes) {
        return Err(NUL);
    }
    match str::from_utf8(bytes) {
        Ok(text) => Ok((Cow::Borrowed(text), TextEncoding::Utf8)),
        Err(_) if is_broken_utf8(bytes) => Err("it is UTF-8 with broken characters"),
        Err(_) => {
            let (text, encoding) = legacy(bytes)?;
            // An edit writes the whole file, so a text that would not come back byte for byte is
            // better not read.
            match encoding.encode(&text) {
                Ok(again) if *again == *bytes => Ok((Cow::Owned(text), encoding)),
                Ok(_) | Err(_) => Err(UNKNOWN),
            }
        }
    }
}

/// Returns the bytes as UTF-8 if they are text in another encoding; otherwise as they are.
pub(crate) fn as_utf8(bytes: &[u8]) -> Cow<'_, [u8]> {
    match decode(bytes) {
        Ok((Cow::Owned(text), _)) => Cow::Owned(text.into_bytes()),
        Ok((Cow::Borrowed(_), _)) | Err(_) => match marked(bytes) {
            Some(encoding) => {
                // Broken UTF-16 cannot be edited, but it can be searched.
                let units: Vec<u16> = units(bytes, encoding).into_list();
                Cow::Owned(String::from_utf16_lossy(&units).into_bytes())
            }
            None => Cow::Borrowed(bytes),
        },
    }
}

/// Returns the encoding that a byte order mark of UTF-16 names. With NUL characters behind it the
/// mark is that of UTF-32.
pub(crate) fn marked(bytes: &[u8]) -> Option<TextEncoding> {
    match bytes {
        [0xff, 0xfe, 0, 0, ..] => None,
        [0xff, 0xfe, ..] => Some(TextEncoding::Utf16Le),
        [0xfe, 0xff, ..] => Some(TextEncoding::Utf16Be),
        _ => None,
    }
}

/// Returns whether there is a NUL in the first 8 KiB and no mark of UTF-16, which is full of them.
#[must_use]
pub fn looks_binary(bytes: &[u8]) -> bool {
    marked(bytes).is_none() && memchr(0, bytes.get(..SNIFFED_BYTES).unwrap_or(bytes)).is_some()
}

fn units(bytes: &[u8], encoding: TextEncoding) -> impl Iterator<Item = u16> {
    bytes.chunks_exact(2).map(move |pair| {
        let pair = <[u8; 2]>::try_from(pair).unwrap_or_default();
        if encoding == TextEncoding::Utf16Be {
            u16::from_be_bytes(pair)
        } else {
            u16::from_le_bytes(pair)
        }
    })
}

/// Returns whether most of what is not ASCII is UTF-8.
fn is_broken_utf8(bytes: &[u8]) -> bool {
    let (mut good, mut broken) = (0_usize, 0_usize);
    for chunk in bytes.utf8_chunks() {
        good += chunk.valid().chars().filter(|letter| !letter.is_ascii()).count();
        broken += usize::from(!chunk.invalid().is_empty());
    }
    // Text of another encoding is hardly ever valid UTF-8, so this is UTF-8 with damage: to guess
    // another encoding for it would garble the rest.
    good > 2 * broken
}

/// Returns whether there are control characters that no text has.
fn has_controls(bytes: &[u8]) -> bool {
    bytes.iter().any(|byte| matches!(byte, 0..=7 | 0xe..=0x1a | 0x1c..=0x1f | 0x7f))
}

#[cfg(feature = "encodings")]
const UNKNOWN: &str = "it is in no encoding that is known here";
#[cfg(not(feature = "encodings"))]
const UNKNOWN: &str = "it is neither UTF-8, UTF-16 with a mark nor Latin-1, which are all that is \
                       known here";

/// Guesses the encoding of a text as browsers do.
#[cfg(feature = "encodings")]
fn legacy(bytes: &[u8]) -> Result<(String, TextEncoding), &'static str> {
    use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
    if has_controls(bytes) {
        return Err(UNKNOWN);
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    let guessed = detector.guess(None, Utf8Detection::Deny);
    // By the table that builds without the feature have, so that all hosts read such a file alike.
    if guessed == encoding_rs::WINDOWS_1252 {
        return Ok((western(bytes), TextEncoding::Western));
    }
    let text = guessed.decode_without_bom_handling_and_without_replacement(bytes);
    Ok((text.ok_or(UNKNOWN)?.into_owned(), TextEncoding::Other(guessed)))
}

/// Decodes text of Western Europe. It has few letters beyond ASCII, mostly single ones; other
/// encodings have pairs of bytes or whole words of them, or characters that are rare in such a
/// text.
#[cfg(not(feature = "encodings"))]
fn legacy(bytes: &[u8]) -> Result<(String, TextEncoding), &'static str> {
    let (mut runs, mut long) = (0_usize, 0_usize);
    for run in bytes.split(u8::is_ascii).filter(|run| !run.is_empty()) {
        runs += 1;
        long += usize::from(run.len() > 2);
    }
    let is_rare = |byte: &u8| matches!(byte, 0x81..=0x83 | 0x86..=0x8b | 0x8d..=0x90 | 0x98 | 0x9d);
    if has_controls(bytes) || bytes.iter().any(is_rare) || 4 * long > runs {
        return Err(UNKNOWN);
    }
    Ok((western(bytes), TextEncoding::Western))
}

fn western(bytes: &[u8]) -> String {
    let letter = |byte: &u8| match byte.checked_sub(0x80) {
        Some(high) => WESTERN.get(usize::from(high)).copied().unwrap_or(char::from(*byte)),
        None => char::from(*byte),
    };
    bytes.iter().map(letter).collect()
}

impl TextEncoding {
    /// Returns the encoding of a file with these bytes, for the text that takes their place.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        decode(bytes).map_or(Self::Utf8, |(_, encoding)| encoding)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "UTF-8",
            Self::Utf16Le | Self::Utf16Be => "UTF-16",
            Self::Western => "windows-1252",
            #[cfg(feature = "encodings")]
            Self::Other(encoding) => encoding.name(),
        }
    }

    /// Encodes a text, or returns the first character that the encoding lacks.
    pub(crate) fn encode(self, text: &str) -> Result<Cow<'_, [u8]>, char> {
        let bytes: Vec<u8> = match self {
            Self::Utf8 => return Ok(Cow::Borrowed(text.as_bytes())),
            Self::Utf16Le => in_utf16(text, u16::to_le_bytes),
            Self::Utf16Be => in_utf16(text, u16::to_be_bytes),
            Self::Western => {
                let mut bytes = Vec::with_capacity(text.len());
                for letter in text.chars() {
                    bytes.push(of_western(letter).ok_or(letter)?);
                }
                bytes
            }
            #[cfg(feature = "encodings")]
            Self::Other(encoding) => encode_other(encoding, text)?,
        };
        Ok(Cow::Owned(bytes))
    }
}

/// Returns a text in UTF-16, beginning with a mark.
fn in_utf16(text: &str, order: fn(u16) -> [u8; 2]) -> Vec<u8> {
    // The mark stays even if the new text lacks it: without one the file would not be read as
    // UTF-16 again.
    let unmarked = text.strip_prefix(MARK).unwrap_or(text);
    let mut bytes = order(0xfeff).to_vec();
    unmarked.encode_utf16().for_each(|unit| bytes.extend_from_slice(&order(unit)));
    bytes
}

fn of_western(letter: char) -> Option<u8> {
    match u8::try_from(letter) {
        Ok(byte) if !(0x80..0xa0).contains(&byte) => Some(byte),
        _ => {
            let place = WESTERN.iter().position(|other| *other == letter)?;
            u8::try_from(place + 0x80).ok()
        }
    }
}

#[cfg(feature = "encodings")]
fn encode_other(encoding: &'static encoding_rs::Encoding, text: &str) -> Result<Vec<u8>, char> {
    use encoding_rs::EncoderResult;
    let mut encoder = encoding.new_encoder();
    let mut out = Vec::new();
    let mut rest = text;
    loop {
        out.reserve(rest.len() + 64);
        let (result, read) =
            encoder.encode_from_utf8_to_vec_without_replacement(rest, &mut out, true);
        rest = rest.get(read..).unwrap_or_default();
        match result {
            EncoderResult::InputEmpty => return Ok(out),
            EncoderResult::OutputFull => {}
            EncoderResult::Unmappable(letter) => return Err(letter),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail at once")]

    use super::*;

    fn utf16(text: &str, is_big: bool) -> Vec<u8> {
        let order = if is_big { u16::to_be_bytes } else { u16::to_le_bytes };
        format!("{MARK}{text}").encode_utf16().flat_map(order).collect()
    }

    #[test]
    fn texts_are_what_they_are_in_every_encoding_and_are_written_back_so() {
        let latin = b"Gr\xfc\xdfe aus K\xf6ln \x96 f\xfcr 5 \x80\r\n".to_vec();
        for (bytes, text, encoding) in [
            ("größe\n".as_bytes().to_vec(), "größe\n", "UTF-8"),
            (utf16("größe 🙂\r\n", false), "\u{feff}größe 🙂\r\n", "UTF-16"),
            (utf16("größe 🙂\n", true), "\u{feff}größe 🙂\n", "UTF-16"),
            (latin, "Grüße aus Köln – für 5 €\r\n", "windows-1252"),
        ] {
            let (decoded, found) = decode(&bytes).unwrap();
            assert_eq!((&*decoded, found.name()), (text, encoding));
            assert_eq!(*found.encode(&decoded).unwrap(), bytes);
        }
    }

    #[test]
    fn what_is_no_text_is_not_taken_for_one() {
        let mut odd = utf16("ab", false);
        odd.push(b'c');
        for (bytes, why) in [
            (&b"a\0b"[..], NUL),
            (&b"\xff\xfe\0\0a\0\0\0"[..], NUL),
            (&utf16("a\0b", false), NUL),
            (&odd, "it is UTF-16 with broken characters"),
            (&b"\xff\xfe\x00\xd8a\0"[..], "it is UTF-16 with broken characters"),
            (
                "größe über größe \u{fffd}".as_bytes().split_last().unwrap().1,
                "it is UTF-8 with broken characters",
            ),
            (&b"\xff\x01\x02"[..], UNKNOWN),
        ] {
            assert_eq!(decode(bytes).unwrap_err(), why, "{bytes:?}");
        }
    }

    #[test]
    fn a_character_without_a_place_is_named() {
        assert_eq!(TextEncoding::Western.encode("5 € für 大"), Err('大'));
        assert_eq!(TextEncoding::Western.encode("\u{80}"), Err('\u{80}'));
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(*TextEncoding::Western.encode(&western(&all)).unwrap(), all);
    }

    #[cfg(feature = "encodings")]
    #[test]
    fn encodings_of_the_web_are_guessed_and_written_back() {
        for (name, text) in [
            ("GBK", "// 这是一个简单的测试文件，用来检查编码\nint main() { return 0; }\n"),
            ("Shift_JIS", "# これはテストのためのファイルです\nprint(\"日本語の文章\")\n"),
            ("EUC-KR", "# 이것은 인코딩을 시험하기 위한 파일입니다\nprint(1)\n"),
            ("windows-1251", "// Это проверка кодировки файла с русским текстом\nint x = 1;\n"),
        ] {
            let encoding = encoding_rs::Encoding::for_label(name.as_bytes()).unwrap();
            let (bytes, _, _) = encoding.encode(text);
            let (decoded, found) = decode(&bytes).unwrap();
            assert_eq!((&*decoded, found.name()), (text, name));
            assert_eq!(found.encode(&decoded).unwrap(), bytes);
            assert_eq!(found.encode("a 🙂"), Err('🙂'), "{name}");
        }
    }

    #[cfg(not(feature = "encodings"))]
    #[test]
    fn other_encodings_are_not_taken_for_latin_1() {
        for bytes in [
            // GBK, Shift_JIS, windows-1251.
            &b"// \xd5\xe2\xca\xc7\xd2\xbb\xb8\xf6\xb2\xe2\xca\xd4\n"[..],
            b"# \x82\xb1\x82\xea\x82\xcd\x83e\x83X\x83g\n",
            b"// \xdd\xf2\xee \xef\xf0\xee\xe2\xe5\xf0\xea\xe0\n",
        ] {
            assert_eq!(decode(bytes).unwrap_err(), UNKNOWN);
        }
    }
}
