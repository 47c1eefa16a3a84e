//! The reasons why a reply ended, in the providers' words.

use alloc::{format, string::String};
use innerloop_types::{message::FinishReason, text::listed};

/// A reason with the words for it.
pub(super) type FinishWords = [(FinishReason, &'static str)];

/// Returns the reason that a word stands for; `Unknown` for a word that is not in the list.
pub(super) fn finish_of(word: &str, reasons: &FinishWords) -> FinishReason {
    let found = reasons.iter().find(|(_, words)| listed(words).any(|known| known == word));
    found.map_or(FinishReason::Unknown, |(finish, _)| *finish)
}

/// Returns whether a word is a reason at all: some servers write what should be null as a text.
pub(super) fn is_given(word: &str) -> bool {
    !listed("|null|none").any(|nothing| word.trim().eq_ignore_ascii_case(nothing))
}

/// Names that say no more than the reason that they stand for.
const PLAIN: &str = "content_filter|refusal|error|model_context_window_exceeded";

/// Returns the provider's name for a reason and its words, if they say more than the reason itself.
pub(super) fn told(finish: FinishReason, word: &str, says: Option<&str>) -> Option<String> {
    let is_plain = matches!(
        finish,
        FinishReason::Stop | FinishReason::ToolCalls | FinishReason::Length | FinishReason::Pause
    );
    let says = says.map(str::trim).filter(|says| !says.is_empty());
    match says {
        _ if is_plain => None,
        Some(says) => Some(format!("{word}: {says}")),
        None => (!listed(PLAIN).any(|plain| plain == word)).then(|| word.into()),
    }
}
