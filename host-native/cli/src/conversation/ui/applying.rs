//! The application of changes in a conversation, which Ctrl-C, Esc or a signal stops.

use super::{
    super::{apply_stop::ApplyStop, changes},
    ConversationUi,
};
use crate::{applying, interrupts::ShutdownHandle, review, style::TextStyle};
use innerloop_workspace::ApplyError;

/// The advice if something else has changed what is to be applied.
const CONFLICT: &str = "/diff shows what applying would make of what is there now, /apply over \
                        does that, /drop gives up what the agent has changed";

/// The advice if the application was stopped.
const STOPPED: &str = "the changes are as they were before: /apply applies them, /diff shows them";

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
