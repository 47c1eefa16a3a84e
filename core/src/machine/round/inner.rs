//! The calls that never leave the core: they start, message and close other agents, ask the user,
//! keep a plan, and give the final answer. What they do to other agents goes out as signals, which
//! the session carries over once the round has moved on.

use super::super::{
    agent_state::{ChildAgent, SpawnOptions, agent_name},
    child_wait::ChildWait,
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
use alloc::{boxed::Box, format, string::String, vec, vec::Vec};
use innerloop_json::{IntoList, joined};
use innerloop_types::{
    action::{Outcome, ToolError},
    config::NamedAgent,
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
            let outcome = match spawn(spawn_call, signals, ctx) {
                Ok(child) => {
                    let name = agent_name(child);
                    Outcome::text(format!("{{\"agent_id\":\"{name}\",\"status\":\"running\"}}"))
                }
                Err(refusal) => refusal,
            };
            call.on_outcome(outcome, ctx);
        }
        InnerCall::Batch(tasks) if cfg!(feature = "named-agents") => {
            let wait = spawn_all(tasks, signals, ctx);
            call.wait_for(wait, ctx);
        }
        InnerCall::Send { agent_id, message } => {
            let outcome = send(&agent_id, message, signals, ctx);
            call.on_outcome(outcome, ctx);
        }
        InnerCall::Wait { agent_ids, timeout_ms } => {
            let until = timeout_ms.map(|ms| ctx.now.plus_ms(ms));
            let mut wait = ChildWait { until, ..ChildWait::default() };
            for agent_id in agent_ids {
                let Some((child, _)) = ctx.body.child(&agent_id) else {
                    return call.on_outcome(unknown_agent(&agent_id), ctx);
                };
                wait.agents.push(child);
            }
            call.wait_for(wait, ctx);
        }
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
        InnerCall::Skill { name } => {
            let body = ctx.setup.skill(&name).and_then(|skill| skill.body.clone());
            call.on_outcome(Outcome::text(body.unwrap_or_default()), ctx);
        }
        // VALIDATE has made a run of the one, and no model is shown the other.
        InnerCall::Kept(_) | InnerCall::Batch(_) => call.on_outcome(Outcome::text(""), ctx),
        InnerCall::Answer(answer) => call.on_final_answer(answer, ctx),
    }
}

/// Starts an agent.
///
/// # Errors
/// The outcome that the model reads instead.
fn spawn(
    call: SpawnCall,
    signals: &mut Vec<AgentSignal>,
    ctx: &mut StepContext<'_>,
) -> Result<AgentId, Outcome> {
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
        return Err(Outcome::error(ToolError::PermissionDenied, message));
    };
    let has_names = cfg!(feature = "named-agents");
    let named = if has_names { named(call.agent, ctx)? } else { None };
    // The user's choice of a model goes before that of the model that asks.
    let own = named.as_ref().and_then(|(_, named)| named.model.clone());
    let mut models = [own, call.model].into_iter().flatten();
    let model = models.find(|model| !model.trim().is_empty());
    let most = ctx.setup.config.subagents.max_open;
    if ctx.agents.open >= most {
        let message = format!("{most} agents are open already: close one that is done first");
        return Err(Outcome::error(ToolError::Limit, message));
    }
    if let Some(model) = model.as_deref().filter(|model| ctx.setup.cannot_pay(model)) {
        let message = format!(
            "what {model} costs is not known, and the cost of the run is limited: leave model out"
        );
        return Err(Outcome::error(ToolError::Limit, message));
    }
    // Counted and known at once, though the signal is carried out later: the next call of the same
    // round must see the agent, for the limit as well as for `wait`.
    ctx.agents.open += 1;
    ctx.agents.newest += 1;
    let child = AgentId(ctx.agents.newest);
    let options = SpawnOptions {
        parent: ctx.body.id,
        depth: ctx.body.depth().saturating_add(1),
        named,
        model,
        folder,
        max_turns: call.max_turns.unwrap_or(0),
    };
    signals.push(AgentSignal::Spawn { child, task: call.task, options: Box::new(options) });
    let since = u32::try_from(ctx.body.history.turns().len()).unwrap_or(u32::MAX);
    let started = ChildAgent {
        state: SubagentState::Running,
        output: String::new(),
        turns: 0,
        since,
        over: false,
    };
    ctx.body.learnt_mut().children.insert(child, started);
    Ok(child)
}

/// Starts the agents of a batch, and returns the wait for those that could be started.
fn spawn_all(
    tasks: Vec<SpawnCall>,
    signals: &mut Vec<AgentSignal>,
    ctx: &mut StepContext<'_>,
) -> ChildWait {
    let limit = Some(ctx.setup.config.subagents.batch_ms).filter(|ms| *ms > 0);
    let until = limit.map(|ms| ctx.now.plus_ms(ms));
    let mut wait = ChildWait { until, is_batch: true, ..ChildWait::default() };
    for task in tasks {
        let started = spawn(task, signals, ctx);
        wait.agents.push(started.as_ref().copied().unwrap_or(AgentId::ROOT));
        wait.faults.extend(started.err().map(|refusal| refusal.joined_text()));
    }
    wait
}

/// Returns the name of an agent that is to be started, and what it stands for.
///
/// # Errors
/// The outcome that the model reads instead.
fn named(
    wanted: Option<String>,
    ctx: &StepContext<'_>,
) -> Result<Option<(String, NamedAgent)>, Outcome> {
    let Some(name) = wanted else {
        // An agent that has a name starts others of its own kind: without it these would have all
        // the tools that it lacks itself.
        return Ok(ctx.body.spawned.as_ref().and_then(|options| options.named.clone()));
    };
    let Some(named) = ctx.setup.config.agents.get(&name).cloned() else {
        let names = joined(&ctx.setup.config.agents.keys().into_list(), ", ");
        let message = format!("there is no agent of the name {name}; there are: {names}");
        return Err(Outcome::error(ToolError::NotFound, message));
    };
    Ok(Some((name, named)))
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
