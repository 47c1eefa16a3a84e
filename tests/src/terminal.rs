//! A person at a terminal: keys are pressed, and the screen is looked at as it stands then.

use crate::patience::PATIENCE;
use crate::program::{Run, Started, on_terminal};
use std::{
    io::{self, Read},
    num::NonZero,
    process::Command,
    sync::mpsc::{Receiver, Sender, channel},
    thread,
    time::{Duration, Instant},
};

/// A program on a terminal of its own.
#[derive(Debug)]
pub struct Terminal {
    program: Started,
    keys: Option<Sender<Vec<u8>>>,
    /// Columns and rows.
    size: (NonZero<u16>, NonZero<u16>),
}

impl Terminal {
    /// Starts that command on a terminal of so many columns and rows.
    ///
    /// # Panics
    /// It cannot be started, or there is no room.
    #[must_use]
    pub fn start(command: &Command, (columns, rows): (u16, u16)) -> Self {
        let mut sized = Command::new("sh");
        let begin = format!("stty columns {columns} rows {rows}; exec \"$@\"");
        sized.args(["-c", &begin, "sh"]).arg(command.get_program()).args(command.get_args());
        let set = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
        sized.env_clear().envs(set).env("TERM", "xterm-256color");
        if let Some(folder) = command.get_current_dir() {
            sized.current_dir(folder);
        }
        let (keys, pressed) = channel();
        let program = Started::reading(&mut on_terminal(&sized), Pressed(pressed, Vec::new()));
        let size = |lines| NonZero::new(lines).expect("room");
        Self { program, keys: Some(keys), size: (size(columns), size(rows)) }
    }

    /// Presses these keys, as the bytes that a terminal sends for them.
    pub fn press(&self, keys: &str) {
        if let Some(pressed) = &self.keys {
            // The program may have ended.
            drop(pressed.send(keys.as_bytes().to_vec()));
        }
    }

    /// The rows that are seen, without the blanks at their ends.
    #[must_use]
    pub fn screen(&self) -> String {
        let (columns, rows) = self.size;
        let mut screen = vt100::Parser::new(rows, columns, 0);
        screen.process(self.program.said().as_bytes());
        screen.screen().contents()
    }

    /// Waits until that is seen.
    ///
    /// # Panics
    /// It takes too long.
    pub fn shows(&self, text: &str) {
        self.waits(&format!("{text:?} is not shown"), |screen| screen.contains(text));
    }

    /// Waits until that is no longer seen.
    ///
    /// # Panics
    /// It takes too long.
    pub fn hides(&self, text: &str) {
        self.waits(&format!("{text:?} is still shown"), |screen| !screen.contains(text));
    }

    fn waits(&self, what: &str, is_seen: impl Fn(&str) -> bool) {
        let begun = Instant::now();
        while !is_seen(&self.screen()) {
            assert!(begun.elapsed() < PATIENCE, "{what}:\n{}", self.screen());
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// All that was written so far, with what steers the terminal.
    #[must_use]
    pub fn written(&self) -> String {
        self.program.said()
    }

    /// Takes the terminal away, as closing its window does.
    pub fn close(self) {
        self.program.signal("KILL");
        drop(self.program.finish());
    }

    /// Waits for the program's end.
    ///
    /// # Panics
    /// It hangs.
    #[must_use]
    pub fn finish(self) -> Run {
        let run = self.program.finish();
        drop(self.keys);
        run
    }
}

/// The keys that are pressed, as they come.
struct Pressed(Receiver<Vec<u8>>, Vec<u8>);

impl Read for Pressed {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.1.is_empty() {
            self.1 = self.0.recv().unwrap_or_default();
        }
        let count = self.1.len().min(to.len());
        to[..count].copy_from_slice(&self.1[..count]);
        self.1.drain(..count);
        Ok(count)
    }
}
