//! What a terminal shows: lines that scroll away, and below them an area of its own, drawn anew
//! with each change: the line that is not yet whole, what goes on, and what is being typed. Where
//! there is no area, lines are written as they come.

use super::layout::{Layout, rows_of};
use crossterm::terminal::is_raw_mode_enabled;
use std::{
    io::{self, Write, stderr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Most characters of a line that is not whole. A longer one is broken.
const LONGEST_TAIL: usize = 4_000;

/// The terminal behind standard error. Clones are of the same one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Screen(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// Whether there is an area.
    is_drawn: bool,
    /// Columns and rows.
    size: (usize, usize),
    /// The line that is not yet whole.
    tail: String,
    /// What goes on, in one line.
    status: Option<String>,
    /// What is being typed.
    input: Option<Layout>,
    /// Whether there is nothing in the area but a line that is not whole.
    is_plain: bool,
    /// Of the area as it stands: the row of the cursor; none where nothing is drawn.
    cursor_row: Option<usize>,
}

impl Screen {
    /// Begins to draw the area, on a terminal of that many columns and rows.
    pub(crate) fn begin(&self, size: (u16, u16)) {
        let mut state = self.state();
        state.is_drawn = true;
        state.resize(size);
        state.show("");
    }

    /// Takes the area away. A line that is not whole stays.
    pub(crate) fn end(&self) {
        let mut state = self.state();
        if state.is_drawn {
            (state.status, state.input) = (None, None);
            let text = if state.tail.is_empty() { "" } else { "\n" };
            state.show(text);
            state.is_drawn = false;
        }
    }

    /// Takes the area away, for whoever else writes to the terminal, until that is dropped.
    pub(crate) fn hide(&self) -> Hidden {
        let mut state = self.state();
        let was_drawn = state.is_drawn;
        if was_drawn {
            let text = state.cleared() + &std::mem::take(&mut state.tail);
            emit(&text);
            state.is_drawn = false;
        }
        Hidden(was_drawn.then(|| self.clone()))
    }

    /// Draws all of the screen anew.
    pub(crate) fn redraw(&self) {
        let mut state = self.state();
        if state.is_drawn {
            state.cursor_row = None;
            emit("\x1b[2J\x1b[H");
            state.show("");
        }
    }

    /// The terminal has another size now.
    pub(crate) fn resize(&self, size: (u16, u16)) {
        let mut state = self.state();
        state.resize(size);
        state.show("");
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
    pub(crate) fn set_input(&self, input: Option<Layout>) {
        let mut state = self.state();
        if state.input != input {
            state.input = input;
            state.show("");
        }
    }

    /// The line that is not yet whole.
    pub(crate) fn tail(&self) -> String {
        self.state().tail.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The area, taken away for a while.
#[derive(Debug)]
pub(crate) struct Hidden(Option<Screen>);

impl Drop for Hidden {
    fn drop(&mut self) {
        if let Some(screen) = &self.0 {
            let mut state = screen.state();
            state.is_drawn = true;
            state.show("");
        }
    }
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.state();
        if !state.is_drawn {
            return stderr().lock().write(bytes);
        }
        state.show(&String::from_utf8_lossy(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        stderr().lock().flush()
    }
}

impl State {
    fn resize(&mut self, (columns, rows): (u16, u16)) {
        self.size = (usize::from(columns).max(8), usize::from(rows).max(4));
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
        if self.tail.len() > LONGEST_TAIL && !self.tail.contains('\n') {
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

    /// What takes the area away.
    fn cleared(&mut self) -> String {
        match self.cursor_row.take() {
            None => String::new(),
            Some(0) => "\r\x1b[J".to_owned(),
            Some(rows) => format!("\r\x1b[{rows}A\x1b[J"),
        }
    }

    /// Notes where the cursor is behind a line that is not whole.
    fn stand(&mut self) {
        let rows = rows_of(&self.tail, self.size.0);
        self.cursor_row = (!self.tail.is_empty()).then(|| rows - 1);
        self.is_plain = true;
    }

    /// The area, with the cursor where something is typed.
    fn draw(&mut self, out: &mut String) {
        let width = self.size.0;
        let mut rows = Vec::new();
        if !self.tail.is_empty() {
            rows.push(self.tail.as_str());
        }
        rows.extend(self.status.as_deref());
        let above: usize = rows.iter().map(|row| rows_of(row, width)).sum();
        let (mut at, mut cursor) = (above.saturating_sub(1), None);
        if let Some(input) = &self.input {
            rows.extend(input.rows.iter().map(String::as_str));
            at = above + input.rows.len().saturating_sub(1);
            cursor = Some((above + input.cursor.0, input.cursor.1));
        }
        self.is_plain = self.status.is_none() && self.input.is_none();
        if rows.is_empty() {
            return;
        }
        out.push_str(&rows.join(line_end()));
        if let Some((row, column)) = cursor {
            if at > row {
                out.push_str(&format!("\x1b[{}A", at - row));
            }
            out.push('\r');
            if column > 0 {
                out.push_str(&format!("\x1b[{column}C"));
            }
            at = row;
        }
        self.cursor_row = Some(at);
    }
}

/// What ends a line: whoever reads the keys has the terminal leave it alone.
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
