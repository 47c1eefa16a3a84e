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
pub use driver::{Driver, Models, Parts};
pub use endpoints::{Endpoint, EndpointError, Endpoints, Request};
pub use journal::Journal;
pub use key::{Key, MASK};
#[cfg(feature = "log")]
pub use lines::Lines;
#[cfg(feature = "schema")]
pub use lines::{line_schema, request_schema};
pub use masking::{Keys, Masking};
#[cfg(feature = "log")]
pub use memory_log::MemoryLog;
pub use output::{Output, Outputs};
pub use people::{NOBODY_APPROVES, People};
pub use settings::{Settings, SettingsError};
pub use undone::{FileSteps, FileUndo, UndoneFile, imported};
