//! The native host: it carries out what the core asks for. Model traffic goes through reqwest, and
//! tools run in the sandbox of [`innerloop_sandbox`], over a folder of [`innerloop_workspace`]. The
//! program `innerloop` is built on it.
//!
//! A program of your own runs a session with tools of its own:
//!
//! ```no_run
//! use innerloop_core::{
//!     event::EventKind, id::SessionId, input::Command, json::Json, message::Part, tool::ToolSpec,
//! };
//! use innerloop_driver::{Endpoint, ApiKey, SessionSettings, catalogue::Catalogue, providers};
//! use innerloop_host::{
//!     host::HostEvent,
//!     setup::{ModelTraffic, SessionSetup, WorkSite},
//!     tools::{OwnToolCall, OwnTool},
//! };
//! use innerloop_sandbox::{EngineOptions, SandboxEngine};
//! use innerloop_workspace::Workspace;
//!
//! # async fn run(session_id: String, key: String) -> Result<(), Box<dyn std::error::Error>> {
//! let description = "The temperature outside, in degrees Celsius.";
//! let parameters = Json::parse(r#"{"type":"object"}"#)?;
//! let temperature = OwnTool::new(
//!     ToolSpec { read_only: true, ..ToolSpec::new("temperature", description, parameters) },
//!     |call: OwnToolCall| async move {
//!         call.say("looking outside\n");
//!         Ok::<_, String>("21")
//!     },
//! );
//! let provider = providers::find("anthropic")?;
//! let endpoint = Endpoint::new(&provider, None, ApiKey::new(&key))?;
//! let traffic = ModelTraffic::live(&provider, endpoint);
//! let engine = SandboxEngine::new(EngineOptions::default());
//! let site = WorkSite::open(Workspace::open("my-project")?, None, engine)?;
//! let tools = site.tools(&traffic.keys()).with(temperature);
//! let settings = SessionSettings {
//!     id: &SessionId(session_id),
//!     provider: &provider,
//!     model: None,
//!     fallbacks: &[],
//!     catalogue: &Catalogue::standard(),
//!     preset: None,
//!     facts: &site.facts(provider.profile).await?,
//!     tools: &tools.specs(),
//!     patches: &[],
//! };
//! let setup = SessionSetup::new(traffic).map_err(|failure| failure.message)?;
//! let mut host = setup.open(settings.config()?)?.host(tools, None);
//! let commands = host.commands();
//! let prompt = "Write the temperature into notes.md";
//! commands.send(Command::submit(vec![Part::text(prompt)]));
//! host.run(|news| {
//!     let HostEvent::Event(event) = news else { return };
//!     match &event.kind {
//!         EventKind::AssistantTextDelta { text } => print!("{text}"),
//!         EventKind::ProcessingEnd { .. } => commands.send(Command::Close),
//!         _ => {}
//!     }
//! })
//! .await?;
//! # Ok(())
//! # }
//! ```

pub mod environment;
pub mod facts;
pub mod hooks;
pub mod host;
pub mod http;
mod inbox;
pub mod journal;
mod key_renewal;
pub mod local;
pub mod lock;
mod output_stream;
mod pictures;
pub mod recording;
pub mod setup;
pub mod tools;
pub mod web;
