//! What the tests share: a mock model server, scripted messages, and the program `innerloop` as
//! a child process.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test that meets what it does not expect is to fail at once"
)]

pub mod anthropic;
pub mod columns;
pub mod corpus;
pub mod example;
pub mod feeding;
pub mod fuzzing;
pub mod hostile;
pub mod made_secrets;
pub mod masks;
pub mod mock;
pub mod patience;
pub mod program;
pub mod samples;
pub mod scene;
pub mod shell_lines;
pub mod simulator;
pub mod skip;
pub mod snapshot;
#[cfg(feature = "host")]
pub mod terminal;
pub mod test_host;
pub mod tool_cases;
pub mod transcript;
pub mod wires;
