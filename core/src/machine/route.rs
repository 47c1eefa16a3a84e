//! The route to a model: which one, at which endpoint, and all of a request that does not change
//! from turn to turn. It is made once and shared by every call that takes it; a call under way
//! keeps its own, whatever is configured meanwhile.

use alloc::{string::String, sync::Arc, vec::Vec};
use innerloop_types::{
    config::{ModelConfig, ResponseLimits, TextCalls, ToolChoice},
    input::ResponseHead,
    model::ModelOrigin,
    tool::ToolSpec,
};
use innerloop_wire::{Decoder, RequestHead};

/// A route to a model.
#[derive(Debug)]
pub(crate) struct Route {
    /// The model and its endpoint.
    pub(crate) model: ModelConfig,
    /// The model and its endpoint, as replies name them.
    pub(crate) origin: Arc<ModelOrigin>,
    /// The system prompt.
    pub(crate) system: String,
    /// The tools as the model is shown them.
    pub(crate) tools: Vec<Arc<ToolSpec>>,
    head: RequestHead,
    /// The head with tools switched off, if a call may want it.
    head_without_tools: Option<RequestHead>,
}

/// The model's permission to use tools in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolAccess {
    On,
    Off,
}

impl Route {
    /// Encodes the head, and the one without tools if a call may want it.
    pub(crate) fn new(
        model: ModelConfig,
        system: String,
        tools: Vec<Arc<ToolSpec>>,
        may_mute: bool,
    ) -> Self {
        let specs = || tools.iter().map(|tool| &**tool);
        let head = RequestHead::new(&model, &system, specs());
        let head_without_tools = may_mute.then(|| {
            let model = ModelConfig { tool_choice: ToolChoice::None, ..model.clone() };
            RequestHead::new(&model, &system, specs())
        });
        let origin = Arc::new(model.origin());
        Self { model, origin, system, tools, head, head_without_tools }
    }

    /// Returns this route, or one with a head without tools where such a call needs it and this one
    /// has none.
    pub(crate) fn serving(self: Arc<Self>, tools: ToolAccess) -> Arc<Self> {
        // The head without tools is left out where no limit leads to a summary. The configuration
        // may have changed to one that does while the run is under way.
        if tools == ToolAccess::On || self.head_without_tools.is_some() {
            return self;
        }
        Arc::new(self.with(self.model.clone(), true))
    }

    /// Returns the route with twice the output limit, at most half of the window.
    pub(crate) fn grown(&self, tools: ToolAccess) -> Self {
        let mut model = self.model.clone();
        let most = (model.context_window / 2).max(model.max_output_tokens);
        model.max_output_tokens = model.max_output_tokens.saturating_mul(2).min(most);
        self.with(model, tools == ToolAccess::Off)
    }

    fn with(&self, model: ModelConfig, may_mute: bool) -> Self {
        Self::new(model, self.system.clone(), self.tools.clone(), may_mute)
    }

    /// Returns the head of a request.
    pub(crate) fn head(&self, tools: ToolAccess) -> &RequestHead {
        match (tools, &self.head_without_tools) {
            (ToolAccess::Off, Some(head)) => head,
            (ToolAccess::Off, None) | (ToolAccess::On, _) => &self.head,
        }
    }

    /// Returns whether both are made from the same parts and serve a call with such tools equally.
    pub(crate) fn is_made_like(&self, other: &Self, tools: ToolAccess) -> bool {
        let is_muted = |route: &Self| route.head_without_tools.is_some();
        core::ptr::eq(self, other)
            || (self.model == other.model
                && self.system == other.system
                && self.tools == other.tools
                && (tools == ToolAccess::On || is_muted(self) == is_muted(other)))
    }

    /// Returns whether requests over both begin with the same bytes, so that the provider's cache
    /// holds.
    pub(crate) fn begins_as(&self, other: &Self) -> bool {
        // The origin counts as well: thinking is sent back only to the model and endpoint that made
        // it, so that another one gets the same turns in other bytes.
        self.head == other.head && self.origin == other.origin
    }

    /// Returns whether the tools may be described in the prompt if the endpoint has none.
    pub(crate) fn may_fall_back_to_text(&self) -> bool {
        self.model.text_calls == TextCalls::Fallback
    }

    /// Returns the decoder for the response that begins with `head`, within the limits. Calls in
    /// text may be of the route's tools and of `further` ones.
    pub(crate) fn decoder<'a>(
        &'a self,
        head: &ResponseHead,
        limits: ResponseLimits,
        further: impl Iterator<Item = &'a ToolSpec>,
    ) -> Decoder {
        let tools = self.tools.iter().map(|tool| &**tool).chain(further);
        Decoder::within(limits, self.model.wire, head).with_text_calls(&self.model, tools)
    }
}
