//! Environments: the places where the actions of the built-in tools are carried out. One is the
//! sandbox, one the machine itself, and an embedding program may bring its own, such as a container
//! or another machine. Wrappers add to any of them.

mod interface;
mod logged;
mod read_only;

pub use innerloop_sandbox::CallContext;
pub use interface::{ActionRequest, Environment, OutcomeFuture, StopFuture};
pub use logged::LoggingEnvironment;
pub use read_only::ReadOnly;
