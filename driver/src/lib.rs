//! The part of a host that does no I/O, as a state machine around a session: [`Driver`] takes what
//! happened and returns what to store, to carry out and to report. It owns the table of endpoints
//! and keeps their keys out of everything else, records and replays model traffic, encodes the log,
//! builds configurations, and answers questions where nobody is there to answer. What is left to a
//! host: starting tasks, sleeping, clocks, HTTP, running tools, storing bytes and asking people.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod base_url;
pub mod capture;
pub mod catalogue;
pub mod custom_tool_outcome;
pub mod decode;
mod driver;
mod endpoints;
mod file_undo;
mod firewall;
mod in_flight;
mod journal;
#[cfg(feature = "log")]
mod json_lines;
mod kept_results;
mod mask_assembled;
mod mask_input;
mod masking;
#[cfg(feature = "log")]
mod memory_log;
mod options;
mod output;
mod patch;
mod playback;
pub mod providers;
#[cfg(feature = "log")]
mod restart;
mod secret_key;
mod settings;
mod shown_state;
pub mod traffic;
mod unattended;

pub use base_url::BaseUrl;
pub use driver::Driver;
pub use endpoints::{Endpoint, EndpointError, EndpointRequest, EndpointTable};
pub use file_undo::{FileSteps, FileUndo, UndoneFile, imported};
pub use firewall::SessionFirewall;
pub use journal::SessionLogEncoder;
#[cfg(feature = "log")]
pub use json_lines::LineServer;
#[cfg(feature = "schema")]
pub use json_lines::{line_schema, request_schema};
pub use masking::{SecretKeys, StreamMasker};
#[cfg(feature = "log")]
pub use memory_log::MemoryLog;
pub use options::{DriverOptions, ModelSource};
pub use output::{DriverOutput, DriverOutputBatch};
pub use secret_key::ApiKey;
pub use settings::{FallbackModel, SessionSettings, SettingsError};
pub use unattended::{HostCapabilities, NOBODY_APPROVES};
