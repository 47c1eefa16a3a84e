//! The place where a protocol puts what it reads: pieces for people to watch. The sink also counts
//! what is kept of the reply, since a response has limits; an accumulator asks it before it keeps
//! one more item.

use super::{
    failure::{self, FailureKind, ModelCallError},
    lenient::JsonDocument,
    piece::{CallPiece, ReplyPiece},
};
use alloc::{boxed::Box, format, vec::Vec};
use innerloop_types::{config::ResponseLimits, input::ResponseHead};

/// The number of pieces that are kept apart when they come at once. Those behind are appended to
/// one of their kind among as many that came last.
const MOST_PIECES: usize = 64;

/// The number of pieces that come at once behind which no further calls begin to be shown.
const MOST_SHOWN: usize = 1_000;

/// The number of bytes of a call's id and name up to which it is shown while it arrives: each of
/// its pieces has a copy of both.
const MOST_NAMED: usize = 4_096;

/// The number of names and values in a call's arguments that count as one item.
const OF_ITEM: usize = 20;

/// The pieces that have been read, and the limits on how much more may be.
#[derive(Debug)]
pub(super) struct PieceSink {
    pieces: Vec<ReplyPiece>,
    /// True if nobody watches.
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
    /// Makes a sink for the response that begins with `head`.
    pub(super) fn new(head: &ResponseHead, mut limits: ResponseLimits) -> Self {
        if !head.is_success() {
            limits.max_bytes = limits.max_bytes.min(failure::MAX_BYTES as u64);
        }
        let (bytes, kept, items) = (0, 0, 0);
        let pieces = Vec::new();
        Self { pieces, is_unseen: false, limits, bytes, kept, items, exceeded: None }
    }

    /// Takes a piece, and counts its text as kept.
    pub(super) fn push(&mut self, piece: ReplyPiece) {
        match &piece {
            // What came before is discarded and no longer kept. The bytes of the body stay counted,
            // so that a server that begins anew without end reaches `max_bytes`.
            ReplyPiece::Restart => (self.kept, self.items) = (0, 0),
            ReplyPiece::Text(text) | ReplyPiece::Reasoning(text) => self.keep(text.len()),
            // The protocol counts the whole call when it keeps it.
            ReplyPiece::Call(_) => {}
        }
        if !self.is_unseen {
            self.show(piece);
        }
    }

    fn show(&mut self, piece: ReplyPiece) {
        // One read may hold thousands of tiny pieces, each of which costs more than its text.
        if self.pieces.len() >= MOST_PIECES {
            if piece == ReplyPiece::Restart {
                self.pieces.clear();
            }
            // Not only the last one: two kinds may take turns.
            let is_valid = |last: &&mut ReplyPiece| **last != ReplyPiece::Restart;
            let mut last = self.pieces.iter_mut().rev().take(MOST_PIECES).take_while(is_valid);
            let is_joined = last.any(|last| last.join(&piece));
            let is_call = matches!(piece, ReplyPiece::Call(_));
            if is_joined || (is_call && self.pieces.len() >= MOST_SHOWN) {
                return;
            }
        }
        self.pieces.push(piece);
    }

    /// Takes a piece of a call. Pieces of one call that come at once are joined.
    pub(super) fn call(&mut self, index: usize, id: &str, name: &str, text: &str) {
        match self.pieces.last_mut() {
            Some(ReplyPiece::Call(last)) if last.index == index => last.text.push_str(text),
            _ if id.len() + name.len() > MOST_NAMED => {}
            _ => {
                let (id, name, text) = (id.into(), name.into(), text.into());
                self.push(ReplyPiece::Call(Box::new(CallPiece { index, id, name, text })));
            }
        }
    }

    /// Stops collecting pieces and only counts: the body has ended, and its reply is returned
    /// whole.
    pub(super) const fn unseen(&mut self) {
        self.is_unseen = true;
    }

    /// Takes the pieces that have come since the last call.
    pub(super) fn take(&mut self) -> Vec<ReplyPiece> {
        core::mem::take(&mut self.pieces)
    }

    /// Counts bytes of the body. Returns as many of them as the limit allows.
    pub(super) fn admit<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let left = usize::try_from(self.limits.max_bytes - self.bytes).unwrap_or(usize::MAX);
        let admitted = bytes.get(..left).unwrap_or(bytes);
        self.bytes += admitted.len() as u64;
        if admitted.len() < bytes.len() {
            self.exceed("max_bytes", self.limits.max_bytes, "bytes");
        }
        admitted
    }

    /// Counts bytes that are kept beside the text of pieces.
    pub(super) fn keep(&mut self, bytes: usize) {
        self.kept = self.kept.saturating_add(bytes as u64);
        self.hold(0);
    }

    /// Checks bytes that wait to be read against the limit, beside what is kept.
    pub(super) fn hold(&mut self, bytes: usize) {
        if self.kept.saturating_add(bytes as u64) > self.limits.max_kept_bytes {
            self.exceed("max_kept_bytes", self.limits.max_kept_bytes, "bytes");
        }
    }

    /// Counts one more item of the reply, or of what an item consists of. Returns whether there is
    /// room for it.
    pub(super) fn item(&mut self) -> bool {
        self.items = self.items.saturating_add(1);
        self.check_items();
        self.exceeded.is_none()
    }

    fn check_items(&mut self) {
        if self.items > self.limits.max_items {
            self.exceed("max_items", self.limits.max_items.into(), "items");
        }
    }

    /// Counts what the arguments of a call consist of, which take more memory than their text as
    /// soon as the call is looked at.
    pub(super) fn arguments(&mut self, json: &str) {
        let items = JsonDocument::of(json).count() / OF_ITEM;
        self.items = self.items.saturating_add(u32::try_from(items).unwrap_or(u32::MAX));
        self.check_items();
    }

    /// Returns how many calls the reply may have.
    pub(super) fn most_calls(&self) -> usize {
        usize::try_from(self.limits.max_calls).unwrap_or(usize::MAX)
    }

    /// Checks the number of the reply's calls against the limit.
    pub(super) fn calls(&mut self, count: usize) {
        if count as u64 > self.limits.max_calls.into() {
            self.exceed("max_calls", self.limits.max_calls.into(), "calls");
        }
    }

    /// Returns whether a limit is exceeded, so that nothing more is read.
    pub(super) const fn is_full(&self) -> bool {
        self.exceeded.is_some()
    }

    /// Returns the limit that is exceeded as a failure. It is not retried: another try would cost
    /// as much again.
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
        // The first limit that is exceeded ends the response, so it alone names the failure.
        self.exceeded.get_or_insert((name, value, unit));
    }
}
