//! The state machine of a coding agent: [`Session::handle`] takes in one thing that happened and
//! returns everything that follows from it. It decides, and touches nothing: it has no clock, no
//! network, no files, no threads and no randomness. A host drives it:
//!
//! ```
//! # use innerloop_core::{Session, config::SessionConfig, message::Part, output::{Effect, Output}};
//! # use innerloop_core::{id::{EndpointId, SessionId}, time::{SessionInstant, UnixMillis}};
//! # use innerloop_core::input::{Command, HttpFailure, HttpFailureKind, HttpInput, Input};
//! let mut config = SessionConfig { id: SessionId("session-1".into()), ..Default::default() };
//! config.model.endpoint = EndpointId("anthropic".into());
//! config.model.name = "claude-sonnet-5-5".into();
//! let (mut session, opening) = Session::open(config, UnixMillis(1_790_000_000_000))?;
//! assert_eq!(opening.events().count(), 1);
//!
//! let parts = vec![Part::text("Make the tests pass")];
//! for output in session.handle(Input::command(Command::submit(parts)), SessionInstant(0))? {
//!     match output {
//!         Output::Event(event) => println!("{}: {:?}", event.seq, event.kind),
//!         // To be sent, and answered with head, chunks and end. Here the network is down.
//!         Output::Effect(Effect::Http { id, request, .. }) => {
//!             let message = format!("{} cannot be reached", request.endpoint.0);
//!             let failure = HttpFailure { kind: HttpFailureKind::Network, message };
//!             let input = HttpInput::Failed(failure);
//!             assert!(!session.handle(Input::Http { id, input }, SessionInstant(40))?.is_empty());
//!         }
//!         // Tools to run, people to ask, hooks to call: each effect is owed one answer.
//!         Output::Effect(effect) => println!("{effect:?}"),
//!     }
//! }
//! let retry = session.deadline().expect("the call is tried again");
//! assert_eq!(session.handle(Input::Tick, retry.at)?.effects().count(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The modules stand on floors: each uses its own floor and those below, and no modules depend on
//! each other in a circle (`docs/architecture.md`).
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(any(test, feature = "seams"))]
extern crate std;

mod machine;
mod profile;
mod rules;
mod session;

// By name and not as a whole: hosts depend on this crate alone, and only what is named here is
// public.
pub use innerloop_types::{
    action, bytes, compaction, config, corrections, digest, event, id, input, json, media, message,
    output, path, preset, routing, skills, status, text, time, tool,
};
#[cfg(feature = "text-calls")]
pub use innerloop_wire::text_calls;
pub use innerloop_wire::{
    CallPiece, Decoder, FailureKind, ModelCallError, ReplyPiece, RequestHead, RequestPrefix,
};

#[cfg(feature = "seams")]
pub use innerloop_types::steps::taken as steps;
pub use machine::history::History;
pub use profile::{ModelCapabilities, Profile, doc_names, doc_places, instructed_folder};
pub use rules::{
    budget, cost, echo, fold, gauge, guard, imports::with_imports, prompt::cut_docs, repeat,
    schema, skill, transcript, truncate,
};
pub use session::{REPLAY_VERSION, Session, blueprint::SessionBlueprint};
pub use session::{log, snapshot::RestoreError};
