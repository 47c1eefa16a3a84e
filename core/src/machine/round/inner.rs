//! The calls that never leave the core: they start, message and close other agents, ask the user,
//! keep a plan, and give the final answer. What they do to other agents goes out as signals, which
//! the session carries over once the round has moved on.

use super::super::{
    agent_state::{ChildAgent, agent_name},
    ctx::{AgentSignal, StepContext},
    ledger::EffectKind,
    pipeline::ToolTask,
    tool_call::{RoundCall, ToolCallState},
    tool_search,
};
use crate::profile::{
    inner::{InnerCall, SpawnCall},
    plan_tool::PlanCall,
};
use alloc::{format, string::String, vec, vec::Vec};
use innerloop_types::{
    action::{Outcome, ToolError},
    event::EventKind,
    id::AgentId,
    message::Part,
    output::{Ask, Effect},
    path::{resolved, seen},
    status::SubagentState,
};

/// Carries out a queued call of the core itself.
pub(super) fn act(call: &mut RoundCall, signals: &mut Vec<AgentSignal>, ctx: &mut StepContext<'_>) {
    let inner = match core::mem::replace(&mut call.state, ToolCallState::Stopped) {
        ToolCallState::Queued(ToolTask::Inner(inner)) => inner,
        other => {
            call.state = other;
            return;
        }
    };
    call.announce(ctx);
    match inner {
        InnerCall::Spawn(spawn_call) => {
            let outcome = spawn(spawn_call, signals, ctx);
            call.on_outcome(outcome, ctx);
        }
        InnerCall::Send { agent_id, message } => {
            let outcome = send(&agent_id, message, signals, ctx);
            call.on_outcome(outcome, ctx);
        }
        InnerCall::Wait { agent_id, timeout_ms } => match ctx.body.child(&agent_id) {
            None => call.on_outcome(unknown_agent(&agent_id), ctx),
            Some((child, known)) if known.state == SubagentState::Running => {
                let until = timeout_ms.map(|ms| ctx.now.plus_ms(ms));
                call.state = ToolCallState::Waiting { child, until };
            }
            Some((_, known)) => {
                let outcome = Outcome::text(known.result().text());
                call.on_outcome(outcome, ctx);
            }
        },
        InnerCall::Close { agent_id } => {
            let outcome = close(&agent_id, signals, ctx);
            call.on_outcome(outcome, ctx);
        }
        InnerCall::Ask { question } => {
            let id = ctx.issue(EffectKind::Ask);
            let (agent, text) = (ctx.body.id, question.clone());
            ctx.effect(Effect::Ask { id, agent, ask: Ask::Question { text } });
            call.state = ToolCallState::Question { effect: id, question };
        }
        InnerCall::Plan(PlanCall { items, reply }) => {
            ctx.event(EventKind::Plan { items });
            call.on_outcome(Outcome::text(reply), ctx);
        }
        InnerCall::Search { query } => {
            let outcome = tool_search::find(&query, ctx);
            call.on_outcome(outcome, ctx);
        }
        InnerCall::Select { category } => {
            let outcome = tool_search::choose(&category, ctx);
            call.on_outcome(outcome, ctx);
        }
        // VALIDATE has made a run of it.
        InnerCall::Kept(_) => call.on_outcome(Outcome::text(""), ctx),
        InnerCall::Answer(answer) => call.on_final_answer(answer, ctx),
    }
}

fn spawn(call: SpawnCall, signals: &mut Vec<AgentSignal>, ctx: &mut StepContext<'_>) -> Outcome {
    let wanted = call.working_dir.unwrap_or_default();
    // Forms that only a shell or Windows resolves. Taken as text they would name a folder below the
    // agent's own, which is not what the model means.
    let is_foreign =
        wanted.starts_with('~') || wanted.get(1..2) == Some(":") || wanted.contains('\0');
    let folder = resolved(&ctx.setup.folder, &wanted)
        .filter(|folder| !is_foreign && seen(&ctx.setup.folder, folder).is_some());
    let Some(folder) = folder else {
        let message = format!(
            "working_dir {wanted} is not in your working directory: name a folder relative to it"
        );
        return Outcome::error(ToolError::PermissionDenied, message);
    };
    let call = SpawnCall { working_dir: Some(folder), ..call };
    let most = ctx.setup.config.subagents.max_open;
    if ctx.agents.open >= most {
        let message = format!("{most} agents are open already: close one that is done first");
        return Outcome::error(ToolError::Limit, message);
    }
    if let Some(model) = call.model.as_deref().filter(|model| ctx.setup.cannot_pay(model)) {
        let message = format!(
            "what {model} costs is not known, and the cost of the run is limited: leave model out"
        );
        return Outcome::error(ToolError::Limit, message);
    }
    // Counted and known at once, though the signal is carried out later: the next call of the same
    // round must see the agent, for the limit as well as for `wait`.
    ctx.agents.open += 1;
    ctx.agents.newest += 1;
    let (child, parent) = (AgentId(ctx.agents.newest), ctx.body.id);
    signals.push(AgentSignal::Spawn { child, parent, call });
    let since = u32::try_from(ctx.body.history.turns().len()).unwrap_or(u32::MAX);
    let started = ChildAgent {
        state: SubagentState::Running,
        output: String::new(),
        turns: 0,
        since,
        over: false,
    };
    ctx.body.learnt_mut().children.insert(child, started);
    let name = agent_name(child);
    Outcome::text(format!("{{\"agent_id\":\"{name}\",\"status\":\"running\"}}"))
}

fn send(
    agent_id: &str,
    message: String,
    signals: &mut Vec<AgentSignal>,
    ctx: &mut StepContext<'_>,
) -> Outcome {
    let Some((agent, known)) = ctx.body.child(agent_id) else { return unknown_agent(agent_id) };
    if known.over {
        let message = format!("{agent_id} is closed: spawn another one");
        return Outcome::error(ToolError::NotFound, message);
    }
    // Set at once, so that a `wait` behind this call waits for the new run and does not return the
    // old result.
    if let Some(known) = ctx.body.child_mut(agent) {
        known.state = SubagentState::Running;
    }
    signals.push(AgentSignal::Steer { agent, parts: vec![Part::text(message)] });
    Outcome::text(format!("Said to {agent_id}."))
}

fn close(agent_id: &str, signals: &mut Vec<AgentSignal>, ctx: &mut StepContext<'_>) -> Outcome {
    let Some((agent, known)) = ctx.body.child(agent_id) else { return unknown_agent(agent_id) };
    // The model reads how the agent stood before it is closed.
    let last = known.result();
    if !known.over {
        signals.push(AgentSignal::Close { agent });
    }
    if let Some(known) = ctx.body.child_mut(agent) {
        known.state = SubagentState::Closed;
        known.over = true;
    }
    Outcome::text(last.text())
}

fn unknown_agent(agent_id: &str) -> Outcome {
    let message = format!("there is no agent {agent_id} that you started");
    Outcome::error(ToolError::NotFound, message)
}
