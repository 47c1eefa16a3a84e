//! The replacement of a text in a file, and the answer that shows the result. `source` and
//! `replace` find the place and build the new text; this module words for the model what happened,
//! and why not if nothing did.

use crate::{
    encoding::{TextEncoding, decode},
    failure_texts,
    files::{FileError, WorkspaceFiles},
    path::WorkspacePath,
    read,
    source::{EditedText, ReplaceError, SourceText},
    unmask::{MaskResolver, append_unknown},
    write::{self, FileContent, PreviousContent},
};
use innerloop_json::{IntoList, joined, quoted};
use innerloop_types::{
    action::{Outcome, ToolError},
    secret::has_mask,
};
use memchr::memchr_iter;
use std::{borrow::Cow, fmt::Write, slice};

/// The maximum number of line numbers that a message names.
const MAX_NAMED_LINES: usize = 10;
/// The number of lines around the first replacement that are shown.
const CONTEXT_LINES: usize = 3;
/// The maximum number of lines of the result that are shown.
const MAX_SHOWN_LINES: usize = 20;
/// The maximum number of characters of a line that are shown.
const MAX_SHOWN_CHARS: usize = 200;

pub(crate) fn edit(
    files: &mut impl WorkspaceFiles,
    within: &WorkspacePath,
    path: &str,
    old: &str,
    new: &str,
    all: bool,
    salt: Option<u64>,
) -> Result<Outcome, Outcome> {
    let path = failure_texts::writable_path(within, path)?;
    if old == new {
        let message = "The old and the new text are the same. Give a new text that differs.";
        let error = failure_texts::error(ToolError::InvalidArguments, message);
        return Err(Outcome { count: Some(0), ..error });
    }
    let bytes = match files.read(&path) {
        // Without an old text an edit creates a file or fills an empty one; any other it would
        // overwrite.
        Ok(bytes) if old.is_empty() && bytes.is_empty() => {
            let before = PreviousContent::Bytes(Vec::new());
            return write::replace_content(files, &path, &before, new, salt);
        }
        Ok(bytes) => bytes,
        Err(FileError::NotFound) if old.is_empty() => {
            return write::replace_content(files, &path, &PreviousContent::Absent, new, salt);
        }
        Err(error) => return Err(failure_texts::failed(files, &path, &error)),
    };
    let (text, encoding) = text(&path, &bytes)?;
    let text = &*text;
    if old.is_empty() {
        return Err(failure_texts::error(
            ToolError::EditConflict,
            format!("{path} exists already. Give the text to replace, or write the whole file."),
        ));
    }
    let masks = MaskResolver::new(salt, &bytes, &mut [old, new].into_iter());
    let (old, new) = (&*masks.text(old), &*masks.text(new));
    let source = SourceText::new(text);
    let edited = source.replace(old, new, all).map_err(|failure| match failure {
        ReplaceError::NotFound => not_found(&path, text, old),
        ReplaceError::NotUnique(lines) => not_unique(&path, &lines),
        ReplaceError::Indentation(place) => {
            let line = source.line_numbers(slice::from_ref(&place)).first().copied();
            let here = text.get(place).unwrap_or_default().lines();
            other_indentation(&path, "The old text", line.unwrap_or(1), here)
        }
        ReplaceError::TooLarge => failure_texts::failed(files, &path, &FileError::TooLarge),
    })?;
    // Nothing is wrong with that: the file is as the model wants it.
    if edited.text == text {
        let message = format!("{path} has the new text there already. Nothing changed.");
        return Ok(Outcome::text(message));
    }
    let mut message = edited.message(&path);
    append_unknown(masks.unknown(), &mut message);
    let count = u32::try_from(edited.lines.len()).ok();
    let content = FileContent { text: edited.text, encoding };
    let before = PreviousContent::Bytes(bytes.into_owned());
    let (change, _) = write::store(files, (&path, None), &before, content)?;
    Ok(Outcome { changes: vec![change], count, ..Outcome::text(message) })
}

/// Decodes a file that is to be changed, and returns its text and encoding.
pub(crate) fn text<'a>(
    path: &WorkspacePath,
    bytes: &'a [u8],
) -> Result<(Cow<'a, str>, TextEncoding), Outcome> {
    decode(bytes).map_err(|why| read::binary(path, why))
}

impl EditedText {
    fn message(&self, path: &WorkspacePath) -> String {
        let count = self.lines.len();
        let plural = if count == 1 { "replacement" } else { "replacements" };
        let mut out = format!("Edited {path}: {count} {plural} at {}.", name_lines(&self.lines));
        if let Some(leniency) = self.leniency {
            // Writing to a string cannot fail.
            let _ = write!(
                out,
                " The old text was not found exactly; it was matched with {leniency} left aside."
            );
        }
        if self.is_dedented {
            out.push_str(
                " The new text began with the indentation that stands there already; it was not \
                 repeated.",
            );
        }
        self.append_snippet(&mut out);
        out
    }

    /// Appends the lines around the first replacement, numbered.
    fn append_snippet(&self, out: &mut String) {
        let line = self.lines.first().copied().unwrap_or(1);
        let replaced = self.text.as_bytes().get(self.first.clone()).unwrap_or_default();
        let height = memchr_iter(b'\n', replaced).count() + 1;
        let first = line.saturating_sub(CONTEXT_LINES).max(1);
        let last = (line + height - 1 + CONTEXT_LINES).min(first + MAX_SHOWN_LINES - 1);
        let shown: Vec<(usize, &str)> =
            (1..).zip(self.text.lines()).skip(first - 1).take(last + 1 - first).into_list();
        let width = shown.last().map_or(1, |(number, _)| number.to_string().len());
        for (number, line) in shown {
            let end = line.char_indices().nth(MAX_SHOWN_CHARS).map(|(at, _)| at);
            let mark = if end.is_some() { " […]" } else { "" };
            let line = end.and_then(|end| line.get(..end)).unwrap_or(line);
            let _ = write!(out, "\n{number:>width$} | {line}{mark}");
        }
    }
}

fn name_lines(lines: &[usize]) -> String {
    let named: Vec<String> = lines.iter().take(MAX_NAMED_LINES).map(usize::to_string).into_list();
    let word = if lines.len() == 1 { "line" } else { "lines" };
    let more = match lines.len().checked_sub(MAX_NAMED_LINES) {
        Some(more) if more > 0 => format!(" and {more} more"),
        _ => String::new(),
    };
    format!("{word} {}{more}", joined(&named, ", "))
}

fn not_unique(path: &WorkspacePath, lines: &[usize]) -> Outcome {
    let error = failure_texts::error(
        ToolError::EditConflict,
        format!(
            "The old text stands {} times in {path}, at {}. Give more lines around it so that it \
             is unique, or replace all occurrences.",
            lines.len(),
            name_lines(lines),
        ),
    );
    Outcome { count: u32::try_from(lines.len()).ok(), ..error }
}

/// Returns the outcome for lines that the file has only with another indentation, which new lines
/// cannot take on.
pub(crate) fn other_indentation<'t>(
    path: &WorkspacePath,
    what: &str,
    line: usize,
    there: impl Iterator<Item = &'t str>,
) -> Outcome {
    let mut message = format!(
        "{what} stands in {path} only with another indentation, at line {line}, and the new text \
         cannot take that on. The file has there:"
    );
    let mut there = there.fuse();
    for line in there.by_ref().take(MAX_SHOWN_LINES) {
        message.push('\n');
        message.push_str(clip(line));
    }
    // Writing to a string cannot fail.
    let _ = match there.count() {
        0 => Ok(()),
        more => write!(message, "\n[{more} more lines]"),
    };
    message.push_str("\nGive the old and the new text with the indentation of the file.");
    failure_texts::error(ToolError::EditConflict, message)
}

fn not_found(path: &WorkspacePath, text: &str, old: &str) -> Outcome {
    let mut message = format!("The old text does not stand in {path}.");
    if let Some((line, wanted, there)) = first_difference(text, old) {
        let (wanted, there) = (quoted(clip(wanted)), quoted(clip(there)));
        // Writing to a string cannot fail.
        let _ = write!(
            message,
            " The closest place differs at line {line}: the file has {there}, the old text has \
             {wanted}."
        );
    }
    if has_mask(old) {
        message.push_str(" A mask in the old text stands for no secret that the file has.");
    }
    message.push_str(" Read the file again and copy the text exactly, white space included.");
    Outcome { count: Some(0), ..failure_texts::error(ToolError::EditConflict, message) }
}

/// The maximum number of places that are compared to find the closest one: a line such as `}` may
/// stand at thousands.
const MAX_COMPARED_PLACES: usize = 20;

/// Returns the first line that differs at the place that has most lines of `old`: its number in the
/// file, what was wanted, and what is there.
fn first_difference<'a>(text: &'a str, old: &'a str) -> Option<(usize, &'a str, &'a str)> {
    let wanted: Vec<&str> = old.lines().skip_while(|line| line.trim().is_empty()).into_list();
    let start = wanted.first()?.trim();
    let lines: Vec<&str> = text.lines().into_list();
    let places = (0..lines.len()).filter(|i| lines.get(*i).is_some_and(|l| l.trim() == start));
    let equal = |place: usize| {
        let there = lines.iter().skip(place);
        wanted.iter().zip(there).take_while(|(a, b)| a.trim() == b.trim()).count()
    };
    let (same, place) = places
        .take(MAX_COMPARED_PLACES)
        .map(|place| (equal(place), place))
        // Of places that are equally close the first is named.
        .max_by_key(|(same, place)| (*same, std::cmp::Reverse(*place)))?;
    let there = lines.get(place + same).copied().unwrap_or("(the end of the file)");
    Some((place + same + 1, wanted.get(same)?, there))
}

pub(crate) fn clip(line: &str) -> &str {
    let end = line.char_indices().nth(MAX_SHOWN_CHARS).map_or(line.len(), |(at, _)| at);
    line.get(..end).unwrap_or(line)
}
