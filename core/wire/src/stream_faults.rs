//! The reasons why a response gives no reply, gathered while it is read. Each protocol asks for the
//! failure here once the body has ended.

use super::{
    failure::{FailureKind, ModelCallError, of_words},
    lenient::Error,
};
use alloc::{format, string::String};
use innerloop_types::text::prefix;

/// The number of bytes that are kept of words that stand in place of data.
const MOST_WORDS: usize = 4_000;

/// The reasons why there may be no reply.
#[derive(Clone, Debug, Default)]
pub(super) struct DecodeFaults {
    /// The error that the provider reports.
    pub(super) reported: Option<ModelCallError>,
    /// The message about data that could not be read: the reply is not whole without it.
    pub(super) unreadable: Option<String>,
    /// The newest words in place of data: what a server says that does not speak the protocol.
    pub(super) words: Option<String>,
}

impl DecodeFaults {
    /// Notes data that is not an object: words, or broken JSON.
    pub(super) fn odd_data(&mut self, text: &str, error: Option<&Error>) {
        match error {
            None => self.words(text),
            Some(error) => self.not_json(error),
        }
    }

    /// Notes data that is not JSON.
    pub(super) fn not_json(&mut self, error: &Error) {
        self.unreadable(&format!("{error}"));
    }

    /// Notes data that cannot be read, for that reason. The first one counts.
    pub(super) fn unreadable(&mut self, why: &str) {
        let message = || format!("the stream holds what is not JSON: {why}");
        self.unreadable.get_or_insert_with(message);
    }

    /// Notes the error that the provider reports. The first one counts; later ones are not even
    /// read.
    pub(super) fn report(&mut self, failure: impl FnOnce() -> ModelCallError) {
        self.reported.get_or_insert_with(failure);
    }

    /// Notes data that is words.
    pub(super) fn words(&mut self, text: &str) {
        // `[DONE]` and its like are markers.
        let is_marker = text.is_empty() || text.starts_with('[');
        if !is_marker {
            self.words = Some(prefix(text, MOST_WORDS).into());
        }
    }

    /// Returns the failure, if there is one: at least that the stream is not whole.
    pub(super) fn failure(&mut self, is_whole: bool) -> Option<ModelCallError> {
        if self.reported.is_some() {
            return self.reported.take();
        }
        // Words count only where the reply is not whole. Data that could not be read counts even
        // then: it may have held a piece of a call.
        if let Some(words) = self.words.take().filter(|_| !is_whole) {
            return Some(of_words(&words));
        }
        let cut = (!is_whole).then_some("the stream ended before the reply was whole");
        let message = self.unreadable.take().or_else(|| cut.map(String::from))?;
        Some(ModelCallError::new(FailureKind::Protocol, message))
    }
}
