//! Pictures and PDFs as their own bytes describe them: the type, the size in pixels or pages, and
//! whether the end is missing. A picture's base64 is not decoded as a whole, only where the answer
//! stands.

use innerloop_json::base64::{decoded, value};
use innerloop_types::steps;

/// A picture, as far as its own bytes describe it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PictureInfo {
    pub(crate) media_type: &'static str,
    /// The longer side in pixels.
    pub(crate) side_px: u32,
    /// True if bytes are missing at its end.
    pub(crate) is_cut: bool,
}

/// A format's way to find the width, the height, and whether bytes are missing.
type PictureProbe = fn(&Base64Bytes<'_>) -> Option<(u32, u32, bool)>;

impl PictureInfo {
    /// Returns the description of the picture in that base64 text; nothing if it is of no type that
    /// models take, or too short to say.
    #[must_use]
    pub(crate) fn of(base64: &str) -> Option<Self> {
        let bytes = Base64Bytes(base64.as_bytes());
        let (media_type, look): (_, PictureProbe) = if bytes.is_at(0, b"\x89PNG\r\n\x1a\n") {
            ("image/png", png)
        } else if bytes.is_at(0, b"\xff\xd8\xff") {
            ("image/jpeg", jpeg)
        } else if bytes.is_at(0, b"GIF8") {
            ("image/gif", gif)
        } else if bytes.is_at(0, b"RIFF") && bytes.is_at(8, b"WEBP") {
            ("image/webp", webp)
        } else {
            return None;
        };
        let (width, height, is_cut) = look(&bytes)?;
        Some(Self { media_type, side_px: width.max(height), is_cut })
    }
}

/// Returns whether a text is base64, without line ends and with or without padding.
#[must_use]
pub(crate) fn is_base64(text: &str) -> bool {
    steps::count(text.len());
    let digits = text.trim_end_matches('=');
    let padding = text.len() - digits.len();
    let fits = padding == 0 || (padding <= 2 && text.len().is_multiple_of(4));
    fits && digits.len() % 4 != 1 && digits.bytes().all(|byte| value(byte).is_some())
}

/// Returns the number of pages that a PDF names openly: fewer than it has where objects are
/// compressed, so that only what is certainly too long is refused.
#[must_use]
pub(crate) fn pdf_pages(base64: &str) -> usize {
    steps::count(base64.len());
    let bytes = decoded(base64).unwrap_or_default();
    let mut words = bytes.split(|byte| b" \t\r\n".contains(byte)).filter(|word| !word.is_empty());
    let mut pages = 0;
    let mut before: &[u8] = &[];
    for word in &mut words {
        // `/Type /Page` or `/Type/Page`, with no letter behind it.
        let parts = || word.split(|&byte| byte == b'/').skip(1);
        let is_page = |name: &[u8]| {
            let rest = name.strip_prefix(b"Page".as_slice());
            rest.is_some_and(|rest| !rest.first().is_some_and(u8::is_ascii_alphanumeric))
        };
        let mut last = before;
        for name in parts() {
            pages += usize::from(last == b"Type" && is_page(name));
            last = name;
        }
        before = last;
    }
    pages
}

/// The bytes that a text in base64 stands for.
struct Base64Bytes<'a>(&'a [u8]);

impl Base64Bytes<'_> {
    fn len(&self) -> usize {
        let padding = self.0.iter().rev().take(2).take_while(|&&byte| byte == b'=').count();
        (self.0.len() - padding) * 3 / 4
    }

    fn get(&self, at: usize) -> Option<u8> {
        let (group, place) = (at / 3 * 4, at % 3);
        let digit = |n: usize| self.0.get(group + n).and_then(|&byte| value(byte));
        let (high, low) = (digit(place)?, digit(place + 1)?);
        let shifted = match place {
            0 => high << 2 | low >> 4,
            1 => high << 4 | low >> 2,
            _ => high << 6 | low,
        };
        Some(shifted)
    }

    fn is_at(&self, at: usize, wanted: &[u8]) -> bool {
        wanted.iter().enumerate().all(|(n, byte)| self.get(at + n) == Some(*byte))
    }

    /// Reads a number of so many bytes, the highest first.
    fn big(&self, at: usize, bytes: usize) -> Option<u32> {
        (at..at + bytes).try_fold(0_u32, |all, at| Some(all << 8 | u32::from(self.get(at)?)))
    }

    /// Reads a number of so many bytes, the lowest first.
    fn little(&self, at: usize, bytes: usize) -> Option<u32> {
        (at..at + bytes).rev().try_fold(0_u32, |all, at| Some(all << 8 | u32::from(self.get(at)?)))
    }
}

/// Returns width, height, and whether the last chunk is missing.
fn png(bytes: &Base64Bytes<'_>) -> Option<(u32, u32, bool)> {
    let (width, height) = (bytes.big(16, 4)?, bytes.big(20, 4)?);
    let mut at = 8_usize;
    let is_cut = loop {
        steps::count(12);
        let Some(length) = bytes.big(at, 4) else { break true };
        if bytes.is_at(at + 4, b"IEND") {
            break false;
        }
        at = at.saturating_add(12).saturating_add(usize::try_from(length).unwrap_or(usize::MAX));
        if at >= bytes.len() {
            break true;
        }
    };
    Some((width, height, is_cut))
}

/// Returns width and height from the frame's header, and whether that is missing.
fn jpeg(bytes: &Base64Bytes<'_>) -> Option<(u32, u32, bool)> {
    let mut at = 2;
    loop {
        steps::count(4);
        if bytes.get(at) != Some(0xff) {
            // Something else, or the end: no decoder finds a picture there.
            return Some((0, 0, true));
        }
        match bytes.get(at + 1) {
            Some(0xff) => at += 1,
            // These markers have no length behind them.
            Some(0x01 | 0xd0..=0xd8) => at += 2,
            // Frame headers; 0xc4, 0xc8 and 0xcc among them are tables and a reserved code.
            Some(0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf) => {
                let (Some(height), Some(width)) = (bytes.big(at + 5, 2), bytes.big(at + 7, 2))
                else {
                    return Some((0, 0, true));
                };
                // The data behind has no length: to find its end, all of it would have to be read.
                return Some((width, height, false));
            }
            Some(_) => {
                let length = bytes.big(at + 2, 2).unwrap_or(u32::MAX).max(2);
                at = at.saturating_add(2 + usize::try_from(length).unwrap_or(usize::MAX / 2));
                if at >= bytes.len() {
                    return Some((0, 0, true));
                }
            }
            None => return Some((0, 0, true)),
        }
    }
}

fn gif(bytes: &Base64Bytes<'_>) -> Option<(u32, u32, bool)> {
    Some((bytes.little(6, 2)?, bytes.little(8, 2)?, false))
}

/// Returns width, height, and whether the file is shorter than it says.
fn webp(bytes: &Base64Bytes<'_>) -> Option<(u32, u32, bool)> {
    let said = bytes.little(4, 4)?;
    let is_cut = usize::try_from(said).unwrap_or(usize::MAX).saturating_add(7) > bytes.len();
    // `VP8X` and `VP8L` store each side less one, the lossy form stores it as it is.
    let (width, height) = if bytes.is_at(12, b"VP8X") {
        (bytes.little(24, 3)? + 1, bytes.little(27, 3)? + 1)
    } else if bytes.is_at(12, b"VP8L") {
        let bits = bytes.little(21, 4)?;
        ((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1)
    } else {
        (bytes.little(26, 2)? & 0x3fff, bytes.little(28, 2)? & 0x3fff)
    };
    Some((width, height, is_cut))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use innerloop_json::base64::encoded;

    fn png(width: u32, height: u32, data: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        bytes.extend(width.to_be_bytes());
        bytes.extend(height.to_be_bytes());
        bytes.extend(b"\x08\x02\0\0\0CRC.");
        bytes.extend(u32::try_from(data.len()).unwrap().to_be_bytes());
        bytes.extend(b"IDAT");
        bytes.extend(data);
        bytes.extend(b"CRC.\0\0\0\0IENDCRC.");
        bytes
    }

    fn of(bytes: &[u8]) -> Option<(&'static str, u32, bool)> {
        PictureInfo::of(&encoded(bytes)).map(|it| (it.media_type, it.side_px, it.is_cut))
    }

    #[test]
    fn each_type_says_how_large_it_is() {
        assert_eq!(of(&png(9_000, 10, b"data")), Some(("image/png", 9_000, false)));
        assert_eq!(of(b"GIF89a\x20\x03\x58\x02\0\0\0;"), Some(("image/gif", 800, false)));
        let jpeg = b"\xff\xd8\xff\xe0\0\x04ab\xff\xff\xc2\0\x0b\x08\x04\x38\x07\x80\x01\x01\x11\0";
        assert_eq!(of(jpeg), Some(("image/jpeg", 1_920, false)));
        let lossy = b"RIFF\x18\0\0\0WEBPVP8 \x0c\0\0\0abc\x9d\x01\x2a\x20\x03\x58\x02ab";
        assert_eq!(of(lossy), Some(("image/webp", 800, false)));
        let lossless = b"RIFF\x12\0\0\0WEBPVP8L\x05\0\0\0\x2f\x1f\xc3\x95\0\0";
        assert_eq!(of(lossless), Some(("image/webp", 800, false)));
        let extended = b"RIFF\x16\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x1f\x03\0\x57\x02\0";
        assert_eq!(of(extended), Some(("image/webp", 800, false)));
        assert_eq!(of(b"BM123456789012345678901234567890"), None);
    }

    #[test]
    fn what_is_cut_off_is_known_at_any_place() {
        let whole = png(800, 600, &[7; 5_000]);
        for end in 24..whole.len() - 8 {
            assert_eq!(of(&whole[..end]), Some(("image/png", 800, true)), "{end}");
        }
        assert_eq!(of(&whole[..20]), None, "too short to tell");
        assert_eq!(of(b"\xff\xd8\xff\xe0\x10\0ab"), Some(("image/jpeg", 0, true)));
        let short = b"RIFF\xff\0\0\0WEBPVP8 \x0c\0\0\0abc\x9d\x01\x2a\x20\x03\x58\x02ab";
        assert_eq!(of(short), Some(("image/webp", 800, true)));
        let mut huge = png(1, 1, b"");
        huge[33..37].fill(0xff);
        assert_eq!(of(&huge), Some(("image/png", 1, true)), "a length beyond all bounds");
    }

    #[test]
    fn base64_is_told_from_other_text() {
        for good in ["", "QQ==", "QUI=", "QUJD", "QUJDRA", "a+/9"] {
            assert!(is_base64(good), "{good}");
        }
        for bad in ["data:image/png;base64,QUJD", "QU JD", "QUJD\n", "A", "QQ=", "Q===", "Q-_D"] {
            assert!(!is_base64(bad), "{bad}");
        }
    }

    #[test]
    fn pages_of_a_pdf_are_counted_where_they_are_named() {
        let page = "1 0 obj <</Type /Page /Parent 2 0 R>> endobj\n2 0 obj<</Type/Page/X 1>>\n";
        let text = alloc::format!("%PDF-1.4 <</Type/Pages/Count 4>>\n{}", page.repeat(2));
        assert_eq!(pdf_pages(&encoded(text.as_bytes())), 4);
        assert_eq!(pdf_pages(&encoded(b"%PDF-1.4 <</Type /Page>>")), 1);
        assert_eq!(pdf_pages("no base64!"), 0);
    }
}
