//! The pieces of a reply that a decoder hands out while it arrives. People watch them; what follows
//! from a reply follows from the whole reply alone.

use alloc::{boxed::Box, string::String};

/// A piece of a reply while it arrives, for people to watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplyPiece {
    /// The provider began anew: what came before does not count.
    Restart,
    /// More text.
    Text(String),
    /// More thinking.
    Reasoning(String),
    /// A call begins, or more of its arguments.
    Call(Box<CallPiece>),
}

/// More of a call, before it is whole: nothing may follow from it but what is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallPiece {
    /// Tells the calls of a reply apart.
    pub index: usize,
    /// The call's id as far as it has come. The whole call may have another one.
    pub id: String,
    /// The tool's name as far as it has come.
    pub name: String,
    /// The new piece of the arguments' JSON text; empty where the call begins.
    pub text: String,
}

impl ReplyPiece {
    /// Appends the text of a later piece, if both are of one kind and, of calls, of the same one.
    /// Returns whether they are.
    pub(super) fn join(&mut self, next: &Self) -> bool {
        match (self, next) {
            (Self::Text(text), Self::Text(next))
            | (Self::Reasoning(text), Self::Reasoning(next)) => {
                text.push_str(next);
            }
            (Self::Call(call), Self::Call(next)) if call.index == next.index => {
                call.text.push_str(&next.text);
            }
            _ => return false,
        }
        true
    }

    /// Returns the text that the piece adds.
    pub const fn text(&self) -> &str {
        match self {
            Self::Restart => "",
            Self::Text(text) | Self::Reasoning(text) => text.as_str(),
            Self::Call(piece) => piece.text.as_str(),
        }
    }
}
