//! Tool calls and thinking in a model's text, for models and servers without calls of their
//! protocol's own (FEATURES L4, L13): the families' formats, whole and while they stream. What
//! is malformed stays text, nothing is lost, and no text costs more than its length.

mod found;
mod harmony;
mod literal;
mod objects;
mod pythonic;
mod scan;
mod stream;
mod tagged;
mod take_apart;
mod think;
mod tokens;
mod typed;
mod walk;
pub(crate) mod write;
mod xml;
mod xtml;

pub use crate::types::model::{TextFamily as Family, UnknownFamily};
pub use found::Parsed;

pub use stream::Scanner;
pub use take_apart::parse;
