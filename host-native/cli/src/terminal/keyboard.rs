//! What a person does at the terminal, key by key. While it is read, the terminal neither echoes
//! nor handles keys itself; it is given back when the reader is dropped, and lent to others in
//! between.

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
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// The time for which the reader looks for a key before it checks whether it is to pause.
const LOOK: Duration = Duration::from_millis(30);

/// The keys that are pressed.
#[derive(Debug)]
pub(crate) struct Keyboard {
    keys: UnboundedReceiver<Event>,
    reader: KeyReader,
}

/// A way to lend the terminal to others.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyReader(Arc<(Mutex<KeyReaderState>, Condvar)>);

#[derive(Debug, Default, PartialEq, Eq)]
enum KeyReaderState {
    #[default]
    On,
    /// Somebody wants it off.
    Ending,
    Off,
    /// For good.
    Over,
}

/// The terminal, lent. Dropped, it is taken back.
#[derive(Debug)]
pub(crate) struct TerminalLease(KeyReader);

impl Keyboard {
    /// Begins to read, as that reader.
    ///
    /// # Errors
    /// There is no terminal.
    pub(crate) fn open(reader: &KeyReader) -> io::Result<Self> {
        enter()?;
        let (give, keys) = unbounded_channel();
        let reading = reader.clone();
        // A thread of its own: a read cannot be stopped.
        thread::spawn(move || {
            // Whether keys may be there that were pressed before the terminal left them alone.
            let mut is_late = true;
            while let Some(was_lent) = reading.may_read() {
                if is_terminal_closed() {
                    return;
                }
                is_late |= was_lent;
                match event::poll(LOOK) {
                    Ok(false) => is_late = false,
                    Ok(true) => {
                        let event = event::read().map(|it| if is_late { early(it) } else { it });
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

    /// The next key; nothing when the terminal is gone. May be given up and asked for again.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        self.keys.recv().await
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        // A thread that still read would take a key from whoever reads next.
        self.reader.stop(KeyReaderState::Ending);
        self.reader.stop(KeyReaderState::Over);
        leave();
    }
}

impl KeyReader {
    /// Lends the terminal; waits until nobody reads any more.
    pub(crate) fn lend(&self) -> TerminalLease {
        self.stop(KeyReaderState::Ending);
        leave();
        TerminalLease(self.clone())
    }

    /// Lets the thread go on, and says whether the terminal was lent before; nothing if it is to
    /// end. Waits while the terminal is lent.
    fn may_read(&self) -> Option<bool> {
        let (_, changed) = &*self.0;
        let (mut state, mut was_lent) = (self.state(), false);
        loop {
            match *state {
                KeyReaderState::On => return Some(was_lent),
                KeyReaderState::Over => return None,
                KeyReaderState::Ending => {
                    was_lent = true;
                    *state = KeyReaderState::Off;
                    changed.notify_all();
                }
                KeyReaderState::Off => {
                    state = changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    fn stop(&self, how: KeyReaderState) {
        let (_, changed) = &*self.0;
        let mut state = self.state();
        *state = how;
        changed.notify_all();
        while *state == KeyReaderState::Ending {
            // The thread may be gone with its terminal.
            let waited = changed.wait_timeout(state, 10 * LOOK);
            let (next, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            state = next;
            if timeout.timed_out() {
                return;
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, KeyReaderState> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for TerminalLease {
    fn drop(&mut self) {
        let (_, changed) = &*self.0.0;
        // What cannot be entered again is told by the keys that do not come.
        drop(enter());
        *self.0.state() = KeyReaderState::On;
        changed.notify_all();
    }
}

/// A key that was pressed while the terminal still handled keys itself, which makes a line feed of
/// Enter.
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

/// Gives the terminal back as it was, wherever the program ends.
pub(crate) fn restore() {
    if is_raw_mode_enabled().is_ok_and(|is_raw| is_raw) {
        leave();
    }
}

fn leave() {
    drop(execute!(stderr(), DisableBracketedPaste));
    drop(disable_raw_mode());
}
