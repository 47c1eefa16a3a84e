//! The application of changes in a conversation, which Ctrl-C, Esc or a signal stops. The screen
//! stands still meanwhile, so that keys are not read as usual: those that stop it are counted by
//! the thread that reads the keyboard, and have no other meaning when they arrive here.

use super::{super::changes, ConversationUi};
use crate::{
    applying,
    interrupts::ShutdownHandle,
    review,
    style::TextStyle,
    terminal::{KeyReader, is_stop_key},
};
use crossterm::event::Event as Key;
use innerloop_workspace::ApplyError;

/// The advice if something else has changed what is to be applied.
const CONFLICT: &str = "/diff shows what applying would make of what is there now, /apply over \
                        does that, /drop gives up what the agent has changed";

/// The advice if the application was stopped.
const STOPPED: &str = "the changes are as they were before: /apply applies them, /diff shows them";

/// The keys and signals that stop an application.
pub(super) struct ApplyStop {
    /// The reader, from which the terminal is borrowed as well.
    pub(super) reader: KeyReader,
    ending: ShutdownHandle,
    /// The number of keys that were pressed during an application and are still to arrive.
    spent: usize,
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

impl ConversationUi {
    /// Has the signals that this handle hears stop an application, too.
    pub(in super::super) fn heed(&mut self, ending: &ShutdownHandle) {
        self.stop.ending = ending.clone();
    }

    /// Applies the changes to the folder.
    pub(in super::super) fn apply(&mut self) {
        if !self.workspace.is_overlay() {
            return self.note("changes are in the folder already");
        }
        let count = changes::changed(&self.workspace);
        let ApplyStop { reader, ending, .. } = &self.stop;
        // No signal ends the program before the folder is whole again.
        let held = ending.try_hold();
        let is_stopped = || held.is_none() || ending.signal().is_some() || reader.is_stopped();
        let applied = applying::apply(&self.workspace, &is_stopped);
        drop(held);
        self.stop.spent = self.stop.reader.stops();
        match applied {
            Ok(()) if count == 0 => self.note("nothing is changed"),
            Ok(()) => self.note(&format!("applied: {}", changes::files(count))),
            Err(error) => {
                let advice = match error {
                    ApplyError::Changed(_) => Some(CONFLICT),
                    ApplyError::Stopped => Some(STOPPED),
                    _ => None,
                };
                let why = review::told(error);
                self.tell(TextStyle::RED, &why);
                advice.into_iter().for_each(|advice| self.note(advice));
            }
        }
    }
}
