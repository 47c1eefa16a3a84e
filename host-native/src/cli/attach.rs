//! What goes to the model beside the prompt: pictures, PDFs, texts. What a file is, its first bytes
//! say, not its name.

use super::exit::Failure;
use base64ct::{Base64, Encoding as _};
use innerloop_core::message::Part;
use std::{
    fs::{self, File},
    io::Read as _,
    path::Path,
};

/// Most bytes of one file. Providers take less in a whole request than many such files.
const MOST_BYTES: u64 = 20 << 20;

/// Reads what the user has named: addresses of pictures, and files.
///
/// # Errors
/// A file that can't be read, is too large, or holds what no model takes.
pub(super) fn read(named: &[String]) -> Result<Vec<Part>, Failure> {
    named.iter().map(|name| part(name)).collect()
}

fn part(name: &str) -> Result<Part, Failure> {
    if name.starts_with("https://") || name.starts_with("http://") {
        return Ok(Part::ImageUrl { url: name.to_owned() });
    }
    let unusable = |why: &dyn std::fmt::Display| Failure::usage(format!("--attach {name}: {why}"));
    let mut bytes = Vec::new();
    let found = fs::metadata(name).map_err(|error| unusable(&error))?;
    if !found.is_file() {
        return Err(unusable(&"it is no file"));
    }
    let file = File::open(name).map_err(|error| unusable(&error))?;
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| unusable(&error))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(unusable(&"it has more than 20 MiB"));
    }
    let last = Path::new(name).file_name().unwrap_or_default().to_string_lossy().into_owned();
    if let Some(media_type) = picture(&bytes) {
        let (media_type, data) = (media_type.to_owned(), Base64::encode_string(&bytes));
        return Ok(Part::Image { media_type, data });
    }
    if bytes.starts_with(b"%PDF-") {
        let (media_type, data) = ("application/pdf".to_owned(), Base64::encode_string(&bytes));
        return Ok(Part::File { media_type, name: last, data });
    }
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(Part::text(format!("{last}:\n\n{text}"))),
        _ => Err(unusable(&"it is neither a picture (PNG, JPEG, GIF, WebP) nor a PDF nor text")),
    }
}

/// The type of a picture that models take.
fn picture(bytes: &[u8]) -> Option<&'static str> {
    let is_webp = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        _ => is_webp.then_some("image/webp"),
    }
}
