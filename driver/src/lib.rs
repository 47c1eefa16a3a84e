//! What every host does beside I/O, as a state machine around a session: [`Driver`] is told what
//! happened and answers what to keep, to do and to tell. It holds the table of endpoints and keeps
//! their keys out of everything, records and plays model traffic, writes the log, makes
//! configurations, and answers where nobody is there to be asked. A host is left with: spawning,
//! sleeping, clocks, HTTP, running tools, storing bytes, asking people.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod assembled;
mod base;
pub mod capture;
pub mod catalogue;
pub mod custom;
pub mod decode;
mod driver;
mod endpoints;
mod inputs;
mod journal;
mod key;
#[cfg(feature = "log")]
mod lines;
mod masking;
#[cfg(feature = "log")]
mod memory_log;
mod open;
mod output;
mod patch;
mod people;
mod playback;
pub mod providers;
#[cfg(feature = "log")]
mod restart;
mod settings;
pub mod traffic;
mod undone;

pub use base::BaseUrl;
pub use driver::{Driver, DriverOptions, ModelSource};
pub use endpoints::{Endpoint, EndpointError, EndpointRequest, EndpointTable};
pub use journal::SessionLogEncoder;
pub use key::{ApiKey, MASK};
#[cfg(feature = "log")]
pub use lines::LineServer;
#[cfg(feature = "schema")]
pub use lines::{line_schema, request_schema};
pub use masking::{SecretKeys, StreamMasker};
#[cfg(feature = "log")]
pub use memory_log::MemoryLog;
pub use output::{DriverOutput, DriverOutputBatch};
pub use people::{HostCapabilities, NOBODY_APPROVES};
pub use settings::{SessionSettings, SettingsError};
pub use undone::{FileSteps, FileUndo, UndoneFile, imported};
