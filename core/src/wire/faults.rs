//! What goes wrong with a response while it is read.

use super::{
    failure::{Failure, FailureKind},
    lenient::Error,
};
use alloc::{format, string::String};

/// Why there may be no reply.
#[derive(Clone, Debug, Default)]
pub(super) struct Faults {
    /// What the provider reports.
    pub(super) reported: Option<Failure>,
    /// What to say of data that could not be read: the reply is not whole without it.
    pub(super) unreadable: Option<String>,
}

impl Faults {
    /// Some data is not JSON.
    pub(super) fn not_json(&mut self, error: &Error) {
        self.unreadable(&format!("{error}"));
    }

    /// Some data cannot be read.
    pub(super) fn unreadable(&mut self, why: &str) {
        let message = || format!("the stream holds what is not JSON: {why}");
        self.unreadable.get_or_insert_with(message);
    }

    /// The failure, if there is one: at least that the stream is not whole.
    pub(super) fn failure(&mut self, is_whole: bool) -> Option<Failure> {
        if self.reported.is_some() {
            return self.reported.take();
        }
        let cut = (!is_whole).then_some("the stream ended before the reply was whole");
        let message = self.unreadable.take().or_else(|| cut.map(String::from))?;
        Some(Failure::new(FailureKind::Protocol, message))
    }
}
