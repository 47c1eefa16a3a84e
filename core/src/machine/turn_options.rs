//! The options of one input: which tools and paths its calls may use, and what its requests say
//! otherwise. They hold until the run ends or its next input begins; agents that are started
//! meanwhile keep to the same tools and paths.

use super::{
    ctx::StepContext,
    pipeline::ToolTask,
    setup::AgentSetup,
    tool_stages::{ToolStage, last_two},
    turn_tools::allows,
};
use crate::{profile::inner::TOOL_SEARCH, rules::paths::PathAllowlist};
use alloc::{boxed::Box, format, string::String, vec::Vec};
use innerloop_json::{IntoList, joined, quoted};
use innerloop_types::{
    action::{DeniedBy, Outcome, ToolError},
    config::{ConfigError, ToolChoice},
    event::EventKind,
    input::TurnOptions,
    path::resolved,
    tool::Job,
};

/// Returns the options for agents that are started, or messaged, meanwhile; `None` if they limit
/// nothing.
pub(crate) fn for_children(options: &TurnOptions) -> Option<Box<TurnOptions>> {
    // Only what limits is handed on, since `spawn_agent` would otherwise be a way around it. The
    // choice of a tool and the temperature are for the input's own requests.
    let TurnOptions { tools, hide, paths, .. } = options.clone();
    let limits = tools.is_some() || paths.is_some();
    limits.then(|| Box::new(TurnOptions { tools, hide, paths, ..Default::default() }))
}

/// Returns whether a call must be made.
const fn is_forced(options: &TurnOptions) -> bool {
    matches!(options.tool_choice, Some(ToolChoice::Required | ToolChoice::Tool(_)))
}

/// # Errors
/// The option that cannot work, and why.
pub(crate) fn check(options: &TurnOptions, setup: &AgentSetup) -> Result<(), ConfigError> {
    let known = |name: &String, field: String| match setup.tool(name) {
        Some(_) => Ok(()),
        None => {
            let names = joined(&setup.tool_names().into_list(), ", ");
            let message = format!("there is no tool {}; there are: {names}", quoted(name));
            Err(ConfigError::new(field, message))
        }
    };
    for (at, name) in options.tools.iter().flatten().enumerate() {
        known(name, format!("options.tools[{at}]"))?;
    }
    let choice = "options.tool_choice";
    match &options.tool_choice {
        Some(ToolChoice::Tool(name)) => {
            known(name, choice.into())?;
            if !allows(options, name) {
                let message = format!("{} is not among the tools of this input", quoted(name));
                return Err(ConfigError::new(choice, message));
            }
        }
        Some(ToolChoice::Required) if !setup.tool_names().any(|name| allows(options, name)) => {
            return Err(ConfigError::new(choice, "no tool could be called"));
        }
        _ => {}
    }
    for (at, path) in options.paths.iter().flatten().enumerate() {
        let message = match resolved("", path) {
            _ if path.trim().is_empty() => "is empty: . stands for the whole workspace",
            None => "leads out of the workspace",
            Some(_) => continue,
        };
        return Err(ConfigError::new(format!("options.paths[{at}]"), message));
    }
    if let Some(temperature) = &options.temperature
        && !temperature.text().starts_with(|first: char| first.is_ascii_digit())
    {
        return Err(ConfigError::new("options.temperature", "must be a number, 0 or more"));
    }
    Ok(())
}

/// Puts the options of a new input in force, in place of those of the one before.
pub(crate) fn begin(options: Option<Box<TurnOptions>>, ctx: &mut StepContext<'_>) {
    // Tools that are shown in stages are at the first one again.
    let first = ctx.setup.is_staged().then_some(0);
    change(options, stages(ctx).1, first, ctx);
}

/// Puts other options in force for the input under way.
pub(crate) fn enter(options: Option<Box<TurnOptions>>, ctx: &mut StepContext<'_>) {
    let stage = stages(ctx).1;
    change(options, stage, stage, ctx);
}

/// Ends the duty to call a tool, once the model has called one, and reports another stage of tools.
pub(super) fn on_round(ctx: &mut StepContext<'_>) {
    on_halted_round(ctx);
    let Some(options) = ctx.body.run.options.as_deref().filter(|options| is_forced(options)) else {
        return;
    };
    // If every reply had to be a call, no run would end.
    enter(Some(Box::new(TurnOptions { tool_choice: None, ..options.clone() })), ctx);
}

/// Reports another stage of tools, where the round that is over has led to one.
pub(super) fn on_halted_round(ctx: &mut StepContext<'_>) {
    let (before, now) = stages(ctx);
    if before != now {
        change(ctx.body.run.options.clone(), before, now, ctx);
    }
}

/// Returns the stage before the last round and the one now, where tools are shown in stages.
fn stages(ctx: &StepContext<'_>) -> (ToolStage, ToolStage) {
    if ctx.setup.is_staged() { last_two(&ctx.body.history) } else { (None, None) }
}

/// Puts options in force, and reports the rebased prefix where requests begin otherwise than
/// before.
fn change(
    options: Option<Box<TurnOptions>>,
    before: ToolStage,
    now: ToolStage,
    ctx: &mut StepContext<'_>,
) {
    let old = core::mem::replace(&mut ctx.body.run.options, options);
    let (old, new) = (old.as_deref(), ctx.body.run.options.as_deref());
    if (old == new && before == now) || ctx.body.history.turns().is_empty() {
        return;
    }
    let is_staged = old == new;
    if !ctx.setup.route_for(new, now).begins_as(&ctx.setup.route_for(old, before)) {
        let reason = if is_staged {
            "tools of another kind are shown"
        } else {
            "the input's own tools, tool choice or temperature"
        };
        ctx.event(EventKind::PrefixRebased { reason });
    }
}

/// LOOKUP: checks that the input lets the tool be called.
///
/// # Errors
/// The outcome that the model reads instead.
pub(super) fn check_tool(name: &str, ctx: &StepContext<'_>) -> Result<(), Outcome> {
    let options = ctx.body.run.options.as_deref();
    let Some(options) = options.filter(|options| !allows(options, name)) else { return Ok(()) };
    // A name that no tool has is reported as unknown by `prepare`. A search finds only tools that
    // may be called.
    if ctx.setup.tool(name).is_none() || name == TOOL_SEARCH.name() {
        return Ok(());
    }
    let offered: Vec<_> = ctx.setup.tool_names().filter(|name| allows(options, name)).into_list();
    let offered = if offered.is_empty() {
        String::from("Answer without tools.")
    } else {
        format!("You may call: {}.", joined(&offered, ", "))
    };
    let message = format!("{name} may not be called for this input. {offered}");
    Err(Outcome::denied(DeniedBy::Options, message))
}

/// PATHS: checks that the call keeps to the paths of the input.
///
/// # Errors
/// The outcome that the model reads instead.
pub(super) fn check_paths(work: &ToolTask, ctx: &StepContext<'_>) -> Result<(), Outcome> {
    let paths = ctx.body.run.options.as_deref().and_then(|options| options.paths.as_deref());
    let (Some(paths), ToolTask::Run { run: planned, .. }) = (paths, work) else { return Ok(()) };
    let allowed = PathAllowlist { paths, folder: &ctx.setup.folder };
    let checked = match &planned.run.job {
        Job::Builtin(action) => allowed.check(action, planned.patch.as_ref()),
        Job::Kept(_) => Ok(()),
        Job::Custom(arguments) => match ctx.setup.tool(&planned.run.name) {
            Some(tool) => allowed.check_own(arguments, &tool.spec.paths, tool.spec.read_only),
            None => Ok(()),
        },
    };
    checked.map_err(|message| Outcome::error(ToolError::PermissionDenied, message))
}
