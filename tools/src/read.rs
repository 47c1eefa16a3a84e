//! Reading a file's lines, or an image whole.

use crate::{explain, files::Files};
use base64::{Engine, engine::general_purpose::STANDARD};
use innerloop_core::action::{Numbering, Outcome, Part, ToolError};
use memchr::{memchr, memchr_iter};
use std::{fmt::Write, str};

/// The largest image that is handed to the model, 5 MiB.
const MAX_IMAGE_BYTES: usize = 5 << 20;
/// How much of a file is looked at to tell whether it is text.
const SNIFFED_BYTES: usize = 8 << 10;

pub(crate) fn read(
    files: &impl Files,
    path: &str,
    offset: Option<u64>,
    limit: Option<u64>,
    numbering: Numbering,
) -> Result<Outcome, Outcome> {
    let path = explain::file_path(path)?;
    if limit == Some(0) {
        return Err(explain::error(
            ToolError::InvalidArguments,
            "The limit is 0 lines. Give at least 1, or leave it out.",
        ));
    }
    let bytes = files.read(&path).map_err(|error| explain::failed(files, &path, &error))?;
    if let Some(media_type) = image_type(&bytes) {
        return image(&path.to_string(), media_type, &bytes);
    }
    let text = text(&bytes).map_err(|why| binary(&path.to_string(), why))?;
    if text.is_empty() {
        return Ok(Outcome::text(format!("The file {path} is empty.")));
    }
    let page = Page { first: offset.unwrap_or(1).max(1), limit: limit.unwrap_or(u64::MAX) };
    page.render(text, numbering).map(Outcome::text).map_err(|lines| {
        let plural = if lines == 1 { "line" } else { "lines" };
        explain::error(
            ToolError::InvalidArguments,
            format!("The offset {} is past the end: {path} has {lines} {plural}.", page.first),
        )
    })
}

/// The file's text without a byte order mark, or why it is not text.
pub(crate) fn text(bytes: &[u8]) -> Result<&str, &'static str> {
    if looks_binary(bytes) {
        return Err("it contains NUL bytes");
    }
    let text = str::from_utf8(bytes).map_err(|_| "it is not UTF-8")?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Whether a NUL stands among the first 8 KiB.
pub(crate) fn looks_binary(bytes: &[u8]) -> bool {
    memchr(0, bytes.get(..SNIFFED_BYTES).unwrap_or(bytes)).is_some()
}

pub(crate) fn binary(path: &str, why: &str) -> Outcome {
    explain::error(ToolError::Binary, format!("{path} is not a text file: {why}."))
}

/// A part of a file's lines.
struct Page {
    first: u64,
    limit: u64,
}

impl Page {
    /// The lines of the page; if it begins past the end, how many lines there are.
    fn render(&self, text: &str, numbering: Numbering) -> Result<String, u64> {
        let total = line_count(text);
        if self.first > total {
            return Err(total);
        }
        let last = total.min(self.first.saturating_add(self.limit - 1));
        let width = decimal_width(last);
        let mut out = String::with_capacity(text.len().min(1 << 20));
        let skipped = usize::try_from(self.first - 1).unwrap_or(usize::MAX);
        for (line, number) in text.lines().skip(skipped).zip(self.first..=last) {
            if number > self.first {
                out.push('\n');
            }
            if numbering == Numbering::Pipe {
                // Writing to a string cannot fail.
                let _ = write!(out, "{number:>width$} | ");
            }
            out.push_str(line);
        }
        if last < total {
            let first = self.first;
            let next = last + 1;
            let _ =
                write!(out, "\n[Lines {first} to {last} of {total}. Read on from line {next}.]");
        }
        Ok(out)
    }
}

pub(crate) fn decimal_width(number: u64) -> usize {
    number.checked_ilog10().map_or(1, |log| usize::try_from(log).unwrap_or(0) + 1)
}

/// How many lines a text has; a line feed at its end begins no line.
fn line_count(text: &str) -> u64 {
    let feeds = memchr_iter(b'\n', text.as_bytes()).count();
    let open = usize::from(!text.is_empty() && !text.ends_with('\n'));
    u64::try_from(feeds + open).unwrap_or(u64::MAX)
}

/// The media type of an image that models take, told from its first bytes.
fn image_type(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        Some("image/png")
    } else if bytes.starts_with(b"\xff\xd8\xff") {
        Some("image/jpeg")
    } else if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") {
        Some("image/gif")
    } else if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        Some("image/webp")
    } else {
        None
    }
}

fn image(path: &str, media_type: &str, bytes: &[u8]) -> Result<Outcome, Outcome> {
    let size = bytes.len();
    if size > MAX_IMAGE_BYTES {
        return Err(explain::error(
            ToolError::TooLarge,
            format!("The image {path} has {size} bytes; models take at most 5 MiB."),
        ));
    }
    let label = Part::text(format!("{path}: {media_type}, {size} bytes."));
    let picture = Part::Image { media_type: media_type.to_owned(), data: STANDARD.encode(bytes) };
    Ok(Outcome { parts: vec![label, picture], ..Outcome::default() })
}
