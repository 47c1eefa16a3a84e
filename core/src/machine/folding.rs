//! Folding: when the conversation becomes shorter, by how much, and what comes of it. `rules::fold`
//! chooses the cut, `fold_plan` holds it while a model or the host's hook is asked; the run that
//! goes on afterwards is decided in `run`. A fold that gains too little changes nothing.

use super::{
    ctx::StepContext,
    fold_plan::{FoldPlan, TouchedFiles},
    history::History,
    model_call::{CallPurpose, ModelCall},
    phase::{HookContinuation, Phase},
    pipeline::{self, ToolTask},
    routing::summary_route,
    setup::AgentSetup,
    skills,
    step::AgentStep,
    tool_call::text_of,
};
use crate::rules::{
    fold::{self, FoldCut, FoldGoal, FoldItem, ItemKind},
    gauge::prose_cost,
    transcript::TranscriptLimit,
};
use alloc::{boxed::Box, format, string::String, vec::Vec};
use innerloop_json::{joined, sort};
use innerloop_types::{
    compaction::{FoldReason, OnOverflow},
    config::{HookPoint, ModelConfig},
    event::EventKind,
    input::HookReply,
    message::{
        FinishReason, FoldKind, HistoryFold, Reply, ToolCall, TurnKind, Usage, VisibleTurn,
        joined_text,
    },
    tool::Job,
};
use innerloop_wire::{FailureKind, ModelCallError};

/// The estimated cost of a result that is shown as a line, in thousandths of a token.
const STUB: u64 = 30_000;

/// The maximum number of files in each list.
const MOST_FILES: usize = 40;

/// The number of inputs that stay where turns would be archived and no hook stores them.
const UNSTORED_INPUTS: u32 = 5;

/// The usage and the cost of a summary.
#[derive(Clone, Copy, Default)]
struct SummaryCost {
    usage: Option<Usage>,
    cost_nano_usd: Option<u64>,
}

/// The request to make a conversation shorter.
#[derive(Clone, Copy)]
struct FoldRequest<'a> {
    kind: FoldKind,
    why: FoldReason,
    /// The number of tokens that may be left, the head included.
    tokens: u64,
    /// The number of inputs that may be left.
    inputs: Option<u32>,
    instructions: &'a str,
    /// The provider's message about a conversation that did not fit.
    overflow: &'a str,
}

/// Makes the conversation shorter if a tier is reached. Returns `None` if there is nothing to do.
pub(super) fn before_call(ctx: &mut StepContext<'_>) -> Option<AgentStep> {
    let policy = &ctx.setup.config.compaction;
    // After several failures in a row the next would most likely fail as well, and cost a summary
    // before every call. A fold that the host asks for still runs, and ends the series if it
    // succeeds.
    if policy.auto.is_empty() || ctx.body.folding.failures >= policy.max_failures.max(1) {
        return None;
    }
    let (tokens, window) = (ctx.tokens(), ctx.window());
    let reached = policy.auto.iter().filter(|tier| tokens >= tier.from.tokens(window));
    let fullest = reached.max_by_key(|tier| tier.from.tokens(window));
    let (tier, tokens) = match fullest {
        Some(tier) => (tier, tier.to.tokens(window)),
        None => {
            // Too many turns, whatever their length: the tokens set no bound here, and the goal's
            // number of turns decides alone.
            let most = policy.max_messages as usize;
            let is_long = most > 0 && ctx.body.history.unfolded() > most;
            (policy.auto.first().filter(|_| is_long)?, u64::MAX)
        }
    };
    let wanted = FoldRequest {
        kind: tier.step,
        why: FoldReason::Full,
        tokens,
        inputs: tier.inputs,
        instructions: "",
        overflow: "",
    };
    begin(wanted, ctx)
}

/// Makes a conversation shorter that the provider refuses as too long. Returns `None` if it does
/// not become shorter, or was made shorter for this input before.
pub(super) fn on_overflow(
    failure: &ModelCallError,
    ctx: &mut StepContext<'_>,
) -> Option<AgentStep> {
    if failure.kind != FailureKind::ContextOverflow || !may_retry(ctx) {
        return None;
    }
    // What the model has read before fits. Of what it refused, even half may be too much, so that
    // the larger of the two counts as its window from now on.
    let read = ctx.body.history.gauge().counted().unwrap_or(0);
    let window = ctx.window().min(read.max(ctx.tokens() / 2));
    // Set even if no fold follows: there is one such attempt for each input.
    ctx.body.run.repairs.overflowed = true;
    ctx.body.folding.window = window;
    let auto = &ctx.setup.config.compaction.auto;
    let sums_up = auto.is_empty() || auto.iter().any(|tier| tier.step == FoldKind::Summary);
    let wanted = FoldRequest {
        kind: if sums_up { FoldKind::Summary } else { FoldKind::Truncate },
        why: FoldReason::Overflow,
        tokens: window / 2,
        inputs: None,
        instructions: "",
        overflow: &failure.message,
    };
    begin(wanted, ctx)
}

/// Returns the failure behind a reply that was cut by the window, or whose input filled the window
/// nearly to its last token.
pub(super) fn overfull(
    reply: &Reply,
    model: &ModelConfig,
    ctx: &StepContext<'_>,
) -> Option<ModelCallError> {
    // Ollama leaves out the oldest text of an input that is too long and says nothing; a window
    // that is full but for a few tokens is the only sign of it.
    const BRIM: u64 = 16;
    let read = reply.usage.map_or(0, |usage| usage.input_total);
    let window = u64::from(model.context_window);
    let is_full =
        reply.finish == FinishReason::ContextWindow || read.saturating_add(BRIM) >= window;
    // This failure throws the reply away, so it is raised only if the conversation can become
    // shorter and a further call can be made.
    let may_fold = is_full && may_retry(ctx) && ctx.used_up(true).is_none();
    let message = "the conversation fills the context window";
    (may_fold && can_fold(&ctx.body.history, ctx.setup))
        .then(|| ModelCallError::new(FailureKind::ContextOverflow, message))
}

fn may_retry(ctx: &StepContext<'_>) -> bool {
    let retries = ctx.setup.config.compaction.on_overflow == OnOverflow::CompactRetryOnce;
    retries && !ctx.body.run.repairs.overflowed
}

/// Begins a fold that the host has asked for.
pub(super) fn compact(instructions: Option<&str>, ctx: &mut StepContext<'_>) -> AgentStep {
    let wanted = FoldRequest {
        kind: FoldKind::Summary,
        why: FoldReason::Asked,
        tokens: ctx.setup.config.compaction.keep.tokens.into(),
        inputs: None,
        instructions: instructions.unwrap_or_default(),
        overflow: "",
    };
    begin(wanted, ctx).unwrap_or(AgentStep::Rest)
}

/// Returns whether there are turns that are old enough to go.
pub(crate) fn can_fold(history: &History, setup: &AgentSetup) -> bool {
    let goal = goal(setup, 0, None);
    fold::cut(&items(history, setup), &goal).is_some()
}

/// Takes the reply of the hook that was shown the turns.
pub(super) fn on_hook(
    plan: Box<FoldPlan>,
    reply: HookReply,
    ctx: &mut StepContext<'_>,
) -> AgentStep {
    match reply {
        HookReply::Allow if plan.fold.kind == FoldKind::Summary => summarize(plan, ctx),
        HookReply::Allow => finish(plan, None, SummaryCost::default(), ctx),
        HookReply::Replace(text) => {
            finish(plan, Some(&text_of(&text)), SummaryCost::default(), ctx)
        }
        HookReply::Deny { reason: why } | HookReply::Failed { message: why } => {
            failed(plan, &format!("the hook has not agreed: {why}"), SummaryCost::default(), ctx)
        }
    }
}

/// Takes the summary of the model, or its failure.
pub(super) fn on_summary(
    plan: Box<FoldPlan>,
    model: &ModelConfig,
    result: Result<Reply, ModelCallError>,
    ctx: &mut StepContext<'_>,
) -> AgentStep {
    match result {
        Ok(reply) => {
            let cost_nano_usd = ctx.count(reply.usage, model.price.as_ref());
            let spent = SummaryCost { usage: reply.usage, cost_nano_usd };
            finish(plan, Some(&reply.text()), spent, ctx)
        }
        Err(failure) => failed(plan, &failure.message, SummaryCost::default(), ctx),
    }
}

/// Reports a fold that the host has stopped. Returns whether it belonged to a run.
pub(super) fn interrupted(plan: &FoldPlan, ctx: &mut StepContext<'_>) -> bool {
    tell_failure(plan, "it was interrupted", SummaryCost::default(), ctx);
    plan.why != FoldReason::Asked
}

fn begin(wanted: FoldRequest<'_>, ctx: &mut StepContext<'_>) -> Option<AgentStep> {
    let is_hooked = ctx.setup.config.hooks.points.contains(&HookPoint::Compact);
    let mut wanted = wanted;
    // Without a hook nobody stores the turns. They are left out then, but some inputs stay, however
    // many the tier would archive.
    if wanted.kind == FoldKind::Archive && !is_hooked {
        wanted.kind = FoldKind::Truncate;
        wanted.inputs = Some(wanted.inputs.unwrap_or(UNSTORED_INPUTS).min(UNSTORED_INPUTS));
    }
    let plan = Box::new(plan(wanted, ctx)?);
    let HistoryFold { kind, before: tokens, .. } = plan.fold;
    if matches!(kind, FoldKind::Stub | FoldKind::Truncate) {
        return match apply(&plan, None, SummaryCost::default(), ctx) {
            Ok(()) => Some(AgentStep::CallAsItIs),
            // Nothing of it has been announced yet, so there is no failure to report either.
            Err(_) => None,
        };
    }
    ctx.event(EventKind::CompactionStarted { kind, why: plan.why, tokens });
    // Made only for a hook that exists, since it holds all turns that go.
    let payload = is_hooked.then(|| plan.payload(&ctx.body.history));
    match payload.and_then(|payload| ctx.hook(HookPoint::Compact, &payload)) {
        Some(effect) => Some(AgentStep::hooked(effect, HookContinuation::Fold(plan))),
        None => Some(summarize(plan, ctx)),
    }
}

/// Returns the plan for a request; `None` if no turns can go.
fn plan(wanted: FoldRequest<'_>, ctx: &StepContext<'_>) -> Option<FoldPlan> {
    let FoldRequest { kind, why, tokens, inputs, instructions, overflow } = wanted;
    let (history, setup) = (&ctx.body.history, ctx.setup);
    let policy = &setup.config.compaction;
    let scaled = |thousandths| history.gauge().scaled(thousandths, setup.head_cost);
    let (head, window) = (scaled(setup.head_cost), ctx.window());
    let items = items(history, setup);
    let all: u64 = items.iter().map(|item| item.tokens).sum();
    let folded =
        scaled(history.folded().map_or(0, |text| prose_cost(setup.config.estimator, text)));
    let words = u64::from(policy.keep.words_of_user).min(window / 8);
    let said = history.standing().into_iter().filter_map(|(_, turn)| match turn {
        TurnKind::User(parts) => {
            Some(scaled(prose_cost(setup.config.estimator, &joined_text(parts))))
        }
        _ => None,
    });
    // The text that will stand in the place of the turns takes room as well.
    let text = match kind {
        FoldKind::Stub => folded,
        FoldKind::Summary => words.min(said.sum()) + u64::from(summary_tokens(ctx)),
        FoldKind::Archive | FoldKind::Truncate => 0,
    };
    let left = tokens.saturating_sub(head + text);
    // By the estimate all may fit already, but the provider has refused it, or the host wants it
    // shorter: the estimate is not trusted, and at most half stays.
    let most = if why == FoldReason::Full { left } else { left.min(all / 2) };
    let goal = goal(setup, most, inputs);
    let cut = match kind {
        // Results that become lines and still miss the goal would be due again in the next round,
        // and each time change the prefix that the provider has cached.
        FoldKind::Stub => fold::stub(&items, &goal).filter(|cut| cut.tokens <= goal.tokens)?,
        _ => fold::cut(&items, &goal)?,
    };
    let place = |at: usize| items.get(at).map_or(u32::MAX, |item| item.at);
    let FoldCut { before, mut pin, stubs, tokens } = cut;
    let folded_items = items.iter().take(before.max(stubs));
    pin.extend(folded_items.filter(|item| item.kind == ItemKind::Pinned).map(|item| item.at));
    sort(&mut pin, Ord::cmp);
    let upto = if before > 0 { place(before) } else { 0 };
    let fold = HistoryFold {
        upto,
        pin,
        stub_before: if stubs > 0 { place(stubs) } else { 0 },
        text: None,
        kind,
        before: head + all + folded,
        // Lines for results leave an earlier fold's text where it is; any other fold replaces it.
        after: head + tokens + if kind == FoldKind::Stub { folded } else { 0 },
    };
    let own = policy.summary.instructions.as_deref().unwrap_or_default();
    Some(FoldPlan {
        why,
        fold,
        files: files(history, upto, setup),
        instructions: joined(&[own, instructions], "\n").trim().into(),
        overflow: overflow.into(),
        room: room(ctx),
        words: chars(words),
    })
}

/// Returns the length limit of the transcript for the model that sums up: what fits beside the
/// summary, at three characters a token.
fn room(ctx: &StepContext<'_>) -> TranscriptLimit {
    let tokens = (ctx.window() * 3 / 4).saturating_sub(summary_tokens(ctx).into());
    let result_chars = ctx.setup.config.compaction.summary.result_chars as usize;
    TranscriptLimit { chars: usize::try_from(tokens * 3).unwrap_or(usize::MAX), result_chars }
}

fn chars(tokens: u64) -> usize {
    usize::try_from(tokens.saturating_mul(4)).unwrap_or(usize::MAX)
}

/// Returns the token limit of a summary: at most an eighth of the window.
fn summary_tokens(ctx: &StepContext<'_>) -> u32 {
    let eighth = u32::try_from(ctx.window() / 8).unwrap_or(u32::MAX);
    ctx.setup.config.compaction.summary.max_tokens.min(eighth).max(1)
}

fn goal(setup: &AgentSetup, tokens: u64, inputs: Option<u32>) -> FoldGoal {
    let policy = &setup.config.compaction;
    // A quarter goes at once: else each further turn would move the cut and change the prefix.
    let turns = match policy.max_messages as usize {
        0 => usize::MAX,
        most => most - most / 4,
    };
    let inputs = inputs.map_or(usize::MAX, |inputs| inputs as usize);
    let (rounds, first_input) = (policy.keep.rounds as usize, policy.keep.first_input);
    FoldGoal { tokens, turns, inputs, rounds, first_input }
}

/// Returns the turns of the view for `rules::fold`, without the texts of folds.
fn items(history: &History, setup: &AgentSetup) -> Vec<FoldItem> {
    let gauge = history.gauge();
    let scaled = |thousandths| gauge.scaled(thousandths, setup.head_cost);
    let (mut items, mut active, mut calls) = (Vec::new(), Vec::new(), None);
    for (at, said) in history.seen_at() {
        let kind = match &said {
            VisibleTurn::User(_) => ItemKind::Input,
            VisibleTurn::System(_) | VisibleTurn::Steering(_) => ItemKind::Word,
            VisibleTurn::Assistant(reply) if reply.tool_calls().next().is_none() => ItemKind::Reply,
            VisibleTurn::Assistant(_) => ItemKind::Calls,
            VisibleTurn::ToolResults(_) => ItemKind::Results,
        };
        let as_stub = match &said {
            VisibleTurn::ToolResults(results) => STUB * results.len() as u64,
            _ => u64::MAX,
        };
        for skill in skills::active(&said, calls.as_deref(), setup) {
            active.push((skill.name.as_str(), items.len()));
        }
        let cost = gauge.cost(&said);
        items.push(FoldItem { at, kind, tokens: scaled(cost), as_stub: scaled(as_stub.min(cost)) });
        calls = match said {
            VisibleTurn::Assistant(reply) => Some(reply),
            _ => None,
        };
    }
    skills::pin(&active, setup.config.model.context_window.into(), &mut items);
    items
}

/// Returns the files that the calls before that place of the log name, as far as it can be known.
fn files(history: &History, upto: u32, setup: &AgentSetup) -> TouchedFiles {
    let mut files = TouchedFiles::default();
    // From the newest call of the log on: the limit drops the files that were named first, and
    // those of turns that are folded already are still listed.
    for (at, turn) in history.standing() {
        let TurnKind::Assistant(reply) = turn else { continue };
        if at >= upto {
            continue;
        }
        reply.tool_calls().for_each(|call| note_files(call, setup, &mut files));
    }
    files
}

fn note_files(call: &ToolCall, setup: &AgentSetup, files: &mut TouchedFiles) {
    let Ok(ToolTask::Run { run, .. }) = pipeline::prepare(call, setup) else { return };
    let Job::Builtin(action) = &run.run.job else { return };
    for file in action.files(run.patch.as_ref()) {
        let path = String::from(file.path);
        let list = if action.is_read_only() { &mut files.read } else { &mut files.changed };
        if !list.contains(&path) && list.len() < MOST_FILES {
            list.push(path);
        }
    }
}

/// Has a model summarise the turns.
fn summarize(plan: Box<FoldPlan>, ctx: &mut StepContext<'_>) -> AgentStep {
    let purpose = CallPurpose::Summary(plan);
    if ctx.used_up(purpose.is_of_run()).is_some()
        && let CallPurpose::Summary(plan) = purpose
    {
        return failed(plan, "what may be spent is used up", SummaryCost::default(), ctx);
    }
    let route = summary_route(summary_tokens(ctx), ctx);
    ModelCall::start(purpose, route, ctx);
    AgentStep::Wait(Phase::Folding)
}

/// Folds the turns, with `summary` in their place if there is one.
fn finish(
    plan: Box<FoldPlan>,
    summary: Option<&str>,
    spent: SummaryCost,
    ctx: &mut StepContext<'_>,
) -> AgentStep {
    match apply(&plan, summary, spent, ctx) {
        Err(message) => failed(plan, message, spent, ctx),
        Ok(()) if plan.why == FoldReason::Asked => AgentStep::Rest,
        Ok(()) => AgentStep::CallAsItIs,
    }
}

/// Folds the turns.
///
/// # Errors
/// Why that would be no gain.
fn apply(
    plan: &FoldPlan,
    summary: Option<&str>,
    spent: SummaryCost,
    ctx: &mut StepContext<'_>,
) -> Result<(), &'static str> {
    if summary.is_some_and(|summary| summary.trim().is_empty()) {
        return Err("the summary is blank");
    }
    let (why, mut fold) = (plan.why, plan.fold.clone());
    let (history, setup) = (&ctx.body.history, ctx.setup);
    fold.text = (fold.kind != FoldKind::Stub).then(|| plan.text(summary, history));
    let cost = fold.text.as_ref().map_or(0, |text| prose_cost(setup.config.estimator, text));
    let (before, kind, text) = (fold.before, fold.kind, fold.text.clone());
    fold.after = fold.after.saturating_add(history.gauge().scaled(cost, setup.head_cost));
    let after = fold.after;
    // The gain is measured without the head, which no fold can shorten: with a large head nearly
    // every gain would look too small.
    let head = history.gauge().scaled(setup.head_cost, setup.head_cost);
    if after >= before || (before - after) * 10 < before.saturating_sub(head) {
        return Err("the conversation would become less than a tenth shorter");
    }
    let turns = plan.turns_gone(history);
    ctx.append(TurnKind::Folded(Box::new(fold)));
    ctx.body.folding.failures = 0;
    let SummaryCost { usage, cost_nano_usd } = spent;
    let event =
        EventKind::Compacted { kind, why, turns, before, after, text, usage, cost_nano_usd };
    ctx.event(event);
    let reason = "earlier turns are shown shorter";
    ctx.event(EventKind::PrefixRebased { reason });
    Ok(())
}

/// Leaves the turns as they are. Where they do not fit the model, the oldest are left out after
/// all, if the configuration allows it.
fn failed(
    mut plan: Box<FoldPlan>,
    message: &str,
    spent: SummaryCost,
    ctx: &mut StepContext<'_>,
) -> AgentStep {
    tell_failure(&plan, message, spent, ctx);
    match plan.why {
        FoldReason::Asked => AgentStep::Rest,
        FoldReason::Full => {
            ctx.body.folding.failures = ctx.body.folding.failures.saturating_add(1);
            AgentStep::CallAsItIs
        }
        FoldReason::Overflow => {
            plan.fold.kind = FoldKind::Truncate;
            let may_truncate = ctx.setup.config.compaction.truncate_if_needed;
            if may_truncate && apply(&plan, None, SummaryCost::default(), ctx).is_ok() {
                return AgentStep::CallAsItIs;
            }
            // The provider's own words, since the next step looks in them for a part to blame.
            AgentStep::GiveIn(ModelCallError::new(FailureKind::ContextOverflow, plan.overflow))
        }
    }
}

fn tell_failure(plan: &FoldPlan, message: &str, spent: SummaryCost, ctx: &mut StepContext<'_>) {
    let (kind, why, message) = (plan.fold.kind, plan.why, message.into());
    let SummaryCost { usage, cost_nano_usd } = spent;
    ctx.event(EventKind::CompactionFailed { kind, why, message, usage, cost_nano_usd });
}
