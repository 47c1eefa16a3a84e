//! An agent: what it has and where it stands, and what comes in to it. What follows for a run is
//! decided beside, in `run`.

use super::{
    body::{Body, Memory, Run, Scope},
    ctx::{Ctx, Step},
    history::History,
    phase::Phase,
    run::{interrupt, on_go_on, on_hooked, on_next, on_progress, shut, take_input},
    setup::Setup,
};
use crate::{
    base::{
        id::{AgentId, EffectId, SessionId},
        time::Instant,
    },
    types::{
        event::EventKind,
        input::{Answer, HookReply, HttpInput, ToolInput},
        message::{Part, Turn},
        output::{DeadlineReason, Effect},
        status::{AgentState, Status},
    },
};
use alloc::{boxed::Box, string::String, sync::Arc, vec, vec::Vec};

/// An agent: what it has, what it is told, and where it stands.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) body: Body,
    pub(crate) setup: Arc<Setup>,
    pub(crate) phase: Phase,
}

impl Agent {
    /// An idle agent with a history.
    pub(crate) fn new(
        id: AgentId,
        scope: Option<Box<Scope>>,
        setup: Arc<Setup>,
        turns: Vec<Turn>,
    ) -> Self {
        let body = Body {
            id,
            scope,
            history: History::new(turns, setup.config.estimator),
            memory: Memory::default(),
            run: Run::default(),
        };
        Self { body, setup, phase: Phase::Idle }
    }

    pub(crate) fn status(&self) -> Status {
        let counts = self.body.counts();
        Status {
            state: match &self.phase {
                Phase::Idle => AgentState::Idle,
                Phase::Closed | Phase::Closing => AgentState::Closed,
                Phase::Running(round) if round.awaits_people() => AgentState::AwaitingInput,
                Phase::Asked(_) => AgentState::AwaitingInput,
                Phase::Hooked(_) | Phase::Calling(_) | Phase::Waiting(_) | Phase::Running(_) => {
                    AgentState::Processing
                }
            },
            turns: self.body.turns(),
            tool_calls: counts.tool_calls,
            usage: counts.usage,
            cost_nano_usd: counts.cost_nano_usd,
        }
    }

    /// Another configuration is in force, from the next model call.
    pub(crate) fn configure(&mut self, setup: Arc<Setup>) {
        let before = core::mem::replace(&mut self.setup, setup);
        if before.config.model != self.setup.config.model {
            self.body.history.forget_encoded();
        }
        if let Phase::Calling(calling) = &mut self.phase {
            calling.keep(before);
        }
    }

    /// What the agent itself waits for, and until when.
    pub(crate) fn deadline(&self) -> Option<(Instant, DeadlineReason)> {
        match &self.phase {
            Phase::Calling(calling) => {
                let idle_ms = self.setup.config.retry.idle_ms;
                Some((calling.deadline(idle_ms), DeadlineReason::ModelIdle))
            }
            Phase::Waiting(waiting) => Some((waiting.deadline(), DeadlineReason::Retry)),
            Phase::Running(round) => round.deadline().map(|at| (at, DeadlineReason::Wait)),
            Phase::Idle | Phase::Hooked(_) | Phase::Asked(_) | Phase::Closing | Phase::Closed => {
                None
            }
        }
    }

    /// The effects that are open for this agent and not cancelled, made again.
    pub(crate) fn owed(&self, session: &SessionId) -> Vec<Effect> {
        let agent = self.body.id;
        match &self.phase {
            Phase::Calling(calling) => {
                let setup = calling.sent_with().unwrap_or(&self.setup);
                let (head, model) = (setup.head(&self.body.run), &setup.config.model);
                let request = self.body.history.request_again(head, model, &session.0);
                vec![calling.effect(agent, request)]
            }
            Phase::Running(round) => round.owed(agent).collect(),
            Phase::Hooked(hooked) => vec![hooked.owed(agent, &self.body.result())],
            Phase::Asked(asked) => vec![asked.owed(agent)],
            Phase::Idle | Phase::Waiting(_) | Phase::Closing | Phase::Closed => Vec::new(),
        }
    }
}

/// The user's input while idle: a run begins.
pub(crate) fn submit(parts: Vec<Part>, ctx: &mut Ctx<'_>) -> Phase {
    ctx.body.begin_run();
    take_input(parts, ctx)
}

/// An input for when the current one is done; while idle a run starts at once, with what was left
/// waiting before it if there is any.
pub(crate) fn follow_up(phase: Phase, parts: Vec<Part>, ctx: &mut Ctx<'_>) -> Phase {
    let queue = &mut ctx.body.memory.follow_ups;
    queue.push_back(parts);
    match phase {
        Phase::Idle => match queue.pop_front() {
            Some(oldest) => submit(oldest, ctx),
            None => Phase::Idle,
        },
        other => other,
    }
}

/// A message for the model at its next step; one that waits for other agents takes it now.
pub(crate) fn steer(phase: Phase, parts: Vec<Part>, ctx: &mut Ctx<'_>) -> Phase {
    ctx.body.memory.steering.push_back(parts);
    match phase {
        Phase::Running(round) => on_progress(round.on_steer(ctx), ctx),
        other => other,
    }
}

/// News of the model call.
pub(crate) fn on_http(phase: Phase, input: HttpInput, ctx: &mut Ctx<'_>) -> Phase {
    match phase {
        Phase::Calling(calling) => on_next(calling.on_http(input, ctx), ctx),
        other => other,
    }
}

/// News of a tool's run.
pub(crate) fn on_tool(phase: Phase, id: EffectId, input: ToolInput, ctx: &mut Ctx<'_>) -> Phase {
    match phase {
        Phase::Running(round) => on_progress(round.on_tool(id, input, ctx), ctx),
        other => other,
    }
}

/// A person has answered.
pub(crate) fn on_answer(phase: Phase, id: EffectId, answer: Answer, ctx: &mut Ctx<'_>) -> Phase {
    match phase {
        Phase::Running(round) => on_progress(round.on_answer(id, answer, ctx), ctx),
        Phase::Asked(asked) => {
            ctx.ledger.settle(asked.effect);
            on_go_on(answer, ctx)
        }
        other => other,
    }
}

/// A hook has replied.
pub(crate) fn on_hook(phase: Phase, id: EffectId, hook: HookReply, ctx: &mut Ctx<'_>) -> Phase {
    match phase {
        Phase::Running(round) => on_progress(round.on_hook(id, hook, ctx), ctx),
        Phase::Hooked(hooked) => {
            ctx.ledger.settle(hooked.effect);
            on_hooked(hooked.then, hook, ctx)
        }
        other => other,
    }
}

/// The host does not know what became of an effect.
pub(crate) fn on_lost(phase: Phase, id: EffectId, ctx: &mut Ctx<'_>) -> Phase {
    match phase {
        Phase::Calling(calling) => on_next(calling.on_lost(ctx), ctx),
        Phase::Running(round) => on_progress(round.on_lost(id, ctx), ctx),
        Phase::Hooked(_) => {
            let message = String::from("it was lost when the host stopped");
            on_hook(phase, id, HookReply::Failed { message }, ctx)
        }
        Phase::Asked(_) => {
            let reason = String::from("the question was lost when the host stopped");
            on_answer(phase, id, Answer::Deny { reason }, ctx)
        }
        other => other,
    }
}

/// The run of an agent that this one started is over.
pub(crate) fn on_child(phase: Phase, child: AgentId, ctx: &mut Ctx<'_>) -> Phase {
    match phase {
        Phase::Running(round) => on_progress(round.on_child(child, ctx), ctx),
        other => other,
    }
}

/// Time has passed.
pub(crate) fn on_tick(phase: Phase, ctx: &mut Ctx<'_>) -> Phase {
    match phase {
        Phase::Calling(calling) => on_next(calling.on_tick(ctx), ctx),
        Phase::Waiting(waiting) => on_next(waiting.on_tick(ctx), ctx),
        Phase::Running(round) => on_progress(round.on_tick(ctx), ctx),
        other => other,
    }
}

/// A cancelled effect has answered, or its grace is over.
pub(crate) fn on_settled(phase: Phase, ctx: &mut Ctx<'_>) -> Phase {
    match phase {
        Phase::Running(round) => on_progress(round.advance(ctx), ctx),
        Phase::Closing => finish(ctx),
        other => other,
    }
}

/// Ends the agent and those that it started, when the cancelled effects have answered.
pub(crate) fn close(phase: Phase, ctx: &mut Ctx<'_>) -> Phase {
    if matches!(phase, Phase::Closing | Phase::Closed) {
        return phase;
    }
    interrupt(phase, ctx);
    shut(ctx)
}

/// The session's own agent is over when nothing is open any more, another one when nothing of its
/// own is.
fn finish(ctx: &mut Ctx<'_>) -> Phase {
    let id = ctx.body.id;
    let is_root = id == AgentId::ROOT;
    let waits = if is_root {
        !ctx.ledger.is_empty() || ctx.agents.open > 0
    } else {
        ctx.ledger.has_any(id)
    };
    if waits {
        return Phase::Closing;
    }
    if is_root {
        ctx.event(EventKind::SessionEnd { state: AgentState::Closed });
    } else {
        ctx.agents.open = ctx.agents.open.saturating_sub(1);
        let output = ctx.body.result();
        ctx.event(EventKind::AgentEnded { success: ctx.body.memory.succeeded, output });
        ctx.steps.push(Step::Finish { agent: AgentId::ROOT });
    }
    Phase::Closed
}
