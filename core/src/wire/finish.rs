//! Why a reply ended, in the providers' words.

use crate::{base::text::listed, types::message::Finish};

/// A reason with the words for it.
pub(super) type Reasons = [(Finish, &'static str)];

/// The reason that a word stands for.
pub(super) fn finish_of(word: &str, reasons: &Reasons) -> Finish {
    let found = reasons.iter().find(|(_, words)| listed(words).any(|known| known == word));
    found.map_or(Finish::Unknown, |(finish, _)| *finish)
}
