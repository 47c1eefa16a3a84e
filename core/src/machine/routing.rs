//! Model calls of a session that has several models: what follows from a failure, and which of them
//! writes a summary. The session changes the model that is in force, for all agents at once.

use super::{ctx::StepContext, fold_plan, route::Route};
use crate::rules::availability::{further, off_ms};
use alloc::{sync::Arc, vec::Vec};
use innerloop_types::config::{ModelConfig, TextCalls, ToolChoice};
use innerloop_wire::{FailureKind, ModelCallError};

/// The next try of a model call that has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextTry {
    /// There is none.
    None,
    /// It follows after so many milliseconds, with the same model unless another one is free then.
    After(u64),
    /// It follows at once with another model.
    Elsewhere,
}

/// Returns the next try of a call that has failed; `own` is the delay before it where the session
/// has one model only. The model is left alone for a while if it may be to blame.
pub(super) fn next_try(
    route: &Route,
    attempt: u32,
    failure: &ModelCallError,
    own: Option<u64>,
    ctx: &mut StepContext<'_>,
) -> NextTry {
    let alone = own.map_or(NextTry::None, NextTry::After);
    let setup = ctx.setup;
    let (policy, retry) = (&setup.config.routing, &setup.config.retry);
    let count = u32::try_from(policy.models.len()).unwrap_or(u32::MAX);
    if !cfg!(feature = "routing") || count == 0 || attempt > retry.max_retries.saturating_add(count)
    {
        return alone;
    }
    // However short: the model that has failed must not be taken for another one that is free.
    let later = |ms: u64| ctx.now.plus_ms(ms.max(1));
    if policy.overflow_to_larger && failure.kind == FailureKind::ContextOverflow {
        let (window, now) = (route.model.context_window, ctx.now);
        let places = 0..=policy.models.len();
        let is_larger = |at: &usize| setup.model_at(*at).context_window > window;
        if !places.clone().filter(is_larger).any(|at| ctx.models.is_free(at, now)) {
            return alone;
        }
        // Those with smaller windows are left alone as well: there it would not fit either.
        let until = later(policy.backoff_ms);
        places.filter(|at| !is_larger(at)).for_each(|at| ctx.models.leave_alone(at, until));
    } else {
        let Some(off) = off_ms(failure, policy, own.unwrap_or(retry.base_ms)) else { return alone };
        // Without a place it is a model of an earlier configuration.
        if let Some(at) = place_of(&route.model, ctx) {
            ctx.models.leave_alone(at, later(off));
        }
    }
    if ctx.models.best(policy, None, ctx.now).is_some() {
        return NextTry::Elsewhere;
    }
    let first = ctx.models.first(policy).ms_since(ctx.now);
    match own {
        // All of them have failed: one that asks for no long wait is tried again as if it were
        // alone, since few overloads last as long as a model is left alone for.
        Some(own) => NextTry::After(own.min(first)),
        None if first <= retry.max_retry_after_ms => NextTry::After(first),
        None => NextTry::None,
    }
}

/// Returns whether the model in force is to be left alone while another one is free.
pub(super) fn is_due(ctx: &StepContext<'_>) -> bool {
    let policy = &ctx.setup.config.routing;
    cfg!(feature = "routing")
        && !ctx.models.is_free(ctx.setup.at, ctx.now)
        && ctx.models.best(policy, None, ctx.now).is_some()
}

/// Returns the route to the model that writes a summary of so many tokens.
pub(super) fn summary_route(max_output_tokens: u32, ctx: &StepContext<'_>) -> Arc<Route> {
    let config = &ctx.setup.config;
    let policy = &config.routing;
    let is_cheap = |at: &usize| further(policy, *at).is_some_and(|further| further.cheap);
    let free = |at: &usize| ctx.models.is_free(*at, ctx.now);
    let cheap = (0..=policy.models.len()).filter(is_cheap).find(free);
    let mut model = match cheap.filter(|_| cfg!(feature = "routing")) {
        Some(at) => ctx.setup.model_at(at).clone(),
        None => config.model.clone(),
    };
    // A name is one of the session's own endpoint.
    if let Some(name) = config.compaction.summary.model.as_ref()
        && cheap.is_none()
        && ctx.setup.at == 0
    {
        model.rename(name, &config.prices);
    }
    model.max_output_tokens = max_output_tokens;
    // The model is to write, not to think for long or to call tools.
    model.reasoning_effort = None;
    model.tool_choice = ToolChoice::Auto;
    model.parallel_tool_calls = None;
    model.text_calls = TextCalls::Never;
    Arc::new(Route::new(model, fold_plan::SYSTEM.into(), Vec::new(), false))
}

/// Returns the route for the next try of a summary: the same one, unless there are other models.
pub(super) fn summary_again(route: Arc<Route>, ctx: &StepContext<'_>) -> Arc<Route> {
    if ctx.setup.config.routing.models.is_empty() {
        return route;
    }
    summary_route(route.model.max_output_tokens, ctx)
}

/// Returns the place of a call's model among those of the session.
fn place_of(model: &ModelConfig, ctx: &StepContext<'_>) -> Option<usize> {
    let mut places = 0..=ctx.setup.config.routing.models.len();
    let is_at = |at: usize| ctx.setup.model_at(at).endpoint == model.endpoint;
    // By the name as well where it is known: a summary or an agent that was started may have
    // another model of the same endpoint.
    let is = |at: &usize| is_at(*at) && ctx.setup.model_at(*at).name == model.name;
    places.clone().find(is).or_else(|| places.find(|at| is_at(*at)))
}
