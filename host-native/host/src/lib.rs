//! The native host: it carries out what the core asks for. Model traffic goes through reqwest,
//! tools run in the sandbox of [`innerloop_sandbox`], over a folder of [`innerloop_workspace`]. The
//! program `innerloop` is built on it.
//!
//! A program of your own runs a session with tools of its own:
//!
//! ```no_run
//! use innerloop_core::{
//!     config::Facts, event::EventKind, id::SessionId, input::Command, json::Json, message::Part,
//!     preset::Preset, tool::ToolSpec,
//! };
//! use innerloop_driver::{
//!     Driver, Endpoint, Endpoints, Key, Parts as DriverParts, Settings, catalogue::Catalogue,
//!     providers,
//! };
//! use innerloop_host::{
//!     host::{Host, News, Parts},
//!     http::{Http, wall_time},
//!     tools::{Call, OwnTool, Tools},
//! };
//! use innerloop_sandbox::{Executor, Options, SandboxEngine, programs::Programs};
//! use innerloop_workspace::Workspace;
//!
//! # async fn run(session_id: String, key: String) -> Result<(), Box<dyn std::error::Error>> {
//! let description = "The temperature outside, in degrees Celsius.";
//! let parameters = Json::parse(r#"{"type":"object"}"#)?;
//! let temperature = OwnTool::new(
//!     ToolSpec { read_only: true, ..ToolSpec::new("temperature", description, parameters) },
//!     |call: Call| async move {
//!         call.say("looking outside\n");
//!         Ok::<_, String>("21")
//!     },
//! );
//! let engine = SandboxEngine::new(Options::default());
//! let workspace = Workspace::open("my-project")?;
//! let programs = Programs::find(None)?.in_project(&workspace)?;
//! let sandbox = Executor::new(engine, workspace, programs);
//! let provider = providers::find("anthropic")?;
//! let endpoint = Endpoint::new(&provider, None, Key::new(&key))?;
//! let endpoints = Endpoints::default().with(provider.endpoint(), endpoint);
//! let tools = Tools::new(sandbox.without_keys(&endpoints.keys())).with(temperature);
//! let settings = Settings {
//!     id: &SessionId(session_id),
//!     provider: &provider,
//!     model: None,
//!     catalogue: &Catalogue::standard(),
//!     preset: Preset::Modern,
//!     facts: &Facts::default(),
//!     tools: &tools.specs(),
//!     patches: &[],
//! };
//! let parts = DriverParts { endpoints, ..DriverParts::default() };
//! let driver = Driver::open(settings.config()?, wall_time(), parts)?;
//! let http = Http::new(false).map_err(|failure| failure.message)?;
//! let mut host = Host::new(driver, Parts { http: Some(http), tools, journal: None, recording: None });
//! let commands = host.commands();
//! let prompt = "Write the temperature into notes.md";
//! commands.send(Command::submit(vec![Part::text(prompt)]));
//! host.run(|news| {
//!     let News::Event(event) = news else { return };
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

mod answering;
mod deltas;
pub mod environment;
pub mod facts;
pub mod hooks;
pub mod host;
pub mod http;
pub mod journal;
pub mod local;
mod pictures;
pub mod recording;
pub mod tools;
pub mod web;
