//! One call of the model: the request, the response while it arrives, and the wait before the
//! next try.

use super::{ctx::Ctx, ledger::EffectKind, setup::Setup};
use crate::{
    base::{
        id::{AgentId, EffectId},
        time::Instant,
    },
    rules::retry,
    types::{
        config::TextCalls,
        event::EventKind,
        input::{HttpFailure, HttpFailureKind, HttpInput, ResponseHead},
        message::Reply,
        output::{Effect, HttpRequest, Purpose},
    },
    wire::{Decoder, Failure, FailureKind, Piece},
};
use alloc::{boxed::Box, format, sync::Arc, vec::Vec};
use serde::{Deserialize, Serialize};

/// What follows from news of a call.
#[derive(Debug)]
pub(crate) enum Next {
    /// The call goes on.
    Call(Calling),
    /// It is tried again later.
    Wait(Waiting),
    /// The endpoint has no tools: it is asked again, the tools told in the prompt.
    InText(Waiting),
    /// The reply is whole.
    Reply(Reply),
    /// It has failed for good.
    Fail(Failure),
}

/// A request is out.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Calling {
    effect: EffectId,
    /// Counted from 1.
    attempt: u32,
    /// When something was last heard of it.
    heard: Instant,
    /// Whether text or thinking of this try has been shown.
    shown: bool,
    /// Whether the start of the text has been announced.
    text_begun: bool,
    /// The response; not kept in a snapshot, since a restored call begins anew.
    #[serde(skip)]
    decoder: Option<Box<Decoder>>,
    /// The reply, once the stream's terminal marker has come: what becomes of the connection then
    /// costs nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    whole: Option<Box<Reply>>,
    /// What the request was made with, where the configuration has changed since. A snapshot
    /// keeps its configuration beside the phase.
    #[serde(skip)]
    sent_with: Option<Arc<Setup>>,
}

/// A failed call waits for its next try.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Waiting {
    until: Instant,
    attempt: u32,
}

impl Calling {
    /// Sends the history to the model.
    pub(crate) fn start(attempt: u32, ctx: &mut Ctx<'_>) -> Self {
        let id = ctx.issue(EffectKind::Http);
        let (head, model) = (ctx.setup.head(&ctx.body.run), &ctx.setup.config.model);
        let request = ctx.body.history.request(head, model, &ctx.session.0);
        let agent = ctx.body.id;
        ctx.effect(Effect::Http { id, agent, request, purpose: Purpose::Model });
        Self {
            effect: id,
            attempt,
            heard: ctx.now,
            shown: false,
            text_begun: false,
            decoder: None,
            whole: None,
            sent_with: None,
        }
    }

    /// The effect, with its request made again.
    pub(crate) const fn effect(&self, agent: AgentId, request: HttpRequest) -> Effect {
        Effect::Http { id: self.effect, agent, request, purpose: Purpose::Model }
    }

    /// What the request was made with, where that is no longer in force.
    pub(crate) const fn sent_with(&self) -> Option<&Arc<Setup>> {
        self.sent_with.as_ref()
    }

    /// Another configuration is in force: the request stays what it was.
    pub(crate) fn keep(&mut self, sent_with: Arc<Setup>) {
        self.sent_with.get_or_insert(sent_with);
    }

    /// Whether news come in the right order.
    pub(crate) fn accepts(&self, id: EffectId, input: &HttpInput) -> bool {
        match input {
            _ if id != self.effect => true,
            HttpInput::Chunk(_) | HttpInput::End => self.decoder.is_some() || self.whole.is_some(),
            HttpInput::Head(_) | HttpInput::Failed(_) => true,
        }
    }

    pub(crate) fn on_http(mut self, input: HttpInput, ctx: &mut Ctx<'_>) -> Next {
        self.heard = ctx.now;
        match input {
            HttpInput::Head(head) => self.on_head(&head, ctx),
            HttpInput::Chunk(bytes) => self.on_chunk(&bytes, ctx),
            HttpInput::End | HttpInput::Failed(_) if self.whole.is_some() => self.on_lost(ctx),
            HttpInput::End => {
                ctx.ledger.settle(self.effect);
                match self.decoder.take().map(|decoder| decoder.finish()) {
                    Some(Ok(reply)) => Next::Reply(reply),
                    Some(Err(failure)) => self.on_failure(failure, ctx),
                    None => self.on_lost(ctx),
                }
            }
            HttpInput::Failed(failure) => {
                ctx.ledger.settle(self.effect);
                self.on_failure(broken(failure), ctx)
            }
        }
    }

    /// The exchange is over, and only a reply that was whole before counts; without one, the host
    /// does not know what became of the call.
    pub(crate) fn on_lost(self, ctx: &mut Ctx<'_>) -> Next {
        ctx.ledger.settle(self.effect);
        if let Some(reply) = self.whole {
            return Next::Reply(*reply);
        }
        let message = "the model call was lost when the host stopped";
        self.on_failure(Failure::new(FailureKind::Network, message), ctx)
    }

    pub(crate) fn on_tick(self, ctx: &mut Ctx<'_>) -> Next {
        if self.deadline(ctx.setup.config.retry.idle_ms) > ctx.now {
            return Next::Call(self);
        }
        ctx.cancel(self.effect);
        if let Some(reply) = self.whole {
            return Next::Reply(*reply);
        }
        let seconds = ctx.now.ms_since(self.heard) / 1000;
        let message = format!("nothing came from the model for {seconds} s");
        self.on_failure(Failure::new(FailureKind::Network, message), ctx)
    }

    /// When the call counts as broken.
    pub(crate) const fn deadline(&self, idle_ms: u64) -> Instant {
        self.heard.plus_ms(idle_ms)
    }

    /// Gives the call up on the host's word.
    pub(crate) fn cancel(self, ctx: &mut Ctx<'_>) {
        ctx.cancel(self.effect);
        self.reset(ctx);
    }

    fn on_head(mut self, head: &ResponseHead, ctx: &mut Ctx<'_>) -> Next {
        // After a restore the effect is carried out again, and what was shown comes again.
        self.reset(ctx);
        self.shown = false;
        self.text_begun = false;
        self.whole = None;
        let setup = self.sent_with.as_deref().unwrap_or(ctx.setup);
        let model = &setup.config.model;
        let decoder = Decoder::new(model.wire, head).with_text_calls(model, setup.specs());
        self.decoder = Some(Box::new(decoder));
        Next::Call(self)
    }

    fn on_chunk(mut self, bytes: &[u8], ctx: &mut Ctx<'_>) -> Next {
        let mut pieces = Vec::new();
        if let Some(decoder) = &mut self.decoder {
            decoder.feed(bytes, &mut pieces);
        }
        for piece in pieces {
            match piece {
                Piece::Restart => {
                    self.reset(ctx);
                    self.shown = false;
                    self.text_begun = false;
                }
                Piece::Text(text) => {
                    if !core::mem::replace(&mut self.text_begun, true) {
                        ctx.event(EventKind::AssistantTextStart);
                    }
                    self.shown = true;
                    ctx.event(EventKind::AssistantTextDelta { text });
                }
                Piece::Reasoning(text) => {
                    self.shown = true;
                    ctx.event(EventKind::AssistantReasoningDelta { text });
                }
            }
        }
        match self.decoder.take_if(|decoder| decoder.is_whole()).map(|decoder| decoder.finish()) {
            None => Next::Call(self),
            Some(Ok(reply)) => {
                self.whole = Some(Box::new(reply));
                Next::Call(self)
            }
            Some(Err(failure)) => {
                ctx.cancel(self.effect);
                self.on_failure(failure, ctx)
            }
        }
    }

    fn on_failure(self, mut failure: Failure, ctx: &mut Ctx<'_>) -> Next {
        self.reset(ctx);
        let sent_with = self.sent_with.as_deref().unwrap_or(ctx.setup);
        let may_fall_back = sent_with.config.model.text_calls == TextCalls::Fallback;
        if may_fall_back && failure.kind == FailureKind::NoTools {
            return Next::InText(Waiting { until: ctx.now, attempt: self.attempt });
        }
        let next = self.attempt.saturating_add(1);
        let policy = &ctx.setup.config.retry;
        let salt = retry::salt(&ctx.session.0, self.effect.0);
        let may_retry = failure.is_retryable() && (policy.mid_stream || !self.shown);
        let delay = may_retry
            .then(|| retry::delay_ms(policy, next, failure.retry_after_ms, salt))
            .flatten();
        let Some(delay_ms) = delay else {
            let asked = failure.retry_after_ms.unwrap_or_default();
            if asked > policy.max_retry_after_ms {
                let seconds = asked.div_ceil(1000);
                failure.message += &format!(" (the provider asks to wait {seconds} s)");
            }
            return Next::Fail(failure);
        };
        let message = failure.message;
        ctx.event(EventKind::Retry { attempt: next, delay_ms, message });
        Next::Wait(Waiting { until: ctx.now.plus_ms(delay_ms), attempt: next })
    }

    /// Takes back what was shown of this try.
    fn reset(&self, ctx: &mut Ctx<'_>) {
        if self.shown {
            ctx.event(EventKind::TextReset);
        }
    }
}

impl Waiting {
    pub(crate) fn on_tick(self, ctx: &mut Ctx<'_>) -> Next {
        if self.until > ctx.now {
            return Next::Wait(self);
        }
        Next::Call(Calling::start(self.attempt, ctx))
    }

    pub(crate) const fn deadline(&self) -> Instant {
        self.until
    }
}

/// A broken exchange as a failure of the call.
fn broken(failure: HttpFailure) -> Failure {
    let kind = match failure.kind {
        HttpFailureKind::Network | HttpFailureKind::Timeout | HttpFailureKind::Cancelled => {
            FailureKind::Network
        }
        HttpFailureKind::Refused => FailureKind::Host,
    };
    Failure::new(kind, failure.message)
}
