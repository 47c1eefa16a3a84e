//! Answers of a recording in place of a model's.

use crate::{
    clock::{Sleep, wall},
    desk::Desk,
    task::until_stopped,
};
use futures::channel::oneshot;
use innerloop_core::{
    bytes::Bytes,
    id::EffectId,
    input::{HttpFailure, HttpFailureKind, HttpInput, Input, ResponseHead},
};
use innerloop_driver::traffic::{Exchange, Player, TrafficError};
use serde::Serialize;
use std::{cell::RefCell, rc::Rc};

/// A recording that is being played.
pub(crate) struct Replay {
    player: RefCell<Player>,
    /// The pause before each piece of a reply.
    pace_ms: u64,
}

impl Replay {
    pub(crate) const fn new(player: Player, pace_ms: u64) -> Self {
        Self { player: RefCell::new(player), pace_ms }
    }

    pub(crate) const fn pace_ms(&self) -> u64 {
        self.pace_ms
    }

    /// The answer to a request that brings `said`.
    pub(crate) fn next(&self, said: &str) -> Result<Exchange, TrafficError> {
        self.player.borrow_mut().next(said)
    }
}

/// Why a recording does not fit, for the run's result.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Fault {
    code: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<String>,
}

impl From<&TrafficError> for Fault {
    fn from(error: &TrafficError) -> Self {
        let message = error.to_string();
        let fault = |code| Self { code, message, call: None, expected: None, found: None };
        match error {
            TrafficError::Mismatch { call, expected, found } => Self {
                call: Some(*call),
                expected: Some(expected.clone()),
                found: Some(found.clone()),
                ..fault("replay_mismatch")
            },
            TrafficError::Exhausted { call } => {
                Self { call: Some(*call), ..fault("replay_exhausted") }
            }
            TrafficError::Unreadable { .. } => fault("replay_unreadable"),
        }
    }
}

/// Reports an answer of the recording as if it came from the network.
pub(crate) async fn play(
    desk: Rc<Desk>,
    id: EffectId,
    answer: Result<Exchange, TrafficError>,
    pace_ms: u64,
    cancel: oneshot::Receiver<()>,
) {
    let input = match answer {
        Err(error) => {
            desk.record_fault(Fault::from(&error));
            failed(HttpFailureKind::Refused, error.to_string())
        }
        Ok(exchange) => {
            let spoken = until_stopped(speak(&desk, id, exchange, pace_ms), cancel, None).await;
            let cancelled = "cancelled, as asked".to_owned();
            spoken.unwrap_or_else(|_| failed(HttpFailureKind::Cancelled, cancelled))
        }
    };
    desk.settle(id, Input::Http { id, input });
}

/// Reports the answer piece by piece; returns its end.
async fn speak(desk: &Rc<Desk>, id: EffectId, exchange: Exchange, pace_ms: u64) -> HttpInput {
    let Exchange { status, headers, body, failed: broken, .. } = exchange;
    let head = ResponseHead { status, headers, at: wall() };
    desk.report(Input::Http { id, input: HttpInput::Head(head) });
    for piece in pieces(&body.0, pace_ms > 0) {
        if pace_ms > 0 {
            Sleep::new(pace_ms).await;
        }
        let chunk = HttpInput::Chunk(Bytes(piece.to_vec()));
        desk.report(Input::Http { id, input: chunk });
    }
    broken.map_or(HttpInput::End, |message| failed(HttpFailureKind::Network, message))
}

/// The body whole, or cut behind each empty line, where one event of a stream ends.
fn pieces(body: &[u8], cut: bool) -> Vec<&[u8]> {
    let mut rest = body;
    let mut pieces = Vec::new();
    while cut && let Some(at) = rest.windows(2).position(|pair| pair == b"\n\n") {
        let (piece, behind) = rest.split_at(at + 2);
        pieces.push(piece);
        rest = behind;
    }
    if !rest.is_empty() {
        pieces.push(rest);
    }
    pieces
}

fn failed(kind: HttpFailureKind, message: String) -> HttpInput {
    HttpInput::Failed(HttpFailure { kind, message })
}
