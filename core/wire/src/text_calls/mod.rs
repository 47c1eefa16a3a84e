//! Tool calls and thinking that a model writes in its text, for models and servers without native
//! calls. `take_apart` reads a whole text, `stream` shows one while it arrives; each format has a
//! module, and `text_walk` tries them wherever a call may begin. Malformed calls stay text, nothing
//! that the model said is lost, and the work is linear in the length of the text.

mod cut;
mod gemma;
mod harmony;
mod in_text;
mod literal;
mod marked_names;
mod minimax;
mod objects;
mod place_check;
mod plamo;
mod pythonic;
mod scan;
mod schema;
mod shown_text;
mod stream;
mod tagged;
mod take_apart;
mod text_findings;
mod text_walk;
mod think;
mod tokens;
mod typed_arguments;
mod value_end;
mod write_calls;
mod xml;
mod xtml;

pub use innerloop_types::model::{TextFamily as Family, UnknownFamily};
pub use stream::TextScanner;
pub use take_apart::parse;
pub use text_findings::ParsedText;

pub(super) use in_text::TextCallFinder;
pub use in_text::ends_in_call;
pub(super) use write_calls::{in_text, section};
