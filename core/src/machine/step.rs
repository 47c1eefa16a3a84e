//! The steps of the loop, as data: a function that takes one returns the next, and `table` goes on
//! until one is to wait. No step takes the next one itself, so that the whole loop can be read in
//! that table.

use super::{
    agent_state::UserInput,
    last_reply::RunFailure,
    model_call::ReplyTiming,
    phase::{HookContinuation, PendingHook, Phase},
    route::Route,
};
use alloc::{boxed::Box, string::String, sync::Arc, vec::Vec};
use innerloop_types::{
    id::EffectId,
    message::{Reply, ToolCall},
    status::RunEnd,
};
use innerloop_wire::ModelCallError;

/// A step of the loop.
#[derive(Debug)]
pub(crate) enum AgentStep {
    /// The agent waits in that phase for what happens next.
    Wait(Phase),
    /// An input of the user is shown to the hook and enters the history.
    TakeInput(UserInput),
    /// The model is called for the next reply, once the conversation is short enough.
    Call,
    /// The model is called with the conversation as it is.
    CallAsItIs,
    /// The request goes out.
    Send,
    /// A reply is whole that came over that route.
    TakeReply(Reply, Arc<Route>, ReplyTiming),
    /// The reply is asked for once more.
    CallAgain,
    /// The reply's calls run.
    RunCalls(Vec<ToolCall>),
    /// The reply's calls are answered with that text: none may run.
    RefuseCalls(Vec<ToolCall>, &'static str),
    /// All results of the round are in the history.
    EndRound,
    /// The model call has failed for good: a conversation that is too long may be made shorter.
    Recover(ModelCallError),
    /// The model call has failed, and a shorter conversation does not help.
    GiveIn(ModelCallError),
    /// The model is done.
    Stop,
    /// The last reply of the run is no success.
    StopShort(RunFailure),
    /// The final answer stands.
    Answer(String),
    /// The input is done: the next one follows, or the run is over.
    NextInput,
    /// The run ends, once the host's hook has let out what it has come to.
    End(RunEnd),
    /// The run ends now.
    Finish(RunEnd),
    /// The run fails.
    Fail(ModelCallError),
    /// The work that the host had asked for outside of a run is over: what was said meanwhile
    /// follows.
    Rest,
    /// A person stops the run.
    Interrupt(Phase),
    /// The agent closes, once what is open has answered.
    Shut,
}

impl AgentStep {
    /// Returns the step to wait for a hook, after which `then` follows.
    pub(super) fn hooked(effect: EffectId, then: HookContinuation) -> Self {
        Self::Wait(Phase::Hooked(Box::new(PendingHook { effect, then })))
    }

    /// Returns the name that it has in `docs/architecture.md`.
    #[cfg(feature = "seams")]
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Wait(phase) => phase.name(),
            Self::TakeInput(_) => "TakeInput",
            Self::Call => "Call",
            Self::CallAsItIs => "CallAsItIs",
            Self::Send => "Send",
            Self::TakeReply(..) => "TakeReply",
            Self::CallAgain => "CallAgain",
            Self::RunCalls(_) => "RunCalls",
            Self::RefuseCalls(..) => "RefuseCalls",
            Self::EndRound => "EndRound",
            Self::Recover(_) => "Recover",
            Self::GiveIn(_) => "GiveIn",
            Self::Stop => "Stop",
            Self::StopShort(_) => "StopShort",
            Self::Answer(_) => "Answer",
            Self::NextInput => "NextInput",
            Self::End(_) => "End",
            Self::Finish(_) => "Finish",
            Self::Fail(_) => "Fail",
            Self::Rest => "Rest",
            Self::Interrupt(_) => "Interrupt",
            Self::Shut => "Shut",
        }
    }
}
