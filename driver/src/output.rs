//! The outputs of a driver: lines to store, effects to carry out and events to report, in the
//! order in which a host must take them.

use crate::endpoints::EndpointRequest;
use alloc::{string::String, sync::Arc, vec::Vec};
use innerloop_core::{
    event::Event,
    id::{AgentId, EffectId},
    output::{Ask, HookRun},
    tool::ToolRun,
};

/// All that follows from one input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "what is not carried out leaves the session waiting"]
pub struct DriverOutputBatch {
    /// Lines of the session's log. They must be durable before anything else here is done.
    pub log: String,
    /// A line of the log with the session's present state, to be written behind those of `log`;
    /// present whenever the session becomes idle. The lines between the log's first and this one
    /// may then be dropped.
    pub snapshot: Option<String>,
    /// Lines of the recording, to be written before anything of `list` is done.
    pub recording: String,
    /// Effects to carry out and events to report, in order.
    pub list: Vec<DriverOutput>,
}

/// An event to report or an effect to carry out. The host owes each effect but a cancellation one
/// terminal answer under its id; if it cannot give one,
/// [`Input::Lost`](innerloop_core::input::Input::Lost) takes its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DriverOutput {
    /// Report an event to whoever watches.
    Event(Event),
    /// Send a request, without following redirects, and report the response as
    /// [`HttpInput`](innerloop_core::input::HttpInput)s.
    Send {
        /// Its id.
        id: EffectId,
        /// The request, whole.
        request: EndpointRequest,
    },
    /// Run a tool and report it as [`ToolInput`](innerloop_core::input::ToolInput)s.
    Run {
        /// Its id.
        id: EffectId,
        /// The agent that it belongs to.
        agent: AgentId,
        /// The run to carry out.
        run: Arc<ToolRun>,
    },
    /// Ask a person and report the [`Answer`](innerloop_core::input::Answer).
    Ask {
        /// Its id.
        id: EffectId,
        /// The agent that it belongs to.
        agent: AgentId,
        /// The question.
        ask: Ask,
    },
    /// Run a hook and report the [`HookReply`](innerloop_core::input::HookReply).
    Hook {
        /// Its id.
        id: EffectId,
        /// The agent that it belongs to.
        agent: AgentId,
        /// The hook to run.
        hook: HookRun,
    },
    /// Stop the effect with that id. A tool's run still owes its answer, with whatever it has done
    /// so far; no other effect does.
    Cancel {
        /// Its id.
        id: EffectId,
    },
}

impl DriverOutputBatch {
    /// Returns the events, in order.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.list.iter().filter_map(|output| match output {
            DriverOutput::Event(event) => Some(event),
            _ => None,
        })
    }
}
