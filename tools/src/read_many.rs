//! The reading of many text files at once, one after the other. A file that is named literally is
//! wanted even if it is ignored, excluded or an image; one that only matches a pattern is not.

use crate::{
    failure_texts,
    files::{EntryKind, FileError, WorkspaceFiles},
    path::WorkspacePath,
    pattern::{PathPattern, settle},
    read,
    walk::walk,
};
use innerloop_json::{IntoList, Map};
use innerloop_types::action::{HiddenFiles, Outcome, Part, ToolError};
use std::{fmt::Write, ops::ControlFlow};

/// The maximum number of files that are read.
const MAX_FILES: usize = 500;
/// The maximum number of bytes of text that are read, 2 MiB.
const MAX_BYTES: usize = 2 << 20;
/// The maximum number of images that are handed on.
const MAX_IMAGES: usize = 10;

/// Reads the files that `include` names or matches, in the order of their paths. A folder stands
/// for everything below it, or for the files directly in it if `flat` is set.
pub(crate) fn read_many(
    files: &impl WorkspaceFiles,
    within: &WorkspacePath,
    include: &[String],
    exclude: &[String],
    flat: bool,
    hidden: HiddenFiles,
) -> Result<Outcome, Outcome> {
    if include.is_empty() {
        let message = "No files are named. Give at least one path or pattern.";
        return Err(failure_texts::error(ToolError::InvalidArguments, message));
    }
    let exclude = exclude.iter().map(|text| PathPattern::parse(text));
    let mut exclude = exclude.collect::<Result<Vec<_>, _>>()?;
    settle(&mut exclude, files, within, hidden);
    let found = find(files, within, include, flat, hidden)?;
    let mut report = ReadReport::default();
    for RequestedFile { path, is_named } in found.files.values() {
        // Excluding is for patterns: a file that the call names literally is wanted.
        if !is_named && exclude.iter().any(|pattern| pattern.matches(path, within)) {
            continue;
        }
        if report.add(files, path, *is_named).is_break() {
            break;
        }
    }
    report.finish(&found.missing)
}

/// A file to read.
struct RequestedFile {
    path: WorkspacePath,
    /// True if the call names it literally.
    is_named: bool,
}

/// The files that were asked for, as far as they exist, in the order of their paths.
#[derive(Default)]
struct FileSelection {
    files: Map<RequestedFile>,
    /// The paths and patterns that were asked for and match nothing.
    missing: Vec<String>,
}

impl FileSelection {
    fn add(&mut self, path: WorkspacePath, is_named: bool) {
        match self.files.get_mut(path.as_str()) {
            Some(wanted) => wanted.is_named |= is_named,
            None => {
                self.files.insert(path.as_str().to_owned(), RequestedFile { path, is_named });
            }
        }
    }
}

fn find(
    files: &impl WorkspaceFiles,
    within: &WorkspacePath,
    include: &[String],
    flat: bool,
    hidden: HiddenFiles,
) -> Result<FileSelection, Outcome> {
    let mut found = FileSelection::default();
    let mut patterns = Vec::new();
    for text in include {
        let path = failure_texts::any_path(within, Some(text))?;
        match files.stat(&path) {
            Ok(stat) if stat.kind == EntryKind::Folder => {
                let ending = if flat { "/*" } else { "/**" };
                let below = if path == *within { ending.get(1..) } else { Some(ending) };
                // The folder exists, so whatever its name holds is not a pattern.
                let escaped = escape(path.seen());
                let pattern = PathPattern::parse(&format!("{escaped}{}", below.unwrap_or("**")))?;
                patterns.push((text, Some(path), pattern));
            }
            Ok(_) => {
                found.add(path, true);
            }
            // Only what is no path is a pattern: names may hold brackets and stars.
            Err(_) => patterns.push((text, None, PathPattern::parse(text)?)),
        }
    }
    settle(patterns.iter_mut().map(|(.., pattern)| pattern), files, within, hidden);
    let mut hits = vec![false; patterns.len()];
    if !patterns.is_empty() {
        let walked = walk(files, within, hidden, &mut |path| {
            for ((_, folder, pattern), hit) in patterns.iter().zip(&mut hits) {
                // For the agent's own folder the pattern is `*` alone, which matches names at any
                // depth.
                let is_direct = path.parent() == *folder;
                if pattern.matches(path, within) && (!flat || folder.is_none() || is_direct) {
                    *hit = true;
                    found.add(path.clone(), false);
                }
            }
            ControlFlow::Continue(())
        });
        walked.map_err(|error: FileError| failure_texts::failed(files, within, &error))?;
    }
    let missing = patterns.iter().zip(&hits).filter(|(_, hit)| !**hit);
    found.missing = missing.map(|((text, ..), _)| (*text).clone()).into_list();
    Ok(found)
}

/// Returns the path as a pattern that matches nothing else.
fn escape(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for c in path.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '\\' | '!') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// The files that have been read so far.
#[derive(Default)]
struct ReadReport {
    text: String,
    images: Vec<Part>,
    files: usize,
    /// The messages that name what was skipped, and why.
    skipped: Vec<String>,
    cut: bool,
}

impl ReadReport {
    /// Adds a file. Breaks if there is no room for more.
    fn add(
        &mut self,
        files: &impl WorkspaceFiles,
        path: &WorkspacePath,
        is_named: bool,
    ) -> ControlFlow<()> {
        if self.files == MAX_FILES || self.text.len() >= MAX_BYTES {
            self.cut = true;
            return ControlFlow::Break(());
        }
        let bytes = match files.read(path) {
            Ok(bytes) => bytes,
            Err(error) => {
                self.skipped.push(format!("{path}: {error}"));
                return ControlFlow::Continue(());
            }
        };
        if let Some(media_type) = read::image_type(&bytes) {
            self.add_image(path, media_type, &bytes, is_named);
            return ControlFlow::Continue(());
        }
        match read::text(&bytes) {
            Ok(text) => {
                self.files += 1;
                let text = text.trim_end_matches('\n');
                // Writing to a string cannot fail.
                let _ = write!(self.text, "--- {path} ---\n\n{text}\n\n");
            }
            Err(why) if is_named => self.skipped.push(format!("{path}: {why}")),
            // A binary file that merely matches a pattern is not worth a note.
            Err(_) => {}
        }
        ControlFlow::Continue(())
    }

    /// Adds an image that was named; patterns are for texts only.
    fn add_image(&mut self, path: &WorkspacePath, media_type: &str, bytes: &[u8], is_named: bool) {
        // Each image is two parts: its label and itself.
        if !is_named || self.images.len() >= 2 * MAX_IMAGES {
            return;
        }
        // There may be many, so none is read that would have to be made smaller.
        match read::image(false, &path.to_string(), media_type, bytes) {
            Ok(outcome) => {
                self.files += 1;
                self.images.extend(outcome.parts);
            }
            Err(outcome) => self.skipped.push(outcome.joined_text()),
        }
    }

    fn finish(mut self, missing: &[String]) -> Result<Outcome, Outcome> {
        let mut notes = String::new();
        for text in missing {
            // Writing to a string cannot fail.
            let _ = writeln!(notes, "[Nothing found for {text}.]");
        }
        for why in &self.skipped {
            let _ = writeln!(notes, "[Skipped {why}.]");
        }
        if self.files == 0 {
            let message = format!("No files to read were found.\n{notes}");
            return Err(failure_texts::error(ToolError::NotFound, message.trim_end()));
        }
        if self.cut {
            notes.push_str("[There are more files. Narrow the patterns.]\n");
        }
        self.text.push_str("--- End of content ---\n");
        self.text.push_str(&notes);
        self.text.truncate(self.text.trim_end().len());
        let mut parts = vec![Part::text(self.text)];
        parts.extend(self.images);
        let count = u32::try_from(self.files).ok();
        Ok(Outcome { parts, count, capped_at_source: self.cut, ..Outcome::default() })
    }
}
