//! The pure parts of a call's way: LOOKUP and VALIDATE before it runs, TRUNCATE and RETURN after
//! it. Nothing here changes state, so that a restore prepares open calls again from their arguments
//! instead of storing what came of them.

use super::setup::AgentSetup;
use crate::{
    profile::{CallIntent, FinishedRun, ToolArguments, ToolCategory, inner::InnerCall},
    rules::{
        aliases,
        truncate::{self, OutputLimit},
    },
};
use alloc::{boxed::Box, format, string::String, sync::Arc, vec, vec::Vec};
use innerloop_types::{
    action::{Action, Outcome, Patch, PatchError, ToolError},
    config::ExecMode,
    json::{Json, JsonObject},
    message::{Part, ToolCall, ToolResult},
    secret::has_mask,
    tool::{Job, ResultPolicy, ToolRun},
};

/// The task that a valid call asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ToolTask {
    /// A run of the host's.
    Run { run: PlannedRun, category: ToolCategory, mode: ExecMode },
    /// Something that the core does itself.
    Inner(InnerCall),
}

/// A run of the host's before it is launched. Nobody shares it yet, so that the guard may still
/// change it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlannedRun {
    pub(crate) run: Box<ToolRun>,
    /// The changes that its patch makes to files, if it is one.
    pub(crate) patch: Option<Patch>,
}

/// A run of the host's, shared between the effect, the call's state and what is owed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LaunchedRun {
    pub(crate) run: Arc<ToolRun>,
    /// The changes that its patch makes to files, if it is one.
    pub(crate) patch: Option<Patch>,
}

/// The work that has run for a call. Its outcome is reported from the very action that was
/// launched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum CallExecution {
    /// No run of the host's.
    #[default]
    Nothing,
    /// A tool of the host's.
    Tool(LaunchedRun),
    /// The final answer was given, as JSON text.
    Answer(String),
}

impl CallExecution {
    const fn tool(&self) -> Option<&LaunchedRun> {
        match self {
            Self::Tool(launch) => Some(launch),
            Self::Nothing | Self::Answer(_) => None,
        }
    }
}

impl PlannedRun {
    /// # Errors
    /// The fault in the text of a patch.
    fn new(run: ToolRun) -> Result<Self, PatchError> {
        let patch = outline(&run)?;
        Ok(Self { run: Box::new(run), patch })
    }

    /// Returns the run, ready to be shared.
    pub(crate) fn launch(self) -> LaunchedRun {
        LaunchedRun { run: Arc::new(*self.run), patch: self.patch }
    }
}

/// Returns the files and changes of the patch, if the run is one.
fn outline(run: &ToolRun) -> Result<Option<Patch>, PatchError> {
    match &run.job {
        // Only the outline is kept: a patch can be long, and its text is in the action already. A
        // build without the built-in tools leaves the parser out.
        Job::Builtin(Action::Patch { patch, .. }) if cfg!(feature = "builtins") => {
            Patch::parse(patch).map(|patch| Some(patch.outline()))
        }
        _ => Ok(None),
    }
}

/// Returns a call as hooks and people see and edit it: its arguments as JSON, also for a tool that
/// takes free text, and under the tool's own names.
pub(crate) fn with_own_arguments(call: ToolCall, setup: &AgentSetup) -> ToolCall {
    // JSON first: names are looked for in an object.
    let mut call = with_json_arguments(call, setup);
    if let Some((arguments, _)) = renamed(&call, setup) {
        call.arguments = arguments;
    }
    call
}

/// Returns the arguments of a call under the tool's own names, and the names that were replaced;
/// `None` if none was.
pub(crate) fn renamed(
    call: &ToolCall,
    setup: &AgentSetup,
) -> Option<(String, Vec<aliases::ArgumentAlias>)> {
    if !cfg!(feature = "builtins") {
        return None;
    }
    aliases::known(&setup.tool(&call.name)?.schema, &call.arguments)
}

fn with_json_arguments(mut call: ToolCall, setup: &AgentSetup) -> ToolCall {
    let freeform = setup.tool(&call.name).and_then(|tool| tool.spec.freeform.as_ref());
    let Some(freeform) = freeform.filter(|_| call.is_freeform()) else { return call };
    let arguments = JsonObject(vec![(freeform.property.clone(), Json::of(&call.arguments))]);
    call.arguments = arguments.to_json().into_text();
    call.detail = None;
    call
}

/// LOOKUP and VALIDATE: the one place where a call's arguments are parsed.
///
/// # Errors
/// The outcome that the model reads instead.
pub(crate) fn prepare(call: &ToolCall, setup: &AgentSetup) -> Result<ToolTask, Outcome> {
    let Some(tool) = setup.tool(&call.name) else {
        let message = format!("Unknown tool: {}", call.name);
        return Err(Outcome::error(ToolError::UnknownTool, message));
    };
    let invalid = |message| Outcome::error(ToolError::InvalidArguments, message);
    let coerces = setup.config.repair.coerce_arguments;
    let args = ToolArguments::parse(&call.name, &call.arguments, &tool.schema, coerces)
        .map_err(invalid)?;
    let (job, asked_ms) = match tool.row {
        Some(row) => match row.read(args, &setup.config.facts).map_err(invalid)? {
            // The one inner call that the core cannot answer: whole outputs are the driver's.
            CallIntent::Inner(InnerCall::Kept(query)) => (Job::Kept(query), None),
            CallIntent::Inner(inner) => return Ok(ToolTask::Inner(inner)),
            CallIntent::Action(mut asked) => {
                let firewall = &setup.config.firewall;
                if firewall.unmask {
                    // A session of a time before salts has the masks of keys, which need none.
                    asked.action.salt_masks(firewall.salt.unwrap_or(0));
                }
                (Job::Builtin(asked.action), asked.timeout_ms.or(tool.policy.default_ms))
            }
        },
        None => {
            let json = Json::parse(args.json()).map_err(|error| invalid(format!("{error}")))?;
            (Job::Custom(json), tool.spec.timeout_ms)
        }
    };
    let timeout_ms = setup.timeout_ms(asked_ms);
    let (call_id, name, folder) = (call.id.clone(), call.name.clone(), setup.folder.clone());
    let run = ToolRun { call_id, name, job, folder, known: None, timeout_ms };
    let run = PlannedRun::new(run).map_err(|error| invalid(format!("{error}")))?;
    let category = tool.policy.category;
    Ok(ToolTask::Run { run, category, mode: setup.exec_mode(&call.name, category) })
}

/// The remark on a call that has a mask in its arguments and put no secret in its place.
const MASK_PASSED_ON: &str = "\n[A mask in this call stands for a secret that you are not shown. \
                              It was passed on as it is: only tools that write a file put back \
                              the secrets that the file has.]";

/// TRUNCATE and RETURN: returns what the model reads of an outcome, or of what a hook put in its
/// place, within `limit`; and the whole text, if it was cut and is to be kept.
pub(crate) fn result(
    call: &ToolCall,
    ran: &CallExecution,
    outcome: &Outcome,
    replaced: Option<String>,
    setup: &AgentSetup,
    limit: &OutputLimit,
) -> (ToolResult, Option<String>) {
    let launch = ran.tool();
    let mut parts = match replaced.or_else(|| told(launch?, outcome, setup)) {
        Some(text) => vec![Part::text(text)],
        None => labelled(call, outcome),
    };
    // A part of a kept output is not kept once more: the model asks for the next part instead.
    let is_part = launch.is_some_and(|launch| matches!(launch.run.job, Job::Kept(_)));
    let kept = setup.config.results.filter(|_| cfg!(feature = "kept-results") && !is_part);
    let whole = truncate(&mut parts, limit, kept);
    if let [Part::Text { text }] = parts.as_mut_slice()
        && text.is_empty()
    {
        *text = String::from("(no output)");
    }
    if outcome.timed_out
        && let Some(launch) = launch
        && let Some(note) = setup.policy(&call.name).timeout.text(launch.run.timeout_ms)
    {
        // Added behind the cut, which would otherwise take the note away.
        parts.push(Part::text(note));
    }
    if has_mask(&call.arguments) && launch.is_some_and(|launch| !is_unmasking(&launch.run.job)) {
        parts.push(Part::text(MASK_PASSED_ON));
    }
    let is_error = outcome.error.is_some();
    (ToolResult { call_id: call.id.clone(), parts, is_error }, whole)
}

const fn is_unmasking(job: &Job) -> bool {
    matches!(job, Job::Builtin(action) if action.salt().is_some())
}

/// Returns the outcome of a built-in tool in the form that the model knows, where that differs from
/// what the tool says.
fn told(launch: &LaunchedRun, outcome: &Outcome, setup: &AgentSetup) -> Option<String> {
    let LaunchedRun { run, patch } = launch;
    let Job::Builtin(action) = &run.job else { return None };
    let timeout_ms = run.timeout_ms;
    setup.tool(&run.name)?.row?.tell(&FinishedRun {
        action,
        patch: patch.as_ref(),
        outcome,
        folder: &run.folder,
        timeout_ms,
    })
}

/// Returns an outcome's parts. A failure of the tool itself begins with a label in the
/// specification's words.
fn labelled(call: &ToolCall, outcome: &Outcome) -> Vec<Part> {
    // Standard output and standard error are parts of their own, so that hosts can tell them apart;
    // the model reads them as one text, under one limit.
    let only_text = outcome.parts.iter().all(|part| part.as_text().is_some());
    let mut parts =
        if only_text { vec![Part::text(outcome.joined_text())] } else { outcome.parts.clone() };
    if let Some(Part::Text { text }) = parts.first_mut() {
        match outcome.error {
            Some(
                ToolError::Exit
                | ToolError::Timeout
                | ToolError::Denied
                | ToolError::Interrupted
                | ToolError::UnknownTool
                | ToolError::InvalidArguments,
            )
            | None => {}
            Some(_) => *text = format!("Tool error ({}): {text}", call.name),
        }
    }
    parts
}

/// Cuts the texts that are too long. Where the outputs are kept, less is shown of those that are
/// cut, and the whole of them is returned.
fn truncate(parts: &mut [Part], limit: &OutputLimit, kept: Option<ResultPolicy>) -> Option<String> {
    let mut whole = None;
    for part in parts {
        let Part::Text { text } = part else { continue };
        let Some(mut shorter) = truncate::truncate(text, limit) else { continue };
        if let Some(ResultPolicy { preview_chars }) = kept {
            let preview = OutputLimit { max_chars: preview_chars as usize, ..*limit };
            if (1..limit.max_chars).contains(&preview.max_chars) {
                shorter = truncate::truncate(text, &preview).unwrap_or(shorter);
            }
            whole.get_or_insert_with(String::new).push_str(text);
        }
        *text = shorter;
    }
    whole
}
