//! The reading of a file's lines, or of an image as a whole. A host that reads natively shows lines
//! by the same [`ReadOptions`].

use crate::{
    encoding::{MARK, decode},
    failure_texts,
    files::{MAX_FITTED_PICTURE_BYTES, MAX_PICTURE_BYTES, WorkspaceFiles},
    path::WorkspacePath,
};
use innerloop_json::base64::encoded;
use innerloop_types::action::{LineNumbering, NoticePosition, Outcome, Part, ToolError};
use memchr::memchr_iter;
use std::{borrow::Cow, fmt::Write};

/// The lines of a file to read, and how to show them.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions {
    /// The first line, counted from 1.
    pub offset: Option<u64>,
    /// The maximum number of lines; all if absent.
    pub limit: Option<u64>,
    /// The way in which lines are numbered.
    pub numbering: LineNumbering,
    /// The maximum number of characters of a line that are shown; all if absent.
    pub line_chars: Option<u32>,
    /// The position of the notice that the file goes on.
    pub notice: NoticePosition,
}

pub(crate) fn read(
    files: &impl WorkspaceFiles,
    within: &WorkspacePath,
    path: &str,
    lines: ReadOptions,
) -> Result<Outcome, Outcome> {
    let path = failure_texts::file_path(within, path)?;
    if lines.limit == Some(0) {
        return Err(failure_texts::error(
            ToolError::InvalidArguments,
            "The limit is 0 lines. Give at least 1, or leave it out.",
        ));
    }
    let bytes = files.read(&path).map_err(|error| failure_texts::failed(files, &path, &error))?;
    // By its first bytes, not its name, which may say anything.
    if let Some(media_type) = image_type(&bytes) {
        return image(files.fits_pictures(), &path.to_string(), media_type, &bytes);
    }
    let text = &*text(&bytes).map_err(|why| binary(&path, why))?;
    if text.is_empty() {
        return Ok(Outcome::text(format!("The file {path} is empty.")));
    }
    let (first, total) = (lines.first(), line_count(text));
    if first > total {
        return Err(past_the_end(&path, first, total));
    }
    let skipped = usize::try_from(first - 1).unwrap_or(usize::MAX);
    Ok(Outcome::text(lines.show(text.lines().skip(skipped), total)))
}

/// Returns the outcome for a file that has fewer lines than that.
#[must_use]
pub fn past_the_end(path: &WorkspacePath, first: u64, total: u64) -> Outcome {
    let plural = if total == 1 { "line" } else { "lines" };
    failure_texts::error(
        ToolError::InvalidArguments,
        format!("The offset {first} is past the end: {path} has {total} {plural}."),
    )
}

/// Reads an image, and nothing else.
pub(crate) fn view_image(
    files: &impl WorkspaceFiles,
    within: &WorkspacePath,
    path: &str,
) -> Result<Outcome, Outcome> {
    let path = failure_texts::file_path(within, path)?;
    let bytes = files.read(&path).map_err(|error| failure_texts::failed(files, &path, &error))?;
    match image_type(&bytes) {
        Some(media_type) => image(files.fits_pictures(), &path.to_string(), media_type, &bytes),
        None => Err(failure_texts::error(
            ToolError::WrongFileType,
            format!("{path} is not an image that models take: PNG, JPEG, GIF or WebP."),
        )),
    }
}

/// Returns the file's text without a byte order mark, or why it is not text.
pub(crate) fn text(bytes: &[u8]) -> Result<Cow<'_, str>, &'static str> {
    let (text, _) = decode(bytes)?;
    Ok(match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.strip_prefix(MARK).unwrap_or(text)),
        Cow::Owned(text) if text.starts_with(MARK) => {
            Cow::Owned(text.get(MARK.len_utf8()..).unwrap_or_default().to_owned())
        }
        Cow::Owned(text) => Cow::Owned(text),
    })
}

/// Returns the file's bytes without a byte order mark.
pub(crate) fn unmarked(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes)
}

/// Returns the outcome for a file that is not text.
#[must_use]
pub fn binary(path: &WorkspacePath, why: &str) -> Outcome {
    failure_texts::error(ToolError::Binary, format!("{path} is not a text file: {why}."))
}

impl ReadOptions {
    /// Returns the number of the first line.
    #[must_use]
    pub fn first(&self) -> u64 {
        self.offset.unwrap_or(1).max(1)
    }

    /// Returns the lines as they are shown, of a file of `total` lines. `lines` begins with the
    /// first one to be shown, which the file must have.
    #[must_use]
    pub fn show<'t>(&self, lines: impl Iterator<Item = &'t str>, total: u64) -> String {
        let first = self.first();
        let limit = self.limit.unwrap_or(u64::MAX);
        let last = total.min(first.saturating_add(limit - 1));
        let width = decimal_width(last);
        let mut out = String::new();
        let is_part = first > 1 || last < total;
        if is_part && self.notice == NoticePosition::Above {
            out.push_str(&self.notice_above(last, total));
        }
        for (line, number) in lines.zip(first..=last) {
            if number > first {
                out.push('\n');
            }
            // Writing to a string cannot fail.
            let _ = match self.numbering {
                LineNumbering::None => Ok(()),
                LineNumbering::Pipe => write!(out, "{number:>width$} | "),
                LineNumbering::Tab => write!(out, "{number:>6}\t"),
            };
            self.push_line(line, &mut out);
        }
        if last < total && self.notice == NoticePosition::Below {
            let next = last + 1;
            let _ =
                write!(out, "\n[Lines {first} to {last} of {total}. Read on from line {next}.]");
        }
        out
    }

    /// Returns the note above a file of which only a part is shown.
    fn notice_above(&self, last: u64, total: u64) -> String {
        let first = self.first();
        let action = match last < total {
            true => format!("To read on, use start_line: {}.", last + 1),
            false => "The file ends here.".to_owned(),
        };
        format!(
            "IMPORTANT: The file content has been truncated.\nStatus: Showing lines {first}-{last} \
             of {total} total lines.\nAction: {action}\n\n--- FILE CONTENT (truncated) ---\n"
        )
    }

    /// Appends a line, or the part of it that is to be shown.
    fn push_line(&self, line: &str, out: &mut String) {
        let most = self.line_chars.and_then(|most| usize::try_from(most).ok());
        // A line has at least as many bytes as characters, so most lines need not be counted.
        let cut = most.filter(|most| line.len() > *most);
        match cut.and_then(|most| line.char_indices().nth(most)) {
            Some((at, _)) => {
                out.push_str(line.get(..at).unwrap_or_default());
                out.push_str("... [truncated]");
            }
            None => out.push_str(line),
        }
    }
}

pub(crate) fn decimal_width(number: u64) -> usize {
    number.checked_ilog10().map_or(1, |log| usize::try_from(log).unwrap_or(0) + 1)
}

/// Returns how many lines a text has; a line feed at its end does not begin another.
fn line_count(text: &str) -> u64 {
    let feeds = memchr_iter(b'\n', text.as_bytes()).count();
    let open = usize::from(!text.is_empty() && !text.ends_with('\n'));
    u64::try_from(feeds + open).unwrap_or(u64::MAX)
}

/// Returns the media type of an image that models take, by its first bytes.
pub(crate) fn image_type(bytes: &[u8]) -> Option<&'static str> {
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

/// Returns a picture as the model is shown it. It may be larger if it is made to fit later.
pub(crate) fn image(
    is_fitted: bool,
    path: &str,
    media_type: &str,
    bytes: &[u8],
) -> Result<Outcome, Outcome> {
    let size = bytes.len();
    let (most, whose) = match is_fitted {
        true => (MAX_FITTED_PICTURE_BYTES, "it is made smaller here up to"),
        false => (MAX_PICTURE_BYTES, "models take at most"),
    };
    if size > most {
        return Err(failure_texts::error(
            ToolError::TooLarge,
            format!("The image {path} has {size} bytes; {whose} {} MiB.", most >> 20),
        ));
    }
    let label = Part::text(format!("{path}: {media_type}, {size} bytes."));
    let data = encoded(bytes);
    let picture = Part::Image { media_type: media_type.to_owned(), data };
    Ok(Outcome { parts: vec![label, picture], ..Outcome::default() })
}
