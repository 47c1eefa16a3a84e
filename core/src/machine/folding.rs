//! The conversation is made shorter: when, by how much, and what comes of it. The model that sums
//! up, or the host's hook, is asked in between; what the run then does is decided in `run`.

use super::{
    ctx::Ctx,
    fold_plan::{self, Files, Plan},
    history::History,
    model_call::{ModelCall, Purpose},
    phase::{Phase, Then},
    pipeline::{self, Work},
    route::Route,
    setup::Setup,
    step::Step,
    tool_call::text_of,
};
use crate::rules::{
    fold::{self, Cut, Goal, Item, ItemKind},
    gauge::prose_cost,
    transcript::Room,
};
use alloc::{boxed::Box, format, string::String, sync::Arc, vec::Vec};
use innerloop_json::joined;
use innerloop_types::{
    compaction::{FoldReason, OnOverflow},
    config::{HookPoint, TextCalls, ToolChoice},
    event::EventKind,
    input::HookReply,
    message::{Finish, Fold, FoldKind, Reply, Said, ToolCall, TurnKind, Usage, joined_text},
    tool::Job,
};
use innerloop_wire::{Failure, FailureKind};

/// Thousandths of a token of a result that is shown as a line, about.
const STUB: u64 = 30_000;

/// How many files are named.
const MOST_FILES: usize = 40;

/// How many inputs stay where turns would be archived and no hook stores them.
const UNSTORED_INPUTS: u32 = 5;

/// What a summary has used.
#[derive(Clone, Copy, Default)]
struct Spent {
    usage: Option<Usage>,
    cost_nano_usd: Option<u64>,
}

/// What is wanted of a conversation that is to become shorter.
#[derive(Clone, Copy)]
struct Wanted<'a> {
    kind: FoldKind,
    why: FoldReason,
    /// Most tokens that may be left, the head included.
    tokens: u64,
    /// Most inputs that may be left.
    inputs: Option<u32>,
    instructions: &'a str,
    /// What the provider said of a conversation that did not fit.
    overflow: &'a str,
}

/// Makes the conversation shorter if a tier is reached. Nothing if there is nothing to do.
pub(super) fn before_call(ctx: &mut Ctx<'_>) -> Option<Step> {
    let policy = &ctx.setup.config.compaction;
    if policy.auto.is_empty() || ctx.body.folding.failures >= policy.max_failures.max(1) {
        return None;
    }
    let (tokens, window) = (ctx.tokens(), ctx.window());
    let reached = policy.auto.iter().filter(|tier| tokens >= tier.from.tokens(window));
    let fullest = reached.max_by_key(|tier| tier.from.tokens(window));
    let (tier, tokens) = match fullest {
        Some(tier) => (tier, tier.to.tokens(window)),
        None => {
            let most = policy.max_messages as usize;
            let is_long = most > 0 && ctx.body.history.unfolded() > most;
            (policy.auto.first().filter(|_| is_long)?, u64::MAX)
        }
    };
    let wanted = Wanted {
        kind: tier.step,
        why: FoldReason::Full,
        tokens,
        inputs: tier.inputs,
        instructions: "",
        overflow: "",
    };
    begin(wanted, ctx)
}

/// The provider could not read the conversation. Nothing if it does not become shorter, or has been
/// made shorter for this input already.
pub(super) fn on_overflow(failure: &Failure, ctx: &mut Ctx<'_>) -> Option<Step> {
    if failure.kind != FailureKind::ContextOverflow || !may_retry(ctx) {
        return None;
    }
    // What was read before fits; of what was refused, half may be far too much still.
    let read = ctx.body.history.gauge().counted().unwrap_or(0);
    let window = ctx.window().min(read.max(ctx.tokens() / 2));
    ctx.body.run.repairs.overflowed = true;
    ctx.body.folding.window = window;
    let auto = &ctx.setup.config.compaction.auto;
    let sums_up = auto.is_empty() || auto.iter().any(|tier| tier.step == FoldKind::Summary);
    let wanted = Wanted {
        kind: if sums_up { FoldKind::Summary } else { FoldKind::Truncate },
        why: FoldReason::Overflow,
        tokens: window / 2,
        inputs: None,
        instructions: "",
        overflow: &failure.message,
    };
    begin(wanted, ctx)
}

/// The failure that a reply stands for which the window has cut, or whose input filled it to the
/// brim: some servers leave the oldest text out then, and say nothing.
pub(super) fn overfull(reply: &Reply, ctx: &Ctx<'_>) -> Option<Failure> {
    const BRIM: u64 = 16;
    let read = reply.usage.map_or(0, |usage| usage.input_total);
    let window = u64::from(ctx.setup.config.model.context_window);
    let is_full = reply.finish == Finish::ContextWindow || read.saturating_add(BRIM) >= window;
    let may_fold = is_full && may_retry(ctx) && ctx.used_up(true).is_none();
    let message = "the conversation fills the context window";
    (may_fold && can_fold(&ctx.body.history, ctx.setup))
        .then(|| Failure::new(FailureKind::ContextOverflow, message))
}

fn may_retry(ctx: &Ctx<'_>) -> bool {
    let retries = ctx.setup.config.compaction.on_overflow == OnOverflow::CompactRetryOnce;
    retries && !ctx.body.run.repairs.overflowed
}

/// The host wants the conversation to become shorter.
pub(super) fn compact(instructions: Option<&str>, ctx: &mut Ctx<'_>) -> Step {
    let wanted = Wanted {
        kind: FoldKind::Summary,
        why: FoldReason::Asked,
        tokens: ctx.setup.config.compaction.keep.tokens.into(),
        inputs: None,
        instructions: instructions.unwrap_or_default(),
        overflow: "",
    };
    begin(wanted, ctx).unwrap_or(Step::Rest)
}

/// Whether there are turns that are old enough to go.
pub(crate) fn can_fold(history: &History, setup: &Setup) -> bool {
    let goal = goal(setup, 0, None);
    fold::cut(&items(history, setup), &goal).is_some()
}

/// The hook has replied that looks at turns that are to be folded.
pub(super) fn on_hook(plan: Box<Plan>, reply: HookReply, ctx: &mut Ctx<'_>) -> Step {
    match reply {
        HookReply::Allow if plan.fold.kind == FoldKind::Summary => summarize(plan, ctx),
        HookReply::Allow => finish(plan, None, Spent::default(), ctx),
        HookReply::Replace(text) => finish(plan, Some(&text_of(&text)), Spent::default(), ctx),
        HookReply::Deny { reason: why } | HookReply::Failed { message: why } => {
            failed(plan, &format!("the hook has not agreed: {why}"), Spent::default(), ctx)
        }
    }
}

/// The model has summed up, or has failed to.
pub(super) fn on_summary(
    plan: Box<Plan>,
    result: Result<Reply, Failure>,
    ctx: &mut Ctx<'_>,
) -> Step {
    match result {
        Ok(reply) => {
            let config = &ctx.setup.config;
            let other = config.compaction.summary.model.as_ref();
            let is_own = other.is_none_or(|name| *name == config.model.name);
            let price = config.model.price.as_ref().filter(|_| is_own);
            let spent = Spent { usage: reply.usage, cost_nano_usd: ctx.count(reply.usage, price) };
            finish(plan, Some(&reply.text()), spent, ctx)
        }
        Err(failure) => failed(plan, &failure.message, Spent::default(), ctx),
    }
}

/// The host has stopped what was to make the conversation shorter. Says whether a run is under way
/// for which that was.
pub(super) fn interrupted(plan: &Plan, ctx: &mut Ctx<'_>) -> bool {
    tell_failure(plan, "it was interrupted", Spent::default(), ctx);
    plan.why != FoldReason::Asked
}

fn begin(wanted: Wanted<'_>, ctx: &mut Ctx<'_>) -> Option<Step> {
    let is_hooked = ctx.setup.config.hooks.points.contains(&HookPoint::Compact);
    let mut wanted = wanted;
    if wanted.kind == FoldKind::Archive && !is_hooked {
        wanted.kind = FoldKind::Truncate;
        wanted.inputs = Some(wanted.inputs.unwrap_or(UNSTORED_INPUTS).min(UNSTORED_INPUTS));
    }
    let plan = Box::new(plan(wanted, ctx)?);
    let Fold { kind, before: tokens, .. } = plan.fold;
    if matches!(kind, FoldKind::Stub | FoldKind::Truncate) {
        return match apply(&plan, None, Spent::default(), ctx) {
            Ok(()) => Some(Step::CallAsItIs),
            Err(_) => None,
        };
    }
    ctx.event(EventKind::CompactionStarted { kind, why: plan.why, tokens });
    let payload = is_hooked.then(|| plan.payload(&ctx.body.history));
    match payload.and_then(|payload| ctx.hook(HookPoint::Compact, &payload)) {
        Some(effect) => Some(Step::hooked(effect, Then::Fold(plan))),
        None => Some(summarize(plan, ctx)),
    }
}

/// Which turns are to go; nothing if none can.
fn plan(wanted: Wanted<'_>, ctx: &Ctx<'_>) -> Option<Plan> {
    let Wanted { kind, why, tokens, inputs, instructions, overflow } = wanted;
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
    // What is to stand in the place of the turns takes room, too.
    let text = match kind {
        FoldKind::Stub => folded,
        FoldKind::Summary => words.min(said.sum()) + u64::from(summary_tokens(ctx)),
        FoldKind::Archive | FoldKind::Truncate => 0,
    };
    let left = tokens.saturating_sub(head + text);
    let most = if why == FoldReason::Full { left } else { left.min(all / 2) };
    let goal = goal(setup, most, inputs);
    let cut = match kind {
        // What is not short enough then would be made shorter again with every round.
        FoldKind::Stub => fold::stub(&items, &goal).filter(|cut| cut.tokens <= goal.tokens)?,
        _ => fold::cut(&items, &goal)?,
    };
    let place = |at: usize| items.get(at).map_or(u32::MAX, |item| item.at);
    let Cut { before, pin, stubs, tokens } = cut;
    let upto = if before > 0 { place(before) } else { 0 };
    let fold = Fold {
        upto,
        pin,
        stub_before: if stubs > 0 { place(stubs) } else { 0 },
        text: None,
        kind,
        before: head + all + folded,
        after: head + tokens + if kind == FoldKind::Stub { folded } else { 0 },
    };
    let own = policy.summary.instructions.as_deref().unwrap_or_default();
    Some(Plan {
        why,
        fold,
        files: files(history, upto, setup),
        instructions: joined(&[own, instructions], "\n").trim().into(),
        overflow: overflow.into(),
        room: room(ctx),
        words: chars(words),
    })
}

/// How long the transcript may be that a model reads which sums up: as much as fits beside the
/// summary, where a token has three characters.
fn room(ctx: &Ctx<'_>) -> Room {
    let tokens = (ctx.window() * 3 / 4).saturating_sub(summary_tokens(ctx).into());
    let result_chars = ctx.setup.config.compaction.summary.result_chars as usize;
    Room { chars: usize::try_from(tokens * 3).unwrap_or(usize::MAX), result_chars }
}

fn chars(tokens: u64) -> usize {
    usize::try_from(tokens.saturating_mul(4)).unwrap_or(usize::MAX)
}

/// Most tokens of a summary: no more than an eighth of the window.
fn summary_tokens(ctx: &Ctx<'_>) -> u32 {
    let eighth = u32::try_from(ctx.window() / 8).unwrap_or(u32::MAX);
    ctx.setup.config.compaction.summary.max_tokens.min(eighth).max(1)
}

fn goal(setup: &Setup, tokens: u64, inputs: Option<u32>) -> Goal {
    let policy = &setup.config.compaction;
    // A quarter goes at once, so that the next turns do not move the cut again.
    let turns = match policy.max_messages as usize {
        0 => usize::MAX,
        most => most - most / 4,
    };
    let inputs = inputs.map_or(usize::MAX, |inputs| inputs as usize);
    let (rounds, first_input) = (policy.keep.rounds as usize, policy.keep.first_input);
    Goal { tokens, turns, inputs, rounds, first_input }
}

/// The turns that the model sees, without what stands for others.
fn items(history: &History, setup: &Setup) -> Vec<Item> {
    let gauge = history.gauge();
    let scaled = |thousandths| gauge.scaled(thousandths, setup.head_cost);
    let seen = history.seen_at().map(|(at, said)| {
        let kind = match &said {
            Said::User(_) => ItemKind::Input,
            Said::System(_) | Said::Steering(_) => ItemKind::Word,
            Said::Assistant(reply) if reply.tool_calls().next().is_none() => ItemKind::Reply,
            Said::Assistant(_) => ItemKind::Calls,
            Said::ToolResults(_) => ItemKind::Results,
        };
        let as_stub = match &said {
            Said::ToolResults(results) => STUB * results.len() as u64,
            _ => u64::MAX,
        };
        let cost = gauge.cost(&said);
        Item { at, kind, tokens: scaled(cost), as_stub: scaled(as_stub.min(cost)) }
    });
    seen.collect()
}

/// The files that calls before that place of the log were about, as far as they can be told.
fn files(history: &History, upto: u32, setup: &Setup) -> Files {
    let mut files = Files::default();
    for (at, turn) in history.standing() {
        let TurnKind::Assistant(reply) = turn else { continue };
        if at >= upto {
            continue;
        }
        reply.tool_calls().for_each(|call| note_files(call, setup, &mut files));
    }
    files
}

fn note_files(call: &ToolCall, setup: &Setup, files: &mut Files) {
    let Ok(Work::Run { run, .. }) = pipeline::prepare(call, setup) else { return };
    let Job::Builtin(action) = &run.run.job else { return };
    for file in action.files(run.patch.as_ref()) {
        let path = String::from(file.path);
        let list = if action.is_read_only() { &mut files.read } else { &mut files.changed };
        if !list.contains(&path) && list.len() < MOST_FILES {
            list.push(path);
        }
    }
}

/// Has a model sum up the turns.
fn summarize(plan: Box<Plan>, ctx: &mut Ctx<'_>) -> Step {
    let purpose = Purpose::Summary(plan);
    if ctx.used_up(purpose.is_of_run()).is_some()
        && let Purpose::Summary(plan) = purpose
    {
        return failed(plan, "what may be spent is used up", Spent::default(), ctx);
    }
    let mut model = ctx.setup.config.model.clone();
    if let Some(name) = &ctx.setup.config.compaction.summary.model {
        model.rename(name);
    }
    model.max_output_tokens = summary_tokens(ctx);
    // It is to write, not to think for long or to call anything.
    model.reasoning_effort = None;
    model.tool_choice = ToolChoice::Auto;
    model.parallel_tool_calls = None;
    model.text_calls = TextCalls::Never;
    let route = Route::new(model, fold_plan::SYSTEM.into(), Vec::new(), false);
    ModelCall::start(purpose, Arc::new(route), ctx);
    Step::Wait(Phase::Folding)
}

/// The turns are folded; `summary` stands in their place, if there is one.
fn finish(plan: Box<Plan>, summary: Option<&str>, spent: Spent, ctx: &mut Ctx<'_>) -> Step {
    match apply(&plan, summary, spent, ctx) {
        Err(message) => failed(plan, message, spent, ctx),
        Ok(()) if plan.why == FoldReason::Asked => Step::Rest,
        Ok(()) => Step::CallAsItIs,
    }
}

/// Folds the turns.
///
/// # Errors
/// Why that would be no gain.
fn apply(
    plan: &Plan,
    summary: Option<&str>,
    spent: Spent,
    ctx: &mut Ctx<'_>,
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
    let head = history.gauge().scaled(setup.head_cost, setup.head_cost);
    if after >= before || (before - after) * 10 < before.saturating_sub(head) {
        return Err("the conversation would become less than a tenth shorter");
    }
    let turns = plan.turns_gone(history);
    ctx.append(TurnKind::Folded(Box::new(fold)));
    ctx.body.folding.failures = 0;
    let Spent { usage, cost_nano_usd } = spent;
    let event =
        EventKind::Compacted { kind, why, turns, before, after, text, usage, cost_nano_usd };
    ctx.event(event);
    let reason = "earlier turns are shown shorter";
    ctx.event(EventKind::PrefixRebased { reason });
    Ok(())
}

/// The turns stay as they are. Where they do not fit the model, they are left out after all, if
/// that is allowed.
fn failed(mut plan: Box<Plan>, message: &str, spent: Spent, ctx: &mut Ctx<'_>) -> Step {
    tell_failure(&plan, message, spent, ctx);
    match plan.why {
        FoldReason::Asked => Step::Rest,
        FoldReason::Full => {
            ctx.body.folding.failures = ctx.body.folding.failures.saturating_add(1);
            Step::CallAsItIs
        }
        FoldReason::Overflow => {
            plan.fold.kind = FoldKind::Truncate;
            let may_truncate = ctx.setup.config.compaction.truncate_if_needed;
            if may_truncate && apply(&plan, None, Spent::default(), ctx).is_ok() {
                return Step::CallAsItIs;
            }
            Step::GiveIn(Failure::new(FailureKind::ContextOverflow, plan.overflow))
        }
    }
}

fn tell_failure(plan: &Plan, message: &str, spent: Spent, ctx: &mut Ctx<'_>) {
    let (kind, why, message) = (plan.fold.kind, plan.why, message.into());
    let Spent { usage, cost_nano_usd } = spent;
    ctx.event(EventKind::CompactionFailed { kind, why, message, usage, cost_nano_usd });
}
