//! The model protocols: turns become the bytes of a request, and the bytes of a response become a
//! reply. Nothing here keeps session state or decides about retries. A build speaks the protocols
//! that its features name, and reads calls in text if the feature `text-calls` is on.
//!
//! ```
//! use innerloop_types::{input::ResponseHead, model::WireKind};
//! use innerloop_wire::{Decoder, ReplyPiece};
//!
//! let head = ResponseHead { status: 200, ..Default::default() };
//! let mut decoder = Decoder::new(WireKind::OpenaiChat, &head);
//! let mut pieces = Vec::new();
//! // Bytes come cut anywhere.
//! decoder.feed(b"data: {\"choices\":[{\"delta\":{\"content\":\"Hel", &mut pieces);
//! decoder.feed(b"lo\"}}]}\n\ndata: [DONE]\n\n", &mut pieces);
//! assert_eq!(pieces, [ReplyPiece::Text("Hello".into())]);
//! assert_eq!(decoder.finish()?.text(), "Hello");
//! # Ok::<(), innerloop_wire::ModelCallError>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod anthropic;
mod body;
mod decoder;
mod dispatch;
mod failed_result;
mod failure;
mod finish;
mod gemini;
mod head;
mod ids;
mod left_out;
mod lenient;
mod list_positions;
mod named_part;
#[cfg(not(feature = "text-calls"))]
mod no_text_calls;
mod ollama;
mod openai_chat;
mod openai_responses;
mod picture;
mod piece;
mod protocol;
mod request;
mod sink;
mod sse;
mod stream_faults;
mod support;
mod surrogates;
#[cfg(feature = "text-calls")]
pub mod text_calls;
mod unknown_fields;
mod values;
mod writer;

// The stand-in takes the real module's name, so that its callers need no condition of their own.
#[cfg(not(feature = "text-calls"))]
use no_text_calls as text_calls;

pub use decoder::Decoder;
pub use failure::{FailureKind, ModelCallError};
pub use head::RequestHead;
pub use left_out::{MediaGate, parts};
pub use named_part::named;
pub use piece::{CallPiece, ReplyPiece};
pub use request::RequestPrefix;
pub use support::check;
pub use text_calls::ends_in_call;
pub use unknown_fields::{leave_out, unknown_fields};
