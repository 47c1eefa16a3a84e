//! An agent: what it has and where it stands, and what comes in to it. What follows for a run is
//! decided beside, in `run`.

use super::{
    body::{Body, SpawnOptions, UserInput},
    ctx::{Ctx, Signal},
    ending::shut,
    exchange::Purpose,
    folding,
    history::History,
    import,
    ledger::EffectKind,
    model_call::Next,
    phase::{Phase, PhaseKind, Then, Transition},
    plan::Plan,
    route::Route,
    run::{on_call, on_folded, on_go_on, on_hooked, on_progress, take_input},
    setup::Setup,
    stopping::interrupt,
};
use alloc::{boxed::Box, string::String, sync::Arc, vec::Vec};
use innerloop_types::{
    compaction::FoldReason,
    event::EventKind,
    id::{AgentId, EffectId, SessionId},
    input::{Answer, Command, HookReply, HttpInput, Input, ToolInput},
    message::{Part, Turn},
    output::{DeadlineReason, Effect},
    status::{AgentState, RunEnd, Status},
    time::Instant,
};

/// An agent: what it has, what it is told, and where it stands.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) body: Body,
    pub(crate) setup: Arc<Setup>,
    pub(crate) phase: Phase,
}

/// A word of the host.
#[derive(Debug)]
pub(crate) enum Order {
    Submit(UserInput),
    Steer(Vec<Part>),
    FollowUp(UserInput),
    Import(Vec<Turn>),
    Interrupt,
    Close,
    /// Make the conversation shorter.
    Compact(Option<String>),
}

impl Order {
    /// The input that gave it.
    pub(crate) fn into_input(self, agent: AgentId) -> Input {
        let command = match self {
            Self::Submit(UserInput { parts, options }) => Command::Submit { parts, options },
            Self::Steer(parts) => Command::Steer { parts },
            Self::FollowUp(UserInput { parts, options }) => Command::FollowUp { parts, options },
            Self::Import(turns) => Command::Import { turns },
            Self::Interrupt => Command::Interrupt,
            Self::Close => Command::Close,
            Self::Compact(instructions) => Command::Compact { instructions },
        };
        Input::Command { agent, command }
    }
}

/// News of an open effect.
#[derive(Debug)]
pub(crate) enum News {
    Http(HttpInput),
    Tool(ToolInput),
    Answer(Answer),
    Hook(HookReply),
    /// The host does not know what became of it.
    Lost,
}

impl News {
    /// The input that told them.
    pub(crate) fn into_input(self, id: EffectId) -> Input {
        match self {
            Self::Http(input) => Input::Http { id, input },
            Self::Tool(input) => Input::Tool { id, input },
            Self::Answer(answer) => Input::Answer { id, answer },
            Self::Hook(reply) => Input::Hook { id, reply },
            Self::Lost => Input::Lost { id },
        }
    }

    /// The kind of effect that they can be news of; any if nothing.
    pub(crate) const fn kind(&self) -> Option<EffectKind> {
        match self {
            Self::Http(_) => Some(EffectKind::Http),
            Self::Tool(_) => Some(EffectKind::Tool),
            Self::Answer(_) => Some(EffectKind::Ask),
            Self::Hook(_) => Some(EffectKind::Hook),
            Self::Lost => None,
        }
    }

    /// Whether they answer the effect for good.
    pub(crate) const fn is_terminal(&self) -> bool {
        match self {
            Self::Http(input) => input.is_terminal(),
            Self::Tool(input) => matches!(input, ToolInput::Done(_)),
            Self::Answer(_) | Self::Hook(_) | Self::Lost => true,
        }
    }
}

impl Agent {
    /// An idle agent with a history.
    pub(crate) fn new(
        id: AgentId,
        spawned: Option<Box<SpawnOptions>>,
        setup: Arc<Setup>,
        turns: Vec<Turn>,
    ) -> Self {
        let history = History::new(turns, setup.config.estimator);
        let body = Body::new(id, spawned, history);
        Self { body, setup, phase: Phase::Idle }
    }

    /// The way to the model for the input under way.
    pub(crate) fn route(&self) -> Arc<Route> {
        self.setup.route_for(self.body.run.options.as_deref())
    }

    pub(crate) fn status(&self) -> Status {
        let counts = self.body.counts();
        Status {
            state: match &self.phase {
                Phase::Idle => AgentState::Idle,
                Phase::Closed | Phase::Closing => AgentState::Closed,
                Phase::Round(round) if round.awaits_people() => AgentState::AwaitingInput,
                Phase::Asked(_) => AgentState::AwaitingInput,
                Phase::Hooked(_) | Phase::ModelCall | Phase::Folding | Phase::Round(_) => {
                    AgentState::Processing
                }
            },
            compacting: self.is_compacting(),
            turns: self.body.turns(),
            tool_calls: counts.tool_calls,
            usage: counts.usage,
            cost_nano_usd: counts.cost_nano_usd,
        }
    }

    /// Whether the host has asked for a fold that is under way.
    fn is_compacting(&self) -> bool {
        let is_asked = |plan: &Plan| plan.why == FoldReason::Asked;
        match &self.phase {
            Phase::Folding => self
                .body
                .pending()
                .calls
                .iter()
                .any(|call| matches!(&call.purpose, Purpose::Summary(plan) if is_asked(plan))),
            Phase::Hooked(hooked) => matches!(&hooked.then, Then::Fold(plan) if is_asked(plan)),
            _ => false,
        }
    }

    /// Whether the time that its run may take is no matter any more: the run sums up because it
    /// has spent too much, or what it has come to waits for the host's hook.
    pub(crate) fn is_ending(&self) -> bool {
        let waits =
            matches!(&self.phase, Phase::Hooked(hooked) if matches!(hooked.then, Then::Out(_)));
        waits || self.body.run.epilogue == Some(RunEnd::Budget)
    }

    /// The agent goes on in another phase: the one place where that happens.
    pub(crate) fn enter(&mut self, from: PhaseKind, phase: Phase) {
        let to = phase.kind();
        debug_assert!(Transition::between(from, to).is_some(), "from {from:?} to {to:?}");
        self.phase = phase;
    }

    /// What the agent itself waits for, and until when.
    pub(crate) fn deadline(&self) -> Option<(Instant, DeadlineReason)> {
        let idle_ms = self.setup.config.retry.idle_ms;
        let calls = self.body.pending().calls.iter().filter_map(|call| call.deadline(idle_ms));
        let wait = match &self.phase {
            Phase::Round(round) => round.deadline().map(|at| (at, DeadlineReason::Wait)),
            _ => None,
        };
        calls.chain(wait).min_by_key(|(at, _)| *at)
    }

    /// Adds the effects that are open for this agent and not cancelled, made again.
    pub(crate) fn owed(&self, session: &SessionId, effects: &mut Vec<Effect>) {
        let (agent, history) = (self.body.id, &self.body.history);
        let calls = self.body.pending().calls.iter();
        effects.extend(calls.filter_map(|call| call.owed(agent, history, session)));
        match &self.phase {
            Phase::Round(round) => effects.extend(round.owed(agent, &self.setup.folder)),
            Phase::Hooked(hooked) => {
                effects.push(hooked.owed(agent, &self.body.result(), history));
            }
            Phase::Asked(asked) => effects.push(asked.owed(agent)),
            Phase::Idle | Phase::ModelCall | Phase::Folding | Phase::Closing | Phase::Closed => {}
        }
    }

    /// The same effects, as ids and kinds.
    pub(crate) fn open_effects(&self) -> Vec<(EffectId, EffectKind)> {
        let calls = self.body.pending().calls.iter();
        let calls = calls.filter_map(|call| Some((call.effect()?, EffectKind::Http)));
        let mut effects: Vec<_> = calls.collect();
        match &self.phase {
            Phase::Round(round) => effects.extend(round.open_effects()),
            Phase::Hooked(hooked) => effects.push((hooked.effect, EffectKind::Hook)),
            Phase::Asked(asked) => effects.push((asked.effect, EffectKind::Ask)),
            Phase::Idle | Phase::ModelCall | Phase::Folding | Phase::Closing | Phase::Closed => {}
        }
        effects
    }
}

/// The host gives an order that the agent can follow.
pub(crate) fn on_order(phase: Phase, order: Order, ctx: &mut Ctx<'_>) -> Phase {
    match order {
        Order::Submit(input) => submit(input, ctx),
        Order::Steer(parts) => steer(phase, parts, ctx),
        Order::FollowUp(input) => follow_up(phase, input, ctx),
        Order::Import(turns) => import::take(turns, ctx),
        Order::Interrupt => interrupt(phase, ctx),
        Order::Close => close(phase, ctx),
        Order::Compact(instructions) => {
            on_folded(folding::compact(instructions.as_deref(), ctx), ctx)
        }
    }
}

/// The user's input while idle: a run begins.
pub(crate) fn submit(input: UserInput, ctx: &mut Ctx<'_>) -> Phase {
    ctx.begin_run();
    take_input(input, ctx)
}

/// An input for when the current one is done; while idle a run starts at once, with what was left
/// waiting before it if there is any.
fn follow_up(phase: Phase, input: UserInput, ctx: &mut Ctx<'_>) -> Phase {
    ctx.body.pending_mut().follow_ups.push(input);
    match phase {
        Phase::Idle => match ctx.body.next_follow_up() {
            Some(oldest) => submit(oldest, ctx),
            None => Phase::Idle,
        },
        other => other,
    }
}

/// A message for the model at its next step; one that waits for other agents takes it now.
pub(crate) fn steer(phase: Phase, parts: Vec<Part>, ctx: &mut Ctx<'_>) -> Phase {
    ctx.body.pending_mut().steering.push(parts);
    match phase {
        Phase::Round(round) => on_progress(round.on_steer(ctx), ctx),
        other => other,
    }
}

/// News of an effect that is open and not cancelled. Those of a model call are its own business,
/// whatever phase the agent stands in.
pub(crate) fn on_news(phase: Phase, id: EffectId, news: News, ctx: &mut Ctx<'_>) -> Phase {
    if let Some(call) = ctx.body.take_call(id) {
        let next = match news {
            News::Http(input) => call.on_http(input, ctx),
            News::Lost => call.on_lost(ctx),
            News::Tool(_) | News::Answer(_) | News::Hook(_) => Next::Open(call),
        };
        return on_call(phase, next, ctx);
    }
    match (phase, news) {
        (Phase::Round(round), News::Tool(input)) => on_progress(round.on_tool(id, input, ctx), ctx),
        (Phase::Round(round), News::Answer(answer)) => {
            on_progress(round.on_answer(id, answer, ctx), ctx)
        }
        (Phase::Round(round), News::Hook(reply)) => on_progress(round.on_hook(id, reply, ctx), ctx),
        (Phase::Round(round), News::Lost) => on_progress(round.on_lost(id, ctx), ctx),
        (Phase::Hooked(hooked), news @ (News::Hook(_) | News::Lost)) => {
            let reply = match news {
                News::Hook(reply) => reply,
                _ => HookReply::Failed { message: "it was lost when the host stopped".into() },
            };
            ctx.ledger.settle(hooked.effect);
            on_hooked(hooked.then, reply, ctx)
        }
        (Phase::Asked(asked), news @ (News::Answer(_) | News::Lost)) => {
            let answer = match news {
                News::Answer(answer) => answer,
                _ => {
                    let reason = String::from("the question was lost when the host stopped");
                    Answer::Deny { reason }
                }
            };
            ctx.ledger.settle(asked.effect);
            on_go_on(answer, ctx)
        }
        (phase, _) => {
            ctx.fault("news of an open effect that its agent does not know");
            phase
        }
    }
}

/// The run of an agent that this one started is over.
pub(crate) fn on_child(phase: Phase, child: AgentId, ctx: &mut Ctx<'_>) -> Phase {
    match phase {
        Phase::Round(round) => on_progress(round.on_child(child, ctx), ctx),
        other => other,
    }
}

/// Time has passed.
pub(crate) fn on_tick(phase: Phase, ctx: &mut Ctx<'_>) -> Phase {
    let mut phase = match phase {
        Phase::Round(round) => on_progress(round.on_tick(ctx), ctx),
        other => other,
    };
    for _ in 0..ctx.body.pending().calls.len() {
        let Some(call) = ctx.body.take_due_call(ctx.now, ctx.setup.config.retry.idle_ms) else {
            break;
        };
        let next = call.on_tick(ctx);
        phase = on_call(phase, next, ctx);
    }
    phase
}

/// A cancelled effect has answered, or its grace is over.
pub(crate) fn on_settled(phase: Phase, ctx: &mut Ctx<'_>) -> Phase {
    match phase {
        Phase::Round(round) => on_progress(round.advance(ctx), ctx),
        Phase::Closing => finish(ctx),
        other => other,
    }
}

/// Ends the agent and those that it started, when the cancelled effects have answered.
pub(crate) fn close(phase: Phase, ctx: &mut Ctx<'_>) -> Phase {
    if phase.is_over() {
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
        ctx.event(EventKind::AgentEnded { success: ctx.body.succeeded, output });
        ctx.signal(Signal::Finish { agent: AgentId::ROOT });
    }
    Phase::Closed
}
