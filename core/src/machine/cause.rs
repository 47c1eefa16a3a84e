//! The causes of all that an agent does: an order of the host, news of an open effect, a word of
//! another agent, or time.

use super::{agent_state::UserInput, ledger::EffectKind};
use alloc::{boxed::Box, string::String, vec::Vec};
use innerloop_types::{
    id::{AgentId, EffectId},
    input::{Answer, Command, HookReply, HttpInput, Input, ToolInput, TurnOptions},
    message::{Part, RewindReason, Turn},
};

/// A cause for an agent to move.
#[derive(Debug)]
pub(crate) enum TransitionCause {
    Order(AgentCommand),
    /// The model sees again what it saw when the log had `at` turns.
    Rewind {
        at: u32,
        why: RewindReason,
    },
    /// News of an effect that is open and not cancelled.
    News(EffectId, EffectUpdate),
    /// The agent that started this one, or the host, has told it something.
    Told {
        parts: Vec<Part>,
        options: Option<Box<TurnOptions>>,
    },
    /// The run of an agent that this one started is over.
    ChildEnded(AgentId),
    /// A cancelled effect has answered, or its grace is over.
    Settled,
    /// The time of the run is up.
    TimeUp,
    /// Time has passed.
    Tick,
}

/// A word of the host.
#[derive(Debug)]
pub(crate) enum AgentCommand {
    Submit(UserInput),
    Steer(Vec<Part>),
    FollowUp(UserInput),
    Import(Vec<Turn>),
    Interrupt,
    Close,
    /// Make the conversation shorter.
    Compact(Option<String>),
}

/// News of an open effect.
#[derive(Debug)]
pub(crate) enum EffectUpdate {
    Http(HttpInput),
    Tool(ToolInput),
    Answer(Answer),
    Hook(HookReply),
    /// The host does not know what became of it.
    Lost,
}

#[cfg(feature = "seams")]
impl TransitionCause {
    /// The name that it has in `docs/architecture.md`.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Order(AgentCommand::Submit(_)) => "Submit",
            Self::Order(AgentCommand::Steer(_)) => "Steer",
            Self::Order(AgentCommand::FollowUp(_)) => "FollowUp",
            Self::Order(AgentCommand::Import(_)) => "Import",
            Self::Order(AgentCommand::Interrupt) => "Interrupt",
            Self::Order(AgentCommand::Close) => "Close",
            Self::Order(AgentCommand::Compact(_)) => "Compact",
            Self::Rewind { .. } => "Rewind",
            Self::News(_, EffectUpdate::Http(_)) => "Http",
            Self::News(_, EffectUpdate::Tool(_)) => "Tool",
            Self::News(_, EffectUpdate::Answer(_)) => "Answer",
            Self::News(_, EffectUpdate::Hook(_)) => "Hook",
            Self::News(_, EffectUpdate::Lost) => "Lost",
            Self::Told { .. } => "Told",
            Self::ChildEnded(_) => "ChildEnded",
            Self::Settled => "Settled",
            Self::TimeUp => "TimeUp",
            Self::Tick => "Tick",
        }
    }
}

impl AgentCommand {
    /// The input that gave it.
    pub(crate) fn into_input(self, agent: AgentId) -> Input {
        let command = match self {
            Self::Submit(UserInput { parts, options }) => Command::Submit { parts, options },
            Self::Steer(parts) => Command::Steer { parts },
            Self::FollowUp(UserInput { parts, options }) => Command::FollowUp { parts, options },
            Self::Import(turns) => Command::Import { turns },
            Self::Interrupt => Command::Interrupt,
            Self::Close => Command::Close,
            Self::Compact(instructions) => Command::Compact { instructions },
        };
        Input::Command { agent, command }
    }
}

impl EffectUpdate {
    /// The input that told them.
    pub(crate) fn into_input(self, id: EffectId) -> Input {
        match self {
            Self::Http(input) => Input::Http { id, input },
            Self::Tool(input) => Input::Tool { id, input },
            Self::Answer(answer) => Input::Answer { id, answer },
            Self::Hook(reply) => Input::Hook { id, reply },
            Self::Lost => Input::Lost { id },
        }
    }

    /// The kind of effect that they can be news of; any if nothing.
    pub(crate) const fn kind(&self) -> Option<EffectKind> {
        match self {
            Self::Http(_) => Some(EffectKind::Http),
            Self::Tool(_) => Some(EffectKind::Tool),
            Self::Answer(_) => Some(EffectKind::Ask),
            Self::Hook(_) => Some(EffectKind::Hook),
            Self::Lost => None,
        }
    }

    /// Returns whether they answer the effect for good.
    pub(crate) const fn is_terminal(&self) -> bool {
        match self {
            Self::Http(input) => input.is_terminal(),
            Self::Tool(input) => matches!(input, ToolInput::Done(_)),
            Self::Answer(_) | Self::Hook(_) | Self::Lost => true,
        }
    }
}
