//! The application of a patch. Everything is computed in memory first, so that a patch that does
//! not fit changes nothing. If writing fails halfway, the outcome says what was done. `place` finds
//! the hunks, `lines` rebuilds the texts.

mod lines;
mod nearest;
mod place;
mod seek;

use crate::{
    edit::{self, clip},
    encoding::TextEncoding,
    failure_texts,
    files::{FileError, MAX_FILE_BYTES, WorkspaceFiles},
    path::{WorkspacePath, lower_case},
    unmask::{MaskResolver, append_unknown, texts},
    write::{self, FileContent, PreviousContent},
};
use innerloop_json::{IntoList, Map, joined, quoted};
use innerloop_types::{
    action::{ChangeKind, FilePatch, Hunk, HunkLine, Outcome, Patch, ReportedChange, ToolError},
    secret::has_mask,
};
use lines::TextLines;
use nearest::NearestLine;
use place::{LooseMatch, PlacementError};
use std::{borrow::Cow, fmt::Write, mem};

/// The maximum number of missing lines that are shown.
const MAX_SHOWN_LINES: usize = 20;
/// The maximum number of bytes of files that are processed once more because a patch names them
/// again.
const MAX_AGAIN_BYTES: usize = 64 << 20;
/// The maximum number of leniently placed hunks that are named.
const MAX_NAMED_HUNKS: usize = 5;

pub(crate) fn patch(
    files: &mut impl WorkspaceFiles,
    within: &WorkspacePath,
    text: &str,
    salt: Option<u64>,
) -> Result<Outcome, Outcome> {
    let patch = Patch::parse(text)
        .map_err(|error| failure_texts::error(ToolError::InvalidArguments, error.to_string()))?;
    apply(files, within, &patch, salt)
}

/// Applies a patch that has been parsed; with the salt of the masks in it, if it has masks.
pub(crate) fn apply(
    files: &mut impl WorkspaceFiles,
    within: &WorkspacePath,
    patch: &Patch,
    salt: Option<u64>,
) -> Result<Outcome, Outcome> {
    let mut draft =
        PatchDraft { files: &*files, within, order: Vec::new(), states: Map::new(), again: 0 };
    let (mut loose, mut unknown) = (Vec::new(), 0);
    for file in &patch.files {
        let masks = draft.masks(file, salt);
        unknown += masks.unknown();
        let unmasked = salt.map(|_| masks.patch(file));
        let found = draft.apply(unmasked.as_ref().unwrap_or(file)).map_err(|failure| {
            if patch.files.len() == 1 { failure } else { amended(&failure, "No file was changed.") }
        })?;
        loose.extend(found);
    }
    let changes = commit(files, within, draft.steps())?;
    if changes.is_empty() {
        return Ok(Outcome::text("The files have what the patch would write. Nothing changed."));
    }
    let mut message =
        format!("Success. Updated the following files:\n{}", summary(within, patch, &changes));
    append_loose(&loose, &mut message);
    append_unknown(unknown, &mut message);
    Ok(Outcome { changes, ..Outcome::text(message) })
}

/// Returns the entry of a path for a set of paths, if it is one.
fn named(within: &WorkspacePath, path: &str) -> Option<(String, ())> {
    Some((within.at(path).ok()?.into_string(), ()))
}

/// Returns the same failure with one more sentence.
fn amended(failure: &Outcome, sentence: &str) -> Outcome {
    let message = format!("{} {sentence}", failure.joined_text());
    failure_texts::error(failure.error.unwrap_or(ToolError::Io), message)
}

/// The files as they will be when the patch has been applied.
struct PatchDraft<'f, F> {
    files: &'f F,
    within: &'f WorkspacePath,
    /// The paths in the order in which the patch names them.
    order: Vec<WorkspacePath>,
    states: Map<FileState>,
    /// The number of bytes that have been processed once more.
    again: usize,
}

/// A file as it is and as it will be.
#[derive(Default)]
struct FileState {
    before: PreviousContent,
    /// The content of the file; `None` if it does not exist, or will be removed.
    content: Option<FileContent>,
    /// True if that has changed.
    is_changed: bool,
    /// The path from which the file was moved here.
    from: Option<WorkspacePath>,
}

/// One change of the files.
struct PatchStep {
    path: WorkspacePath,
    before: PreviousContent,
    /// The content to write; `None` to remove the file.
    content: Option<FileContent>,
    /// The file that is moved here, whose own step has nothing left to do.
    from: Option<WorkspacePath>,
}

/// A hunk that was placed leniently, with its file.
type LooseHunk = (WorkspacePath, LooseMatch);

impl<F: WorkspaceFiles> PatchDraft<'_, F> {
    /// Returns the secrets of a file, as it is on the disk, that the masks in its change stand for.
    fn masks(&self, file: &FilePatch, salt: Option<u64>) -> MaskResolver {
        let (FilePatch::Add { path, .. }
        | FilePatch::Delete { path }
        | FilePatch::Update { path, .. }) = file;
        let texts = texts(file).into_iter().filter(|text| has_mask(text)).into_list();
        if texts.is_empty() {
            return MaskResolver::default();
        }
        let path = failure_texts::writable_path(self.within, path).ok();
        let old = path.and_then(|path| self.files.read(&path).ok());
        MaskResolver::new(salt, &old.unwrap_or_default(), &mut texts.into_iter())
    }

    fn apply(&mut self, file: &FilePatch) -> Result<Vec<LooseHunk>, Outcome> {
        match file {
            FilePatch::Add { path, content } => {
                self.put(&failure_texts::writable_path(self.within, path)?, content.clone())?;
                Ok(Vec::new())
            }
            FilePatch::Delete { path } => {
                self.take(&failure_texts::writable_path(self.within, path)?)?;
                Ok(Vec::new())
            }
            FilePatch::Update { path, move_to, hunks } => {
                let path = failure_texts::writable_path(self.within, path)?;
                let target = |text| failure_texts::writable_path(self.within, text);
                let target = move_to.as_deref().map(target).transpose()?;
                self.update(&path, target.filter(|target| *target != path), hunks)
            }
        }
    }

    fn update(
        &mut self,
        path: &WorkspacePath,
        target: Option<WorkspacePath>,
        hunks: &[Hunk],
    ) -> Result<Vec<LooseHunk>, Outcome> {
        let bytes = self.bytes(path)?;
        let (old, encoding) = match self.content(path) {
            Some(content) => (Cow::Borrowed(content.text.as_str()), content.encoding),
            None => edit::text(path, &bytes)?,
        };
        let again = self.again + if self.is_named(path) { old.len() } else { 0 };
        if again > MAX_AGAIN_BYTES {
            let message =
                format!("The patch names {path} too often. Put all of its hunks below one header.");
            return Err(failure_texts::error(ToolError::InvalidArguments, message));
        }
        let lines = TextLines::new(&old);
        let placed = place::place(&lines, hunks).map_err(|miss| missed(path, &lines, &miss))?;
        let new = lines.rebuilt(&placed.runs);
        if u64::try_from(new.len()).unwrap_or(u64::MAX) > MAX_FILE_BYTES {
            return Err(failure_texts::failed(self.files, path, &FileError::TooLarge));
        }
        let is_changed = *old != new;
        let before = PreviousContent::of(&bytes);
        let new = FileContent { text: new, encoding };
        let shown = target.unwrap_or_else(|| path.clone());
        // Encoded here already: a character that the file's encoding lacks must fail the patch
        // before anything is written.
        new.bytes(&shown)?;
        self.again = again;
        if shown == *path {
            self.set(path, before, Some(new), is_changed);
        } else {
            let (there, _) = self.there(&shown)?;
            self.set(path, before, None, false);
            self.set(&shown, there, Some(new), true);
            // A file that is moved twice comes from its first path, which is the one on the disk.
            let from = self.states.get_mut(path.as_str()).and_then(|state| state.from.take());
            if let Some(state) = self.states.get_mut(shown.as_str()) {
                state.from = Some(from.unwrap_or_else(|| path.clone()));
            }
        }
        Ok(placed.loose.into_iter().map(|loose| (shown.clone(), loose)).into_list())
    }

    /// Makes `text` a file's content.
    fn put(&mut self, path: &WorkspacePath, text: String) -> Result<(), Outcome> {
        let (before, encoding) = self.there(path)?;
        let content = FileContent { text, encoding };
        content.bytes(path)?;
        self.set(path, before, Some(content), true);
        Ok(())
    }

    /// Returns what is at a path that is to be written, and the encoding for what is written there.
    fn there(&self, path: &WorkspacePath) -> Result<(PreviousContent, TextEncoding), Outcome> {
        if self.is_named(path) {
            // `set` keeps what stood there before the patch, so this is not used.
            let encoding = self.content(path).map(|content| content.encoding);
            return Ok((PreviousContent::Absent, encoding.unwrap_or_default()));
        }
        match self.files.read(path) {
            Ok(bytes) => Ok((PreviousContent::of(&bytes), TextEncoding::of(&bytes))),
            Err(FileError::NotFound) => Ok((PreviousContent::Absent, TextEncoding::Utf8)),
            Err(FileError::TooLarge) => Ok((PreviousContent::TooLarge, TextEncoding::Utf8)),
            Err(error) => Err(failure_texts::failed(self.files, path, &error)),
        }
    }

    /// Removes a file.
    fn take(&mut self, path: &WorkspacePath) -> Result<(), Outcome> {
        let before = match self.bytes(path) {
            Ok(bytes) => PreviousContent::of(&bytes),
            Err(failure) if failure.error == Some(ToolError::TooLarge) => PreviousContent::TooLarge,
            Err(failure) => return Err(failure),
        };
        self.set(path, before, None, false);
        Ok(())
    }

    /// Returns whether the patch has named the file before.
    fn is_named(&self, path: &WorkspacePath) -> bool {
        self.states.contains_key(path.as_str())
    }

    /// Returns what the patch has made of a file so far, if it has changed it.
    fn content(&self, path: &WorkspacePath) -> Option<&FileContent> {
        self.states.get(path.as_str())?.content.as_ref()
    }

    /// Returns a file's content as the patch has left it so far.
    fn bytes(&self, path: &WorkspacePath) -> Result<Cow<'_, [u8]>, Outcome> {
        match self.states.get(path.as_str()).map(|state| &state.content) {
            Some(Some(content)) => content.bytes(path),
            Some(None) => Err(failure_texts::error(
                ToolError::NotFound,
                format!("{path} is gone: the patch itself removes or moves it before."),
            )),
            None => {
                let bytes = self.files.read(path);
                bytes.map_err(|error| failure_texts::failed(self.files, path, &error))
            }
        }
    }

    /// Sets a file's content. `before` is what it holds on the disk, and counts the first time
    /// only.
    fn set(
        &mut self,
        path: &WorkspacePath,
        before: PreviousContent,
        content: Option<FileContent>,
        changes: bool,
    ) {
        match self.states.get_mut(path.as_str()) {
            Some(state) => {
                state.content = content;
                state.is_changed |= changes;
            }
            None => {
                self.order.push(path.clone());
                let state = FileState { before, content, is_changed: changes, from: None };
                self.states.insert(path.as_str().to_owned(), state);
            }
        }
    }

    /// Returns the steps, in an order that removes nothing before its replacement is written.
    fn steps(mut self) -> Vec<PatchStep> {
        let mut steps = Vec::new();
        for path in self.order {
            let state = self.states.get_mut(path.as_str()).map(mem::take);
            let FileState { before, content, is_changed, from } = state.unwrap_or_default();
            let is_same = match (&before, &content) {
                (PreviousContent::Absent, content) => content.is_none(),
                (PreviousContent::Bytes(bytes), Some(content)) => {
                    content.bytes(&path).is_ok_and(|new| **bytes == *new)
                }
                (PreviousContent::TooLarge, Some(_)) => !is_changed,
                (_, None) => false,
            };
            if !is_same {
                steps.push(PatchStep { path, before, content, from });
            }
        }
        let writes = steps.iter().filter(|step| step.content.is_some());
        let written: Map<()> = writes.map(|step| (lower_case(step.path.as_str()), ())).collect();
        let (mut early, mut writes, mut late) = (Vec::new(), Vec::new(), Vec::new());
        for step in steps {
            let order = match step.content {
                Some(_) => &mut writes,
                // On a file system that ignores case, removing the old name later would remove the
                // new file.
                None if written.contains_key(&lower_case(step.path.as_str())) => &mut early,
                None => &mut late,
            };
            order.push(step);
        }
        // A file can be moved only if its old path is removed in the end. Where the patch writes
        // that path anew, the file there must stay.
        let gone: Map<()> = late.iter().map(|step| (step.path.as_str().to_owned(), ())).collect();
        for step in &mut writes {
            step.from = step.from.take().filter(|from| gone.contains_key(from.as_str()));
        }
        early.append(&mut writes);
        early.append(&mut late);
        early
    }
}

/// Carries out the steps; if one fails, says which were done and which were not.
fn commit(
    files: &mut impl WorkspaceFiles,
    within: &WorkspacePath,
    steps: Vec<PatchStep>,
) -> Result<Vec<ReportedChange>, Outcome> {
    let mut changes = Vec::with_capacity(steps.len());
    let mut steps = steps.into_iter();
    let mut moved = Map::new();
    while let Some(PatchStep { path, before, content, from }) = steps.next() {
        let line = step_line(&path, &before, content.is_none());
        let done = match content {
            Some(content) => write::store(files, (&path, from.as_ref()), &before, content),
            // The move has removed it already; only the change is still to be reported.
            None if moved.contains_key(path.as_str()) => {
                Ok((write::removed(&path, &before), false))
            }
            None => write::remove(files, &path, &before).map(|change| (change, false)),
        };
        match done {
            Ok((change, is_gone)) => {
                changes.push(change);
                if let Some(from) = from.filter(|_| is_gone) {
                    moved.insert(from.as_str().to_owned(), ());
                }
            }
            Err(failure) if changes.is_empty() => {
                return Err(amended(&failure, "No file was changed."));
            }
            Err(failure) => {
                let done: String =
                    changes.iter().map(|change| change_line(within, change)).collect();
                let others = steps.map(|s| step_line(&s.path, &s.before, s.content.is_none()));
                let open: String = [line].into_iter().chain(others).collect();
                let sentence =
                    format!("The patch was applied in part.\nDone:\n{done}Not done:\n{open}");
                return Err(Outcome { changes, ..amended(&failure, &sentence) });
            }
        }
    }
    Ok(changes)
}

fn step_line(path: &WorkspacePath, before: &PreviousContent, is_removal: bool) -> String {
    let letter = match before {
        _ if is_removal => 'D',
        PreviousContent::Absent => 'A',
        PreviousContent::Bytes(_) | PreviousContent::TooLarge => 'M',
    };
    format!("{letter} {path}\n")
}

fn change_line(within: &WorkspacePath, change: &ReportedChange) -> String {
    format!("{} {}\n", letter(change.kind), within.seen_here(&change.path))
}

const fn letter(kind: ChangeKind) -> char {
    match kind {
        ChangeKind::Created => 'A',
        ChangeKind::Modified => 'M',
        ChangeKind::Deleted => 'D',
    }
}

/// Returns the changed files: the new ones, then the changed ones, then the removed ones. A file
/// that moved is listed once, as changed, under its new path.
fn summary(within: &WorkspacePath, patch: &Patch, changes: &[ReportedChange]) -> String {
    let mut sources = Map::new();
    let mut targets = Map::new();
    for file in &patch.files {
        if let FilePatch::Update { path, move_to: Some(target), .. } = file {
            sources.extend(named(within, path));
            targets.extend(named(within, target));
        }
    }
    let mut lines = Vec::new();
    for change in changes {
        let letter = match change.kind {
            ChangeKind::Created if targets.contains_key(&change.path) => 'M',
            ChangeKind::Deleted if sources.contains_key(&change.path) => continue,
            kind => letter(kind),
        };
        lines.push(format!("{letter} {}\n", within.seen_here(&change.path)));
    }
    let mut summary = String::new();
    for letter in ['A', 'M', 'D'] {
        let of_letter = lines.iter().filter(|line| line.starts_with(letter));
        of_letter.for_each(|line| summary.push_str(line));
    }
    summary
}

/// Appends which hunks were placed by a lenient match.
fn append_loose(loose: &[LooseHunk], message: &mut String) {
    for (path, LooseMatch { line, aside }) in loose.iter().take(MAX_NAMED_HUNKS) {
        // Writing to a string cannot fail.
        let _ = writeln!(message, "Matched at line {line} of {path} with {aside} left aside.");
    }
    if let Some(more) = loose.len().checked_sub(MAX_NAMED_HUNKS).filter(|more| *more > 0) {
        let _ = writeln!(message, "{more} more hunks were not matched exactly.");
    }
}

/// Returns the outcome for a hunk that has no place, with the closest one.
fn missed(path: &WorkspacePath, file: &TextLines<'_>, miss: &PlacementError<'_>) -> Outcome {
    let mut message = match miss {
        PlacementError::Hint(hint) => {
            let mut message = format!("Failed to find context '{hint}' in {path}.");
            if let Some((at, there)) = nearest::most_similar(&file.lines, hint) {
                let there = quoted(clip(there));
                let _ = write!(message, " The most similar line is line {}: {there}.", at + 1);
            }
            message
        }
        PlacementError::Lines(hunk) => {
            let old: Vec<&str> = hunk.lines.iter().filter_map(HunkLine::old).into_list();
            let shown = old.get(..MAX_SHOWN_LINES).unwrap_or(&old);
            let mut message =
                format!("Failed to find expected lines in {path}:\n{}\n", joined(shown, "\n"));
            if let Some(more) = old.len().checked_sub(MAX_SHOWN_LINES).filter(|more| *more > 0) {
                let _ = writeln!(message, "[{more} more lines]");
            }
            let _ = write!(message, "(the hunk on line {} of the patch).", hunk.line);
            match nearest::nearest(&file.lines, &old) {
                Some(NearestLine { line, there: Some(there), wanted }) => {
                    let (there, wanted) = (quoted(clip(there)), quoted(clip(wanted)));
                    let _ = write!(
                        message,
                        " The closest place differs at line {line}: the file has {there}, the \
                         patch has {wanted}."
                    );
                }
                Some(NearestLine { line, there: None, wanted }) => {
                    let wanted = quoted(clip(wanted));
                    let _ = write!(
                        message,
                        " The closest place ends with the file before line {line}, where the \
                         patch has {wanted}."
                    );
                }
                None => {}
            }
            message
        }
        PlacementError::Indentation(hunk, at) => {
            let there = file.lines.iter().skip(*at).copied();
            let what = format!("The old text of the hunk on line {} of the patch", hunk.line);
            let old = hunk.lines.iter().filter(|line| line.old().is_some()).count();
            return edit::other_indentation(path, &what, at + 1, there.take(old));
        }
        PlacementError::Costly(hunk) => {
            let message = format!(
                "The lines of hunks up to line {} of the patch occur in too many places of {path}. \
                 Put lines around the changes that occur once.",
                hunk.line
            );
            return failure_texts::error(ToolError::EditConflict, message);
        }
    };
    message.push_str(" Read the file again and copy its lines exactly.");
    failure_texts::error(ToolError::EditConflict, message)
}
