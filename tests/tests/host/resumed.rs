//! A session whose program was killed in the middle of a command line, and which another program
//! takes up from the log.

use innerloop_core::{event::EventKind, input::Command};
use innerloop_driver::{
    ApiKey, Driver, DriverOptions as DriverParts, Endpoint, EndpointTable, HostCapabilities,
    ModelSource,
};
use innerloop_host::{
    host::{Host, HostEvent, HostParts},
    http::{HttpClient, wall_time},
    tools::ToolRunner,
};
use innerloop_sandbox::{EngineOptions, Executor, SandboxEngine, programs::ProgramRegistry};
use innerloop_tests::{
    anthropic::Message,
    example::programs_and_shell,
    program::{KEY, Started, binary, wait_for},
    scene::Scene,
};
use innerloop_workspace::Workspace;
use serde_json::{Value, json};
use std::fs;

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
