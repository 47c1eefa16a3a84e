//! A session whose program was killed in the middle of a command line, and which another program
//! takes up from the log; and how long such a log becomes.

use innerloop_core::{
    bytes::BodyBytes,
    event::EventKind,
    id::{AgentId, EffectId, EndpointId},
    input::{Command, HttpInput, Input, ResponseHead},
    log,
    message::Part,
    time::SessionInstant,
};
use innerloop_driver::{
    ApiKey, Driver, DriverOptions as DriverParts, DriverOutput, DriverOutputBatch, Endpoint,
    EndpointTable, HostCapabilities, ModelSource, providers,
};
use innerloop_host::{
    host::{Host, HostEvent, HostParts},
    http::{HttpClient, wall_time},
    journal::Journal,
    tools::ToolRunner,
};
use innerloop_sandbox::{EngineOptions, Executor, SandboxEngine, programs::ProgramRegistry};
use innerloop_tests::{
    anthropic::Message,
    example::programs_and_shell,
    program::{KEY, Started, binary, wait_for},
    scene::Scene,
    test_host::{EPOCH, config},
    wires,
};
use innerloop_workspace::Workspace;
use serde_json::{Value, json};
use std::{fs, os::unix::fs::symlink, path::Path};

/// The host of a program that embeds the library, with the session of that log.
fn resumed(scene: &Scene, log: &str) -> Host {
    let cache = binary().with_file_name("innerloop-test-cache");
    let engine =
        SandboxEngine::new(EngineOptions { cache_dir: Some(cache), ..EngineOptions::default() });
    let workspace = Workspace::open(scene.workspace()).unwrap();
    let programs = ProgramRegistry::open(&programs_and_shell()).unwrap();
    let tools = ToolRunner::new(Executor::new(engine, workspace, programs));
    let (provider, base) = scene.provider();
    let endpoint = Endpoint::new(&provider, Some(&base), ApiKey::new(KEY)).unwrap();
    let endpoints = EndpointTable::default().with(provider.endpoint(), endpoint);
    let people = HostCapabilities::default();
    let parts = DriverParts { endpoints, models: ModelSource::Live, people, keeps_log: false };
    let driver = Driver::resume(log, wall_time(), parts).unwrap();
    let http = Some(HttpClient::new(true).unwrap());
    Host::new(driver, HostParts { http, tools, journal: None, recording: None })
}

#[tokio::test(flavor = "multi_thread")]
async fn c11_a_session_killed_in_the_middle_of_a_pipeline_is_resumed() {
    let line = |id: &str, command: &str| Message::call(id, "shell", &json!({"command": command}));
    let scene = Scene::streaming(&[
        line("toolu_1", "echo begun > mark; seq 1 1000000000 | sort | tail -1"),
        line("toolu_2", "cat mark | tr a-z A-Z > after; ls | sort -r | head -2"),
        Message::text("done"),
    ]);
    let scene = scene.in_place();
    let log = scene.path("log");
    let mut command = scene.command("go");
    command.arg("--log").arg(&log).arg("--programs").arg(programs_and_shell());
    let program = Started::new(&mut command, b"");
    let mark = scene.workspace().join("mark");
    wait_for("the pipeline", || fs::read(&mark).is_ok_and(|text| text == b"begun\n"));
    program.signal("KILL");
    assert_eq!(program.finish().code, None, "it was killed");

    let mut host = resumed(&scene, &fs::read_to_string(&log).unwrap());
    let commands = host.commands();
    let run = host.run(|news| {
        let HostEvent::Event(event) = news else { return };
        if matches!(event.kind, EventKind::ProcessingEnd { .. }) {
            commands.send(Command::Close);
        }
    });
    run.await.unwrap();
    let requests = scene.model.requests();
    let bodies = requests.iter().map(|request| serde_json::from_str(&request.body).unwrap());
    let bodies: Vec<Value> = bodies.collect();
    assert_eq!(bodies.len(), 3);
    let result = |body: &Value| body["messages"].as_array().unwrap().last().unwrap().clone();
    let lost = result(&bodies[1]);
    assert_eq!(lost["content"][0]["tool_use_id"], "toolu_1", "{lost}");
    assert_eq!(lost["content"][0]["is_error"], true, "{lost}");
    let told = result(&bodies[2]).to_string();
    assert!(told.contains("toolu_2") && told.contains("mark\\nafter"), "{told}");
    assert_eq!(scene.text("workspace/after"), "BEGUN\n");
}

/// A session and its log on the disk, as a host writes it.
struct Logged<'a> {
    path: &'a Path,
    driver: Driver,
    journal: Journal,
    /// The bytes of all lines but snapshots, and of the newest snapshot.
    needed: (usize, usize),
}

impl<'a> Logged<'a> {
    fn parts() -> DriverParts {
        let provider = providers::find("anthropic").unwrap();
        let endpoint = Endpoint::new(&provider, None, ApiKey::new(KEY)).unwrap();
        let endpoints = EndpointTable::default().with(EndpointId("mock".into()), endpoint);
        DriverParts { endpoints, keeps_log: true, ..DriverParts::default() }
    }

    fn of(mut driver: Driver, path: &'a Path, journal: Journal) -> Self {
        let outputs = driver.start();
        let mut logged = Self { path, driver, journal, needed: (0, 0) };
        logged.take(outputs);
        logged
    }

    fn take(&mut self, outputs: DriverOutputBatch) -> Option<EffectId> {
        let snapshot = outputs.snapshot.unwrap_or_default();
        self.journal.append(&outputs.log, false).unwrap();
        self.journal.append_snapshot(&snapshot).unwrap();
        self.needed.0 += outputs.log.len();
        self.needed.1 = if snapshot.is_empty() { self.needed.1 } else { snapshot.len() };
        outputs.list.iter().find_map(|output| match output {
            DriverOutput::Send { id, .. } => Some(*id),
            _ => None,
        })
    }

    fn give(&mut self, input: Input) -> Option<EffectId> {
        let outputs = self.driver.handle(input, SessionInstant(1)).unwrap();
        self.take(outputs)
    }

    fn say(&mut self, words: &str) {
        let command = Command::submit(vec![Part::text(words)]);
        let id = self.give(Input::Command { agent: AgentId::ROOT, command }).unwrap();
        let wire = self.driver.session().config().model.wire;
        let body = wires::events(wire, &Message::text("I have noted that.")).concat();
        let head = ResponseHead { status: 200, ..ResponseHead::default() };
        for input in
            [HttpInput::Head(head), HttpInput::Chunk(BodyBytes(body.into())), HttpInput::End]
        {
            self.give(Input::Http { id, input });
        }
        let size = usize::try_from(fs::metadata(self.path).unwrap().len()).unwrap();
        let (lines, newest) = self.needed;
        assert!(
            size >= lines + newest && size <= 2 * (lines + newest) + 100_000,
            "{size}, {lines}"
        );
    }

    /// Checks that what is on the disk is the session, for this version and for others.
    fn check(&self) {
        let text = fs::read_to_string(self.path).unwrap();
        assert!(text.lines().last().unwrap().starts_with("{\"snapshot\":"));
        let session = self.driver.session().snapshot();
        assert_eq!(log::resume(&text, EPOCH).unwrap().session.snapshot(), session);
        assert_eq!(log::replay(&text).unwrap().session.snapshot(), session);
    }
}

#[test]
fn a_log_on_the_disk_grows_with_the_conversation_and_not_with_its_square() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    let long = "word ".repeat(300);
    let driver = Driver::open(config(), EPOCH, Logged::parts()).unwrap();
    let mut logged = Logged::of(driver, &path, Journal::create(&path).unwrap());
    for number in 0..200 {
        logged.say(&format!("{number} {long}"));
    }
    logged.check();
    // A log that begins with a snapshot, which stands for inputs that are in no line.
    let text = fs::read_to_string(&path).unwrap();
    let driver = Driver::resume(&text, EPOCH, Logged::parts()).unwrap();
    // The agent may have put a link where the next file is made: it leads nowhere.
    let elsewhere = tempfile::NamedTempFile::new().unwrap();
    fs::write(&elsewhere, "of somebody else").unwrap();
    let link = || symlink(&elsewhere, folder.path().join("log.jsonl.new")).unwrap();
    link();
    let mut logged = Logged::of(driver, &path, Journal::replace(&path).unwrap());
    logged.say(&long);
    link();
    for number in 0..200 {
        logged.say(&format!("{number} {long}"));
    }
    logged.check();
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "of somebody else");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing stays beside it");
}
