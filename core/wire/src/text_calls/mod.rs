//! Tool calls and thinking in a model's text, for models and servers without calls of their
//! protocol's own: the families' formats, whole and while they stream. What
//! is malformed stays text, nothing is lost, and no text costs more than its length.

mod cut;
mod ends;
mod found;
mod gemma;
mod harmony;
mod in_text;
mod lines;
mod literal;
mod look;
mod minimax;
mod objects;
mod plamo;
mod pythonic;
mod scan;
mod schema;
mod shown;
mod stream;
mod tagged;
mod take_apart;
mod think;
mod tokens;
mod typed;
mod walk;
mod write;
mod xml;
mod xtml;

pub use found::ParsedText;
pub use innerloop_types::model::{TextFamily as Family, UnknownFamily};
pub use stream::TextScanner;
pub use take_apart::parse;

pub(super) use in_text::TextCallFinder;
pub use in_text::ends_in_call;
pub(super) use write::{in_text, section};
