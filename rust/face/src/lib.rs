//! The types that the crates `innerloop` and `innerloop-web` share: prompts, decisions and results,
//! as plain data. Nothing here waits, so that it is the same in a program and in a page. Both
//! crates re-export all of it.

mod approvals;
mod fallback;
pub mod patch;
mod prompt;
mod result;
mod schema;

pub use approvals::{ApprovalDecision, ApprovalRequest, unanswered};
pub use fallback::{ModelFallback, fallback_models};
pub use prompt::Prompt;
pub use result::{AnswerError, ResultReader, RunResult};
pub use schema::schema_of;
