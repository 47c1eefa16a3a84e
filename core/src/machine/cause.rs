//! The causes for which an agent moves: a command of the host, news of an open effect, a message of
//! another agent, or time. Admission has checked each of them, so that `table` treats one that does
//! not fit the phase as a fault of our own.

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
    /// A message of the agent that started this one.
    Told {
        parts: Vec<Part>,
        options: Option<Box<TurnOptions>>,
    },
    /// The run of an agent that this one started is over.
    ChildEnded(AgentId),
    /// A cancelled effect has answered, or its grace is over.
    Settled,
    /// The time limit of the run is reached.
    TimeUp,
    /// Time has passed.
    Tick,
}

/// A command of the host to an agent.
#[derive(Debug)]
pub(crate) enum AgentCommand {
    Submit(UserInput),
    Steer(Vec<Part>),
    FollowUp(UserInput),
    Import(Vec<Turn>),
    Interrupt,
    Close,
    /// Make the conversation shorter; the text says what the summary should focus on.
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
    /// Returns the name that it has in `docs/architecture.md`.
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
    /// Returns the input that the command came in: a refused one goes back to the host whole.
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
    /// Returns the input that they came in.
    pub(crate) fn into_input(self, id: EffectId) -> Input {
        match self {
            Self::Http(input) => Input::Http { id, input },
            Self::Tool(input) => Input::Tool { id, input },
            Self::Answer(answer) => Input::Answer { id, answer },
            Self::Hook(reply) => Input::Hook { id, reply },
            Self::Lost => Input::Lost { id },
        }
    }

    /// Returns the kind of effect that they can be news of; `None` if it can be any.
    pub(crate) const fn kind(&self) -> Option<EffectKind> {
        match self {
            Self::Http(_) => Some(EffectKind::Http),
            Self::Tool(_) => Some(EffectKind::Tool),
            Self::Answer(_) => Some(EffectKind::Ask),
            Self::Hook(_) => Some(EffectKind::Hook),
            // A host that was restarted reports open effects as lost, of whatever kind they are.
            Self::Lost => None,
        }
    }

    /// Returns whether they are the terminal answer to the effect.
    pub(crate) const fn is_terminal(&self) -> bool {
        match self {
            Self::Http(input) => input.is_terminal(),
            Self::Tool(input) => matches!(input, ToolInput::Done(_)),
            Self::Answer(_) | Self::Hook(_) | Self::Lost => true,
        }
    }
}
