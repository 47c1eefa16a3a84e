//! Who may say what and when: the checks that refuse an input before anything has changed.

use super::{Session, accepted::Accepted};
use crate::{
    base::id::{AgentId, EffectId},
    machine::{
        ledger::{EffectKind, Entry, Lookup},
        phase::Phase,
        setup::Setup,
    },
    types::{
        config::ConfigPatch,
        input::{Command, HttpInput, Input, Reason, ToolInput},
        message::Part,
    },
};
use alloc::sync::Arc;

impl Session {
    pub(super) fn check(&self, input: &Input) -> Result<Accepted, Reason> {
        let kind = match input {
            Input::Command { agent, command } => return self.check_command(*agent, command),
            Input::Tick => return Ok(Accepted::Tick),
            Input::Http { .. } => Some(EffectKind::Http),
            Input::Tool { .. } => Some(EffectKind::Tool),
            Input::Answer { .. } => Some(EffectKind::Ask),
            Input::Hook { .. } => Some(EffectKind::Hook),
            Input::Lost { .. } => None,
        };
        let (Input::Http { id, .. }
        | Input::Tool { id, .. }
        | Input::Answer { id, .. }
        | Input::Hook { id, .. }
        | Input::Lost { id }) = input
        else {
            return Ok(Accepted::Tick);
        };
        let Some(entry) = self.find(*id)? else { return Ok(Accepted::Late) };
        if kind.is_some_and(|kind| kind != entry.kind) {
            return Err(Reason::WrongKind(*id));
        }
        match input {
            Input::Http { input, .. } => self.check_http(*id, entry, input),
            Input::Tool { input: ToolInput::Parked { .. }, .. } => {
                Err(Reason::Unsupported("background runs are not offered"))
            }
            _ => Ok(Accepted::Answer(entry)),
        }
    }

    /// The entry of an open effect, nothing for a settled one.
    fn find(&self, id: EffectId) -> Result<Option<Entry>, Reason> {
        match self.ledger.lookup(id) {
            Lookup::Never => Err(Reason::UnknownEffect(id)),
            Lookup::Settled => Ok(None),
            Lookup::Open(entry) => Ok(Some(entry)),
        }
    }

    fn check_command(&self, id: AgentId, command: &Command) -> Result<Accepted, Reason> {
        let agent = self.agent(id).ok_or(Reason::UnknownAgent(id))?;
        let is_over = |phase: &Phase| matches!(phase, Phase::Closing | Phase::Closed);
        if is_over(&agent.phase) || is_over(&self.root.phase) {
            return Err(Reason::Closed);
        }
        match command {
            Command::Submit { .. } if !matches!(agent.phase, Phase::Idle) => Err(Reason::Busy),
            Command::Submit { parts } | Command::Steer { parts } | Command::FollowUp { parts }
                if parts.iter().all(is_blank) =>
            {
                Err(Reason::Empty)
            }
            Command::Configure { .. } if id != AgentId::ROOT => {
                Err(Reason::Unsupported("the configuration is the session's: give it to agent 0"))
            }
            Command::Configure { patch } => self.check_patch(patch),
            _ => Ok(Accepted::Command),
        }
    }

    fn check_patch(&self, patch: &ConfigPatch) -> Result<Accepted, Reason> {
        match Setup::new(self.root.setup.patched(patch)) {
            Ok(setup) => Ok(Accepted::Patch(Arc::new(setup))),
            Err(error) => Err(Reason::Config(error.field)),
        }
    }

    fn check_http(
        &self,
        id: EffectId,
        entry: Entry,
        input: &HttpInput,
    ) -> Result<Accepted, Reason> {
        match self.agent(entry.agent).map(|agent| &agent.phase) {
            Some(Phase::Calling(calling)) if !calling.accepts(id, input) => {
                Err(Reason::OutOfOrder(id))
            }
            _ => Ok(Accepted::Answer(entry)),
        }
    }
}

fn is_blank(part: &Part) -> bool {
    part.as_text().is_some_and(|text| text.trim().is_empty())
}
