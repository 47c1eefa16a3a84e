//! What a terminal shows: lines that scroll away, and below them an area of its own, drawn anew
//! with each change: the line that is not yet whole, what goes on, and what is being typed. Where
//! there is no area, lines are written as they come.

use super::layout::{RowLayout, columns_of_line};
use crossterm::terminal::is_raw_mode_enabled;
use std::{
    io::{self, Write, stderr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Most characters of a line that is not whole. A longer one is broken.
const LONGEST_TAIL: usize = 4_000;

/// Most bytes that are kept while the terminal is somebody else's, or a question is open.
const MOST_HELD: usize = 1 << 20;

/// The screen that is drawn on, for lines that concern everybody.
static DRAWN: Mutex<Option<Screen>> = Mutex::new(None);

/// Writes whole lines to standard error: above the area, if there is one.
pub(crate) fn tell(lines: &str) {
    let drawn = DRAWN.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match drawn {
        Some(screen) => screen.tell(lines),
        None => drop(stderr().lock().write_all(lines.as_bytes())),
    }
}

/// The notice in place of text that is not kept.
const NOT_HELD: &str = "\n(what followed is not shown)\n";

/// The terminal behind standard error. Clones are of the same one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Screen {
    state: Arc<Mutex<ScreenState>>,
    /// True if what is written here waits while a question is open.
    waits: bool,
}

#[derive(Debug, Default)]
struct ScreenState {
    /// True if there is an area.
    is_drawn: bool,
    /// Columns and rows.
    size: (usize, usize),
    /// The line that is not yet whole.
    tail: String,
    /// The current activity, in one line.
    status: Option<String>,
    /// The text that is being typed.
    input: Option<RowLayout>,
    /// True if there is nothing in the area but a line that is not whole.
    is_plain: bool,
    /// The area as it stands; none where nothing is drawn.
    area: Option<DrawnArea>,
    /// The text that was written while the terminal is somebody else's; `None` if it is not.
    held: Option<String>,
    /// The text that waits for the answer to a question; `None` if none is open.
    waiting: Option<String>,
}

/// The measurements of the area that are needed to remove it.
#[derive(Debug)]
struct DrawnArea {
    /// The columns of each line above the cursor's.
    above: Vec<usize>,
    /// The cursor's, counted from the beginning of its line.
    column: usize,
}

impl DrawnArea {
    /// Returns how many rows stand above the cursor. A terminal that has become narrower has broken
    /// the lines that it had.
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

    /// Takes the area away. A line that is not whole stays.
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

    /// Takes the area away, for whoever else writes to the terminal, until that is dropped. What
    /// is written to the screen meanwhile comes then.
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

    /// Draws all of the screen anew.
    pub(crate) fn redraw(&self) {
        let mut state = self.state();
        if state.is_drawn {
            state.area = None;
            emit("\x1b[2J\x1b[H");
            state.show("");
        }
    }

    /// The terminal has another size now.
    pub(crate) fn resize(&self, size: (u16, u16)) {
        let mut state = self.state();
        state.resize(size);
        // Also where nothing has changed it stands in other rows.
        state.is_plain = false;
        state.show("");
    }

    /// Writes whole lines: above the area, if there is one.
    pub(crate) fn tell(&self, lines: &str) {
        self.state().tell(lines);
    }

    /// Columns of a terminal that an area is drawn on.
    pub(crate) fn width(&self) -> usize {
        self.state().size.0
    }

    /// Rows of a terminal that an area is drawn on.
    pub(crate) fn height(&self) -> usize {
        self.state().size.1
    }

    /// Tells what goes on, if anything does.
    pub(crate) fn set_status(&self, status: Option<String>) {
        let mut state = self.state();
        if state.status != status {
            state.status = status;
            state.show("");
        }
    }

    /// Shows what is being typed.
    pub(crate) fn set_input(&self, input: Option<RowLayout>) {
        let mut state = self.state();
        if state.input != input {
            state.input = input;
            state.show("");
        }
    }

    /// Has a question and its answers stand together: what is written by those that wait comes
    /// when that is dropped.
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

    /// Sets whether what is written from here on waits for the answer to an open question.
    pub(crate) const fn wait(&mut self, waits: bool) {
        self.waits = waits;
    }

    fn state(&self) -> MutexGuard<'_, ScreenState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The area, taken away for a while.
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

    /// Writes a text, or keeps it while the terminal is somebody else's.
    fn put(&mut self, text: &str) {
        match &mut self.held {
            Some(held) => hold(text, held),
            None if self.is_drawn => self.show(text),
            None => emit(text),
        }
    }

    /// Writes lines of somebody else's: a line that is not whole ends before them.
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

    /// Writes a text behind what is there, and the area below it.
    fn show(&mut self, text: &str) {
        if !self.is_drawn {
            return;
        }
        // What only goes on need not be drawn anew.
        let goes_on = self.is_plain && self.status.is_none() && self.input.is_none();
        let mut out = if goes_on { String::new() } else { self.cleared() };
        let stands = if goes_on { self.tail.len() } else { 0 };
        self.tail.push_str(text);
        // A line that fills the screen could not be taken away.
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

    /// Returns what takes the area away.
    fn cleared(&mut self) -> String {
        match self.area.take().map(|area| area.rows(self.size.0)) {
            None => String::new(),
            Some(0) => "\r\x1b[J".to_owned(),
            Some(rows) => format!("\r\x1b[{rows}A\x1b[J"),
        }
    }

    /// Notes where the cursor is behind a line that is not whole.
    fn stand(&mut self) {
        let column = columns_of_line(&self.tail);
        self.area = (!self.tail.is_empty()).then(|| DrawnArea { above: Vec::new(), column });
        self.is_plain = true;
    }

    /// The area, with the cursor where something is typed.
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

/// Keeps a text behind others, as far as there is room.
fn hold(text: &str, held: &mut String) {
    if held.len() < MOST_HELD {
        held.push_str(text);
        if held.len() >= MOST_HELD {
            held.push_str(NOT_HELD);
        }
    }
}

/// Returns what ends a line: whoever reads the keys has the terminal leave it alone.
fn line_end() -> &'static str {
    if is_raw_mode_enabled().is_ok_and(|is_raw| is_raw) { "\r\n" } else { "\n" }
}

/// Writes to the terminal, in one piece. Nobody may be reading; that is no failure.
fn emit(text: &str) {
    let mut err = stderr().lock();
    // A terminal that knows these shows all of it at once.
    let (begin, end) =
        if text.contains("\x1b[J") { ("\x1b[?2026h", "\x1b[?2026l") } else { ("", "") };
    drop(write!(err, "{begin}{text}{end}").and_then(|()| err.flush()));
}
