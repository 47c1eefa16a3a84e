//! What a session has asked for and has no answer to yet: what came of it so far, as far as that
//! is needed to mask, record or play what comes next.

use crate::{
    base_url::BaseUrl,
    mask_input,
    masking::{SecretKeys, StreamMasker},
    traffic::TrafficExchange,
};
use alloc::{
    string::{String, ToString},
    vec::{self, Vec},
};
use innerloop_core::{
    id::EffectId,
    input::{HttpFailure, HttpFailureKind, HttpInput, Input, ToolInput},
    time::SessionInstant,
};

/// An effect that is under way.
#[derive(Debug)]
pub(crate) enum InFlightEffect {
    /// A request that the host has sent, or that was refused.
    Exchange { base: Option<BaseUrl>, masking: StreamMasker, recorded: Option<TrafficExchange> },
    /// An answer of a recording.
    Playback { news: vec::IntoIter<HttpInput>, pace_ms: u64, next: SessionInstant },
    /// A tool's run.
    Run { masking: StreamMasker },
    /// A question to a person.
    Ask,
    /// A hook.
    Hook,
}

impl InFlightEffect {
    pub(crate) fn exchange(
        keys: &SecretKeys,
        base: Option<BaseUrl>,
        recorded: Option<TrafficExchange>,
    ) -> Self {
        Self::Exchange { base, masking: StreamMasker::new(keys), recorded }
    }

    pub(crate) const fn playback(
        news: vec::IntoIter<HttpInput>,
        pace_ms: u64,
        now: SessionInstant,
    ) -> Self {
        Self::Playback { news, pace_ms, next: now.plus_ms(pace_ms) }
    }

    pub(crate) fn run(keys: &SecretKeys) -> Self {
        Self::Run { masking: StreamMasker::new(keys) }
    }

    pub(crate) const fn is_exchange(&self) -> bool {
        matches!(self, Self::Exchange { .. })
    }

    /// Returns whether the host has it in hand.
    pub(crate) const fn is_with_host(&self) -> bool {
        !matches!(self, Self::Playback { .. })
    }

    /// Returns where an exchange goes, for people.
    pub(crate) fn place(&self) -> String {
        match self {
            Self::Exchange { base: Some(base), .. } => base.to_string(),
            _ => "the endpoint".into(),
        }
    }

    /// Hands on the news of it: streams masked, with what was held back before their end.
    pub(crate) fn mask(&mut self, input: Input, keys: &SecretKeys, queue: &mut Vec<Input>) {
        match (self, input) {
            (Self::Exchange { masking, .. }, Input::Http { id, input }) => {
                let mut chunk = |bytes: Vec<u8>| {
                    let input = HttpInput::Chunk(bytes.into());
                    queue.push(Input::Http { id, input });
                };
                match input {
                    HttpInput::Chunk(bytes) => {
                        let bytes = masking.push(bytes.0);
                        if !bytes.is_empty() {
                            chunk(bytes);
                        }
                        return;
                    }
                    HttpInput::Held { .. } => {}
                    HttpInput::Head(_) => *masking = StreamMasker::new(keys),
                    HttpInput::End | HttpInput::Failed(_) => {
                        let held = masking.end();
                        if !held.is_empty() {
                            chunk(held);
                        }
                    }
                }
                queue.push(Input::Http { id, input });
            }
            (Self::Run { masking }, Input::Tool { id, input }) => {
                let mut delta = |text: String| {
                    if !text.is_empty() {
                        queue.push(Input::Tool { id, input: ToolInput::Delta(text) });
                    }
                };
                match input {
                    ToolInput::Delta(text) => return delta(masking.push_text(text)),
                    ToolInput::Parked { .. } => {}
                    ToolInput::Done(_) => delta(masking.end_text()),
                }
                queue.push(Input::Tool { id, input });
            }
            (_, input) => {
                let mut input = input;
                mask_input::mask_stray(keys, &mut input);
                queue.push(input);
            }
        }
    }

    /// Notes the news of an exchange that is recorded; its line is there before it ends.
    pub(crate) fn record(&mut self, input: &Input, recording: &mut String) {
        let Self::Exchange { recorded: Some(exchange), .. } = self else { return };
        match input {
            Input::Http { input: HttpInput::Head(head), .. } => {
                exchange.head(head.status, &head.headers);
            }
            Input::Http { input: HttpInput::Chunk(bytes), .. } => {
                exchange.body.0.extend_from_slice(bytes);
            }
            Input::Http { input: HttpInput::Failed(failure), .. } => {
                exchange.failed = Some(failure.message.clone());
            }
            Input::Lost { .. } => exchange.failed = Some("the host was stopped".into()),
            _ => {}
        }
        if input.answered().is_some() {
            recording.push_str(&exchange.line());
        }
    }

    /// The answer to what was cancelled, where no more than that is known or needed.
    pub(crate) fn cancelled(&self, id: EffectId) -> Option<Input> {
        match self {
            Self::Exchange { .. } | Self::Playback { .. } => {
                let (kind, message) = (HttpFailureKind::Cancelled, "cancelled, as asked".into());
                let failure = HttpFailure { kind, message };
                Some(Input::Http { id, input: HttpInput::Failed(failure) })
            }
            Self::Ask | Self::Hook => Some(Input::Lost { id }),
            Self::Run { .. } => None,
        }
    }

    /// Returns when the next piece of a recorded answer is due.
    pub(crate) fn next_piece(&self) -> Option<SessionInstant> {
        match self {
            Self::Playback { news, next, .. } if news.len() > 0 => Some(*next),
            _ => None,
        }
    }

    /// The pieces of a recorded answer that are due: one after each pause, all if there is none.
    pub(crate) fn take_pieces(&mut self, now: SessionInstant) -> impl Iterator<Item = HttpInput> {
        let due = match self {
            Self::Playback { news, pace_ms: 0, .. } => Some(news.take(usize::MAX)),
            Self::Playback { news, pace_ms, next } if *next <= now => {
                *next = now.plus_ms(*pace_ms);
                Some(news.take(1))
            }
            _ => None,
        };
        due.into_iter().flatten()
    }
}
