//! What a person does at the terminal, key by key. While it is read, the terminal neither echoes
//! nor handles keys itself; it is given back when the reader is dropped, and lent to others in
//! between.

use crossterm::{
    event::{self, DisableBracketedPaste, EnableBracketedPaste, Event},
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

/// How long the reader looks for a key before it looks whether it is to pause.
const LOOK: Duration = Duration::from_millis(30);

/// The keys that are pressed.
#[derive(Debug)]
pub(crate) struct Keyboard {
    keys: UnboundedReceiver<Event>,
    reader: Reader,
}

/// A way to lend the terminal to others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reader(Arc<(Mutex<Reading>, Condvar)>);

#[derive(Debug, Default, PartialEq, Eq)]
enum Reading {
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
pub(crate) struct Lent(Reader);

impl Keyboard {
    /// Begins to read, as that reader.
    ///
    /// # Errors
    /// There is no terminal.
    pub(crate) fn open(reader: &Reader) -> io::Result<Self> {
        enter()?;
        let (give, keys) = unbounded_channel();
        let reading = reader.clone();
        // A thread of its own: a read cannot be stopped.
        thread::spawn(move || {
            while reading.may_read() {
                match event::poll(LOOK) {
                    Ok(false) => {}
                    Ok(true) => {
                        let given = event::read().is_ok_and(|event| give.send(event).is_ok());
                        if !given {
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
        self.reader.stop(Reading::Over);
        leave();
    }
}

impl Reader {
    /// Lends the terminal; waits until nobody reads any more.
    pub(crate) fn lend(&self) -> Lent {
        self.stop(Reading::Ending);
        leave();
        Lent(self.clone())
    }

    /// Whether the thread may go on; waits while it may not.
    fn may_read(&self) -> bool {
        let (_, changed) = &*self.0;
        let mut state = self.state();
        loop {
            match *state {
                Reading::On => return true,
                Reading::Over => return false,
                Reading::Ending => {
                    *state = Reading::Off;
                    changed.notify_all();
                }
                Reading::Off => {
                    state = changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    fn stop(&self, how: Reading) {
        let (_, changed) = &*self.0;
        let mut state = self.state();
        *state = how;
        changed.notify_all();
        while *state == Reading::Ending {
            // The thread may be gone with its terminal.
            let waited = changed.wait_timeout(state, 10 * LOOK);
            let (next, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            state = next;
            if timeout.timed_out() {
                return;
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, Reading> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let (_, changed) = &*self.0.0;
        // What cannot be entered again is told by the keys that do not come.
        drop(enter());
        *self.0.state() = Reading::On;
        changed.notify_all();
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
