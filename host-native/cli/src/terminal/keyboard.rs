//! The keyboard: a thread that reads the terminal's events in raw mode. The terminal leaves raw
//! mode when the `Keyboard` is dropped, and while it is lent to another program, such as an editor.

use crate::platform::is_terminal_closed;
use crossterm::{
    event::{
        self, DisableBracketedPaste, EnableBracketedPaste, Event, KeyCode, KeyEvent, KeyModifiers,
    },
    execute,
    terminal::{disable_raw_mode, enable_raw_mode, is_raw_mode_enabled},
};
use std::{
    io::{self, stderr},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// The time for which the thread waits for a key before it checks whether it should pause.
const LOOK: Duration = Duration::from_millis(30);

/// The keys that are pressed.
#[derive(Debug)]
pub(crate) struct Keyboard {
    keys: UnboundedReceiver<Event>,
    reader: KeyReader,
}

/// A way to lend the terminal to others, and to learn of a key that stops what goes on before it
/// arrives.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyReader(Arc<SharedReader>);

#[derive(Debug, Default)]
struct SharedReader {
    state: Mutex<KeyReaderState>,
    changed: Condvar,
    /// The number of keys that stop something, and that were pressed and not received yet.
    stops: AtomicUsize,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum KeyReaderState {
    #[default]
    On,
    /// Somebody waits until the thread stops reading.
    Ending,
    Off,
    /// Off for good.
    Over,
}

/// The terminal while it is lent; dropping this takes it back.
#[derive(Debug)]
pub(crate) struct TerminalLease(KeyReader);

impl Keyboard {
    /// Enters raw mode and begins to read; `reader` can pause it.
    ///
    /// # Errors
    /// There is no terminal.
    pub(crate) fn open(reader: &KeyReader) -> io::Result<Self> {
        enter()?;
        let (give, keys) = unbounded_channel();
        let reading = reader.clone();
        // A blocking read can't be cancelled, so that it has a thread of its own.
        thread::spawn(move || {
            // True while keys may come that were pressed before raw mode began.
            let mut is_late = true;
            while let Some(was_lent) = reading.may_read() {
                // On a closed terminal `poll` returns at once, for ever.
                if is_terminal_closed() {
                    return;
                }
                is_late |= was_lent;
                match event::poll(LOOK) {
                    Ok(false) => is_late = false,
                    Ok(true) => {
                        let event = event::read().map(|it| if is_late { early(it) } else { it });
                        let is_stop = event.as_ref().is_ok_and(is_stop_key);
                        reading.0.stops.fetch_add(is_stop.into(), Ordering::AcqRel);
                        if !event.is_ok_and(|event| give.send(event).is_ok()) {
                            return;
                        }
                    }
                    Err(_) => return,
                }
            }
        });
        Ok(Self { keys, reader: reader.clone() })
    }

    /// Waits for the next event; returns none when the terminal is gone. Cancelling loses nothing.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        let event = self.keys.recv().await;
        let is_stop = event.as_ref().is_some_and(is_stop_key);
        self.reader.0.stops.fetch_sub(is_stop.into(), Ordering::AcqRel);
        event
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        // The thread must have stopped, or it would take a key from whatever reads next.
        self.reader.stop(KeyReaderState::Ending);
        self.reader.stop(KeyReaderState::Over);
        leave();
    }
}

impl KeyReader {
    /// Lends the terminal; blocks until the thread has stopped reading.
    pub(crate) fn lend(&self) -> TerminalLease {
        self.stop(KeyReaderState::Ending);
        leave();
        TerminalLease(self.clone())
    }

    /// Returns the number of keys that stop something, and that are still to be received.
    pub(crate) fn stops(&self) -> usize {
        self.0.stops.load(Ordering::Acquire)
    }

    /// Returns whether there is such a key.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stops() > 0
    }

    /// Blocks the thread while the terminal is lent; returns whether it was, or none if the thread
    /// should end.
    fn may_read(&self) -> Option<bool> {
        let (mut state, mut was_lent) = (self.state(), false);
        loop {
            match *state {
                KeyReaderState::On => return Some(was_lent),
                KeyReaderState::Over => return None,
                KeyReaderState::Ending => {
                    was_lent = true;
                    *state = KeyReaderState::Off;
                    self.0.changed.notify_all();
                }
                KeyReaderState::Off => {
                    state = self.0.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    fn stop(&self, how: KeyReaderState) {
        let mut state = self.state();
        *state = how;
        self.0.changed.notify_all();
        while *state == KeyReaderState::Ending {
            // The thread may have ended with its terminal, and would never answer.
            let waited = self.0.changed.wait_timeout(state, 10 * LOOK);
            let (next, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            state = next;
            if timeout.timed_out() {
                return;
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, KeyReaderState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for TerminalLease {
    fn drop(&mut self) {
        // A failure here shows soon enough: no keys come.
        drop(enter());
        *self.0.state() = KeyReaderState::On;
        self.0.0.changed.notify_all();
    }
}

/// Returns whether a key stops what goes on: Ctrl-C or Esc.
pub(crate) fn is_stop_key(event: &Event) -> bool {
    matches!(event, Event::Key(key) if key.code == KeyCode::Esc
        || key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL))
}

/// Turns a line feed back into Enter: the terminal sends one for an Enter that was pressed before
/// raw mode began.
fn early(event: Event) -> Event {
    match event {
        Event::Key(key) if key == KeyEvent::new(KeyCode::Char('j'), KeyModifiers::CONTROL) => {
            Event::Key(KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE))
        }
        event => event,
    }
}

fn enter() -> io::Result<()> {
    enable_raw_mode()?;
    execute!(stderr(), EnableBracketedPaste)
}

/// Leaves raw mode if the program is about to end in it.
pub(crate) fn restore() {
    if is_raw_mode_enabled().is_ok_and(|is_raw| is_raw) {
        leave();
    }
}

fn leave() {
    drop(execute!(stderr(), DisableBracketedPaste));
    drop(disable_raw_mode());
}
