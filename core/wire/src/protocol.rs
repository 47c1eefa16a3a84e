//! The parts of a model protocol. Each protocol implements [`WireProtocol`]; sessions reach it
//! through an enum, so that nothing is called through a pointer. [`AbsentWire`] stands in for a
//! protocol that a build was made without.

use super::{
    body::BareJsonMode,
    failure::{FailureKind, ModelCallError},
    head::RequestHead,
    lenient::{Error, ValueRef},
    sink::PieceSink,
};
use alloc::{string::String, vec, vec::Vec};
use core::fmt::Debug;
use innerloop_types::{
    input::ResponseHead,
    message::{Reply, VisibleTurn},
    model::ModelConfig,
    tool::ToolSpec,
};

/// A model protocol.
pub(crate) trait WireProtocol {
    /// The meaning of JSON without server-sent events around it.
    const BARE: BareJsonMode;

    type Prefix: WirePrefix;
    type Accumulator: WireAccumulator;

    fn head(model: &ModelConfig, system: &str, tools: &[&ToolSpec]) -> RequestHead;

    /// Returns the path below the endpoint's base URL.
    fn path(model: &ModelConfig) -> String;

    /// Returns the headers that are not secret. The host adds the others.
    fn headers(_model: &ModelConfig) -> Vec<(String, String)> {
        vec![("content-type".into(), "application/json".into())]
    }
}

/// The encoded turns of a conversation.
pub(crate) trait WirePrefix: Clone + Debug {
    fn new(model: &ModelConfig) -> Self;

    fn push(&mut self, said: &VisibleTurn<'_>);

    /// Returns the body of a request. Protocols whose providers keep a cache by name put
    /// `cache_key` in it.
    fn body(&self, head: &RequestHead, cache_key: &str) -> String;
}

/// A reply while it arrives.
pub(crate) trait WireAccumulator: Debug + Default {
    /// Takes an event, which is a JSON object.
    fn on_event(&mut self, event: ValueRef<'_>, head: &ResponseHead, out: &mut PieceSink);

    /// Takes data that is not an object, such as `[DONE]` or words; with `error`, data that begins
    /// like an object but is not JSON.
    fn on_odd_data(
        &mut self,
        text: &str,
        error: Option<&Error>,
        head: &ResponseHead,
        out: &mut PieceSink,
    );

    /// Takes a whole body. Returns whether it is a reply.
    fn on_whole(
        &mut self,
        _body: ValueRef<'_>,
        _head: &ResponseHead,
        _out: &mut PieceSink,
    ) -> bool {
        // Where bare JSON has the shape of a stream's data (`BareJsonMode::Values`), only errors
        // and pages arrive as a whole body.
        false
    }

    /// Notes that the data came as bare JSON whose first value stood in no array.
    fn bare(&mut self) {}

    /// Ends the reply here: what has come is all of it, and it counts as cut.
    fn cut(&mut self);

    /// Returns whether the terminal marker or an error has come, so that nothing that follows
    /// counts.
    fn is_whole(&self) -> bool;

    /// Returns the reply of a body whose data has been handed out.
    fn finish(&mut self) -> Result<Reply, ModelCallError>;
}

/// Stands in for a protocol that this build was made without. A configuration that asks for it is
/// refused, so that no session reaches it; a decoder alone reports it.
#[derive(Clone, Debug, Default)]
pub(crate) struct AbsentWire;

impl WireProtocol for AbsentWire {
    const BARE: BareJsonMode = BareJsonMode::Whole;

    type Prefix = Self;
    type Accumulator = Self;

    fn head(_: &ModelConfig, _: &str, _: &[&ToolSpec]) -> RequestHead {
        RequestHead { before: String::new(), mark: None, after: String::new() }
    }

    fn path(_: &ModelConfig) -> String {
        String::new()
    }

    fn headers(_: &ModelConfig) -> Vec<(String, String)> {
        Vec::new()
    }
}

impl WirePrefix for AbsentWire {
    fn new(_: &ModelConfig) -> Self {
        Self
    }

    fn push(&mut self, _: &VisibleTurn<'_>) {}

    fn body(&self, _: &RequestHead, _: &str) -> String {
        String::new()
    }
}

impl WireAccumulator for AbsentWire {
    fn on_event(&mut self, _: ValueRef<'_>, _: &ResponseHead, _: &mut PieceSink) {}

    fn on_odd_data(&mut self, _: &str, _: Option<&Error>, _: &ResponseHead, _: &mut PieceSink) {}

    fn cut(&mut self) {}

    fn is_whole(&self) -> bool {
        false
    }

    fn finish(&mut self) -> Result<Reply, ModelCallError> {
        // Only another build can speak the protocol, so the failure is of a kind that is never
        // retried.
        Err(ModelCallError::new(FailureKind::Host, "this build does not speak the protocol"))
    }
}
