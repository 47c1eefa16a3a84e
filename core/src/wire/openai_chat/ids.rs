//! Ids of calls in the form that an endpoint takes: its own as they came, others mapped, each to
//! one that occurs once.

use crate::types::model::CallIds;
use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::String,
};

/// OpenAI refuses longer ids.
const MAX_BYTES: usize = 40;

/// The ids of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ids {
    form: CallIds,
    /// Those that are sent otherwise than they came.
    mapped: BTreeMap<String, String>,
    sent: BTreeSet<String>,
}

impl Ids {
    /// None yet.
    pub(super) const fn new(form: CallIds) -> Self {
        Self { form, mapped: BTreeMap::new(), sent: BTreeSet::new() }
    }

    /// Takes the id of a call into the conversation. An endpoint's `own` go back as they came.
    pub(super) fn add(&mut self, id: &str, own: bool) {
        let fits = match self.form {
            CallIds::Any => own || is_portable(id),
            CallIds::Nine => id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()),
        };
        let mut sent = if fits { String::from(id) } else { self.made(id, 0) };
        let mut salt = 0;
        while self.sent.contains(&sent) {
            salt += 1;
            sent = self.made(id, salt);
        }
        if sent == id {
            self.mapped.remove(id);
        } else {
            self.mapped.insert(id.into(), sent.clone());
        }
        self.sent.insert(sent);
    }

    /// The id that is sent for `id`.
    pub(super) fn sent<'a>(&'a self, id: &'a str) -> &'a str {
        self.mapped.get(id).map_or(id, String::as_str)
    }

    /// An id made from `id`, always the same.
    fn made(&self, id: &str, salt: u64) -> String {
        let nine = nine(id, salt);
        match self.form {
            CallIds::Any => format!("call_{nine}"),
            CallIds::Nine => nine,
        }
    }
}

/// Whether every known endpoint takes the id.
fn is_portable(id: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=MAX_BYTES).contains(&id.len()) && id.bytes().all(fits)
}

/// Nine letters and digits from the hash (FNV-1a) of an id.
fn nine(id: &str, salt: u64) -> String {
    const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in id.bytes().chain(salt.to_le_bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    let mut made = String::with_capacity(9);
    for _ in 0..9 {
        let letter = usize::try_from(hash % 62).ok().and_then(|at| LETTERS.get(at));
        made.push(letter.map_or('0', |&letter| char::from(letter)));
        hash /= 62;
    }
    made
}
