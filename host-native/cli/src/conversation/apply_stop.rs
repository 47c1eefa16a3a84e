//! What stops an application of changes in a conversation. The screen stands still meanwhile, so
//! that keys are not read as usual: those that stop it are counted by the thread that reads the
//! keyboard, and have no other meaning when they arrive.

use crate::{
    interrupts::ShutdownHandle,
    terminal::{KeyReader, is_stop_key},
};
use crossterm::event::Event as Key;

/// The keys and signals that stop an application.
pub(super) struct ApplyStop {
    /// The reader, from which the terminal is borrowed as well.
    pub(super) reader: KeyReader,
    pub(super) ending: ShutdownHandle,
    /// The number of keys that were pressed during an application and are still to arrive.
    pub(super) spent: usize,
}

impl ApplyStop {
    pub(super) fn new(reader: KeyReader) -> Self {
        Self { reader, ending: ShutdownHandle::default(), spent: 0 }
    }

    /// Returns whether a key was pressed during an application, and has had its effect.
    pub(super) fn takes(&mut self, key: &Key) -> bool {
        let is_spent = self.spent > 0 && is_stop_key(key);
        self.spent -= usize::from(is_spent);
        is_spent
    }
}
