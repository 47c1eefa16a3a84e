//! What the host's hooks decide about calls: a call that one denied is over with its reason, and
//! each run goes past the hook behind it, which decides what the model reads.

use super::{
    events::CallEnd,
    seen::{Seen, require},
};
use innerloop_core::{
    action::{Outcome, ToolError},
    config::HookPoint,
    event::EventKind,
    id::{AgentId, EffectId},
    input::{HookReply, Input, ToolInput},
    message::{Turn, TurnKind},
    output::{Effect, HookRun},
};
use serde_json::Value;
use std::collections::BTreeMap;

/// A call: whose, and its id.
type Call = (AgentId, String);

/// What goes on at the hooks before and after tools, and what they said.
#[derive(Debug, Default)]
pub(super) struct Hooks {
    /// Hooks that look at calls: before they run, or after.
    open: BTreeMap<EffectId, (HookPoint, Call)>,
    /// What tools run at present.
    runs: BTreeMap<EffectId, Call>,
    /// What hooks made of calls whose results the model has not read.
    said: BTreeMap<Call, Said>,
}

/// What a hook says of a call that has run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// The model reads this, as an error.
    Denied(String),
    /// The model reads this instead.
    Replaced(String),
}

impl Hooks {
    /// What the hook said of a call of which the model now reads.
    pub(super) fn take(&mut self, call: &Call) -> Option<Said> {
        self.said.remove(call)
    }

    pub(super) fn on_outputs(&mut self, seen: &Seen<'_>, ends: &[CallEnd]) -> Result<(), String> {
        self.on_reply(seen, ends)?;
        let finished = match seen.input {
            Input::Tool { id, input: ToolInput::Done(_) } | Input::Lost { id } => {
                self.runs.remove(id)
            }
            _ => None,
        };
        let mut asked = None;
        for effect in seen.outputs.effects() {
            match effect {
                Effect::RunTool { id, agent, run } => {
                    self.runs.insert(*id, (*agent, run.call_id.clone()));
                }
                Effect::RunHook { id, agent, hook } => {
                    let Some(call_id) = call_of(hook) else { continue };
                    let call = (*agent, call_id);
                    if hook.point == HookPoint::AfterTool {
                        check_payload(hook, &call, ends)?;
                        if finished.as_ref() == Some(&call) {
                            asked = Some(call.clone());
                        }
                    }
                    self.open.insert(*id, (hook.point, call));
                }
                Effect::Cancel { id, .. } => {
                    self.open.remove(id);
                    self.runs.remove(id);
                }
                Effect::Http { .. } | Effect::Ask { .. } => {}
            }
        }
        let is_hooked = seen.config.hooks.points.contains(&HookPoint::AfterTool);
        require(!is_hooked || asked == finished, || {
            format!("no hook looks at what came of {finished:?}")
        })?;
        check_final_answer(seen)
    }

    /// A hook has replied, or is lost.
    fn on_reply(&mut self, seen: &Seen<'_>, ends: &[CallEnd]) -> Result<(), String> {
        let (id, reply) = match seen.input {
            Input::Hook { id, reply } => (id, reply.clone()),
            Input::Lost { id } => {
                let message = "the hook was lost when the host stopped".to_owned();
                (id, HookReply::Failed { message })
            }
            _ => return Ok(()),
        };
        let Some((point, call)) = self.open.remove(id) else { return Ok(()) };
        let said = match reply {
            HookReply::Allow => None,
            HookReply::Failed { message } => {
                let fails = seen.config.hooks.fail_closed;
                fails.then(|| denied(&format!("a hook failed: {message}")))
            }
            HookReply::Deny { reason } => Some(denied(&reason)),
            HookReply::Replace(json) => {
                let text = serde_json::from_str(json.text());
                Some(Said::Replaced(text.unwrap_or_else(|_| json.text().to_owned())))
            }
        };
        match (point, said) {
            (HookPoint::AfterTool, Some(said)) => {
                self.said.insert(call, said);
            }
            (_, Some(Said::Denied(text))) => {
                let end = ends.iter().find(|end| end.agent == call.0 && end.call_id == call.1);
                let is_over = end.is_some_and(|end| {
                    let Outcome { error, .. } = &*end.outcome;
                    *error == Some(ToolError::Denied) && end.outcome.joined_text() == text
                });
                require(is_over, || format!("a hook denied {call:?}: {text:?}; it is not over"))?;
            }
            _ => {}
        }
        Ok(())
    }
}

/// The text that a denied call is answered with.
fn denied(reason: &str) -> Said {
    Said::Denied(match reason.trim() {
        "" => "The call was denied.".to_owned(),
        _ => format!("The call was denied: {reason}"),
    })
}

/// The call that a hook looks at, if it looks at one.
fn call_of(hook: &HookRun) -> Option<String> {
    if !matches!(hook.point, HookPoint::BeforeTool | HookPoint::AfterTool) {
        return None;
    }
    let told: Value = serde_json::from_str(hook.payload.text()).ok()?;
    Some(told["call_id"].as_str()?.to_owned())
}

/// The hook behind a call is shown what came of it.
fn check_payload(hook: &HookRun, call: &Call, ends: &[CallEnd]) -> Result<(), String> {
    let Some(end) = ends.iter().find(|end| end.agent == call.0 && end.call_id == call.1) else {
        return Err(format!("a hook looks at what came of {call:?}, which is not over"));
    };
    let told: Value = serde_json::from_str(hook.payload.text()).unwrap();
    let (text, is_error) = (end.outcome.joined_text(), end.outcome.error.is_some());
    let is_told = told["text"].as_str() == Some(&text) && told["is_error"] == is_error;
    require(is_told, || format!("{call:?} came to {text:?}, and a hook is shown {told}"))
}

/// A final answer stands only if its call does.
fn check_final_answer(seen: &Seen<'_>) -> Result<(), String> {
    for event in seen.outputs.events() {
        let EventKind::FinalAnswer { .. } = event.kind else { continue };
        let turns = seen.turns(event.agent).iter().rev();
        let mut newest = turns.skip_while(|turn| !matches!(turn.kind, TurnKind::ToolResults(_)));
        let (results, reply) = match (newest.next().map(|turn| &turn.kind), newest.next()) {
            (
                Some(TurnKind::ToolResults(results)),
                Some(Turn { kind: TurnKind::Assistant(reply), .. }),
            ) => (results, reply),
            _ => return Err("the final answer stands, and nothing was called".into()),
        };
        let mut calls = reply.tool_calls().zip(results);
        let is_given = calls.any(|(call, result)| call.name == "final_answer" && !result.is_error);
        require(is_given, || "the final answer stands, and its call does not".into())?;
    }
    Ok(())
}
