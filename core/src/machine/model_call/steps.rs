//! The steps of a model call: the response as it arrives, its failures, and the next try. A call
//! that goes on is put back among those of its agent; what follows from one that is over is decided
//! in `run`.

use super::{
    super::{
        ctx::{AgentSignal, StepContext},
        ledger::EffectKind,
        route::Route,
        routing::{self, NextTry},
    },
    CallPurpose, CallState, EndedCall, HttpExchange, ModelCall, ReplyTiming,
};
use crate::rules::{echo::EchoDetector, gauge::prose_cost, retry};
use alloc::{borrow::Cow, boxed::Box, format, string::String, sync::Arc, vec, vec::Vec};
use innerloop_json::joined;
use innerloop_types::{
    corrections::ReplyFault,
    event::EventKind,
    id::EffectId,
    input::{HttpFailure, HttpFailureKind, HttpInput, ResponseHead},
    message::{Block, FinishReason, Reply, Usage, VisibleTurn},
    output::Effect,
    text::prefix,
};
use innerloop_wire::{CallPiece, FailureKind, ModelCallError, ReplyPiece, unknown_fields};

/// The number of tries up to which a call is repeated without the fields that the endpoint does not
/// know.
const MOST_PLAINER: u32 = 8;

impl HttpExchange {
    /// Withdraws what was shown of this try.
    fn reset(&mut self, ctx: &mut StepContext<'_>) {
        if core::mem::take(&mut self.shown) {
            ctx.event(EventKind::TextReset);
        }
        self.text_begun = false;
        self.said.clear();
    }

    /// Looks for an echo in the text that has come. Returns how many bytes of it are to be kept.
    fn echoes(&mut self, pieces: &[ReplyPiece]) -> Option<usize> {
        let echo = self.echo.as_mut().filter(|_| cfg!(feature = "corrections"))?;
        pieces.iter().find_map(|piece| match piece {
            ReplyPiece::Text(text) => echo.feed(text),
            ReplyPiece::Restart => {
                **echo = EchoDetector::default();
                None
            }
            ReplyPiece::Reasoning(_) | ReplyPiece::Call(_) => None,
        })
    }

    fn show(&mut self, piece: ReplyPiece, ctx: &mut StepContext<'_>) {
        self.first_at.get_or_insert(ctx.now);
        match piece {
            ReplyPiece::Restart => self.reset(ctx),
            ReplyPiece::Text(text) => {
                if !core::mem::replace(&mut self.text_begun, true) {
                    ctx.event(EventKind::AssistantTextStart);
                }
                self.shown = true;
                self.said.push_str(&text);
                ctx.event(EventKind::AssistantTextDelta { text });
            }
            ReplyPiece::Reasoning(text) => {
                self.shown = true;
                ctx.event(EventKind::AssistantReasoningDelta { text });
            }
            ReplyPiece::Call(piece) => {
                let CallPiece { index, id, name, text } = *piece;
                self.shown = true;
                ctx.event(EventKind::ToolCallDelta { index, call_id: id, name, text });
            }
        }
    }
}

impl ModelCall {
    /// Sends a first request.
    pub(crate) fn start(purpose: CallPurpose, route: Arc<Route>, ctx: &mut StepContext<'_>) {
        let call = Self::send(purpose, route, 1, ctx);
        ctx.body.pending_mut().calls.push(call);
    }

    /// Puts the call back among those of its agent until more comes in.
    pub(crate) fn go_on(self, ctx: &mut StepContext<'_>) -> Option<EndedCall> {
        ctx.body.pending_mut().calls.push(self);
        None
    }

    fn send(
        purpose: CallPurpose,
        route: Arc<Route>,
        attempt: u32,
        ctx: &mut StepContext<'_>,
    ) -> Self {
        let (id, agent) = (ctx.issue(EffectKind::Http), ctx.body.id);
        let (route, request) = match &purpose {
            &CallPurpose::Reply(tools) => {
                // Made for each request and not kept as the agent's route: the larger limit ends
                // with the input, and a call that sums up may need a head without tools.
                let is_grown = ctx.body.run.repairs.grown;
                let route =
                    if is_grown { Arc::new(route.grown(tools)) } else { route.serving(tools) };
                let request = ctx.body.history.request(&route, tools, &ctx.session.0);
                (route, request)
            }
            CallPurpose::Summary(plan) => {
                let request = plan.request(&ctx.body.history, &route, &ctx.session.0);
                (route, request)
            }
        };
        if purpose.is_shown() {
            let model = route.model.name.clone();
            ctx.event(EventKind::RequestStart { attempt, model });
        }
        ctx.effect(Effect::Http { id, agent, request, purpose: purpose.public() });
        let state = CallState::Sent(HttpExchange::new(id, ctx.now));
        Self { purpose, route, attempt, state }
    }

    pub(crate) fn on_http(
        mut self,
        input: HttpInput,
        ctx: &mut StepContext<'_>,
    ) -> Option<EndedCall> {
        let CallState::Sent(exchange) = &mut self.state else { return self.go_on(ctx) };
        // Whether a chunk keeps the call alive is decided in `on_chunk`: comments and pings do not,
        // and neither does anything behind a whole reply.
        if !matches!(input, HttpInput::Chunk(_)) && exchange.whole.is_none() {
            exchange.active_at = ctx.now;
        }
        exchange.held = matches!(input, HttpInput::Held { ahead: Some(_) });
        match input {
            HttpInput::Held { ahead } => {
                if let Some(ahead) = ahead {
                    ctx.event(EventKind::Queued { ahead });
                }
                self.go_on(ctx)
            }
            HttpInput::Head(head) => self.on_head(&head, ctx),
            HttpInput::Chunk(bytes) => self.on_chunk(&bytes, ctx),
            HttpInput::End | HttpInput::Failed(_) if exchange.whole.is_some() => self.on_lost(ctx),
            HttpInput::End => {
                ctx.ledger.settle(exchange.effect);
                match self.finish(ctx) {
                    Some(Ok(reply)) => self.over(reply, ctx),
                    Some(Err(failure)) => self.on_failure(failure, ctx),
                    None => self.on_lost(ctx),
                }
            }
            HttpInput::Failed(failure) => {
                ctx.ledger.settle(exchange.effect);
                self.on_failure(broken(failure), ctx)
            }
        }
    }

    /// Ends the exchange. A reply that was whole before counts; without one, nobody knows what
    /// became of the call, and it has failed.
    pub(crate) fn on_lost(mut self, ctx: &mut StepContext<'_>) -> Option<EndedCall> {
        let CallState::Sent(exchange) = &mut self.state else { return self.go_on(ctx) };
        ctx.ledger.settle(exchange.effect);
        if let Some(reply) = exchange.whole.take() {
            return self.over(*reply, ctx);
        }
        let message = "the model call was lost when the host stopped";
        self.on_failure(ModelCallError::new(FailureKind::Network, message), ctx)
    }

    pub(crate) fn on_tick(mut self, ctx: &mut StepContext<'_>) -> Option<EndedCall> {
        let deadline = self.deadline(ctx.setup.config.retry.idle_ms);
        if deadline.is_none_or(|(at, _)| at > ctx.now) {
            return self.go_on(ctx);
        }
        let CallState::Sent(exchange) = &mut self.state else {
            // Asked again before the try: other agents may have spent the rest of the budget while
            // this call waited.
            if ctx.used_up(self.purpose.is_of_run()).is_some() {
                let failure =
                    ModelCallError::new(FailureKind::Network, "what may be spent is used up");
                return Some(self.failed(failure));
            }
            if routing::is_due(ctx) {
                // The model in force is still left alone, and another one is free by now. The
                // session changes it first, and then lets this call try again.
                return self.go_elsewhere(String::new(), ctx);
            }
            return self.again(ctx).go_on(ctx);
        };
        ctx.cancel(exchange.effect);
        if let Some(reply) = exchange.whole.take() {
            return self.over(*reply, ctx);
        }
        let seconds = ctx.now.ms_since(exchange.active_at) / 1000;
        let message = format!("nothing came from the model for {seconds} s");
        self.on_failure(ModelCallError::new(FailureKind::Network, message), ctx)
    }

    /// Gives the call up on the host's command. Returns the text of the reply that people have been
    /// shown.
    pub(crate) fn cancel(mut self, ctx: &mut StepContext<'_>) -> String {
        self.spend(ctx);
        let CallState::Sent(mut exchange) = self.state else { return String::new() };
        ctx.cancel(exchange.effect);
        let said = match exchange.whole.take() {
            _ if !self.purpose.is_shown() => String::new(),
            Some(reply) => reply.text(),
            None => core::mem::take(&mut exchange.said),
        };
        if said.trim().is_empty() {
            // Nothing of it enters the history, so that what was shown of it is withdrawn.
            exchange.reset(ctx);
            return String::new();
        }
        said
    }

    /// Ends the call with a whole reply.
    fn over(mut self, mut reply: Reply, ctx: &mut StepContext<'_>) -> Option<EndedCall> {
        // Signatures and sealed thinking are sent back only to the model and endpoint that made
        // them.
        reply.origin = Some(Arc::clone(&self.route.origin));
        // Only the budget counts an estimate: events and totals tell what the provider has counted,
        // and that is nothing here.
        if reply.usage.is_none() && reply.finish == FinishReason::Repetition {
            self.spend(ctx);
        } else if reply.usage.is_none() {
            let whole =
                ctx.body.history.gauge().cost(&VisibleTurn::Assistant(Cow::Borrowed(&reply)));
            if let CallState::Sent(exchange) = &mut self.state {
                exchange.written = Some(whole);
            }
            self.spend(ctx);
        }
        let timing = match &self.state {
            CallState::Sent(exchange) => exchange.timing(),
            CallState::Waiting { .. } => ReplyTiming::default(),
        };
        Some(EndedCall { purpose: self.purpose, route: self.route, result: Ok(reply), timing })
    }

    /// Ends the call with a failure.
    fn failed(self, failure: ModelCallError) -> EndedCall {
        let timing = ReplyTiming::default();
        EndedCall { purpose: self.purpose, route: self.route, result: Err(failure), timing }
    }

    /// Counts the cost of a response whose usage nobody tells: an estimate of what was asked and of
    /// what has come.
    fn spend(&mut self, ctx: &mut StepContext<'_>) {
        let CallState::Sent(exchange) = &mut self.state else { return };
        let Some(written) = exchange.written.take() else { return };
        let whole = exchange.whole.as_ref().and_then(|reply| reply.usage);
        let usage = whole.unwrap_or_else(|| Usage {
            input_total: match &self.purpose {
                CallPurpose::Reply(_) => ctx.tokens(),
                CallPurpose::Summary(plan) => {
                    let request = plan.request(&ctx.body.history, &self.route, "");
                    // About four bytes a token: a summary's request is not part of the history's
                    // gauge.
                    request.body.0.len() as u64 / 4
                }
            },
            output_total: written.div_ceil(1_000),
            ..Usage::default()
        });
        ctx.spend(&usage, self.route.model.price.as_ref());
    }

    /// Makes the next try. That of a reply follows the configuration in force, so that a new key or
    /// model helps a call that waits.
    fn again(self, ctx: &mut StepContext<'_>) -> Self {
        let route = match self.purpose {
            CallPurpose::Reply(_) => ctx.route(),
            CallPurpose::Summary(_) => routing::summary_again(self.route, ctx),
        };
        Self::send(self.purpose, route, self.attempt, ctx)
    }

    fn on_head(mut self, head: &ResponseHead, ctx: &mut StepContext<'_>) -> Option<EndedCall> {
        // A second head begins the response anew. What the first one brought has been paid for all
        // the same.
        self.spend(ctx);
        if let CallState::Sent(exchange) = &mut self.state {
            // A refusal costs nothing; a response of success costs from its first byte on.
            exchange.written = (200..300).contains(&head.status).then_some(0);
            // After a restore the effect is carried out again, so that what was shown before comes
            // a second time.
            exchange.reset(ctx);
            exchange.whole = None;
            let further = ctx.setup.unshown().map(|tool| &*tool.spec);
            let decoder = self.route.decoder(head, ctx.setup.config.response, further);
            exchange.decoder = Some(Box::new(decoder));
            let is_watched = cfg!(feature = "corrections")
                && ctx.setup.config.corrections.most(ReplyFault::Echo) > 0;
            exchange.echo = (is_watched && self.purpose.is_shown()).then(Box::default);
        }
        self.go_on(ctx)
    }

    fn on_chunk(mut self, bytes: &[u8], ctx: &mut StepContext<'_>) -> Option<EndedCall> {
        let CallState::Sent(exchange) = &mut self.state else { return self.go_on(ctx) };
        let Some(decoder) = &mut exchange.decoder else { return self.go_on(ctx) };
        let mut pieces = Vec::new();
        decoder.feed(bytes, &mut pieces);
        let is_whole = decoder.is_whole();
        let echo = exchange.echoes(&pieces);
        let Some(decoder) = &exchange.decoder else { return self.go_on(ctx) };
        // Comments and pings are bytes as well, but no sign that the model still works.
        if decoder.is_heard() {
            exchange.active_at = ctx.now;
        }
        if let Some(written) = &mut exchange.written {
            let by = ctx.setup.config.estimator;
            *written += pieces.iter().map(|piece| prose_cost(by, piece.text())).sum::<u64>();
        }
        if self.purpose.is_shown() {
            for piece in pieces {
                exchange.show(piece, ctx);
            }
        }
        if let Some(kept) = echo {
            let reply = repeated(&exchange.said, kept);
            ctx.cancel(exchange.effect);
            return self.over(reply, ctx);
        }
        if !is_whole {
            return self.go_on(ctx);
        }
        let finished = self.finish(ctx);
        // The terminal marker ends the reply; the effect stays open until the response ends, since
        // the host still owes its answer.
        let CallState::Sent(exchange) = &mut self.state else { return self.go_on(ctx) };
        match finished {
            None => self.go_on(ctx),
            Some(Ok(reply)) => {
                exchange.whole = Some(Box::new(reply));
                self.go_on(ctx)
            }
            Some(Err(failure)) => {
                // An error, or a limit that is exceeded, ends the response: nothing that would
                // still come of it counts.
                ctx.cancel(exchange.effect);
                self.on_failure(failure, ctx)
            }
        }
    }

    /// Ends the decoding: returns the reply, and shows what has not been shown of it. `None` if
    /// there was no decoder.
    fn finish(&mut self, ctx: &mut StepContext<'_>) -> Option<Result<Reply, ModelCallError>> {
        let CallState::Sent(exchange) = &mut self.state else { return None };
        let (decoder, mut rest) = (exchange.decoder.take()?, Vec::new());
        let mut reply = decoder.finish_into(&mut rest);
        if let (Some(kept), Ok(whole)) = (exchange.echoes(&rest), &mut reply) {
            *whole = Reply { usage: whole.usage, ..repeated(&whole.text(), kept) };
        }
        if self.purpose.is_shown() {
            rest.into_iter().for_each(|piece| exchange.show(piece, ctx));
        }
        Some(reply)
    }

    /// Returns the next try of a call that has failed and may be tried again.
    fn next_try(
        &self,
        effect: EffectId,
        failure: &ModelCallError,
        ctx: &mut StepContext<'_>,
    ) -> NextTry {
        // The delay varies by ids and not by chance, so that a replay waits equally long.
        let (salt, next) = (retry::salt(&ctx.session.0, effect.0), self.attempt.saturating_add(1));
        let (policy, asked) = (&ctx.setup.config.retry, failure.retry_after_ms);
        let delay = failure.is_retryable().then(|| retry::delay_ms(policy, next, asked, salt));
        routing::next_try(&self.route, self.attempt, failure, delay.flatten(), ctx)
    }

    /// Waits for the session to put another model in force, and is then tried again.
    fn go_elsewhere(self, message: String, ctx: &mut StepContext<'_>) -> Option<EndedCall> {
        let agent = ctx.body.id;
        let ended = self.go_on(ctx);
        ctx.signal(AgentSignal::Reroute { agent, message });
        ended
    }

    fn on_failure(
        mut self,
        mut failure: ModelCallError,
        ctx: &mut StepContext<'_>,
    ) -> Option<EndedCall> {
        self.spend(ctx);
        let CallState::Sent(exchange) = &mut self.state else { return self.go_on(ctx) };
        let (effect, was_shown) = (exchange.effect, exchange.shown);
        // Text that a limit has ended stays shown: it becomes a turn of the history when the run
        // fails.
        if failure.said.is_empty() {
            exchange.reset(ctx);
        }
        let is_reply = matches!(self.purpose, CallPurpose::Reply(_));
        if is_reply && self.route.may_fall_back_to_text() && failure.kind == FailureKind::NoTools {
            // Due at once. The session first configures all agents, since they share the endpoint,
            // and then lets this one try again.
            self.state = CallState::Waiting { until: ctx.now };
            let agent = ctx.body.id;
            let ended = self.go_on(ctx);
            ctx.warn(
                "the endpoint has no tools for this model: from now on they are told in the \
                 prompt, and calls are read from the model's text",
            );
            ctx.signal(AgentSignal::InText { agent });
            return ended;
        }
        let next = self.attempt.saturating_add(1);
        let fields = unknown_fields(&self.route.model, &failure);
        // Counted as a try: an endpoint that names another field each time must come to an end.
        if is_reply && !fields.is_empty() && self.attempt < MOST_PLAINER {
            let names = joined(&fields, ", ");
            ctx.warn(&format!("the endpoint does not know {names}: left out from now on"));
            ctx.signal(AgentSignal::Without { agent: ctx.body.id, fields });
            (self.attempt, self.state) = (next, CallState::Waiting { until: ctx.now });
            return self.go_on(ctx);
        }
        let may_try = (ctx.setup.config.retry.mid_stream || !was_shown)
            && ctx.used_up(self.purpose.is_of_run()).is_none();
        let next_try = if may_try { self.next_try(effect, &failure, ctx) } else { NextTry::None };
        if next_try == NextTry::Elsewhere {
            (self.attempt, self.state) = (next, CallState::Waiting { until: ctx.now });
            return self.go_elsewhere(failure.message, ctx);
        }
        let NextTry::After(delay_ms) = next_try else {
            let asked = failure.retry_after_ms.unwrap_or_default();
            if asked > ctx.setup.config.retry.max_retry_after_ms {
                let seconds = asked.div_ceil(1000);
                failure.message += &format!(" (the provider asks to wait {seconds} s)");
            }
            return Some(self.failed(failure));
        };
        if self.purpose.is_shown() {
            let message = failure.message;
            ctx.event(EventKind::Retry { attempt: next, delay_ms, message });
        }
        self.attempt = next;
        self.state = CallState::Waiting { until: ctx.now.plus_ms(delay_ms) };
        self.go_on(ctx)
    }
}

/// A reply that was ended as it repeated itself: of its text as much as is to be kept, and nothing
/// of its calls.
fn repeated(said: &str, kept: usize) -> Reply {
    let text = String::from(prefix(said, kept));
    let blocks = if text.is_empty() { Vec::new() } else { vec![Block::Text(text)] };
    Reply { blocks, finish: FinishReason::Repetition, ..Reply::default() }
}

/// Returns the failure of the call that a broken exchange stands for.
fn broken(failure: HttpFailure) -> ModelCallError {
    let kind = match failure.kind {
        HttpFailureKind::Network | HttpFailureKind::Timeout | HttpFailureKind::Cancelled => {
            FailureKind::Network
        }
        HttpFailureKind::Refused => FailureKind::Host,
    };
    ModelCallError::new(kind, failure.message)
}
