//! What a snapshot says of an open round: where each call stands. The calls are those of the reply
//! before, and what they ask for follows from their arguments.

use super::error::RestoreError;
use crate::{
    base::{
        id::{AgentId, EffectId},
        time::Instant,
    },
    machine::{
        agent::Agent,
        pipeline::{self, Ran, Work},
        round::Round,
        setup::Setup,
        tool_call::{RoundCall, State},
    },
    profile::inner::InnerCall,
    types::{
        action::{Action, Outcome},
        message::{Part, ToolCall, ToolResult},
        tool::{Job, ToolRun},
    },
};
use alloc::{borrow::Cow, string::String, sync::Arc, vec::Vec};
use innerloop_json::{FromJson, ToJson};

/// A call of an open round.
#[derive(ToJson, FromJson)]
pub(super) struct ToolCallForm<'a> {
    /// Its arguments, where they are not those that the model gave.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub(super) arguments: Option<Cow<'a, str>>,
    /// When the host was given its run, until that is over; forms of before did not say it.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub(super) since: Option<Instant>,
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
        /// What the guard made of the run when it was launched: the files that the model knows
        /// may be others by now.
        #[json(default, skip_serializing_if = "GuardForm::is_nothing")]
        guard: GuardForm<'a>,
    },
    Waiting {
        child: AgentId,
        #[json(default, skip_serializing_if = "Option::is_none")]
        until: Option<Instant>,
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

/// What a run may not do to files that the model does not know.
#[derive(Default, ToJson, FromJson)]
#[json(default)]
pub(super) struct GuardForm<'a> {
    #[json(skip_serializing_if = "core::ops::Not::not")]
    only_new: bool,
    unread: Cow<'a, [String]>,
}

impl<'a> GuardForm<'a> {
    pub(super) fn of(run: &'a ToolRun) -> Self {
        match &run.job {
            Job::Builtin(Action::Write { only_new, .. }) => {
                Self { only_new: *only_new, unread: Cow::default() }
            }
            Job::Builtin(Action::Patch { unread, .. }) => {
                Self { only_new: false, unread: Cow::Borrowed(unread) }
            }
            _ => Self::default(),
        }
    }

    pub(super) fn into_owned(self) -> GuardForm<'static> {
        let unread = Cow::Owned(self.unread.into_owned());
        GuardForm { only_new: self.only_new, unread }
    }

    fn is_nothing(&self) -> bool {
        !self.only_new && self.unread.is_empty()
    }

    fn applied(self, run: &mut ToolRun) {
        match &mut run.job {
            Job::Builtin(Action::Write { only_new, .. }) => *only_new = self.only_new,
            Job::Builtin(Action::Patch { unread, .. }) => *unread = self.unread.into_owned(),
            _ => {}
        }
    }
}

/// The calls of an agent's open round.
pub(super) fn forms<'a>(round: &'a Round, agent: &Agent) -> Vec<ToolCallForm<'a>> {
    let made = agent.body.history.open_calls();
    let forms = round.calls.iter().zip(made).map(|(call, made)| {
        let made = pipeline::with_json_arguments(made.clone(), &agent.setup);
        let is_same = call.tool_call.arguments == made.arguments;
        ToolCallForm {
            arguments: (!is_same).then_some(Cow::Borrowed(&*call.tool_call.arguments)),
            since: call.since,
            state: ToolCallStateForm::of(&call.state),
        }
    });
    forms.collect()
}

/// An agent's open round.
pub(super) fn restored(forms: Vec<ToolCallForm<'_>>, agent: &Agent) -> Result<Round, RestoreError> {
    let made: Vec<&ToolCall> = agent.body.history.open_calls().collect();
    if made.len() != forms.len() || forms.is_empty() {
        return Err(RestoreError::damaged("the calls of a round are not those of the reply"));
    }
    let calls = forms.into_iter().zip(made).map(|(form, made)| {
        let call = pipeline::with_json_arguments(made.clone(), &agent.setup);
        form.restored(call, &agent.setup)
    });
    Ok(Round { calls: calls.collect::<Result<_, _>>()? })
}

impl ToolCallForm<'_> {
    fn restored(self, mut tool_call: ToolCall, setup: &Setup) -> Result<RoundCall, RestoreError> {
        if let Some(arguments) = self.arguments {
            tool_call.arguments = arguments.into_owned();
        }
        let damaged = || RestoreError::damaged("an open call does not fit its tool");
        let work = || pipeline::prepare(&tool_call, setup).map_err(|_| damaged());
        let state = match self.state {
            ToolCallStateForm::Stopped => State::Stopped,
            ToolCallStateForm::Hooked { effect } => State::Hooked { effect, work: work()? },
            ToolCallStateForm::Asking { effect } => State::Asking { effect, work: work()? },
            ToolCallStateForm::Queued => State::Queued(work()?),
            ToolCallStateForm::Running { effect, guard } => {
                let Work::Run { mut run, mode, .. } = work()? else { return Err(damaged()) };
                guard.applied(&mut run.run);
                State::Running { effect, run: run.launch(), mode }
            }
            ToolCallStateForm::Waiting { child, until } => State::Waiting { child, until },
            ToolCallStateForm::Question { effect } => match work()? {
                Work::Inner(InnerCall::Ask { question }) => State::Question { effect, question },
                _ => return Err(damaged()),
            },
            ToolCallStateForm::After { effect, outcome } => {
                let outcome = Arc::new(outcome.into_owned());
                let ran = match work()? {
                    Work::Run { run, .. } => Ran::Tool(run.launch()),
                    Work::Inner(InnerCall::Answer(answer)) => Ran::Answer(answer),
                    Work::Inner(_) => Ran::Nothing,
                };
                State::After { effect, outcome, ran }
            }
            ToolCallStateForm::Done { parts, is_error } => {
                let (call_id, parts) = (tool_call.id.clone(), parts.into_owned());
                State::Done(ToolResult { call_id, parts, is_error })
            }
        };
        let announced = !matches!(
            state,
            State::Stopped | State::Hooked { .. } | State::Asking { .. } | State::Queued(_)
        );
        Ok(RoundCall { tool_call, state, announced, since: self.since })
    }
}

impl<'a> ToolCallStateForm<'a> {
    fn of(state: &'a State) -> Self {
        match state {
            State::Stopped => Self::Stopped,
            State::Hooked { effect, .. } => Self::Hooked { effect: *effect },
            State::Asking { effect, .. } => Self::Asking { effect: *effect },
            State::Queued(_) => Self::Queued,
            State::Running { effect, run, .. } => {
                Self::Running { effect: *effect, guard: GuardForm::of(&run.run) }
            }
            State::Waiting { child, until } => Self::Waiting { child: *child, until: *until },
            State::Question { effect, .. } => Self::Question { effect: *effect },
            State::After { effect, outcome, .. } => {
                Self::After { effect: *effect, outcome: Cow::Borrowed(outcome) }
            }
            State::Done(ToolResult { parts, is_error, .. }) => {
                Self::Done { parts: Cow::Borrowed(parts), is_error: *is_error }
            }
        }
    }
}
