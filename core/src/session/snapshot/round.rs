//! The form of an open round in a snapshot: where each call stands. The calls themselves are those
//! of the reply before, and what they ask for is read from their arguments again, so that neither
//! is stored twice.

use super::error::RestoreError;
use crate::{
    machine::{
        agent::Agent,
        child_wait::ChildWait,
        pipeline::{self, CallExecution, ToolTask},
        round::ToolRound,
        setup::AgentSetup,
        tool_call::{RoundCall, ToolCallState},
    },
    profile::inner::InnerCall,
};
use alloc::{borrow::Cow, string::String, sync::Arc, vec::Vec};
use innerloop_json::{FromJson, FromJsonCow, IntoList, ToJson};
use innerloop_types::{
    action::Outcome,
    id::{AgentId, EffectId},
    message::{Part, ToolCall, ToolResult},
    time::SessionInstant,
};

/// A call of an open round.
#[derive(ToJson, FromJson)]
pub(super) struct ToolCallForm<'a> {
    /// The arguments, where they differ from what the model gave.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub(super) arguments: Option<Cow<'a, str>>,
    /// The time when the host was given its run, until that is over; earlier forms did not give it.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub(super) since: Option<SessionInstant>,
    pub(super) state: ToolCallStateForm<'a>,
}

#[derive(ToJson, FromJson)]
#[json(tag = "type", rename_all = "snake_case")]
pub(super) enum ToolCallStateForm<'a> {
    Stopped,
    Hooked {
        effect: EffectId,
    },
    Asking {
        effect: EffectId,
    },
    Queued,
    Running {
        effect: EffectId,
        /// `ToolRun::known` when it was launched: the model may know more by now.
        #[json(default, skip_serializing_if = "Option::is_none")]
        known: Option<Cow<'a, [Option<String>]>>,
    },
    Waiting {
        /// The agent of earlier forms, which had one only.
        #[json(default, skip_serializing_if = "Option::is_none")]
        child: Option<AgentId>,
        #[json(default)]
        children: Cow<'a, [AgentId]>,
        #[json(default, skip_serializing_if = "has_none")]
        faults: Cow<'a, [String]>,
        #[json(default, skip_serializing_if = "Option::is_none")]
        until: Option<SessionInstant>,
        #[json(default, skip_serializing_if = "core::ops::Not::not")]
        batch: bool,
    },
    Question {
        effect: EffectId,
    },
    After {
        effect: EffectId,
        outcome: Cow<'a, Outcome>,
    },
    Done {
        parts: Cow<'a, [Part]>,
        is_error: bool,
    },
}

const fn has_none(faults: &[String]) -> bool {
    faults.is_empty()
}

/// Returns the forms of the calls of an agent's open round.
pub(super) fn forms<'a>(round: &'a ToolRound, agent: &Agent) -> Vec<ToolCallForm<'a>> {
    let made = agent.body.history.open_calls();
    let forms = round.calls.iter().zip(made).map(|(call, made)| {
        let made = pipeline::with_own_arguments(made.clone(), &agent.setup);
        // Compared in the form in which the round has them, so that only edits are stored.
        let is_same = call.tool_call.arguments == made.arguments;
        ToolCallForm {
            arguments: (!is_same).then_some(Cow::Borrowed(&*call.tool_call.arguments)),
            since: call.since,
            state: ToolCallStateForm::of(&call.state),
        }
    });
    forms.into_list()
}

/// Returns an agent's open round.
pub(super) fn restored(
    forms: Vec<ToolCallForm<'_>>,
    agent: &Agent,
) -> Result<ToolRound, RestoreError> {
    let made: Vec<&ToolCall> = agent.body.history.open_calls().into_list();
    if made.len() != forms.len() || forms.is_empty() {
        return Err(RestoreError::damaged("the calls of a round are not those of the reply"));
    }
    let mut calls = Vec::with_capacity(forms.len());
    for (form, made) in forms.into_iter().zip(made) {
        let call = pipeline::with_own_arguments(made.clone(), &agent.setup);
        calls.push(form.restored(call, &agent.setup)?);
    }
    Ok(ToolRound { calls })
}

impl ToolCallForm<'_> {
    fn restored(
        self,
        mut tool_call: ToolCall,
        setup: &AgentSetup,
    ) -> Result<RoundCall, RestoreError> {
        if let Some(arguments) = self.arguments {
            tool_call.arguments = arguments.into_owned();
        }
        let damaged = || RestoreError::damaged("an open call does not fit its tool");
        let work = || pipeline::prepare(&tool_call, setup).map_err(|_| damaged());
        let state = match self.state {
            ToolCallStateForm::Stopped => ToolCallState::Stopped,
            ToolCallStateForm::Hooked { effect } => ToolCallState::Hooked { effect, work: work()? },
            ToolCallStateForm::Asking { effect } => ToolCallState::Asking { effect, work: work()? },
            ToolCallStateForm::Queued => ToolCallState::Queued(work()?),
            ToolCallStateForm::Running { effect, known } => {
                let ToolTask::Run { mut run, mode, .. } = work()? else { return Err(damaged()) };
                // As launched: what is owed must be the same run, whatever the model has read
                // since.
                run.run.known = known.map(FromJsonCow::read_value);
                ToolCallState::Running { effect, run: run.launch(), mode }
            }
            ToolCallStateForm::Waiting { child, children, faults, until, batch } => {
                let mut agents = FromJsonCow::read_value(children);
                agents.extend(child);
                let faults = FromJsonCow::read_value(faults);
                let (is_batch, is_late) = (batch, false);
                ToolCallState::Waiting(ChildWait { agents, faults, until, is_batch, is_late })
            }
            ToolCallStateForm::Question { effect } => match work()? {
                ToolTask::Inner(InnerCall::Ask { question }) => {
                    ToolCallState::Question { effect, question }
                }
                _ => return Err(damaged()),
            },
            ToolCallStateForm::After { effect, outcome } => {
                let outcome = Arc::new(FromJsonCow::read_value(outcome));
                let ran = match work()? {
                    ToolTask::Run { run, .. } => CallExecution::Tool(run.launch()),
                    ToolTask::Inner(InnerCall::Answer(answer)) => CallExecution::Answer(answer),
                    ToolTask::Inner(_) => CallExecution::Nothing,
                };
                ToolCallState::After { effect, outcome, ran }
            }
            ToolCallStateForm::Done { parts, is_error } => {
                let (call_id, parts) = (tool_call.id.clone(), FromJsonCow::read_value(parts));
                ToolCallState::Done(ToolResult { call_id, parts, is_error })
            }
        };
        // A call is announced when it leaves these states, so that the mark need not be stored.
        let announced = !matches!(
            state,
            ToolCallState::Stopped
                | ToolCallState::Hooked { .. }
                | ToolCallState::Asking { .. }
                | ToolCallState::Queued(_)
        );
        Ok(RoundCall { tool_call, state, announced, since: self.since })
    }
}

impl<'a> ToolCallStateForm<'a> {
    fn of(state: &'a ToolCallState) -> Self {
        match state {
            ToolCallState::Stopped => Self::Stopped,
            ToolCallState::Hooked { effect, .. } => Self::Hooked { effect: *effect },
            ToolCallState::Asking { effect, .. } => Self::Asking { effect: *effect },
            ToolCallState::Queued(_) => Self::Queued,
            ToolCallState::Running { effect, run, .. } => {
                let known = run.run.known.as_deref().map(Cow::Borrowed);
                Self::Running { effect: *effect, known }
            }
            ToolCallState::Waiting(wait) => Self::Waiting {
                child: None,
                children: Cow::Borrowed(&wait.agents),
                faults: Cow::Borrowed(&wait.faults),
                until: wait.until,
                batch: wait.is_batch,
            },
            ToolCallState::Question { effect, .. } => Self::Question { effect: *effect },
            ToolCallState::After { effect, outcome, .. } => {
                Self::After { effect: *effect, outcome: Cow::Borrowed(outcome) }
            }
            ToolCallState::Done(ToolResult { parts, is_error, .. }) => {
                Self::Done { parts: Cow::Borrowed(parts), is_error: *is_error }
            }
        }
    }
}
