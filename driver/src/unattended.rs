//! Who answers the questions of a session, and what the model reads where nobody does.

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
    /// True if somebody says which calls may run.
    pub approve: bool,
    /// True if somebody answers the model's questions.
    pub answer: bool,
    /// The points of the loop for which the host has a hook.
    pub hooks: Vec<HookPoint>,
}

impl HostCapabilities {
    /// The answer where nobody is there to give one.
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

    /// The reply for a point at which the host has no hook.
    pub(crate) fn unhooked(&self, id: EffectId, hook: &HookRun) -> Option<Input> {
        let reply = || HookReply::Failed { message: String::from("this host has no such hook") };
        (!self.hooks.contains(&hook.point)).then(|| Input::Hook { id, reply: reply() })
    }
}
