//! The pure ends of a call's way (DESIGN §3): LOOKUP and VALIDATE before it runs, TRUNCATE and
//! RETURN after.

use super::setup::{Origin, Setup};
use crate::{
    base::json::{Json, push_string, push_value},
    profile::inner::{self, InnerCall},
    rules::{coerce, schema, truncate},
    types::{
        action::{Action, Outcome, Patch, ToolError},
        config::ExecMode,
        message::{Part, ToolCall, ToolResult},
        tool::{Job, ToolRun},
    },
};
use alloc::{format, string::String, sync::Arc, vec, vec::Vec};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a valid call asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Work {
    /// A run of the host's.
    Run { run: Arc<ToolRun>, read_only: bool, mode: ExecMode },
    /// Something that the core does itself.
    Inner(InnerCall),
}

/// What has run for a call: its outcome is told from the very action that was launched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Ran {
    /// Nothing of the host's, or nothing at all.
    #[default]
    Nothing,
    /// A tool of the host's.
    Tool(Arc<ToolRun>),
    /// The final answer was given, as JSON text.
    Answer(String),
}

impl Ran {
    const fn tool(&self) -> Option<&Arc<ToolRun>> {
        match self {
            Self::Tool(run) => Some(run),
            Self::Nothing | Self::Answer(_) => None,
        }
    }
}

/// A call in free text as the same call with arguments in JSON, where its tool is one that takes
/// both: from here on only the arguments count, whoever looks at or changes them.
pub(crate) fn with_json_arguments(mut call: ToolCall, setup: &Setup) -> ToolCall {
    let freeform = setup.tool(&call.name).and_then(|tool| tool.spec.freeform.as_ref());
    let Some(freeform) = freeform.filter(|_| call.is_freeform()) else { return call };
    let mut arguments = Vec::from([b'{']);
    push_string(&mut arguments, &freeform.property);
    arguments.push(b':');
    push_string(&mut arguments, &call.arguments);
    arguments.push(b'}');
    call.arguments = String::from_utf8(arguments).unwrap_or_default();
    call.detail = None;
    call
}

/// LOOKUP and VALIDATE.
///
/// # Errors
/// The outcome that the model reads instead.
pub(crate) fn prepare(call: &ToolCall, setup: &Setup) -> Result<Work, Outcome> {
    let Some(tool) = setup.tool(&call.name) else {
        let message = format!("Unknown tool: {}", call.name);
        return Err(Outcome::error(ToolError::UnknownTool, message));
    };
    let invalid = |detail: &str| {
        let message = format!("Invalid arguments for tool: {}: {detail}", call.name);
        Outcome::error(ToolError::InvalidArguments, message)
    };
    let arguments = checked(&call.arguments, &tool.schema, setup).map_err(|why| invalid(&why))?;
    let unreadable = |message| Outcome::error(ToolError::InvalidArguments, message);
    let (job, asked_ms, read_only) = match tool.origin {
        Origin::Core => {
            let inner = inner::read(&call.name, &arguments).map_err(unreadable)?;
            return Ok(Work::Inner(inner));
        }
        Origin::Profile => {
            let translated = setup.profile().translate(&setup.config.facts, &call.name, &arguments);
            let translated = translated.map_err(unreadable)?;
            if let Action::Patch { patch, .. } = &translated.action {
                Patch::parse(patch).map_err(|error| unreadable(format!("{error}")))?;
            }
            let read_only = translated.action.is_read_only();
            (Job::Builtin(translated.action), translated.timeout_ms, read_only)
        }
        Origin::Host => {
            let arguments = Json::parse(arguments).map_err(|error| invalid(&format!("{error}")))?;
            (Job::Custom(arguments), None, tool.spec.read_only)
        }
    };
    let timeout_ms = setup.timeout_ms(asked_ms);
    let run = ToolRun { call_id: call.id.clone(), name: call.name.clone(), job, timeout_ms };
    let mode = setup.exec_mode(&call.name, read_only);
    Ok(Work::Run { run: Arc::new(run), read_only, mode })
}

/// A call's arguments as JSON text that fits the schema, bent to it where the host wants that.
fn checked(arguments: &str, schema: &Value, setup: &Setup) -> Result<String, String> {
    let mut value = serde_json::from_str(arguments).map_err(|error| format!("{error}"))?;
    let bent = setup.config.repair.coerce_arguments && coerce::coerce(schema, &mut value);
    let violations = schema::violations(schema, &value);
    if !violations.is_empty() {
        return Err(violations.join("; "));
    }
    if !bent {
        return Ok(arguments.trim().into());
    }
    let mut text = Vec::new();
    push_value(&mut text, &value);
    String::from_utf8(text).map_err(|error| format!("{error}"))
}

/// TRUNCATE and RETURN: what the model reads of an outcome, or of what a hook put in its place.
pub(crate) fn result(
    call: &ToolCall,
    ran: &Ran,
    outcome: &Outcome,
    replaced: Option<String>,
    setup: &Setup,
) -> ToolResult {
    let run = ran.tool();
    let parts = match replaced.or_else(|| presented(run?, outcome, setup)) {
        Some(text) => vec![Part::text(text)],
        None => labelled(call, outcome),
    };
    let mut parts = truncated(&call.name, parts, setup);
    if let [Part::Text { text }] = parts.as_mut_slice()
        && text.is_empty()
    {
        *text = String::from("(no output)");
    }
    if outcome.timed_out
        && let Some(run) = run
        && let Some(note) = setup.profile().timeout_note(&call.name, run.timeout_ms)
    {
        parts.push(Part::text(note));
    }
    ToolResult { call_id: call.id.clone(), parts, is_error: outcome.error.is_some() }
}

/// An outcome of one of the profile's tools in the form that its models know, where that is
/// another than what the tool says.
fn presented(run: &ToolRun, outcome: &Outcome, setup: &Setup) -> Option<String> {
    match &run.job {
        Job::Builtin(action) => setup.profile().present(action, outcome, run.timeout_ms),
        Job::Custom(_) => None,
    }
}

/// An outcome's parts, with the words of Spec §2.5 before a failure of the tool itself.
fn labelled(call: &ToolCall, outcome: &Outcome) -> Vec<Part> {
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

fn truncated(name: &str, mut parts: Vec<Part>, setup: &Setup) -> Vec<Part> {
    let limit = setup.output_limit(name);
    for part in &mut parts {
        if let Part::Text { text } = part
            && let Some(shorter) = truncate::truncate(text, &limit)
        {
            *text = shorter;
        }
    }
    parts
}
