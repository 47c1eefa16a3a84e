//! The effects of a session that have no answer yet. Each keeps what is needed to mask, record or
//! replay the news that come next: a key may be cut anywhere between two of them. It is made when
//! the effect is issued and dropped with its last answer.

use crate::{
    base_url::BaseUrl,
    firewall::{SessionFirewall, UntrustedFrame},
    mask_input,
    masking::{SecretKeys, StreamMasker},
    traffic::TrafficExchange,
};
use alloc::{
    string::{String, ToString},
    vec::{self, Vec},
};
use core::mem;
use innerloop_core::{
    id::EffectId,
    input::{HttpFailure, HttpFailureKind, HttpInput, Input, ToolInput},
    time::SessionInstant,
};

/// An effect that is in flight.
#[derive(Debug)]
pub(crate) enum InFlightEffect {
    /// A request that the host sends, or that the table of endpoints has refused.
    Exchange { base: Option<BaseUrl>, masking: StreamMasker, recorded: Option<TrafficExchange> },
    /// A recorded answer that is being replayed.
    Playback { news: vec::IntoIter<HttpInput>, pace_ms: u64, next: SessionInstant },
    /// A tool's run.
    Run { masking: StreamMasker, frame: Option<UntrustedFrame> },
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

    pub(crate) fn run(firewall: &SessionFirewall, frame: Option<UntrustedFrame>) -> Self {
        Self::Run { masking: firewall.stream(), frame }
    }

    pub(crate) const fn is_exchange(&self) -> bool {
        matches!(self, Self::Exchange { .. })
    }

    /// Returns whether the host carries it out.
    pub(crate) const fn is_with_host(&self) -> bool {
        !matches!(self, Self::Playback { .. })
    }

    /// Returns the address of an exchange, for messages.
    pub(crate) fn place(&self) -> String {
        match self {
            Self::Exchange { base: Some(base), .. } => base.to_string(),
            _ => "the endpoint".into(),
        }
    }

    /// Queues an input that is news of this effect, with streams masked. The bytes that masking has
    /// held back are queued before the stream's end.
    pub(crate) fn mask(
        &mut self,
        input: Input,
        firewall: &SessionFirewall,
        queue: &mut Vec<Input>,
    ) {
        match (self, input) {
            (Self::Exchange { masking, .. }, Input::Http { id, input }) => {
                let mut chunk = |bytes: Vec<u8>| {
                    let input = HttpInput::Chunk(bytes.into());
                    queue.push(Input::Http { id, input });
                };
                match input {
                    HttpInput::Chunk(bytes) => {
                        let bytes = masking.push(bytes.0);
                        // All of it may be held back. An empty chunk would be a line in the log
                        // from which nothing follows.
                        if !bytes.is_empty() {
                            chunk(bytes);
                        }
                        return;
                    }
                    HttpInput::Held { .. } => {}
                    // A further head begins the response anew, after a restart of the host: what
                    // was held back of the first one must not run into it. The keys may be newer.
                    HttpInput::Head(_) => *masking = StreamMasker::new(&firewall.keys),
                    HttpInput::End | HttpInput::Failed(_) => {
                        let held = masking.end();
                        if !held.is_empty() {
                            chunk(held);
                        }
                    }
                }
                queue.push(Input::Http { id, input });
            }
            (Self::Run { masking, frame }, Input::Tool { id, mut input }) => {
                // As text, not as bytes: a delta is a string, and what is held back is cut between
                // characters.
                let mut delta = |text: String| {
                    if !text.is_empty() {
                        queue.push(Input::Tool { id, input: ToolInput::Delta(text) });
                    }
                };
                match &mut input {
                    ToolInput::Delta(text) => return delta(masking.push_text(mem::take(text))),
                    ToolInput::Parked { outcome, .. } => {
                        frame.iter().for_each(|frame| frame.wrap(outcome));
                    }
                    ToolInput::Done(outcome) => {
                        delta(masking.end_text());
                        frame.iter().for_each(|frame| frame.wrap(outcome));
                    }
                }
                queue.push(Input::Tool { id, input });
            }
            // News of another kind than the effect's: the session refuses them, and a refused input
            // goes back to the host.
            (_, input) => {
                let mut input = input;
                mask_input::mask_stray(firewall, &mut input);
                queue.push(input);
            }
        }
    }

    /// Notes the news of an exchange that is recorded, and adds its line when it ends. The input is
    /// masked already, so that no recording holds a key.
    pub(crate) fn record(&mut self, input: &Input, recording: &mut String) {
        let Self::Exchange { recorded: Some(exchange), .. } = self else { return };
        match input {
            Input::Http { input: HttpInput::Head(head), .. } => {
                // Another head begins the response anew, as after a restart of the host.
                exchange.body.0.clear();
                exchange.head(head.status, &head.headers);
            }
            Input::Http { input: HttpInput::Chunk(bytes), .. } => {
                exchange.body.0.extend_from_slice(bytes);
            }
            Input::Http { input: HttpInput::Failed(failure), .. } => {
                exchange.failed = Some(failure.message.clone());
            }
            // A line all the same: an exchange that is missing would shift those behind it, and no
            // replay would fit.
            Input::Lost { .. } => exchange.failed = Some("the host was stopped".into()),
            _ => {}
        }
        if input.answered().is_some() {
            recording.push_str(&exchange.line());
        }
    }

    /// Returns the answer to the effect after it was cancelled; `None` if the host owes it.
    pub(crate) fn cancelled(&self, id: EffectId) -> Option<Input> {
        match self {
            // Answered here, so that no session waits for a host that is slow to drop a connection
            // or to close a question. Late news of them are ignored.
            Self::Exchange { .. } | Self::Playback { .. } => {
                let (kind, message) = (HttpFailureKind::Cancelled, "cancelled, as asked".into());
                let failure = HttpFailure { kind, message };
                Some(Input::Http { id, input: HttpInput::Failed(failure) })
            }
            Self::Ask | Self::Hook => Some(Input::Lost { id }),
            // A run that was stopped has an outcome, too: it may have changed files.
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

    /// Takes the pieces of a recorded answer that are due: one after each pause, all if there is no
    /// pause.
    pub(crate) fn take_pieces(&mut self, now: SessionInstant) -> impl Iterator<Item = HttpInput> {
        // One piece even if the host is late: the pause counts from now, so that people see a reply
        // grow instead of in a burst.
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
