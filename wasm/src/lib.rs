//! The raw binding behind the npm package `innerloop`: the session, the driver that carries its
//! effects out with what a page or Node has, and the workspace in memory. Private to the
//! package: its TypeScript is the interface. Methods are synchronous; nothing here holds a
//! borrow across an await or a call into JavaScript, so user functions may call back in.
#![forbid(unsafe_code)]

mod agent;
mod capture;
mod clock;
mod custom;
mod desk;
mod endpoint;
mod files;
mod host;
mod http;
mod masking;
mod misuse;
mod options;
mod program;
mod providers;
mod replay;
mod task;
mod tool;

pub use agent::{RawAgent, replay_log};
pub use options::doc_names;
pub use providers::{model_json, providers_json};
