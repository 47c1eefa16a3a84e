//! The screen: lines that scroll away, and below them an area that is redrawn with each change. The
//! area holds the unfinished line, the current activity and the text that is being typed. Where
//! there is no area, lines are written as they come. Everything that writes to the terminal while
//! the area is drawn goes through here: other text would be taken for part of the area.

use super::layout::{RowLayout, columns_of_line};
use crossterm::terminal::is_raw_mode_enabled;
use std::{
    io::{self, Write, stderr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// The most bytes of an unfinished line. A longer one is broken.
const LONGEST_TAIL: usize = 4_000;

/// The most bytes that are kept while the terminal is lent or a question is open.
const MOST_HELD: usize = 1 << 20;

/// The screen whose area is drawn, for code that has lines to show but no screen.
static DRAWN: Mutex<Option<Screen>> = Mutex::new(None);

/// Writes whole lines to standard error: above the area if one is drawn.
pub(crate) fn tell(lines: &str) {
    let drawn = DRAWN.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match drawn {
        Some(screen) => screen.tell(lines),
        None => drop(stderr().lock().write_all(lines.as_bytes())),
    }
}

/// The notice in place of text beyond the bound.
const NOT_HELD: &str = "\n(what followed is not shown)\n";

/// The terminal behind standard error; clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Screen {
    state: Arc<Mutex<ScreenState>>,
    /// True if text written through this clone waits while a question is open.
    waits: bool,
}

#[derive(Debug, Default)]
struct ScreenState {
    /// True if there is an area.
    is_drawn: bool,
    /// Columns and rows.
    size: (usize, usize),
    /// The unfinished line.
    tail: String,
    /// The current activity, in one line.
    status: Option<String>,
    /// The text that is being typed.
    input: Option<RowLayout>,
    /// True if the area holds nothing but an unfinished line.
    is_plain: bool,
    /// The area on the terminal; none if nothing is drawn.
    area: Option<DrawnArea>,
    /// The text that was written while the terminal is lent; `None` if it is not.
    held: Option<String>,
    /// The text that waits for the answer to a question; `None` if none is open.
    waiting: Option<String>,
}

/// The measurements of the area that are needed to remove it.
#[derive(Debug)]
struct DrawnArea {
    /// The columns of each line above the cursor's.
    above: Vec<usize>,
    /// The cursor's column, counted from the beginning of its line.
    column: usize,
}

impl DrawnArea {
    /// Returns the number of rows above the cursor, by the present width: a terminal that has
    /// become narrower has rewrapped the lines.
    fn rows(&self, width: usize) -> usize {
        let width = width.max(1);
        let above: usize = self.above.iter().map(|columns| (*columns).max(1).div_ceil(width)).sum();
        above + self.column.saturating_sub(1) / width
    }
}

impl Screen {
    /// Begins to draw the area, on a terminal of that many columns and rows.
    pub(crate) fn begin(&self, size: (u16, u16)) {
        *DRAWN.lock().unwrap_or_else(PoisonError::into_inner) = Some(self.clone());
        let mut state = self.state();
        state.is_drawn = true;
        state.resize(size);
        state.show("");
    }

    /// Removes the area. An unfinished line stays.
    pub(crate) fn end(&self) {
        *DRAWN.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let mut state = self.state();
        if state.is_drawn {
            (state.status, state.input) = (None, None);
            let text = if state.tail.is_empty() { "" } else { "\n" };
            state.show(text);
            state.is_drawn = false;
        }
    }

    /// Removes the area until the result is dropped, so that something else can write to the
    /// terminal. Text that is written to the screen meanwhile is shown afterwards.
    pub(crate) fn hide(&self) -> HiddenArea {
        let mut state = self.state();
        let was_drawn = state.is_drawn;
        if was_drawn {
            let mut text = state.cleared();
            if !state.tail.is_empty() {
                text.push_str(&std::mem::take(&mut state.tail));
                text.push_str(line_end());
            }
            emit(&text);
            state.is_drawn = false;
            state.held = Some(String::new());
        }
        HiddenArea(was_drawn.then(|| self.clone()))
    }

    /// Clears the terminal and redraws the area.
    pub(crate) fn redraw(&self) {
        let mut state = self.state();
        if state.is_drawn {
            state.area = None;
            emit("\x1b[2J\x1b[H");
            state.show("");
        }
    }

    /// Redraws the area for another size.
    pub(crate) fn resize(&self, size: (u16, u16)) {
        let mut state = self.state();
        state.resize(size);
        // Rewrapped lines are in other rows, so that even an unchanged area is drawn again.
        state.is_plain = false;
        state.show("");
    }

    /// Writes whole lines: above the area, if there is one.
    pub(crate) fn tell(&self, lines: &str) {
        self.state().tell(lines);
    }

    /// Returns the columns of the terminal that the area is drawn on.
    pub(crate) fn width(&self) -> usize {
        self.state().size.0
    }

    /// Returns the rows of the terminal that the area is drawn on.
    pub(crate) fn height(&self) -> usize {
        self.state().size.1
    }

    /// Shows the current activity, or none.
    pub(crate) fn set_status(&self, status: Option<String>) {
        let mut state = self.state();
        if state.status != status {
            state.status = status;
            state.show("");
        }
    }

    /// Shows the text that is being typed, or none.
    pub(crate) fn set_input(&self, input: Option<RowLayout>) {
        let mut state = self.state();
        if state.input != input {
            state.input = input;
            state.show("");
        }
    }

    /// Keeps a question and its answer together: text of clones that wait is shown when the guard
    /// is dropped.
    pub(crate) fn turn(&self) -> QuestionGuard {
        let mut state = self.state();
        if state.waiting.is_none() {
            if !state.tail.is_empty() {
                state.put("\n");
            }
            state.waiting = Some(String::new());
        }
        QuestionGuard(self.clone())
    }

    /// Sets whether text written through this clone waits for the answer to an open question.
    pub(crate) const fn wait(&mut self, waits: bool) {
        self.waits = waits;
    }

    fn state(&self) -> MutexGuard<'_, ScreenState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The area while it is removed.
#[derive(Debug)]
pub(crate) struct HiddenArea(Option<Screen>);

impl HiddenArea {
    /// Writes to the terminal at once.
    pub(crate) fn write(&self, text: &str) {
        emit(text);
    }
}

impl Drop for HiddenArea {
    fn drop(&mut self) {
        if let Some(screen) = &self.0 {
            let mut state = screen.state();
            state.is_drawn = true;
            let held = state.held.take().unwrap_or_default();
            state.show(&held);
        }
    }
}

/// A question that is open, until it is dropped.
#[derive(Debug)]
pub(crate) struct QuestionGuard(Screen);

impl Drop for QuestionGuard {
    fn drop(&mut self) {
        let mut state = self.0.state();
        let waited = state.waiting.take().unwrap_or_default();
        state.put(&waited);
    }
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.state();
        let text = String::from_utf8_lossy(bytes);
        match state.waiting.as_mut().filter(|_| self.waits) {
            Some(waiting) => hold(&text, waiting),
            None => state.put(&text),
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        stderr().lock().flush()
    }
}

impl ScreenState {
    fn resize(&mut self, (columns, rows): (u16, u16)) {
        self.size = (usize::from(columns).max(8), usize::from(rows).max(4));
    }

    /// Writes a text, or keeps it while the terminal is lent.
    fn put(&mut self, text: &str) {
        match &mut self.held {
            Some(held) => hold(text, held),
            None if self.is_drawn => self.show(text),
            None => emit(text),
        }
    }

    /// Writes whole lines from elsewhere, after ending an unfinished line.
    fn tell(&mut self, lines: &str) {
        if let Some(held) = &mut self.held {
            let end = if held.is_empty() || held.ends_with('\n') { "" } else { "\n" };
            held.push_str(&format!("{end}{lines}"));
        } else if self.is_drawn {
            let end = if self.tail.is_empty() { "" } else { "\n" };
            self.show(&format!("{end}{lines}"));
        } else {
            emit(lines);
        }
    }

    /// Appends a text to the scrolling lines, and draws the area below it.
    fn show(&mut self, text: &str) {
        if !self.is_drawn {
            return;
        }
        // An area that is only an unfinished line is continued in place, without a redraw: streamed
        // text would flicker.
        let goes_on = self.is_plain && self.status.is_none() && self.input.is_none();
        let mut out = if goes_on { String::new() } else { self.cleared() };
        let stands = if goes_on { self.tail.len() } else { 0 };
        self.tail.push_str(text);
        // Rows that have scrolled off the screen can't be removed, so that the unfinished line
        // takes half of it at most.
        let longest = LONGEST_TAIL.min(self.size.0 * self.size.1 / 2);
        if self.tail.len() > longest && !self.tail.contains('\n') {
            self.tail.push('\n');
        }
        if let Some(end) = self.tail.rfind('\n') {
            let rest = self.tail.split_off(end + 1);
            let whole = std::mem::replace(&mut self.tail, rest);
            let new = whole.get(stands..).unwrap_or_default();
            out.push_str(&new.replace('\n', line_end()));
            if goes_on {
                out.push_str(&self.tail);
            }
        } else if goes_on {
            out.push_str(self.tail.get(stands..).unwrap_or_default());
        }
        if goes_on {
            self.stand();
        } else {
            self.draw(&mut out);
        }
        emit(&out);
    }

    /// Returns the escapes that remove the area.
    fn cleared(&mut self) -> String {
        match self.area.take().map(|area| area.rows(self.size.0)) {
            None => String::new(),
            Some(0) => "\r\x1b[J".to_owned(),
            Some(rows) => format!("\r\x1b[{rows}A\x1b[J"),
        }
    }

    /// Records the cursor's place after an unfinished line.
    fn stand(&mut self) {
        let column = columns_of_line(&self.tail);
        self.area = (!self.tail.is_empty()).then(|| DrawnArea { above: Vec::new(), column });
        self.is_plain = true;
    }

    /// Appends the area to `out`, with the cursor in the text that is being typed.
    fn draw(&mut self, out: &mut String) {
        self.is_plain = self.status.is_none() && self.input.is_none();
        let mut rows = Vec::new();
        if !self.tail.is_empty() {
            rows.push(self.tail.as_str());
        }
        rows.extend(self.status.as_deref());
        let input = self.input.as_ref();
        let first = rows.len();
        rows.extend(input.iter().flat_map(|input| &input.rows).map(String::as_str));
        let Some(last) = rows.len().checked_sub(1) else { return };
        out.push_str(&rows.join(line_end()));
        let columns: Vec<usize> = rows.iter().map(|row| columns_of_line(row)).collect();
        let at = input.map_or(last, |input| first + input.cursor.0);
        let column = match input {
            Some(input) => input.cursor.1,
            None => columns.last().copied().unwrap_or_default(),
        };
        if input.is_some() {
            if last > at {
                out.push_str(&format!("\x1b[{}A", last - at));
            }
            out.push('\r');
            if column > 0 {
                out.push_str(&format!("\x1b[{column}C"));
            }
        }
        let above = columns.get(..at).unwrap_or_default().to_vec();
        self.area = Some(DrawnArea { above, column });
    }
}

/// Appends a text to what is held, up to the bound.
fn hold(text: &str, held: &mut String) {
    if held.len() < MOST_HELD {
        held.push_str(text);
        if held.len() >= MOST_HELD {
            held.push_str(NOT_HELD);
        }
    }
}

/// Returns the end of a line: in raw mode a line feed does not return to the first column.
fn line_end() -> &'static str {
    if is_raw_mode_enabled().is_ok_and(|is_raw| is_raw) { "\r\n" } else { "\n" }
}

/// Writes to the terminal in one piece. A failure is ignored: nobody may be reading.
fn emit(text: &str) {
    let mut err = stderr().lock();
    // Synchronised output (mode 2026): terminals that know it show the redraw at once, without
    // flicker; the others ignore it.
    let (begin, end) =
        if text.contains("\x1b[J") { ("\x1b[?2026h", "\x1b[?2026l") } else { ("", "") };
    drop(write!(err, "{begin}{text}{end}").and_then(|()| err.flush()));
}
