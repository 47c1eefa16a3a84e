//! A cell of the parity matrix: a session of the library in its own process, over HTTP with a mock
//! model of the column's family, with the sandbox's tools over a folder on disk.

use crate::sandbox_engine;
use innerloop_core::{
    config::EnvironmentFacts,
    event::{Event, EventKind},
    id::{AgentId, SessionId},
    input::Command,
    message::Part,
    preset::ConfigPreset,
    status::RunEnd,
};
use innerloop_driver::{
    ApiKey, Driver, DriverOptions as DriverParts, Endpoint, EndpointTable, HostCapabilities,
    ModelSource, SessionSettings, catalogue::Catalogue,
};
use innerloop_host::{
    host::{CommandSender, Host, HostEvent, HostParts},
    http::{HttpClient, wall_time},
    tools::{OwnTool, ToolRunner},
};
use innerloop_sandbox::{Executor, programs::ProgramRegistry};
use innerloop_tests::{
    anthropic::Message,
    columns::{Column, Wish, calls},
    example,
    mock::Reply,
    program::KEY,
    scene::Scene,
    wires::read::{self, Answer, Said},
};
use innerloop_workspace::Workspace;
use serde_json::Value;
use std::fs;

/// What is to happen in a cell.
pub(super) struct Cell {
    pub(super) column: Column,
    files: Vec<(String, String)>,
    script: Vec<Reply>,
    calls: usize,
    own: Vec<OwnTool>,
}

/// What has happened.
pub(super) struct Played {
    column: Column,
    scene: Scene,
    /// The bodies of the requests.
    bodies: Vec<Value>,
    pub(super) events: Vec<Event>,
}

impl Cell {
    pub(super) fn new(column: Column) -> Self {
        let (files, script, own) = (Vec::new(), Vec::new(), Vec::new());
        Self { column, files, script, calls: 0, own }
    }

    /// With a file in the workspace.
    pub(super) fn file(mut self, name: &str, text: &str) -> Self {
        self.files.push((name.to_owned(), text.to_owned()));
        self
    }

    /// With a tool of the host's own.
    pub(super) fn tool(mut self, tool: OwnTool) -> Self {
        self.own.push(tool);
        self
    }

    /// The model makes these calls in one reply.
    pub(super) fn does(mut self, wishes: &[Wish]) -> Self {
        let message = calls(wishes, self.calls + 1);
        self.calls += wishes.len();
        self.script.push(Reply::stream_in(self.column.wire, &message));
        self
    }

    /// The model says something.
    pub(super) fn says(mut self, text: &str) -> Self {
        self.script.push(Reply::stream_in(self.column.wire, &Message::text(text)));
        self
    }

    fn host(&mut self, scene: &Scene) -> Host {
        let programs = match self.column.has_shell {
            true => example::programs_and_shell(),
            false => example::programs(),
        };
        let programs = ProgramRegistry::open(&programs).unwrap();
        let facts = EnvironmentFacts { programs: programs.facts(), ..EnvironmentFacts::default() };
        let workspace = Workspace::open(scene.workspace()).unwrap();
        let sandbox = Executor::new(sandbox_engine(), workspace, programs);
        let own = std::mem::take(&mut self.own);
        let tools = own.into_iter().fold(ToolRunner::new(sandbox), ToolRunner::with);
        let (provider, base) = scene.provider();
        let settings = SessionSettings {
            id: &SessionId("parity".to_owned()),
            provider: &provider,
            model: None,
            fallbacks: &[],
            catalogue: &Catalogue::standard(),
            preset: Some(ConfigPreset::Modern),
            facts: &facts,
            tools: &tools.specs(),
            patches: &[],
        };
        let config = settings.config().unwrap();
        assert_eq!(
            (config.model.wire, config.model.profile),
            (self.column.wire, self.column.profile)
        );
        let endpoint = Endpoint::new(&provider, Some(&base), ApiKey::new(KEY)).unwrap();
        let endpoints = EndpointTable::default().with(provider.endpoint(), endpoint);
        let people = HostCapabilities::default();
        let parts = DriverParts { endpoints, models: ModelSource::Live, people, keeps_log: false };
        let driver = Driver::open(config, wall_time(), parts).unwrap();
        let http = Some(HttpClient::new(true).unwrap());
        Host::new(driver, HostParts { http, tools, journal: None, recording: None })
    }

    /// The user says something, and the session goes to the end of its run.
    pub(super) async fn play(self, prompt: &str) -> Played {
        self.watched(prompt, |_, _| {}).await
    }

    /// The same while `watch` looks on, which may say something to the session.
    pub(super) async fn watched(
        mut self,
        prompt: &str,
        mut watch: impl FnMut(&Event, &CommandSender),
    ) -> Played {
        let column = self.column;
        let scene = Scene::new(std::mem::take(&mut self.script)).speaking(column.wire);
        for (name, text) in &self.files {
            let path = scene.workspace().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let mut host = self.host(&scene);
        let commands = host.commands();
        commands.send(Command::submit(vec![Part::text(prompt)]));
        let mut events = Vec::new();
        let driven = host.run(|news| {
            let HostEvent::Event(event) = news else { return };
            watch(event, &commands);
            let is_end = matches!(event.kind, EventKind::ProcessingEnd { .. });
            if is_end && event.agent == AgentId::ROOT {
                commands.send(Command::Close);
            }
            events.push(event.clone());
        });
        driven.await.unwrap();
        let requests = scene.model.requests();
        let bodies = requests.iter().map(|request| serde_json::from_str(&request.body).unwrap());
        let bodies: Vec<Value> = bodies.collect();
        let played = Played { column, scene, bodies, events };
        assert_eq!(played.scene.model.left(), 0, "{column:?}: {:#?}", played.events);
        assert_eq!(played.end(), Some(RunEnd::Completed), "{column:?}: {:#?}", played.events);
        played
    }
}

impl Played {
    /// A file of the workspace; nothing if it is not there.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.scene.workspace().join(name)).ok()
    }

    /// How many requests there were.
    pub(super) fn requests(&self) -> usize {
        self.bodies.len()
    }

    /// The results that the request with that number brings.
    pub(super) fn results(&self, request: usize) -> Vec<Answer> {
        read::results(self.column.wire, &self.bodies[request])
    }

    /// The one result that the request with that number brings.
    pub(super) fn result(&self, request: usize) -> String {
        let [result] = &self.results(request)[..] else { panic!("{:?}", self.results(request)) };
        result.text.clone()
    }

    /// What the request with that number says last.
    pub(super) fn last_said(&self, request: usize) -> Said {
        read::said(self.column.wire, &self.bodies[request]).pop().unwrap()
    }

    /// What the requests say of effort.
    pub(super) fn efforts(&self) -> Vec<Value> {
        self.bodies.iter().map(|body| read::effort(self.column.wire, body)).collect()
    }

    /// The tools that the model is shown.
    pub(super) fn tools(&self) -> Vec<String> {
        read::tools(self.column.wire, &self.bodies[0])
    }

    /// Whether each call that has ended did so with an error, in order.
    pub(super) fn errors(&self) -> Vec<bool> {
        self.find(|kind| match kind {
            EventKind::ToolCallEnd { outcome, .. } => Some(outcome.error.is_some()),
            _ => None,
        })
    }

    /// The exit code of each call that has ended, in order.
    pub(super) fn exits(&self) -> Vec<Option<i32>> {
        self.find(|kind| match kind {
            EventKind::ToolCallEnd { outcome, .. } => Some(outcome.exit),
            _ => None,
        })
    }

    /// The events that `pick` finds something in.
    pub(super) fn find<'a, T>(&'a self, pick: impl Fn(&'a EventKind) -> Option<T>) -> Vec<T> {
        self.events.iter().filter_map(|event| pick(&event.kind)).collect()
    }

    fn end(&self) -> Option<RunEnd> {
        let ends = self.events.iter().filter(|event| event.agent == AgentId::ROOT);
        let mut ends = ends.filter_map(|event| match &event.kind {
            EventKind::ProcessingEnd { end, .. } => Some(*end),
            _ => None,
        });
        ends.next_back()
    }
}

/// Runs a row of the matrix; the column stands in the output if it fails. Families are shown the
/// tools that they were trained on; a row that needs a shell says so.
pub(super) async fn row<F: Future<Output = ()>>(cell: impl Fn(Column) -> F) {
    for column in Column::native(false) {
        println!("{column:?}");
        cell(column).await;
    }
}
