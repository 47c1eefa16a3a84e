//! Where a protocol puts what it reads: pieces for people to watch. It counts what is kept of a
//! reply, since a response has limits.

use super::{
    failure::{self, FailureKind, ModelCallError},
    piece::{CallPiece, ReplyPiece},
};
use alloc::{boxed::Box, format, vec::Vec};
use innerloop_types::{config::ResponseLimits, input::ResponseHead};

/// The number of pieces that are kept apart when they come at once; those behind join the last one
/// of their kind.
const MOST_PIECES: usize = 64;

/// The pieces that have been read, and the limits on how much more may be.
#[derive(Clone, Debug)]
pub(super) struct PieceSink {
    pieces: Vec<ReplyPiece>,
    /// Nobody watches.
    is_unseen: bool,
    limits: ResponseLimits,
    /// Bytes of the body so far.
    bytes: u64,
    /// Bytes that are kept of it.
    kept: u64,
    items: u32,
    /// The limit that is exceeded: its name, its value and its unit.
    exceeded: Option<(&'static str, u64, &'static str)>,
}

impl PieceSink {
    /// Nothing read yet of the response that begins with `head`.
    pub(super) fn new(head: &ResponseHead, mut limits: ResponseLimits) -> Self {
        if !head.is_success() {
            limits.max_bytes = limits.max_bytes.min(failure::MAX_BYTES as u64);
        }
        let (bytes, kept, items) = (0, 0, 0);
        let pieces = Vec::new();
        Self { pieces, is_unseen: false, limits, bytes, kept, items, exceeded: None }
    }

    /// Takes a piece, whose text is kept.
    pub(super) fn push(&mut self, piece: ReplyPiece) {
        match &piece {
            ReplyPiece::Restart => (self.kept, self.items) = (0, 0),
            ReplyPiece::Text(text) | ReplyPiece::Reasoning(text) => self.keep(text.len()),
            // Whoever reads the call counts all of it.
            ReplyPiece::Call(_) => {}
        }
        if self.is_unseen {
            return;
        }
        let is_crowded = self.pieces.len() >= MOST_PIECES;
        match (self.pieces.last_mut().filter(|_| is_crowded), piece) {
            (Some(ReplyPiece::Text(last)), ReplyPiece::Text(text))
            | (Some(ReplyPiece::Reasoning(last)), ReplyPiece::Reasoning(text)) => {
                last.push_str(&text);
            }
            (_, piece) => self.pieces.push(piece),
        }
    }

    /// Takes a piece of a call. Those that come at once are one.
    pub(super) fn call(&mut self, index: usize, id: &str, name: &str, text: &str) {
        match self.pieces.last_mut() {
            Some(ReplyPiece::Call(last)) if last.index == index => last.text.push_str(text),
            _ => {
                let (id, name, text) = (id.into(), name.into(), text.into());
                self.push(ReplyPiece::Call(Box::new(CallPiece { index, id, name, text })));
            }
        }
    }

    /// Only counts from now on: the body has ended, and its reply is read whole.
    pub(super) const fn unseen(&mut self) {
        self.is_unseen = true;
    }

    /// The pieces since this was asked last.
    pub(super) fn take(&mut self) -> Vec<ReplyPiece> {
        core::mem::take(&mut self.pieces)
    }

    /// Takes bytes of the body in, as many of them as may still come.
    pub(super) fn admit<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let left = usize::try_from(self.limits.max_bytes - self.bytes).unwrap_or(usize::MAX);
        let admitted = bytes.get(..left).unwrap_or(bytes);
        self.bytes += admitted.len() as u64;
        if admitted.len() < bytes.len() {
            self.exceed("max_bytes", self.limits.max_bytes, "bytes");
        }
        admitted
    }

    /// Notes that so many bytes are kept, beside what was pushed.
    pub(super) fn keep(&mut self, bytes: usize) {
        self.kept = self.kept.saturating_add(bytes as u64);
        self.hold(0);
    }

    /// Notes that so many bytes wait to be read, beside what is kept.
    pub(super) fn hold(&mut self, bytes: usize) {
        if self.kept.saturating_add(bytes as u64) > self.limits.max_kept_bytes {
            self.exceed("max_kept_bytes", self.limits.max_kept_bytes, "bytes");
        }
    }

    /// Notes one more item of the reply, or of what an item consists of. Returns whether there is
    /// room for it.
    pub(super) fn item(&mut self) -> bool {
        self.items = self.items.saturating_add(1);
        if self.items > self.limits.max_items {
            self.exceed("max_items", self.limits.max_items.into(), "items");
        }
        self.exceeded.is_none()
    }

    /// Returns how many calls the reply may have.
    pub(super) fn most_calls(&self) -> usize {
        usize::try_from(self.limits.max_calls).unwrap_or(usize::MAX)
    }

    /// Notes how many calls the reply has.
    pub(super) fn calls(&mut self, count: usize) {
        if count as u64 > self.limits.max_calls.into() {
            self.exceed("max_calls", self.limits.max_calls.into(), "calls");
        }
    }

    /// Returns whether nothing more is read.
    pub(super) const fn is_full(&self) -> bool {
        self.exceeded.is_some()
    }

    /// The limit that is exceeded, as a failure. Another try would cost as much again.
    pub(super) fn failure(&self) -> Option<ModelCallError> {
        let (name, value, unit) = self.exceeded?;
        let message = format!(
            "the response is longer than the {value} {unit} that response.{name} of the \
             configuration allows"
        );
        let failure = ModelCallError::new(FailureKind::Protocol, message);
        Some(ModelCallError { should_retry: Some(false), ..failure })
    }

    fn exceed(&mut self, name: &'static str, value: u64, unit: &'static str) {
        self.exceeded.get_or_insert((name, value, unit));
    }
}
