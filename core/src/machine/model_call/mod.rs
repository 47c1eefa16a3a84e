//! A model call: its purpose, the route that it owns, its request, and what has come of the
//! response. It is in flight or waits for its next try, and keeps its route whatever is configured
//! meanwhile. `steps` has what happens to it; what follows from its end is decided in `run`.

mod steps;

use super::{
    fold_plan::FoldPlan,
    history::History,
    route::{Route, ToolAccess},
};
use crate::rules::echo::EchoDetector;
use alloc::{boxed::Box, string::String, sync::Arc};
use innerloop_types::{
    compaction::FoldReason,
    id::{AgentId, EffectId, SessionId},
    input::HttpInput,
    message::Reply,
    output::{self, DeadlineReason, Effect, HttpRequest},
    time::SessionInstant,
};
use innerloop_wire::{Decoder, ModelCallError};

/// The time for which the end of a response is still waited for once its reply is whole.
// Some servers leave the connection open behind the terminal marker, or keep sending pings. The
// reply is there, so that the end is worth a moment and no more.
const WHOLE_MS: u64 = 1_000;

/// The purpose of a call, which says what comes after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CallPurpose {
    /// The next reply of a run.
    Reply(ToolAccess),
    /// A summary of the turns that are to be folded.
    Summary(Box<FoldPlan>),
}

/// A call that is over: the reply is whole, or the call has failed for good.
#[derive(Debug)]
pub(crate) struct EndedCall {
    pub(crate) purpose: CallPurpose,
    /// The route that it was made over. Another one may be in force by now.
    pub(crate) route: Arc<Route>,
    pub(crate) result: Result<Reply, ModelCallError>,
    pub(crate) timing: ReplyTiming,
}

/// The time that a reply took.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReplyTiming {
    /// The milliseconds from the request to the first piece of the reply.
    pub(crate) ttft_ms: Option<u64>,
    /// The milliseconds from the request to the end of the reply.
    pub(crate) ms: Option<u64>,
}

/// A call that is in flight or waits for its next try.
#[derive(Debug)]
pub(crate) struct ModelCall {
    pub(crate) purpose: CallPurpose,
    pub(crate) route: Arc<Route>,
    /// Counted from 1.
    pub(crate) attempt: u32,
    pub(crate) state: CallState,
}

/// The state of a call.
#[derive(Debug)]
pub(crate) enum CallState {
    /// A request is out.
    Sent(HttpExchange),
    /// It has failed and is tried again later.
    Waiting { until: SessionInstant },
}

/// A request and what has come of its response.
#[derive(Debug)]
pub(crate) struct HttpExchange {
    pub(crate) effect: EffectId,
    /// The time when the request went out.
    pub(crate) sent_at: SessionInstant,
    /// The time when the first piece of the reply came.
    pub(crate) first_at: Option<SessionInstant>,
    /// The time when the newest news came.
    pub(crate) active_at: SessionInstant,
    /// True if the host holds the request back.
    pub(crate) held: bool,
    /// True if anything of this try has been shown.
    pub(crate) shown: bool,
    /// True if the start of the text has been announced.
    pub(crate) text_begun: bool,
    /// The estimated tokens that have come, in thousandths; `None` before a response of success has
    /// begun.
    pub(crate) written: Option<u64>,
    /// The reply, once the stream's terminal marker has come. Whatever happens to the connection
    /// after that does not matter.
    pub(crate) whole: Option<Box<Reply>>,
    /// The decoder that reads the response. A restored call has none: its response begins anew.
    pub(crate) decoder: Option<Box<Decoder>>,
    /// The watch for echoes in the text, where they are corrected.
    pub(crate) echo: Option<Box<EchoDetector>>,
    /// The text that has been shown, before a restore or since. It is gathered here, since the
    /// decoder could tell it to a snapshot only by a copy of all of its state.
    pub(crate) said: String,
}

impl CallPurpose {
    /// Returns whether people watch the reply while it arrives.
    pub(crate) const fn is_shown(&self) -> bool {
        matches!(self, Self::Reply(_))
    }

    /// Returns whether the call belongs to a run, unlike a summary that the host has asked for.
    pub(super) fn is_of_run(&self) -> bool {
        match self {
            Self::Reply(_) => true,
            Self::Summary(plan) => plan.why != FoldReason::Asked,
        }
    }

    /// Returns the purpose as the host is told it.
    pub(super) const fn public(&self) -> output::RequestPurpose {
        match self {
            Self::Reply(_) => output::RequestPurpose::Model,
            Self::Summary(_) => output::RequestPurpose::Summary,
        }
    }
}

impl HttpExchange {
    /// Returns the exchange of a request that went out at `now`.
    pub(crate) const fn new(effect: EffectId, now: SessionInstant) -> Self {
        let (held, shown, text_begun) = (false, false, false);
        let (first_at, written, whole, decoder, echo) = (None, None, None, None, None);
        Self {
            effect,
            sent_at: now,
            first_at,
            active_at: now,
            held,
            shown,
            text_begun,
            written,
            whole,
            decoder,
            echo,
            said: String::new(),
        }
    }

    /// Returns the time that the reply has taken.
    fn timing(&self) -> ReplyTiming {
        let ms = |at: SessionInstant| at.ms_since(self.sent_at);
        // The newest news and not the end of the connection, which servers may leave open.
        ReplyTiming { ttft_ms: self.first_at.map(ms), ms: Some(ms(self.active_at)) }
    }

    /// Returns the text that has been shown of a reply that is not whole; `None` if there is none.
    pub(crate) fn said(&self) -> Option<String> {
        (self.whole.is_none() && !self.said.is_empty()).then(|| self.said.clone())
    }

    /// Returns whether the input comes in the right order.
    pub(crate) const fn accepts(&self, input: &HttpInput) -> bool {
        match input {
            // After a restore there is no decoder. The host carries the request out again, so that
            // a head comes before any chunk.
            HttpInput::Chunk(_) | HttpInput::End => self.decoder.is_some() || self.whole.is_some(),
            HttpInput::Held { .. } | HttpInput::Head(_) | HttpInput::Failed(_) => true,
        }
    }
}

impl ModelCall {
    /// Returns the exchange that is under way; `None` between two tries.
    pub(crate) const fn exchange(&self) -> Option<&HttpExchange> {
        match &self.state {
            CallState::Sent(exchange) => Some(exchange),
            CallState::Waiting { .. } => None,
        }
    }

    /// Returns the effect of the request that is out.
    pub(crate) fn effect(&self) -> Option<EffectId> {
        self.exchange().map(|exchange| exchange.effect)
    }

    /// Returns the open effect, made anew.
    pub(crate) fn owed(
        &self,
        agent: AgentId,
        history: &History,
        session: &SessionId,
    ) -> Option<Effect> {
        let id = self.effect()?;
        let request = request_again(&self.purpose, &self.route, history, session);
        Some(Effect::Http { id, agent, request, purpose: self.purpose.public() })
    }

    /// Returns when the call counts as broken or is tried again; never while the host holds it
    /// back.
    pub(crate) const fn deadline(&self, idle_ms: u64) -> Option<(SessionInstant, DeadlineReason)> {
        match &self.state {
            CallState::Sent(exchange) if exchange.held => None,
            CallState::Sent(exchange) => {
                let is_last = exchange.whole.is_some() && idle_ms > WHOLE_MS;
                let idle_ms = if is_last { WHOLE_MS } else { idle_ms };
                Some((exchange.active_at.plus_ms(idle_ms), DeadlineReason::ModelIdle))
            }
            CallState::Waiting { until } => Some((*until, DeadlineReason::Retry)),
        }
    }
}

/// Returns the request of a call, without a change to the history's cache.
fn request_again(
    purpose: &CallPurpose,
    route: &Route,
    history: &History,
    session: &SessionId,
) -> HttpRequest {
    match purpose {
        CallPurpose::Reply(tools) => history.request_again(route, *tools, &session.0),
        CallPurpose::Summary(plan) => plan.request(history, route, &session.0),
    }
}
