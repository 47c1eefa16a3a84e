//! Where the actions of the built-in tools are carried out: the sandbox, the machine itself, or a
//! place of an embedding program's own, such as a container or another machine; and wrappers
//! around any of them.

mod interface;
mod logged;
mod read_only;

pub use innerloop_sandbox::CallContext;
pub use interface::{ActionRequest, Environment, OutcomeFuture, StopFuture};
pub use logged::LoggingEnvironment;
pub use read_only::ReadOnly;
