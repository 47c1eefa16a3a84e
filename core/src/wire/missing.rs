//! Stands in for what this build was made without, see the crate's features. A configuration that
//! asks for it is refused, so that nothing here is ever reached in a session.

use super::{
    failure::{Failure, FailureKind},
    head::Head,
    lenient::{Error, Raw},
    piece::Piece,
    sink::Sink,
};
use crate::types::{
    input::ResponseHead,
    message::{Reply, Said},
    model::ModelConfig,
    tool::ToolSpec,
};
use alloc::{string::String, vec::Vec};

/// Turns that are not written.
#[derive(Clone, Debug)]
pub(super) struct Prefix;

impl Prefix {
    pub(super) const fn new(_: &ModelConfig) -> Self {
        Self
    }

    pub(super) const fn push(&mut self, _: &Said<'_>) {}

    pub(super) const fn body(&self, _: &Head, _: &str) -> String {
        String::new()
    }
}

/// A reply that is not read.
#[derive(Clone, Debug, Default)]
pub(super) struct Accumulator;

impl Accumulator {
    pub(super) const fn on_event(&mut self, _: Raw<'_>, _: &ResponseHead, _: &mut Sink) {}

    pub(super) const fn on_odd_data(
        &mut self,
        _: &str,
        _: Option<&Error>,
        _: &ResponseHead,
        _: &mut Sink,
    ) {
    }

    pub(super) const fn on_whole(&mut self, _: Raw<'_>, _: &ResponseHead, _: &mut Sink) -> bool {
        false
    }

    pub(super) const fn on_words(&mut self, _: &str) {}

    pub(super) const fn on_broken_data(&mut self, _: &Error) {}

    pub(super) const fn is_whole(&self) -> bool {
        false
    }

    pub(super) const fn bare(&mut self) {}

    pub(super) const fn cut(&mut self) {}

    pub(super) fn finish(&mut self) -> Result<Reply, Failure> {
        Err(Failure::new(FailureKind::Host, "this build does not speak the protocol"))
    }
}

pub(super) const fn head(_: &ModelConfig, _: &str, _: &[&ToolSpec]) -> Head {
    Head { before: String::new(), mark: None, after: String::new() }
}

pub(super) const fn path(_: &ModelConfig) -> String {
    String::new()
}

pub(super) const fn headers(_: &ModelConfig) -> Vec<(String, String)> {
    Vec::new()
}

/// Calls that are not looked for in text.
#[derive(Clone, Debug)]
pub(super) enum InText {}

impl InText {
    pub(super) fn new<'a>(_: &ModelConfig, _: impl Iterator<Item = &'a ToolSpec>) -> Option<Self> {
        None
    }

    pub(super) fn feed(&mut self, _: Vec<Piece>, _: &mut Vec<Piece>) {
        match *self {}
    }

    pub(super) fn finish(&mut self, _: Reply, _: usize, _: &mut Vec<Piece>) -> Reply {
        match *self {}
    }
}

pub(crate) const fn ends_in_call(_: &ModelConfig, _: &str) -> bool {
    false
}

pub(super) const fn section(_: &[&ToolSpec]) -> String {
    String::new()
}

pub(super) const fn in_text(said: Said<'_>) -> Said<'_> {
    said
}
