//! The steps of a round: answers are given to the calls that wait for them, calls start as soon as
//! they may, and the round ends once every call has its result.

use super::{
    super::{
        ctx::StepContext,
        phase::Phase,
        pipeline::{self, ToolTask},
        step::AgentStep,
        tool_call::{RoundCall, ToolCallState},
    },
    ToolRound,
    inner::act,
};
use alloc::vec::Vec;
use innerloop_types::{
    action::{Outcome, ToolError},
    config::ExecMode,
    event::EventKind,
    id::{AgentId, EffectId},
    input::{Answer, HookReply, ToolInput},
    message::ToolCall,
};

impl ToolRound {
    /// Starts the calls of a reply.
    pub(crate) fn start(calls: Vec<ToolCall>, ctx: &mut StepContext<'_>) -> AgentStep {
        let mut round = Self { calls: Vec::with_capacity(calls.len()) };
        for call in calls {
            let mut call = RoundCall::new(pipeline::with_own_arguments(call, ctx.setup));
            // One by one, each with those before it: a question tells which calls are still to come
            // first, and the guard counts on what these will have read.
            call.enter(&round.calls, ctx);
            round.calls.push(call);
        }
        round.advance(ctx)
    }

    /// Answers every call of a reply with the same refusal: none of them may run.
    pub(crate) fn refuse(
        calls: Vec<ToolCall>,
        message: &str,
        ctx: &mut StepContext<'_>,
    ) -> AgentStep {
        let mut round = Self { calls: Vec::with_capacity(calls.len()) };
        for call in calls {
            let mut call = RoundCall::new(pipeline::with_own_arguments(call, ctx.setup));
            call.fail(Outcome::error(ToolError::InvalidArguments, message), ctx);
            round.calls.push(call);
        }
        round.advance(ctx)
    }

    pub(crate) fn on_tool(
        mut self,
        id: EffectId,
        input: ToolInput,
        ctx: &mut StepContext<'_>,
    ) -> AgentStep {
        let Some(call) = self.call(id) else { return AgentStep::Wait(Phase::Round(self)) };
        match input {
            ToolInput::Delta(text) => {
                let call_id = call.tool_call.id.clone();
                ctx.event(EventKind::ToolCallOutputDelta { call_id, text });
            }
            // Admission refuses this: no tool is offered a way to go on in the background.
            ToolInput::Parked { .. } => {}
            ToolInput::Done(outcome) => {
                ctx.ledger.settle(id);
                call.on_done(outcome, ctx);
            }
        }
        self.advance(ctx)
    }

    /// Takes the answer of a person.
    pub(crate) fn on_answer(
        mut self,
        id: EffectId,
        answer: Answer,
        ctx: &mut StepContext<'_>,
    ) -> AgentStep {
        let Some(call) = self.call(id) else { return AgentStep::Wait(Phase::Round(self)) };
        ctx.ledger.settle(id);
        if answer == Answer::Abort {
            // Its question is settled. Left in its state, the interruption would cancel that effect
            // once more.
            call.state = ToolCallState::Stopped;
            return AgentStep::Interrupt(Phase::Round(self));
        }
        call.on_answer(answer, ctx);
        self.advance(ctx)
    }

    /// Takes the reply of a hook.
    pub(crate) fn on_hook(
        mut self,
        id: EffectId,
        reply: HookReply,
        ctx: &mut StepContext<'_>,
    ) -> AgentStep {
        let Some((before, call)) = self.behind(id) else {
            return AgentStep::Wait(Phase::Round(self));
        };
        ctx.ledger.settle(id);
        call.on_hook(reply, before, ctx);
        self.advance(ctx)
    }

    /// Handles an effect that the host has lost.
    pub(crate) fn on_lost(mut self, id: EffectId, ctx: &mut StepContext<'_>) -> AgentStep {
        let Some((before, call)) = self.behind(id) else {
            return AgentStep::Wait(Phase::Round(self));
        };
        ctx.ledger.settle(id);
        call.on_lost(before, ctx);
        self.advance(ctx)
    }

    /// Gives the result of a started agent, whose run is over, to the calls that wait for it.
    pub(crate) fn on_child(mut self, child: AgentId, ctx: &mut StepContext<'_>) -> AgentStep {
        if ctx.body.learnt().children.get(child).is_none() {
            ctx.fault("an agent has ended that its parent does not know");
            return AgentStep::Wait(Phase::Round(self));
        }
        for call in &mut self.calls {
            if let ToolCallState::Waiting(wait) = &mut call.state
                && wait.agents.contains(&child)
            {
                let wait = core::mem::take(wait);
                call.wait_for(wait, ctx);
            }
        }
        self.advance(ctx)
    }

    /// Ends the waits for other agents, since the host has said something that the model is to
    /// read.
    pub(crate) fn on_steer(mut self, ctx: &mut StepContext<'_>) -> AgentStep {
        let message = "The wait was ended by a message of the user. The agent still works.";
        for call in &mut self.calls {
            // A batch goes on, as other work of this round does: its agents have a limit of their
            // own, and nobody could wait for them later.
            if let ToolCallState::Waiting(wait) = &call.state
                && !wait.is_batch
            {
                let text = wait.early(message, &ctx.body.learnt().children);
                call.on_outcome(Outcome::text(text), ctx);
            }
        }
        self.advance(ctx)
    }

    pub(crate) fn on_tick(mut self, ctx: &mut StepContext<'_>) -> AgentStep {
        for call in &mut self.calls {
            let ToolCallState::Waiting(wait) = &mut call.state else { continue };
            if wait.until.is_none_or(|until| until > ctx.now) {
                continue;
            }
            if wait.is_batch {
                // They end at once, and with them the wait: its results have what they said by now.
                (wait.until, wait.is_late) = (None, true);
                wait.end_agents(true, ctx);
                continue;
            }
            let message = "The agent still works: the time to wait is over.";
            let text = wait.early(message, &ctx.body.learnt().children);
            call.on_outcome(Outcome::error(ToolError::Timeout, text), ctx);
        }
        self.advance(ctx)
    }

    /// Starts the calls that may start now, and ends the round once every call has its result.
    pub(crate) fn advance(mut self, ctx: &mut StepContext<'_>) -> AgentStep {
        let (mut others_run, alone_runs) =
            (self.runs(ExecMode::Parallel), self.runs(ExecMode::Serial));
        let mut held = false;
        // Signals go out behind what is told of this round's calls: what they lead to may come back
        // at once and end the round.
        let mut signals = Vec::new();
        for call in &mut self.calls {
            match &call.state {
                // Whatever comes behind a call that runs alone waits for it.
                ToolCallState::Running { mode: ExecMode::Serial, .. } => break,
                ToolCallState::Queued(ToolTask::Inner(_)) => act(call, &mut signals, ctx),
                // Calls that run alone keep their order, even behind one that a hook or a person
                // still looks at; calls that run beside others do not wait for people.
                ToolCallState::Hooked { work, .. } | ToolCallState::Asking { work, .. } => {
                    held |= matches!(work, ToolTask::Run { mode: ExecMode::Serial, .. });
                }
                // A later call may run alone by now, if it started while a person was still asked
                // about this one.
                ToolCallState::Queued(ToolTask::Run { .. }) if alone_runs => {}
                ToolCallState::Queued(ToolTask::Run { mode: ExecMode::Serial, .. }) if held => {}
                ToolCallState::Queued(ToolTask::Run { mode: ExecMode::Parallel, .. }) => {
                    call.launch(ctx);
                    others_run = true;
                }
                ToolCallState::Queued(ToolTask::Run { mode: ExecMode::Serial, .. }) => {
                    // A cancelled run of an earlier round may still be writing.
                    if !others_run && !ctx.ledger.has_cancelled_tool(ctx.body.id) {
                        call.launch(ctx);
                    }
                    // The guard may have refused it just now: then it has its result, and the next
                    // one may start.
                    if !matches!(call.state, ToolCallState::Done(_)) {
                        break;
                    }
                }
                // The call waits for somebody, or has its result: others need not wait for it.
                _ => {}
            }
            if ctx.setup.one_by_one && !matches!(call.state, ToolCallState::Done(_)) {
                break;
            }
        }
        for signal in signals {
            ctx.signal(signal);
        }
        if self.calls.iter().any(|call| !matches!(call.state, ToolCallState::Done(_))) {
            return AgentStep::Wait(Phase::Round(self));
        }
        self.append(ctx);
        AgentStep::EndRound
    }
}
