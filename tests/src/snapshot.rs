//! Looking into snapshots, and changing them so that their digest still fits.

use innerloop_core::digest::DigestBuilder;
use serde_json::{Value, value::RawValue};

#[derive(serde::Serialize, serde::Deserialize)]
struct Envelope {
    format: String,
    version: u32,
    digest: String,
    state: Box<RawValue>,
}

/// The state of a session, as its snapshot has it.
#[must_use]
pub fn state(snapshot: &[u8]) -> Value {
    let envelope: Envelope = serde_json::from_slice(snapshot).expect("a snapshot");
    serde_json::from_str(envelope.state.get()).expect("a state in JSON")
}

/// The snapshot with another state.
#[must_use]
pub fn with_state(snapshot: &[u8], state: &str) -> Vec<u8> {
    let envelope: Envelope = serde_json::from_slice(snapshot).expect("a snapshot");
    let digest = format!("{:016x}", DigestBuilder::of(state.as_bytes()).0);
    let state = RawValue::from_string(state.to_owned()).expect("a state in JSON");
    serde_json::to_vec(&Envelope { digest, state, ..envelope }).expect("plain data")
}
