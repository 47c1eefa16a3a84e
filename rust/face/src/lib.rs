//! What the crates `innerloop` and `innerloop-web` share: what is said to an agent and what comes
//! of it, as plain data. Nothing here waits, so that it is the same in a program and in a page.
//! Whoever uses one of the two finds all of it there.

mod approvals;
pub mod patch;
mod prompt;
mod result;
mod schema;

pub use approvals::{ApprovalDecision, ApprovalRequest, unanswered};
pub use prompt::Prompt;
pub use result::{AnswerError, ResultReader, RunResult};
pub use schema::schema_of;
