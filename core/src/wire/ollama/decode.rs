//! A response's bytes to a reply.

use super::super::{
    failure::{Failure, FailureKind},
    piece::Piece,
};
use crate::nouns::{input::ResponseHead, message::Reply};
use alloc::vec::Vec;

/// Reads one response.
#[derive(Clone, Debug)]
pub struct Decoder {
    head: ResponseHead,
}

impl Decoder {
    /// For the response that begins with `head`.
    pub fn new(head: &ResponseHead) -> Self {
        Self { head: head.clone() }
    }

    /// Takes the next bytes of the body and appends what they say to `out`.
    pub fn feed(&mut self, _bytes: &[u8], _out: &mut Vec<Piece>) {}

    /// The whole reply.
    ///
    /// # Errors
    /// What the provider reported, or that the body was cut or is not of this protocol.
    pub fn finish(self) -> Result<Reply, Failure> {
        Err(Failure::new(FailureKind::Protocol, "the response is empty").with_head(&self.head))
    }
}
