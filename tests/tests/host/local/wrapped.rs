//! Environments of an embedding program's own, and wrappers around any of them.

use super::{Machine, executor, request, shell};
use innerloop_core::{
    action::{Action, LineNumbering, Outcome, ToolError},
    config::EnvironmentFacts,
    event::EventKind,
    id::{AgentId, SessionId},
    input::Command,
    message::Part,
    preset::ConfigPreset,
};
use innerloop_driver::{
    ApiKey, Driver, DriverOptions as DriverParts, Endpoint, EndpointTable, SessionSettings,
    catalogue::Catalogue, providers,
};
use innerloop_host::{
    environment::{ActionRequest, Environment, LoggingEnvironment, OutcomeFuture, ReadOnly},
    host::{Host, HostEvent, HostParts},
    http::{HttpClient, wall_time},
    tools::ToolRunner,
};
use innerloop_tests::{anthropic::Message, program::KEY, scene::Scene};
use innerloop_workspace::Workspace;
use serde_json::json;
use std::sync::{Arc, Mutex};

/// A machine far away, as a program that embeds the host would reach it.
#[derive(Clone, Debug, Default)]
struct Remote(Arc<Mutex<Vec<String>>>);

impl Environment for Remote {
    fn carry_out(&self, request: ActionRequest) -> OutcomeFuture<'_> {
        Box::pin(async move {
            let ActionRequest { action, call, .. } = request;
            self.0.lock().unwrap().push(format!("{:?} {action:?}", call.agent));
            match action {
                Action::Shell { command, .. } => {
                    Outcome { exit: Some(0), ..Outcome::text(format!("far: {command}")) }
                }
                _ => Outcome::error(ToolError::NotFound, "nothing is there"),
            }
        })
    }

    fn facts(&self, found: EnvironmentFacts) -> EnvironmentFacts {
        EnvironmentFacts { working_directory: "/far/away".to_owned(), ..found }
    }
}

fn actions() -> [(Action, bool); 6] {
    let of = |value| serde_json::from_value(value).unwrap();
    [
        (Action::read("a.txt", None, LineNumbering::None), true),
        (Action::list(None, 1), true),
        (of(json!({"action": "write", "path": "a.txt", "content": "x"})), false),
        (of(json!({"action": "edit", "path": "a.txt", "old": "a", "new": "b"})), false),
        (of(json!({"action": "patch", "patch": "*** Begin Patch\n*** End Patch"})), false),
        (of(json!({"action": "run_program", "program": "touch", "args": ["b.txt"]})), false),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn d8_a_read_only_environment_refuses_what_changes_files() {
    let remote = Remote::default();
    let reads = ReadOnly::new(remote.clone());
    let runs = ReadOnly::new(remote.clone()).with_programs();
    for (action, only_reads) in actions() {
        let is_program = matches!(action, Action::RunProgram { .. });
        for (place, passes) in [(&reads, only_reads), (&runs, only_reads || is_program)] {
            let before = remote.0.lock().unwrap().len();
            let outcome = place.carry_out(request(action.clone())).await;
            assert_eq!(remote.0.lock().unwrap().len() - before, usize::from(passes), "{action:?}");
            let is_refused = outcome.error == Some(ToolError::PermissionDenied);
            assert_eq!(is_refused, !passes, "{outcome:?}");
        }
    }
    let outcome = reads.carry_out(request(actions()[2].0.clone())).await;
    assert_eq!(outcome.joined_text(), "Write operations are disabled in read-only mode.");
    let outcome = reads.carry_out(request(shell("ls", None))).await;
    assert_eq!(outcome.joined_text(), "Programs are disabled in read-only mode.");
    assert_eq!(runs.carry_out(request(shell("ls", None))).await.joined_text(), "far: ls");
    assert_eq!(reads.facts(EnvironmentFacts::default()).working_directory, "/far/away");
}

#[tokio::test(flavor = "multi_thread")]
async fn d8_a_log_is_kept_of_any_environment() {
    let machine = Machine::bare();
    let lines = Arc::new(Mutex::new(Vec::new()));
    let to = Arc::clone(&lines);
    let log = move |line: &str| to.lock().unwrap().push(line.to_owned());
    // Wrappers go around one another, and around the sandbox as well.
    let logged =
        LoggingEnvironment::new(ReadOnly::new(machine.local.clone()).with_programs(), log.clone());
    let sandbox = executor(Workspace::open(machine.path("")).unwrap());
    let sandbox = LoggingEnvironment::new(sandbox, log);
    let _ = logged.carry_out(request(shell("echo a >f\nexit 3", None))).await;
    for (action, _) in actions() {
        let _ = logged.carry_out(request(action)).await;
    }
    let _ = sandbox.carry_out(request(Action::read("f", None, LineNumbering::None))).await;
    let lines = lines.lock().unwrap().clone();
    let expected = [
        ("exec: echo a >f\\nexit 3", "exit: 3"),
        ("read: a.txt", "failed: not_found"),
        ("list: .", "done"),
        ("write: a.txt", "failed: permission_denied"),
        ("edit: a.txt", "failed: permission_denied"),
        ("patch: ", "failed: permission_denied"),
        ("exec: touch b.txt", "exit: 0"),
        ("read: f", "done"),
    ];
    assert_eq!(lines.len(), 2 * expected.len(), "{lines:#?}");
    for (pair, (begin, end)) in lines.chunks(2).zip(expected) {
        assert_eq!(pair[0], begin);
        let time = pair[1].strip_prefix(&format!("{end} in "));
        let time = time.and_then(|rest| rest.strip_suffix(" ms")?.parse::<u32>().ok());
        assert!(time.is_some_and(|ms| ms < 60_000), "{pair:?}");
    }
    assert!(machine.path("b.txt").exists() && !machine.path("a.txt").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn d8_a_session_works_in_an_environment_of_the_hosts_own() {
    let call = Message::call("toolu_1", "shell", &json!({"command": "hostname"}));
    let scene = Scene::streaming(&[call, Message::text("done")]);
    let remote = Remote::default();
    let sandbox = executor(Workspace::open(scene.workspace()).unwrap());
    let tools = ToolRunner::new(sandbox).with_environment(remote.clone());
    let provider = providers::find("anthropic").unwrap();
    let program =
        innerloop_core::config::ProgramFacts { name: "sh".into(), description: "".into() };
    let found = EnvironmentFacts { programs: vec![program], ..EnvironmentFacts::default() };
    let settings = SessionSettings {
        id: &SessionId("test".to_owned()),
        provider: &provider,
        model: None,
        fallbacks: &[],
        catalogue: &Catalogue::standard(),
        preset: Some(ConfigPreset::Seed001),
        facts: &remote.facts(found),
        tools: &tools.specs(),
        patches: &[],
    };
    let endpoint = Endpoint::new(&provider, Some(&scene.model.url()), ApiKey::new(KEY)).unwrap();
    let endpoints = EndpointTable::default().with(provider.endpoint(), endpoint);
    let parts = DriverParts { endpoints, ..DriverParts::default() };
    let driver = Driver::open(settings.config().unwrap(), wall_time(), parts).unwrap();
    let http = Some(HttpClient::new(true).unwrap());
    let mut host = Host::new(driver, HostParts { http, tools, journal: None, recording: None });
    let commands = host.commands();
    commands.send(Command::submit(vec![Part::text("go")]));
    let run = host.run(|news| {
        if let HostEvent::Event(event) = news
            && let EventKind::ProcessingEnd { .. } = event.kind
        {
            commands.send(Command::Close);
        }
    });
    run.await.unwrap();
    let requests = scene.model.requests();
    assert!(requests[0].body.contains("Working directory: /far/away"), "{}", requests[0].body);
    assert!(requests[1].body.contains("far: hostname"), "{}", requests[1].body);
    let asked = remote.0.lock().unwrap().clone();
    assert_eq!(asked.len(), 1);
    assert!(asked[0].starts_with(&format!("{:?} Shell", AgentId::ROOT)), "{asked:?}");
}
