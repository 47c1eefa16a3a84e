//! The host as a library, with functions of Rust as tools: what they are told, and what becomes of
//! results, errors, panics, time limits and interruptions.

use innerloop_core::{
    action::{Outcome, ToolError},
    config::EnvironmentFacts,
    event::{Event, EventKind},
    id::SessionId,
    input::Command,
    json::Json,
    message::Part,
    preset::ConfigPreset,
    tool::ToolSpec,
};
use innerloop_driver::{
    ApiKey, Driver, DriverOptions as DriverParts, Endpoint, EndpointTable, HostCapabilities,
    ModelSource, SessionSettings, catalogue::Catalogue, providers,
};
use innerloop_host::{
    host::{CommandSender, Host, HostEvent, HostParts, runs_at_once},
    http::{HttpClient, wall_time},
    tools::{OwnTool, OwnToolCall, ToolRunner},
};
use innerloop_sandbox::{EngineOptions, Executor, SandboxEngine, programs::ProgramRegistry};
use innerloop_tests::{
    anthropic::Message,
    masks::starred,
    patience::in_time,
    program::{KEY, binary},
    scene::Scene,
};
use innerloop_workspace::Workspace;
use serde_json::{Value, json};
use std::{
    fs,
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

fn spec(name: &str) -> ToolSpec {
    let parameters = r#"{"type":"object","properties":{"city":{"type":"string"}}}"#;
    ToolSpec {
        read_only: true,
        timeout_ms: Some(60_000),
        ..ToolSpec::new(name, "Looks at a city.", Json::parse(parameters).unwrap())
    }
}

fn hasty(name: &str) -> ToolSpec {
    ToolSpec { timeout_ms: Some(100), ..spec(name) }
}

/// A session with these tools, opened as a program would that embeds the library.
fn host(scene: &Scene, own: Vec<OwnTool>) -> Host {
    host_that_reads(scene, own, None)
}

/// The same, where `web` reads pages of the web.
fn host_that_reads(scene: &Scene, own: Vec<OwnTool>, web: Option<OwnTool>) -> Host {
    let cache = binary().with_file_name("innerloop-test-cache");
    let options = EngineOptions { cache_dir: Some(cache), ..EngineOptions::default() };
    let engine = SandboxEngine::new(options);
    let workspace = Workspace::open(scene.workspace()).unwrap();
    let sandbox = Executor::new(engine, workspace, ProgramRegistry::default());
    let patch = json!({ "web_fetch": web.is_some() }).to_string();
    let tools = own.into_iter().fold(ToolRunner::new(sandbox), ToolRunner::with);
    let tools = web.into_iter().fold(tools, ToolRunner::with_web_fetch);
    let provider = providers::find("anthropic").unwrap();
    let settings = SessionSettings {
        id: &SessionId("test".to_owned()),
        provider: &provider,
        model: None,
        fallbacks: &[],
        catalogue: &Catalogue::standard(),
        preset: Some(ConfigPreset::Modern),
        facts: &EnvironmentFacts::default(),
        tools: &tools.specs(),
        patches: &[&patch],
    };
    let endpoint = Endpoint::new(&provider, Some(&scene.model.url()), ApiKey::new(KEY)).unwrap();
    let endpoints = EndpointTable::default().with(provider.endpoint(), endpoint);
    let people = HostCapabilities::default();
    let parts = DriverParts { endpoints, models: ModelSource::Live, people, keeps_log: false };
    let driver = Driver::open(settings.config().unwrap(), wall_time(), parts).unwrap();
    let http = Some(HttpClient::new(true).unwrap());
    Host::new(driver, HostParts { http, tools, journal: None, recording: None })
}

/// Drives the session through one run. `watch` may say something to it.
async fn drive(mut host: Host, mut watch: impl FnMut(&Event, &CommandSender)) -> Vec<Event> {
    let commands = host.commands();
    commands.send(Command::submit(vec![Part::text("go")]));
    let mut events = Vec::new();
    let run = host.run(|news| {
        if let HostEvent::Event(event) = news {
            watch(event, &commands);
            if matches!(event.kind, EventKind::ProcessingEnd { .. }) {
                commands.send(Command::Close);
            }
            events.push(event.clone());
        }
    });
    run.await.unwrap();
    events
}

/// A scene whose model calls the tool `look` once.
fn scene() -> Scene {
    let call = Message::call("toolu_1", "look", &json!({"city": "Lima"}));
    Scene::streaming(&[call, Message::text("done")])
}

/// The outcome of the one call of that tool, and the output that came before.
async fn outcome(tool: OwnTool) -> (Outcome, String) {
    let events = drive(host(&scene(), vec![tool]), |_, _| {}).await;
    let is_idle = |event: &Event| matches!(event.kind, EventKind::ProcessingEnd { .. });
    assert!(events.iter().any(is_idle), "the run goes on to its end: {events:#?}");
    ended(&events)
}

/// The outcome of the first call, which must tell how long it took, without that; and what the
/// tool said on the way.
fn ended(events: &[Event]) -> (Outcome, String) {
    let mut said = String::new();
    for event in events {
        match &event.kind {
            EventKind::ToolCallOutputDelta { text, .. } => said.push_str(text),
            EventKind::ToolCallEnd { outcome, .. } => {
                let mut outcome = Outcome::clone(outcome);
                assert!(outcome.duration_ms.take().is_some(), "d2: {outcome:?}");
                return (outcome, said);
            }
            _ => {}
        }
    }
    panic!("no call has ended: {events:#?}");
}

fn failed(text: &str) -> Outcome {
    Outcome::error(ToolError::Crashed, format!("The tool look failed: {text}"))
}

/// Tells when it is dropped.
struct Guard(Arc<AtomicBool>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

async fn wait_for(flag: &AtomicBool) {
    in_time("waiting for the flag", async {
        while !flag.load(Ordering::SeqCst) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

#[derive(serde::Deserialize)]
struct Arguments {
    city: String,
}

#[tokio::test(flavor = "multi_thread")]
async fn c5_a_function_gets_the_call_and_gives_the_result() {
    let tool = OwnTool::new(spec("look"), |call: OwnToolCall| async move {
        let Arguments { city } = call.read()?;
        fs::write(call.folder.join("seen.txt"), &city)?;
        call.say(&format!("asking {KEY}"));
        tokio::time::sleep(Duration::from_millis(20)).await;
        Ok::<_, Box<dyn std::error::Error + Send + Sync>>(format!("{}: {city}, {KEY}", call.id))
    });
    let scene = scene();
    let host = host(&scene, vec![tool]);
    let (outcome, said) = ended(&drive(host, |_, _| {}).await);
    assert_eq!(starred(&outcome.joined_text()), "toolu_1: Lima, ***");
    assert_eq!((&*starred(&said), &*scene.text("workspace/seen.txt")), ("asking ***", "Lima"));
    let requests = scene.model.requests();
    assert!(requests[0].body.contains("Looks at a city."), "{}", requests[0].body);
    assert!(starred(&requests[1].body).contains("toolu_1: Lima, ***"), "{}", requests[1].body);
}

#[tokio::test(flavor = "multi_thread")]
async fn c5_errors_and_panics_are_results_for_the_model() {
    let error = |_: OwnToolCall| async { Err::<String, _>("no such city") };
    let (told, _) = outcome(OwnTool::new(spec("look"), error)).await;
    assert_eq!(told, failed("no such city"));
    let panics = |call: OwnToolCall| async move {
        assert!(call.id.is_empty(), "not {}", call.id);
        Ok::<_, String>("unreached")
    };
    let (told, _) = outcome(OwnTool::new(spec("look"), panics)).await;
    assert_eq!(told, failed("it panicked: not toolu_1"));
    let at_once = |call: OwnToolCall| {
        assert!(call.id.is_empty(), "at once");
        async { Ok::<_, String>("unreached") }
    };
    let (told, _) = outcome(OwnTool::new(spec("look"), at_once)).await;
    assert_eq!(told, failed("it panicked: at once"));
    let blocks = |call: OwnToolCall| {
        assert!(call.id.is_empty(), "on its thread");
        Ok::<_, String>("unreached")
    };
    let (told, _) = outcome(OwnTool::blocking(spec("look"), blocks)).await;
    assert_eq!(told, failed("it panicked: on its thread"));
    let refuses = |_: OwnToolCall| {
        let refused = Outcome::error(ToolError::PermissionDenied, "not for you");
        Ok::<_, String>(Outcome { exit: Some(5), ..refused })
    };
    let (told, _) = outcome(OwnTool::blocking(spec("look"), refuses)).await;
    assert_eq!((told.error, told.exit), (Some(ToolError::PermissionDenied), Some(5)));
}

#[tokio::test(flavor = "multi_thread")]
async fn c5_a_function_whose_time_is_up_is_not_waited_for() {
    let (dropped, cancelled) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
    let flags = (Arc::clone(&dropped), Arc::clone(&cancelled));
    let tool = OwnTool::new(hasty("look"), move |call: OwnToolCall| {
        let (guard, cancelled) = (Guard(Arc::clone(&flags.0)), Arc::clone(&flags.1));
        async move {
            let _guard = guard;
            assert!(!call.is_cancelled());
            call.say("begun");
            tokio::spawn(async move {
                call.cancelled().await;
                cancelled.store(call.is_cancelled(), Ordering::SeqCst);
            });
            pending::<Result<String, String>>().await
        }
    });
    let (told, said) = outcome(tool).await;
    assert_eq!((told.error, told.timed_out), (Some(ToolError::Timeout), true));
    assert_eq!(said, "begun");
    wait_for(&dropped).await;
    wait_for(&cancelled).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn c5_a_blocking_function_is_not_waited_for_either_and_hears_of_it() {
    let heard = Arc::<AtomicBool>::default();
    let flag = Arc::clone(&heard);
    let tool = OwnTool::blocking(hasty("look"), move |call: OwnToolCall| {
        while !call.is_cancelled() {
            thread::sleep(Duration::from_millis(5));
        }
        flag.store(true, Ordering::SeqCst);
        Ok::<_, String>("too late")
    });
    let (told, _) = outcome(tool).await;
    assert_eq!((told.error, told.timed_out), (Some(ToolError::Timeout), true));
    wait_for(&heard).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn c5_an_interrupted_function_is_dropped() {
    let dropped = Arc::<AtomicBool>::default();
    let flag = Arc::clone(&dropped);
    let tool = OwnTool::new(spec("look"), move |call: OwnToolCall| {
        let guard = Guard(Arc::clone(&flag));
        async move {
            let _guard = guard;
            call.say("begun");
            pending::<Result<String, String>>().await
        }
    });
    let scene = scene();
    let events = drive(host(&scene, vec![tool]), |event, commands| {
        if matches!(event.kind, EventKind::ToolCallOutputDelta { .. }) {
            commands.send(Command::Interrupt);
        }
    });
    let (told, _) = ended(&events.await);
    assert_eq!((told.error, told.timed_out), (Some(ToolError::Interrupted), false));
    wait_for(&dropped).await;
    assert_eq!(scene.model.requests().len(), 1);
}

/// A scene whose model calls the tool `look` so often at once.
fn crowd(calls: usize) -> Scene {
    let reply = (0..calls).fold(Message::text("I look."), |reply, call| {
        reply.and_call(&format!("toolu_{call}"), "look", &json!({"city": format!("{call}")}))
    });
    Scene::streaming(&[reply, Message::text("done")])
}

/// The outcomes of all calls, without how long they took.
fn all_ended(events: &[Event]) -> Vec<Outcome> {
    let ended = events.iter().filter_map(|event| match &event.kind {
        EventKind::ToolCallEnd { outcome, .. } => Some(Outcome::clone(outcome)),
        _ => None,
    });
    ended.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn c5_only_so_many_run_at_once_and_the_others_lose_no_time() {
    let (now, most) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
    let counts = (Arc::clone(&now), Arc::clone(&most));
    let tool = OwnTool::new(
        ToolSpec { timeout_ms: Some(2_000), ..spec("look") },
        move |_: OwnToolCall| {
            let (now, most) = (Arc::clone(&counts.0), Arc::clone(&counts.1));
            async move {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_millis(400)).await;
                now.fetch_sub(1, Ordering::SeqCst);
                Ok::<_, String>("seen")
            }
        },
    );
    // Together they take twice as long as each of them may.
    let calls = 10 * runs_at_once();
    let begun = Instant::now();
    let events = drive(host(&crowd(calls), vec![tool]), |_, _| {}).await;
    assert!(begun.elapsed() >= Duration::from_secs(4), "{:?}", begun.elapsed());
    assert_eq!(most.load(Ordering::SeqCst), runs_at_once());
    let outcomes = all_ended(&events);
    assert_eq!(outcomes.len(), calls);
    assert!(outcomes.iter().all(|outcome| outcome.joined_text() == "seen"), "{outcomes:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn c5_calls_that_wait_are_interrupted_at_once() {
    let begun = Arc::<AtomicUsize>::default();
    let count = Arc::clone(&begun);
    let tool = OwnTool::new(spec("look"), move |call: OwnToolCall| {
        count.fetch_add(1, Ordering::SeqCst);
        call.say("begun");
        pending::<Result<String, String>>()
    });
    let calls = 3 * runs_at_once();
    let mut said = 0;
    let mut is_interrupted = false;
    let scene = crowd(calls);
    let events = drive(host(&scene, vec![tool]), |event, commands| {
        said += usize::from(matches!(event.kind, EventKind::ToolCallOutputDelta { .. }));
        if said == runs_at_once() && !is_interrupted {
            is_interrupted = true;
            commands.send(Command::Interrupt);
        }
    });
    let events = events.await;
    assert_eq!(begun.load(Ordering::SeqCst), runs_at_once(), "no other has begun");
    let outcomes = all_ended(&events);
    let is_interrupted = |outcome: &Outcome| outcome.error == Some(ToolError::Interrupted);
    assert!(outcomes.len() == calls && outcomes.iter().all(is_interrupted), "{outcomes:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn c5_the_latest_of_equal_names_is_run() {
    let says = |text: &'static str| {
        OwnTool::new(spec("look"), move |_| async move { Ok::<_, String>(text) })
    };
    let scene = scene();
    let events = drive(host(&scene, vec![says("first"), says("second")]), |_, _| {}).await;
    assert_eq!(ended(&events).0.joined_text(), "second");
    let shown = scene.model.requests()[0].body.matches(r#""name":"look""#).count();
    assert_eq!(shown, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn c16_pages_of_the_web_are_read_by_a_function_of_the_host() {
    let asked = json!({"url": "https://a.example/", "prompt": "The title"});
    let scene =
        Scene::streaming(&[Message::call("c1", "WebFetch", &asked), Message::text("Done.")]);
    let reader = OwnTool::new(spec("any name"), |call: OwnToolCall| async move {
        let Value::String(url) = &call.read::<Value>()?["urls"][0] else { panic!("no address") };
        Ok::<_, serde_json::Error>(format!("read {url}"))
    });
    let events = drive(host_that_reads(&scene, Vec::new(), Some(reader)), |_, _| {}).await;
    let outcomes: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::ToolCallEnd { outcome, .. } => Some(outcome.joined_text()),
            _ => None,
        })
        .collect();
    let [outcome] = &outcomes[..] else { panic!("{outcomes:?}") };
    assert!(outcome.contains(" begins ---\nread https://a.example/\n--- untrusted "), "{outcome}");
    let offered = &scene.model.requests()[0].body;
    assert!(offered.contains("\"WebFetch\""), "{offered}");
}

#[test]
fn c17_tools_are_added_found_and_taken_away() {
    let scene = Scene::streaming(&[]);
    let cache = binary().with_file_name("innerloop-test-cache");
    let options = EngineOptions { cache_dir: Some(cache), ..EngineOptions::default() };
    let workspace = Workspace::open(scene.workspace()).unwrap();
    let sandbox = Executor::new(SandboxEngine::new(options), workspace, ProgramRegistry::default());
    let tool = |name: &str| OwnTool::blocking(spec(name), |_| Ok::<_, String>(String::new()));
    let late = OwnTool::blocking(hasty("a"), |_| Ok::<_, String>(String::new()));
    let tools = ToolRunner::new(sandbox).with(tool("a")).with(tool("b")).with(late);
    assert!(tools.names().eq(["a", "b", "a"]));
    assert_eq!(tools.get("a").unwrap().spec().timeout_ms, Some(100), "the latest counts");
    let tools = tools.without("a").without("none");
    assert!(tools.names().eq(["b"]) && tools.get("a").is_none());
    assert_eq!(tools.specs().len(), 1);
}
