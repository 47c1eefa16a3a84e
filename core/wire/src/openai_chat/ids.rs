//! The ids of a conversation's calls as an endpoint takes them: its own as they came, others
//! mapped, each to one that no other call has.

use super::super::ids::{nine_letters, sendable_id};
use alloc::{format, string::String};
use innerloop_json::Map;
use innerloop_types::model::CallIds;

/// The length of the longest id that OpenAI takes.
const MAX_BYTES: usize = 40;

/// The ids of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CallIdMap {
    form: CallIds,
    /// The id that is sent for the newest call of each id.
    mapped: Map<String>,
    sent: Map<()>,
}

impl CallIdMap {
    /// Makes a map without ids.
    pub(super) const fn new(form: CallIds) -> Self {
        Self { form, mapped: Map::new(), sent: Map::new() }
    }

    /// Takes the id of a call into the conversation. An endpoint's `own` go back as they came.
    pub(super) fn add(&mut self, id: &str, own: bool) {
        let is_nine = id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let mut sent = match self.form {
            CallIds::Any if own => String::from(id),
            // Mistral takes nine letters or digits and nothing else (`CallIds::Nine`).
            CallIds::Nine if is_nine => String::from(id),
            form => made(id, form),
        };
        let mut salt = 0;
        // Two ids may map to the same nine letters, and models use an id twice: a result must name
        // one call alone.
        while self.sent.contains_key(&sent) {
            salt += 1;
            sent = made(&format!("{id} {salt}"), self.form);
        }
        self.mapped.insert(id.into(), sent.clone());
        self.sent.insert(sent, ());
    }

    /// Returns the id that is sent for `id`.
    pub(super) fn sent<'a>(&'a self, id: &'a str) -> &'a str {
        self.mapped.get(id).map_or(id, String::as_str)
    }
}

/// Returns an id in the endpoint's form, made from `id`.
fn made(id: &str, form: CallIds) -> String {
    match form {
        CallIds::Any => sendable_id(id, MAX_BYTES).into_owned(),
        CallIds::Nine => nine_letters(id),
    }
}
