//! The people and hooks that a host has, and the answers where it has none. The driver gives these
//! at once, so that a session never waits for a person who is not there; the model reads why.

use alloc::{string::String, vec::Vec};
use innerloop_core::{
    config::HookPoint,
    id::EffectId,
    input::{Answer, HookReply, Input},
    output::{Ask, HookRun},
};

/// The text that the model reads if a call needs approval and nobody is there.
pub const NOBODY_APPROVES: &str = "\
    it needs a person's approval, and nobody is here to give it; go on without it, or say what \
    you would need it for";

/// The people and hooks that a session can ask.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostCapabilities {
    /// True if somebody approves or denies calls.
    pub approve: bool,
    /// True if somebody answers the model's questions.
    pub answer: bool,
    /// The points of the loop for which the host has a hook.
    pub hooks: Vec<HookPoint>,
}

impl HostCapabilities {
    /// Returns the answer to a question that nobody is there to answer; `None` if somebody is.
    pub(crate) fn absent(&self, id: EffectId, ask: &Ask) -> Option<Input> {
        let (is_there, reason) = match ask {
            Ask::Approval { .. } => (self.approve, NOBODY_APPROVES),
            Ask::Question { .. } | Ask::Elicitation { .. } => (
                self.answer,
                "nobody is here to answer; decide for yourself, and say what you have assumed",
            ),
        };
        (!is_there).then(|| Input::Answer { id, answer: Answer::nobody(reason) })
    }

    /// Returns the reply for a point at which the host has no hook; `None` if it has one.
    pub(crate) fn unhooked(&self, id: EffectId, hook: &HookRun) -> Option<Input> {
        // A failure and not `Allow`: a hook that the configuration asks for may guard something,
        // and `hooks.fail_closed` decides what its absence means.
        let reply = || HookReply::Failed { message: String::from("this host has no such hook") };
        (!self.hooks.contains(&hook.point)).then(|| Input::Hook { id, reply: reply() })
    }
}
