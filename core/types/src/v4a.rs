//! A reader of patches in the v4a format (`docs/decisions.md#the-v4a-patch-format`), whole or while
//! they still arrive. It accepts what models really send around the grammar; ambiguous input is an
//! error, so that no line is lost.

use crate::{
    base::text::is_word,
    patch::{FilePatch, Hunk, HunkLine, Patch, PatchError},
};
use alloc::{borrow::ToOwned, format, string::String, vec::Vec};

impl Patch {
    /// Reads a whole patch, in time linear in its length. A code fence or a shell's heredoc around
    /// it is accepted, and so are white space around markers, carriage returns at line ends, and
    /// blank lines without a mark.
    ///
    /// # Errors
    /// [`PatchError`] for anything that would otherwise be lost or guessed, a missing end included.
    pub fn parse(text: &str) -> Result<Self, PatchError> {
        // By way of the stream, so that a patch that is shown while it arrives and the one that is
        // applied can never differ.
        let mut stream = PatchStream::default();
        stream.push(text)?;
        stream.finish()
    }
}

/// A patch that arrives in pieces. The part read so far can be inspected at any time.
#[derive(Clone, Debug, Default)]
pub struct PatchStream {
    patch: Patch,
    place: PatchStreamState,
    /// The current line, until its end has arrived.
    pending: String,
    /// The number of lines read.
    lines: usize,
    /// The line at which the operation on a file began.
    header: usize,
    /// The number of trailing blank lines without a mark.
    blanks: usize,
    /// Set while the last line that is not blank is an end marker with white space before it, which
    /// counts as context as long as other lines may follow: the number of blank lines before it.
    maybe_ended: Option<usize>,
    /// True if the markers' lines end with carriage returns, so that these are not content.
    crlf: bool,
    fenced: bool,
    /// The word that ends the heredoc around the patch.
    heredoc: Option<String>,
    /// The first fault, which every later piece gets again.
    failure: Option<PatchError>,
}

/// The position of the stream in a patch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum PatchStreamState {
    #[default]
    Before,
    Outside,
    Adding,
    Updating,
    After,
}

impl PatchStream {
    /// Reads the next piece of the text.
    ///
    /// # Errors
    /// As [`Patch::parse`]; every later piece gets the same error again.
    pub fn push(&mut self, text: &str) -> Result<(), PatchError> {
        for piece in text.split_inclusive('\n') {
            match piece.strip_suffix('\n') {
                // The usual case: a line that came in one piece is read where it is, without a
                // copy.
                Some(line) if self.pending.is_empty() => self.read(line)?,
                Some(line) => {
                    let mut whole = core::mem::take(&mut self.pending);
                    whole.push_str(line);
                    self.read(&whole)?;
                }
                None => self.pending.push_str(piece),
            }
        }
        Ok(())
    }

    /// Returns the patch up to the last complete line.
    #[must_use]
    pub const fn patch(&self) -> &Patch {
        &self.patch
    }

    /// Ends the stream and returns the whole patch.
    ///
    /// # Errors
    /// As [`Patch::parse`].
    pub fn finish(mut self) -> Result<Patch, PatchError> {
        let rest = core::mem::take(&mut self.pending);
        if !rest.is_empty() {
            self.read(&rest)?;
        }
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        // Nothing follows, so that the padded end marker was the end and not a line of the file.
        if self.maybe_ended.is_some() {
            self.implied_end()?;
        }
        match self.place {
            PatchStreamState::Before => Err(whole(NO_BEGIN)),
            PatchStreamState::After if self.patch.files.is_empty() => Err(whole(
                "No files were modified. Put at least one '*** Add File: {path}', '*** Delete \
                 File: {path}' or '*** Update File: {path}' into the patch.",
            )),
            PatchStreamState::After => Ok(self.patch),
            _ => Err(whole("The last line of the patch must be '*** End Patch'")),
        }
    }

    fn read(&mut self, line: &str) -> Result<(), PatchError> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        self.lines += 1;
        let done = self.line(line);
        if let Err(failure) = &done {
            // Kept, since the reader's state is not meaningful after a fault: going on would accept
            // the rest of a patch whose lines are misread.
            self.failure = Some(failure.clone());
        }
        done
    }

    fn line(&mut self, line: &str) -> Result<(), PatchError> {
        let bare = line.strip_suffix('\r').unwrap_or(line);
        // In a hunk, a line of spaces is a blank line of the file with its mark; everywhere else
        // models leave blank lines in without meaning anything by them.
        if bare.trim().is_empty()
            && !(self.place == PatchStreamState::Updating && bare.starts_with(' '))
        {
            return self.blank();
        }
        // Before the state's own reading: the wrapper ends in any state, also where the model left
        // out the end marker. Nothing can follow it, so that the patch ends as well.
        if self.place != PatchStreamState::Before && self.closes_wrapper(bare) {
            return self.implied_end();
        }
        match self.place {
            PatchStreamState::Before => self.before(bare),
            PatchStreamState::Outside => self.outside(bare, line),
            PatchStreamState::Adding => self.adding(bare, line),
            PatchStreamState::Updating => self.updating(bare, line),
            PatchStreamState::After => self.after(bare),
        }
    }

    /// Reads a blank line without a mark: context if more of the hunk follows, otherwise nothing.
    fn blank(&mut self) -> Result<(), PatchError> {
        match self.place {
            PatchStreamState::Adding => self.blanks += 1,
            PatchStreamState::Updating => {
                if let Some(hunk) = self.hunk().filter(|hunk| !hunk.end_of_file) {
                    // Models drop the mark of blank context lines. Whether this is one is known
                    // only when the next line comes, so that it is counted and may be dropped
                    // again.
                    hunk.lines.push(HunkLine::Context(String::new()));
                    self.blanks += 1;
                }
            }
            PatchStreamState::Before | PatchStreamState::Outside | PatchStreamState::After => {}
        }
        Ok(())
    }

    fn before(&mut self, line: &str) -> Result<(), PatchError> {
        if matches!(PatchMarker::read(line), Some(PatchMarker::Begin)) {
            self.place = PatchStreamState::Outside;
        } else if !self.opens_wrapper(line) {
            return Err(whole(NO_BEGIN));
        }
        Ok(())
    }

    /// Reads a line after the end of a patch. Another patch may follow; any other text would be
    /// lost.
    fn after(&mut self, line: &str) -> Result<(), PatchError> {
        match PatchMarker::read(line) {
            Some(PatchMarker::Begin) => self.place = PatchStreamState::Outside,
            Some(PatchMarker::End) => {}
            _ if self.opens_wrapper(line) => {}
            _ => {
                let message = format!("Unexpected line after '*** End Patch': '{line}'");
                return Err(self.error(message));
            }
        }
        Ok(())
    }

    fn outside(&mut self, line: &str, raw: &str) -> Result<(), PatchError> {
        match PatchMarker::read(line) {
            Some(marker) => self.marker(&marker, line, raw),
            None => Err(self.no_header(line)),
        }
    }

    fn adding(&mut self, line: &str, raw: &str) -> Result<(), PatchError> {
        if let Some(text) = line.strip_prefix('+') {
            // A carriage return belongs to the file only if the patch's own markers have none.
            let keeps_return = !self.crlf && raw.len() > line.len();
            let end = if keeps_return { "\r\n" } else { "\n" };
            let blanks = core::mem::take(&mut self.blanks);
            if let Some(FilePatch::Add { content, .. }) = self.patch.files.last_mut() {
                for _ in 0..blanks {
                    content.push_str(end);
                }
                content.push_str(text);
                content.push_str(end);
            }
            return Ok(());
        }
        match PatchMarker::read(line) {
            // A new file ends there anyway; models write the marker all the same.
            Some(PatchMarker::EndOfFile) => Ok(()),
            Some(marker) => self.marker(&marker, line, raw),
            None => Err(self.error(format!(
                "Unexpected line found in add file hunk: '{line}'. Every line should start with \
                 '+'"
            ))),
        }
    }

    fn updating(&mut self, line: &str, raw: &str) -> Result<(), PatchError> {
        // In a hunk, a line that begins with a space is the file's own text, even if it looks like
        // a marker. Before the first hunk, padding around markers is accepted.
        let unpadded = if self.hunk().is_some() { line } else { line.trim_start() };
        if unpadded.starts_with('*') {
            if let Some(marker) = PatchMarker::read(unpadded) {
                return self.marker(&marker, line, raw);
            }
        } else if let Some(hint) = unpadded.strip_prefix("@@") {
            return self.hint(hint);
        }
        let mut chars = line.chars();
        let line = match chars.next() {
            Some(' ') => HunkLine::Context(chars.as_str().to_owned()),
            // The model left out the mark of a line that is indented by a tab: the tab is the
            // file's.
            Some('\t') => HunkLine::Context(line.to_owned()),
            Some('-') => HunkLine::Removed(chars.as_str().to_owned()),
            Some('+') => HunkLine::Added(chars.as_str().to_owned()),
            _ => {
                return Err(self.error(format!(
                    "Unexpected line found in update hunk: '{line}'. Every line should start \
                     with ' ' (context line), '+' (added line), or '-' (removed line)"
                )));
            }
        };
        // A padded end marker may be a line of the file. Unless other lines follow, it is taken for
        // the end (`implied_end`).
        let ends = match &line {
            HunkLine::Context(text) => matches!(PatchMarker::read(text), Some(PatchMarker::End)),
            _ => false,
        };
        let blanks = core::mem::take(&mut self.blanks);
        self.maybe_ended = ends.then_some(blanks);
        if self.hunk().is_none_or(|hunk| hunk.end_of_file) {
            self.open_hunk()?;
        }
        if let Some(hunk) = self.hunk() {
            hunk.lines.push(line);
        }
        Ok(())
    }

    /// Reads `@@`, with or without a line to search for.
    fn hint(&mut self, text: &str) -> Result<(), PatchError> {
        self.drop_blanks();
        self.maybe_ended = None;
        // Hints that follow each other belong to one hunk: a class, then its method.
        if self.hunk().is_none_or(|hunk| !hunk.lines.is_empty()) {
            self.open_hunk()?;
        }
        let text = without_numbers(text);
        let hint = text.strip_prefix(' ').unwrap_or(text).trim_end();
        if let Some(hunk) = self.hunk()
            && !hint.is_empty()
        {
            hunk.hints.push(hint.to_owned());
        }
        Ok(())
    }

    fn marker(
        &mut self,
        marker: &PatchMarker<'_>,
        line: &str,
        raw: &str,
    ) -> Result<(), PatchError> {
        let file = match *marker {
            PatchMarker::End => return self.end(),
            PatchMarker::MoveTo(path) => return self.move_to(path),
            PatchMarker::EndOfFile if self.place == PatchStreamState::Updating => {
                return self.end_of_file();
            }
            PatchMarker::Begin | PatchMarker::EndOfFile => return Err(self.no_header(line)),
            PatchMarker::Add("") | PatchMarker::Delete("") | PatchMarker::Update("") => {
                return Err(self.error(format!("'{}' names no file", line.trim())));
            }
            PatchMarker::Add(path) => {
                FilePatch::Add { path: path.to_owned(), content: String::new() }
            }
            PatchMarker::Delete(path) => FilePatch::Delete { path: path.to_owned() },
            PatchMarker::Update(path) => {
                FilePatch::Update { path: path.to_owned(), move_to: None, hunks: Vec::new() }
            }
        };
        self.close_file()?;
        self.place = match file {
            FilePatch::Add { .. } => PatchStreamState::Adding,
            FilePatch::Delete { .. } => PatchStreamState::Outside,
            FilePatch::Update { .. } => PatchStreamState::Updating,
        };
        self.header = self.lines;
        // Looked at anew for each file: several patches may follow each other, each with line ends
        // of its own.
        self.crlf = raw.len() > line.len();
        self.patch.files.push(file);
        Ok(())
    }

    fn move_to(&mut self, target: &str) -> Result<(), PatchError> {
        match self.patch.files.last_mut() {
            Some(FilePatch::Update { move_to: to @ None, hunks, .. })
                if self.place == PatchStreamState::Updating
                    && hunks.is_empty()
                    && !target.is_empty() =>
            {
                *to = Some(target.to_owned());
                Ok(())
            }
            _ => Err(self.error(
                "'*** Move to: {path}' must stand once, with a path, and right after '*** Update \
                 File: {path}'"
                    .to_owned(),
            )),
        }
    }

    fn end_of_file(&mut self) -> Result<(), PatchError> {
        self.drop_blanks();
        match self.hunk().filter(|hunk| !hunk.lines.is_empty()) {
            Some(hunk) => {
                hunk.end_of_file = true;
                Ok(())
            }
            None => Err(self.error(EMPTY_HUNK.to_owned())),
        }
    }

    fn end(&mut self) -> Result<(), PatchError> {
        self.close_file()?;
        self.place = PatchStreamState::After;
        Ok(())
    }

    /// Ends the patch if nothing more of it can follow, with or without the end marker.
    fn implied_end(&mut self) -> Result<(), PatchError> {
        if let Some(blanks) = self.maybe_ended.take() {
            self.drop_blanks();
            if let Some(hunk) = self.hunk() {
                // The padded end marker was taken for context, and so were the blank lines before
                // it. Counted again, they are dropped when the hunk is closed.
                hunk.lines.pop();
            }
            self.blanks = blanks;
        }
        if self.place == PatchStreamState::After { Ok(()) } else { self.end() }
    }

    /// Returns the current hunk.
    fn hunk(&mut self) -> Option<&mut Hunk> {
        match self.patch.files.last_mut() {
            Some(FilePatch::Update { hunks, .. }) => hunks.last_mut(),
            _ => None,
        }
    }

    fn open_hunk(&mut self) -> Result<(), PatchError> {
        self.close_hunk()?;
        let line = self.lines;
        if let Some(FilePatch::Update { hunks, .. }) = self.patch.files.last_mut() {
            hunks.push(Hunk { line, ..Hunk::default() });
        }
        Ok(())
    }

    fn close_hunk(&mut self) -> Result<(), PatchError> {
        self.drop_blanks();
        match self.hunk() {
            Some(hunk) if hunk.lines.is_empty() => {
                Err(PatchError { line: Some(hunk.line), message: EMPTY_HUNK.to_owned() })
            }
            _ => Ok(()),
        }
    }

    /// Drops the blank lines between two parts of a patch: they are not context.
    fn drop_blanks(&mut self) {
        let count = core::mem::take(&mut self.blanks);
        if let Some(hunk) = self.hunk() {
            hunk.lines.truncate(hunk.lines.len().saturating_sub(count));
        }
    }

    fn close_file(&mut self) -> Result<(), PatchError> {
        if self.place == PatchStreamState::Updating {
            self.close_hunk()?;
        }
        self.blanks = 0;
        self.maybe_ended = None;
        match self.patch.files.last() {
            Some(FilePatch::Update { path, move_to: None, hunks }) if hunks.is_empty() => {
                let message = format!("Update file hunk for path '{path}' is empty");
                Err(PatchError { line: Some(self.header), message })
            }
            _ => Ok(()),
        }
    }

    /// Returns whether a line opens a wrapper: a code fence, or a command that passes the patch in
    /// a shell.
    fn opens_wrapper(&mut self, line: &str) -> bool {
        let line = line.trim();
        if line.starts_with("```") {
            self.fenced = true;
            return true;
        }
        // Only the bare command counts. With `cd src &&` in front, the paths would be of another
        // folder, which would have to be guessed.
        let rest = ["apply_patch", "applypatch"].iter().find_map(|name| line.strip_prefix(name));
        let Some(after) = rest.unwrap_or(line).trim_start().strip_prefix("<<") else {
            return rest.is_some_and(str::is_empty);
        };
        let word = after.strip_prefix('-').unwrap_or(after).trim();
        let word = ['\'', '"']
            .into_iter()
            .find_map(|quote| word.strip_prefix(quote)?.strip_suffix(quote))
            .unwrap_or(word);
        let is_word = !word.is_empty() && word.chars().all(is_word);
        if is_word {
            self.heredoc = Some(word.to_owned());
        }
        is_word
    }

    /// Returns whether a line closes the wrapper that was opened before the patch.
    fn closes_wrapper(&mut self, line: &str) -> bool {
        let line = line.trim_end();
        if self.heredoc.as_deref().is_some_and(|word| word == line) {
            self.heredoc = None;
            return true;
        }
        self.fenced && line == "```"
    }

    fn error(&self, message: String) -> PatchError {
        PatchError { line: Some(self.lines), message }
    }

    fn no_header(&self, line: &str) -> PatchError {
        self.error(format!(
            "'{}' is not a valid hunk header. Valid hunk headers: '*** Add File: {{path}}', '*** \
             Delete File: {{path}}', '*** Update File: {{path}}'",
            line.trim()
        ))
    }
}

const NO_BEGIN: &str = "The first line of the patch must be '*** Begin Patch'";
const EMPTY_HUNK: &str = "Update hunk does not contain any lines";

fn whole(message: &str) -> PatchError {
    PatchError { line: None, message: message.to_owned() }
}

/// Returns a hint without the line numbers of a unified diff: ` -1,3 +1,4 @@ fn f` gives ` fn f`.
fn without_numbers(hint: &str) -> &str {
    let numbers = |text: &str, sign: char| {
        text.strip_prefix(sign).is_some_and(|rest| {
            !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit() || c == ',')
        })
    };
    match hint.split_once("@@") {
        Some((range, rest)) => match range.trim().split_once(' ') {
            // Only real ranges are dropped: a line of the file may contain `@@` itself.
            Some((old, new)) if numbers(old, '-') && numbers(new, '+') => rest,
            _ => hint,
        },
        None => hint,
    }
}

/// A marker line of the patch, as opposed to a line of a file.
enum PatchMarker<'a> {
    Begin,
    End,
    EndOfFile,
    Add(&'a str),
    Delete(&'a str),
    Update(&'a str),
    MoveTo(&'a str),
}

impl<'a> PatchMarker<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let words = line.trim().strip_prefix("***")?.trim();
        let path = |keyword: &str| {
            let (start, rest) = words.split_at_checked(keyword.len())?;
            start.eq_ignore_ascii_case(keyword).then(|| rest.trim())
        };
        if words.eq_ignore_ascii_case("Begin Patch") {
            return Some(Self::Begin);
        }
        if words.eq_ignore_ascii_case("End Patch") {
            return Some(Self::End);
        }
        if words.eq_ignore_ascii_case("End of File") {
            return Some(Self::EndOfFile);
        }
        path("Add File:")
            .map(Self::Add)
            .or_else(|| path("Delete File:").map(Self::Delete))
            .or_else(|| path("Update File:").map(Self::Update))
            .or_else(|| path("Move to:").map(Self::MoveTo))
    }
}
