//! The crate `innerloop`, as a Rust program uses it.

use futures_util::StreamExt as _;
use innerloop::{
    Agent, AgentBuilder, AgentError, AgentRun, AgentState, ApprovalDecision, ApprovalRequest,
    EngineOptions, Event, EventKind, EventStream, HookPoint, HookReply, Json, JsonSchema,
    NamedAgent, OwnToolCall, RunEnd, RunError, SandboxEngine, Tool,
};
use innerloop_tests::{
    anthropic::Message,
    patience::in_time,
    program::{KEY, binary, repository},
    scene::Scene,
};
use serde_json::json;
use std::{
    fs,
    process::Command,
    sync::{Arc, Mutex, OnceLock},
};
use tokio::sync::Notify;

/// A builder for the scene's model.
fn builder(scene: &Scene) -> AgentBuilder {
    static ENGINE: OnceLock<Arc<SandboxEngine>> = OnceLock::new();
    let engine = ENGINE.get_or_init(|| {
        let cache = binary().with_file_name("innerloop-test-cache");
        SandboxEngine::new(EngineOptions { cache_dir: Some(cache), ..EngineOptions::default() })
    });
    Agent::builder().engine(Arc::clone(engine)).api_key(KEY).base_url(scene.model.url())
}

fn read(scene: &Scene, path: &str) -> String {
    fs::read_to_string(scene.workspace().join(path)).unwrap_or_default()
}

/// What the last message of the scene's request of that number says.
fn said(scene: &Scene, request: usize) -> String {
    let body: serde_json::Value =
        serde_json::from_str(&scene.model.requests()[request].body).unwrap();
    body["messages"].as_array().unwrap().last().unwrap().to_string()
}

#[derive(serde::Deserialize, JsonSchema)]
struct City {
    /// With its country.
    city: String,
}

/// A tool that waits until it is told to go on.
fn waiting(begun: &Arc<Notify>, go_on: &Arc<Notify>) -> Tool {
    let (begun, go_on) = (Arc::clone(begun), Arc::clone(go_on));
    Tool::new("look", "Looks at a city.", move |City { city }, _: OwnToolCall| {
        let (begun, go_on) = (Arc::clone(&begun), Arc::clone(&go_on));
        async move {
            begun.notify_one();
            go_on.notified().await;
            Ok::<_, String>(format!("{city} is fine"))
        }
    })
    .read_only()
}

/// An agent in a call that waits, what lets it go on, its run, and all that happens.
async fn under_way(scene: &Scene) -> (Agent, Arc<Notify>, AgentRun, EventStream) {
    let (begun, go_on) = (Arc::default(), Arc::default());
    let builder = builder(scene).workspace(scene.workspace());
    let agent = builder.tool(waiting(&begun, &go_on)).build().await.unwrap();
    let (all, run) = (agent.subscribe(), agent.run("go"));
    in_time("the call", begun.notified()).await;
    (agent, go_on, run, all)
}

fn look() -> Message {
    Message::call("toolu_1", "look", &json!({ "city": "Lima, Peru" }))
}

#[tokio::test(flavor = "multi_thread")]
async fn n33_a_folder_stays_as_it_is_until_the_changes_are_applied() {
    let write =
        Message::call("toolu_1", "Write", &json!({"file_path": "new.txt", "content": "new\n"}));
    let scene = Scene::streaming(&[write, Message::text("done")]);
    let agent = builder(&scene).workspace(scene.workspace()).build().await.unwrap();
    let mut run = agent.run("go");
    let mut events: Vec<Event> = Vec::new();
    while let Some(event) = run.next().await {
        events.push(event);
    }
    let result = run.await.unwrap();
    assert_eq!((result.text.as_str(), result.end), ("done", RunEnd::Completed));
    assert_eq!((result.replies, result.tool_calls), (2, 1));
    assert!(matches!(events.first().unwrap().kind, EventKind::UserInput { .. }));
    assert!(matches!(events.last().unwrap().kind, EventKind::ProcessingEnd { .. }));
    assert_eq!(read(&scene, "new.txt"), "");
    let changes = agent.changes().await;
    assert_eq!(changes.iter().map(|change| change.path.as_str()).collect::<Vec<_>>(), ["new.txt"]);
    agent.apply().await.unwrap();
    assert_eq!(read(&scene, "new.txt"), "new\n");
    assert!(agent.changes().await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn n33_everything_works_while_a_run_is_under_way() {
    let scene = Scene::streaming(&[look(), Message::text("first"), Message::text("second")]);
    let (agent, go_on, run, mut all) = under_way(&scene).await;

    assert_eq!(agent.status().await.unwrap().state, AgentState::Processing);
    assert_eq!(agent.history().await.unwrap().len(), 2);
    let second = agent.run("and this").await;
    let Err(RunError::Refused(rejected)) = second else { panic!("{second:?}") };
    assert!(rejected.to_string().starts_with("a run is under way"), "{rejected}");
    agent.steer("look closely").await.unwrap();
    agent.follow_up("and then?").await.unwrap();
    let context = agent.context().await.unwrap();
    assert!(context.system > 0 && context.total < context.window, "{context:?}");
    let pending = agent.pending().await.unwrap();
    assert_eq!((pending.steering.len(), pending.follow_ups.len()), (1, 1), "{pending:?}");
    assert_eq!(agent.agents().await.unwrap(), []);
    assert_eq!(&agent.config().await.unwrap().id, agent.id());
    let undone = agent.undo(1).await;
    assert!(matches!(undone, Err(AgentError::Refused(_))), "{undone:?}");
    let more =
        Tool::new("more", "Tells more.", async |_: City, _: OwnToolCall| Ok::<_, String>("more"));
    agent.add_tool(more).await.unwrap();
    let wrong = agent.configure(r#"{"limits": 7}"#).await.unwrap_err();
    assert!(wrong.to_string().contains("limits"), "{wrong}");
    assert!(matches!(agent.configure("[]").await, Err(AgentError::Patch(_))));
    go_on.notify_one();

    let result = in_time("the run", async { run.await }).await.unwrap();
    assert_eq!(result.text, "second");
    let requests = scene.model.requests();
    assert!(!requests[0].body.contains("Tells more."));
    assert!(requests[1].body.contains("Lima, Peru is fine"), "{}", requests[1].body);
    assert!(requests[1].body.contains("look closely") && requests[1].body.contains("Tells more."));
    assert!(said(&scene, 2).contains("and then?"));
    agent.close().await;
    let after = agent.run("go").await.unwrap_err().to_string();
    assert_eq!(after, "the session is over: it was closed");
    let mut ends = 0;
    while let Some(event) = all.next().await {
        ends += usize::from(matches!(event.kind, EventKind::SessionEnd { .. }));
    }
    assert_eq!(ends, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn n33_a_run_that_is_dropped_is_interrupted() {
    let scene = Scene::streaming(&[look(), Message::text("never"), Message::text("again")]);
    let (agent, _go_on, run, mut all) = under_way(&scene).await;
    drop(run);
    let ended = async {
        loop {
            if let EventKind::ProcessingEnd { end, .. } = all.next().await.unwrap().kind {
                break end;
            }
        }
    };
    assert_eq!(in_time("the end", ended).await, RunEnd::Interrupted);
    // One that is refused leaves nothing behind.
    let empty = agent.run(Vec::new()).await;
    assert!(matches!(empty, Err(RunError::Refused(_))), "{empty:?}");
    assert_eq!(agent.run("again").await.unwrap().end, RunEnd::Completed);
}

#[tokio::test(flavor = "multi_thread")]
async fn n33_calls_are_approved_questions_answered_and_hooks_asked() {
    let write = |id: &str, path: &str| {
        Message::call(id, "Write", &json!({ "file_path": path, "content": "x" }))
    };
    let ask = Message::call("toolu_4", "ask_user", &json!({ "question": "Which colour?" }));
    let script = [
        write("toolu_1", "a"),
        write("toolu_2", "b"),
        write("toolu_3", "c"),
        ask,
        Message::text("ok"),
    ];
    let scene = Scene::streaming(&script);
    let asked = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&asked);
    let approve = move |call: ApprovalRequest| {
        noted.lock().unwrap().push(call.name.clone());
        async move {
            match call.arguments.text().contains("\"b\"") {
                true => ApprovalDecision::deny("not that one"),
                false => ApprovalDecision::Allow,
            }
        }
    };
    let hook = async |call: Json| match call.text().contains(r#"\"c\""#) {
        true => HookReply::Deny { reason: "the hook says no".into() },
        false => HookReply::Allow,
    };
    let builder = builder(&scene).in_place(scene.workspace()).approve(approve);
    let builder = builder.hook(HookPoint::BeforeTool, hook);
    let builder = builder.ask(async |question| Some(format!("{question} Green.")));
    let agent = builder.build().await.unwrap();
    let result = agent.run("go").await.unwrap();
    assert_eq!(result.end, RunEnd::Completed, "{result:?}");
    assert_eq!(
        (read(&scene, "a"), read(&scene, "b"), read(&scene, "c")),
        ("x".into(), "".into(), "".into())
    );
    assert_eq!(*asked.lock().unwrap(), ["Write", "Write"]);
    assert!(said(&scene, 2).contains("not that one"), "{}", said(&scene, 2));
    assert!(said(&scene, 3).contains("the hook says no"), "{}", said(&scene, 3));
    assert!(said(&scene, 4).contains("Which colour? Green."), "{}", said(&scene, 4));
}

#[tokio::test(flavor = "multi_thread")]
async fn n33_a_session_is_resumed_restored_forked_and_undone() {
    let replies: Vec<Message> = (1..=6).map(|n| Message::text(&format!("reply {n}"))).collect();
    let scene = Scene::streaming(&replies);
    let log = scene.path("session.jsonl");
    let first = builder(&scene).workspace(scene.workspace()).log(&log).build().await.unwrap();
    first.run("one").await.unwrap();
    let snapshot = first.snapshot().await.unwrap();
    let fork = first.fork(None).await.unwrap();
    assert_ne!(fork.id(), first.id());
    fork.run("in the fork").await.unwrap();
    let busy = builder(&scene).resume(&log).log(&log).build().await.unwrap_err();
    assert!(busy.to_string().ends_with("goes on with it; close that one first"), "{busy}");
    drop(first);

    let taken = builder(&scene).log(&log).build().await.unwrap_err();
    assert!(taken.to_string().contains("exists already"), "{taken}");
    let resumed = builder(&scene).workspace(scene.workspace()).resume(&log).log(&log);
    let resumed = resumed.build().await.unwrap();
    resumed.run("two").await.unwrap();
    assert_eq!(resumed.history().await.unwrap().len(), 4);
    resumed.undo(1).await.unwrap();
    resumed.run("two again").await.unwrap();
    drop(resumed);
    let body = &scene.model.requests()[3].body;
    assert!(body.contains("reply 1") && !body.contains("reply 3"), "{body}");
    // What went on was logged, too.
    let resumed = builder(&scene).workspace(scene.workspace()).resume(&log).build().await.unwrap();
    assert!(resumed.history().await.unwrap().len() > 4);

    let more =
        Tool::new("more", "Tells more.", async |_: City, _: OwnToolCall| Ok::<_, String>("more"));
    let restored = builder(&scene).workspace(scene.workspace()).restore(snapshot).tool(more);
    let restored = restored.config(r#"{"instructions": "Be brief."}"#).build().await.unwrap();
    restored.run("three").await.unwrap();
    let body = &scene.model.requests()[4].body;
    assert!(body.contains("reply 1") && !body.contains("reply 2"), "{body}");
    assert!(body.contains("Tells more.") && body.contains("Be brief."), "{body}");
    let key_in_log = fs::read_to_string(&log).unwrap().contains(KEY);
    assert!(!key_in_log);
}

#[tokio::test(flavor = "multi_thread")]
async fn n33_an_agent_changes_none_of_its_sessions_own_files() {
    let write = |id: &str, path: &str| {
        Message::call(id, "Write", &json!({ "file_path": path, "content": "gone" }))
    };
    let script = [
        write("toolu_1", "log.jsonl"),
        write("toolu_2", "log.jsonl.runs"),
        write("toolu_3", "traffic.jsonl"),
        write("toolu_4", "other.txt"),
        Message::text("done"),
    ];
    let scene = Scene::streaming(&script);
    let [log, record] = ["log.jsonl", "traffic.jsonl"].map(|name| scene.workspace().join(name));
    let builder = builder(&scene).in_place(scene.workspace()).log(&log).record(record);
    let agent = builder.build().await.unwrap();
    assert_eq!(agent.run("go").await.unwrap().end, RunEnd::Completed);
    drop(agent);
    for name in ["log.jsonl", "log.jsonl.runs", "traffic.jsonl"] {
        assert_ne!(read(&scene, name), "gone", "{name}");
    }
    assert_eq!(read(&scene, "other.txt"), "gone");
    assert!(read(&scene, "log.jsonl").starts_with("{\"format\":\"innerloop-log\""));
}

#[tokio::test(flavor = "multi_thread")]
async fn n33_whoever_breaks_when_asked_has_denied() {
    let write = Message::call("toolu_1", "Write", &json!({"file_path": "a", "content": "x"}));
    let scene = Scene::streaming(&[write, Message::text("done"), Message::text("again")]);
    // It breaks before there is a future of it.
    let approve = |call: ApprovalRequest| {
        assert_eq!(call.name, "", "breaks");
        async { ApprovalDecision::Allow }
    };
    let agent = builder(&scene).in_place(scene.workspace()).approve(approve);
    let agent = agent.build().await.unwrap();
    let ended = in_time("the end", async { agent.run("go").await }).await.unwrap();
    assert_eq!((ended.end, read(&scene, "a").as_str()), (RunEnd::Completed, ""));
    assert!(said(&scene, 1).contains("nobody answered"), "{}", said(&scene, 1));
    assert_eq!(agent.run("again").await.unwrap().text, "again");
}

#[tokio::test(flavor = "multi_thread")]
async fn n33_what_is_wrong_is_told_with_what_to_do() {
    let scene = Scene::streaming(&[]);
    let at = || builder(&scene).workspace(scene.workspace());
    let missing = scene.path("none.jsonl");
    let snapshot = at().build().await.unwrap().snapshot().await.unwrap();
    for (builder, told) in [
        (at().provider("antropic"), "anthropic"),
        (Agent::builder().provider("groq").api_key(""), "wants a key: set "),
        (at().workspace(scene.path("none")), "none; create it"),
        (at().base_url("ftp://x"), "is no base URL"),
        (at().config("{"), "config: the JSON ends too early"),
        (at().config(r#"{"limits": {"max_tuns": 3}}"#), "max_tuns"),
        (at().restore("no snapshot"), "snapshot"),
        (at().restore(snapshot.clone()).config("[]"), "the patch is no JSON object"),
        (at().restore(snapshot).config(r#"{"limits": 7}"#), "limits"),
        (at().resume(&missing), "none.jsonl"),
        (at().replay(&missing), "none.jsonl"),
        (at().allow_domains(["http://x/y"]), "x/y"),
    ] {
        let error = builder.build().await.map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(told), "{told:?}: {error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn n17_an_agent_that_has_a_name_works_with_its_prompt_and_tools() {
    let scene = Scene::streaming(&[
        Message::call("c1", "spawn_agents", &json!({"tasks": [{"task": "look", "agent": "eye"}]})),
        Message::text("Seen."),
        Message::text("Done."),
    ]);
    let eye = NamedAgent {
        description: "Looks.".into(),
        prompt: "You look.".into(),
        tools: Some(vec!["Read".into()]),
        ..NamedAgent::default()
    };
    let agent = builder(&scene).named_agent("eye", &eye).build().await.unwrap();
    assert_eq!(agent.run("go").await.unwrap().text, "Done.");
    let own: serde_json::Value = serde_json::from_str(&scene.model.requests()[1].body).unwrap();
    assert!(own["system"][0]["text"].as_str().unwrap().starts_with("You look."));
    assert_eq!(own["tools"].as_array().unwrap().len(), 1);
    assert!(said(&scene, 2).contains("Seen."), "{}", said(&scene, 2));
    assert_eq!(agent.agents().await.unwrap()[0].name, "eye");
}

#[test]
fn n33_the_examples_run_against_their_recordings() {
    for (name, told) in [
        ("quick_start", "changed: greet.py\ndef greet(name):\n    print('Hello', name)\n"),
        ("own_tool", "Yes: it is 7 degrees in Oslo.\n"),
        ("approvals", "log.txt may not be changed.\n# Notes\n\ndone\n"),
        ("structured_answer", "approve: false\nline 2: b may be 0"),
        ("resume", "2 turns so far\nYou named 7.\n"),
        ("own_environment", "uptime.txt: up 412 days\n"),
    ] {
        let program = binary().with_file_name("examples").join(name);
        let how = "`cargo build --examples` with the packages of the tests makes it";
        assert!(program.is_file(), "{}: {how}", program.display());
        let mut example = Command::new(program);
        example.current_dir(repository()).env_remove("ANTHROPIC_API_KEY");
        example.env_remove("INNERLOOP_RECORD");
        let output = example.output().unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && stdout.contains(told), "{name}: {stdout}");
    }
}
