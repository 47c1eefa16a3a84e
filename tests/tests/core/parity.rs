//! The parity matrix of the specification (Spec §9.12) and its smoke test (§9.13) for the
//! Anthropic profile: whole runs of the loop with real tools over files in memory; programs are
//! scripted.

use innerloop_core::{
    action::{Action, Outcome, ToolError},
    config::ProgramFacts,
    event::EventKind,
    id::AgentId,
    input::Command,
    status::RunEnd,
    tool::Job,
};
use innerloop_tests::{
    anthropic::Message,
    desk::{Desk, config},
};
use innerloop_tools::{Files, Memory, WorkspacePath, perform};
use serde_json::{Value, json};

/// A session and its workspace.
struct Scene {
    desk: Desk,
    files: Memory,
}

impl Scene {
    fn new(files: &[(&str, &str)]) -> Self {
        let mut config = config();
        config.facts.programs =
            vec![ProgramFacts { name: "qjs".into(), description: "Runs JavaScript.".into() }];
        let mut scene = Self { desk: Desk::open(config), files: Memory::new() };
        for (path, text) in files {
            let path = WorkspacePath::parse(path).unwrap();
            scene.files.write(&path, text.as_bytes().to_vec()).unwrap();
        }
        scene
    }

    fn text(&self, path: &str) -> String {
        let path = WorkspacePath::parse(path).unwrap();
        String::from_utf8(self.files.bytes(&path).unwrap_or_default().to_vec()).unwrap()
    }

    /// The model calls tools; they run until each has answered.
    fn call(&mut self, message: &Message) {
        self.desk.reply(message);
        while let Some((&id, run)) = self.desk.runs.first_key_value() {
            let outcome = match &run.job {
                Job::Builtin(Action::RunProgram { args, .. }) => program(args, run.timeout_ms),
                Job::Builtin(action) => perform(&mut self.files, action),
                Job::Custom(_) => Outcome::error(ToolError::UnknownTool, "none"),
            };
            let _ = self.desk.done(id, outcome);
        }
    }

    fn tool(&mut self, name: &str, input: &Value) {
        self.call(&Message::call("c", name, input));
    }

    fn says(&mut self, text: &str) {
        self.desk.reply(&Message::text(text));
    }

    /// The newest result that the model reads.
    fn result(&self) -> (String, bool) {
        let messages = self.desk.body()["messages"].clone();
        let blocks = messages.as_array().unwrap().last().unwrap()["content"].clone();
        let results: Vec<Value> = blocks
            .as_array()
            .unwrap()
            .iter()
            .filter(|block| block["type"] == "tool_result")
            .cloned()
            .collect();
        let last = results.last().expect("a result").clone();
        let text = match &last["content"] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        (text, last["is_error"] == true)
    }

    fn end(&self) -> Option<RunEnd> {
        let ends = self.desk.find(|kind| match kind {
            EventKind::ProcessingEnd { end, .. } => Some(*end),
            _ => None,
        });
        ends.last().copied()
    }
}

/// A scripted program: prints its arguments, or runs longer than it may.
fn program(args: &[String], timeout_ms: u64) -> Outcome {
    match args.first().map(String::as_str) {
        Some("sleep") => {
            let error = Some(ToolError::Timeout);
            Outcome { error, timed_out: true, ..Outcome::text(format!("slept {timeout_ms}")) }
        }
        Some("fail") => {
            let error = Some(ToolError::Exit);
            Outcome { error, exit: Some(1), ..Outcome::text("boom\n[exit code 1]") }
        }
        _ => Outcome { exit: Some(0), ..Outcome::text(args.join(" ")) },
    }
}

fn write(path: &str, content: &str) -> Value {
    json!({"file_path": path, "content": content})
}

#[test]
fn g7_simple_file_creation() {
    let mut scene = Scene::new(&[]);
    let _ = scene.desk.submit("Create hello.py that prints Hello World");
    scene.tool("write_file", &write("hello.py", "print('Hello World')\n"));
    scene.says("Done.");
    assert_eq!(
        (scene.text("hello.py").as_str(), scene.end()),
        ("print('Hello World')\n", Some(RunEnd::Completed))
    );
}

#[test]
fn g7_read_a_file_then_edit_it() {
    let mut scene = Scene::new(&[("a.js", "let a = 1;\nlet b = 2;\n")]);
    let _ = scene.desk.submit("Set b to 3");
    scene.tool("read_file", &json!({"file_path": "a.js"}));
    assert_eq!(scene.result(), ("1 | let a = 1;\n2 | let b = 2;".into(), false));
    let edit = json!({"file_path": "a.js", "old_string": "b = 2", "new_string": "b = 3"});
    scene.tool("edit_file", &edit);
    scene.says("Done.");
    assert_eq!(scene.text("a.js"), "let a = 1;\nlet b = 3;\n");
}

#[test]
fn g7_edit_several_files_in_one_session() {
    let mut scene = Scene::new(&[("a", "one"), ("b/c", "one")]);
    let _ = scene.desk.submit("one becomes two");
    let edit = |path| json!({"file_path": path, "old_string": "one", "new_string": "two"});
    let both =
        Message::call("c1", "edit_file", &edit("a")).and_call("c2", "edit_file", &edit("b/c"));
    scene.call(&both);
    assert_eq!((scene.text("a"), scene.text("b/c")), ("two".into(), "two".into()));
}

#[test]
fn g7_run_a_program() {
    let mut scene = Scene::new(&[]);
    let _ = scene.desk.submit("Run it");
    scene.tool("run_program", &json!({"program": "qjs", "args": ["hi", "there"]}));
    assert_eq!(scene.result(), ("hi there".into(), false));
}

#[test]
fn g7_a_programs_timeout_is_told_with_what_came_before() {
    let mut scene = Scene::new(&[]);
    let _ = scene.desk.submit("Sleep");
    let call = json!({"program": "qjs", "args": ["sleep"], "timeout_ms": 900});
    scene.tool("run_program", &call);
    let (text, is_error) = scene.result();
    assert!(is_error && text.contains("slept 900") && text.contains("timed out after 900ms"));
    scene.says("It takes too long.");
    assert_eq!(scene.end(), Some(RunEnd::Completed));
}

#[test]
fn g7_grep_and_glob_find_files() {
    let mut scene = Scene::new(&[("src/a.ts", "needle\n"), ("src/b.ts", "hay\n"), ("c.md", "x")]);
    let _ = scene.desk.submit("Find it");
    scene.tool("glob", &json!({"pattern": "**/*.ts"}));
    let (found, _) = scene.result();
    assert!(found.contains("src/a.ts") && found.contains("src/b.ts") && !found.contains("c.md"));
    scene.tool("grep", &json!({"pattern": "need.e"}));
    assert!(scene.result().0.contains("src/a.ts:1:needle"));
}

#[test]
fn g7_read_analyze_edit_in_several_steps() {
    let mut scene = Scene::new(&[("cart.js", "const total = (a, b) => a - b;\n")]);
    let _ = scene.desk.submit("Make the tests pass");
    scene.tool("run_program", &json!({"program": "qjs", "args": ["fail"]}));
    assert!(scene.result().1);
    scene.tool("read_file", &json!({"file_path": "cart.js"}));
    let edit = json!({"file_path": "cart.js", "old_string": "a - b", "new_string": "a + b"});
    scene.tool("edit_file", &edit);
    scene.tool("run_program", &json!({"program": "qjs", "args": ["ok"]}));
    scene.says("Mended.");
    assert_eq!(scene.text("cart.js"), "const total = (a, b) => a + b;\n");
    assert_eq!(scene.desk.session.status(AgentId::ROOT).unwrap().tool_calls, 4);
}

#[test]
fn g7_a_large_file_is_truncated_for_the_model_and_whole_in_the_event() {
    let big = "x".repeat(100_000);
    let mut scene = Scene::new(&[("big.txt", &big)]);
    let _ = scene.desk.submit("Read big.txt");
    scene.tool("read_file", &json!({"file_path": "big.txt"}));
    assert!(scene.result().0.contains("[WARNING: Tool output was truncated."));
    let whole = scene.desk.find(|kind| match kind {
        EventKind::ToolCallEnd { outcome, .. } => Some(outcome.joined_text().contains(&big)),
        _ => None,
    });
    assert_eq!(whole, [true]);
}

#[test]
fn g7_parallel_calls_are_answered_in_order() {
    let mut scene = Scene::new(&[("a", "A"), ("b", "B"), ("c", "C")]);
    let _ = scene.desk.submit("Read all");
    let read = |path| json!({"file_path": path});
    let calls = Message::call("1", "read_file", &read("a"))
        .and_call("2", "read_file", &read("b"))
        .and_call("3", "read_file", &read("c"));
    scene.desk.reply(&calls);
    assert_eq!(scene.desk.runs.len(), 3, "side by side");
    let ids: Vec<_> = scene.desk.runs.keys().copied().rev().collect();
    for id in ids {
        let _ = scene.desk.done(id, Outcome::text(format!("{id}")));
    }
    let results = scene.desk.body()["messages"][2]["content"].clone();
    let order: Vec<&str> =
        results.as_array().unwrap().iter().map(|r| r["tool_use_id"].as_str().unwrap()).collect();
    assert_eq!(order, ["1", "2", "3"]);
}

#[test]
fn g7_steering_in_mid_task() {
    let mut scene = Scene::new(&[]);
    let _ = scene.desk.submit("Create a Flask application");
    let _ = scene.desk.steer("Only a /health endpoint");
    scene.tool("list_dir", &json!({}));
    assert!(scene.desk.body()["messages"].to_string().contains("Only a /health endpoint"));
}

#[test]
fn g7_a_change_of_the_reasoning_effort() {
    let mut scene = Scene::new(&[]);
    let _ = scene.desk.submit("go");
    assert_eq!(scene.desk.body().get("output_config"), None);
    for (patch, effort) in [("\"high\"", json!({"effort": "high"})), ("null", Value::Null)] {
        let patch = serde_json::from_str(&format!("{{\"reasoning_effort\":{patch}}}")).unwrap();
        let _ = scene.desk.command(Command::Configure { patch });
        scene.tool("list_dir", &json!({}));
        assert_eq!(scene.desk.body().get("output_config").cloned().unwrap_or_default(), effort);
    }
}

#[test]
fn g7_spawn_another_agent_and_wait_for_it() {
    let mut scene = Scene::new(&[]);
    let _ = scene.desk.submit("Have tests written");
    scene.tool("spawn_agent", &json!({"task": "Write tests"}));
    scene.desk.reply(&Message::call("w", "wait", &json!({"agent_id": "agent-1"})));
    assert_eq!(scene.desk.calls.len(), 1, "only the other one calls its model");
    scene.tool("write_file", &write("test.js", "ok"));
    scene.says("Written.");
    assert!(scene.result().0.contains("Written."));
    scene.says("All done.");
    assert_eq!((scene.text("test.js").as_str(), scene.end()), ("ok", Some(RunEnd::Completed)));
}

#[test]
fn g7_loop_detection_warns_the_model() {
    let mut scene = Scene::new(&[]);
    let _ = scene.desk.submit("go");
    for _ in 0..10 {
        scene.tool("list_dir", &json!({}));
    }
    assert!(scene.desk.body()["messages"].to_string().contains("Loop detected"));
}

#[test]
fn g7_a_failing_tool_is_recovered_from() {
    let mut scene = Scene::new(&[("a.js", "x")]);
    let _ = scene.desk.submit("go");
    let edit = |old| json!({"file_path": "a.js", "old_string": old, "new_string": "y"});
    scene.tool("edit_file", &edit("nowhere"));
    assert!(scene.result().1);
    scene.tool("edit_file", &edit("x"));
    assert!(!scene.result().1);
    assert_eq!(scene.text("a.js"), "y");
}

#[test]
fn g7_the_families_own_way_to_edit() {
    let scene = {
        let mut scene = Scene::new(&[]);
        let _ = scene.desk.submit("go");
        scene
    };
    let tools = scene.desk.body()["tools"].to_string();
    assert!(tools.contains("old_string") && !tools.contains("apply_patch"));
}

#[test]
fn m6_a_file_that_is_there_is_read_before_it_is_changed() {
    let mut config = config();
    config.guard.read_before_write = true;
    let mut scene = Scene { desk: Desk::open(config), files: Memory::new() };
    for path in ["a", "b"] {
        let path = WorkspacePath::parse(path).unwrap();
        scene.files.write(&path, b"x".to_vec()).unwrap();
    }
    let _ = scene.desk.submit("go");
    let edit = |path| json!({"file_path": path, "old_string": "x", "new_string": "y"});
    scene.tool("edit_file", &edit("a"));
    assert_eq!(scene.result(), ("Tool error (edit_file): Read a before you edit it.".into(), true));
    scene.tool("write_file", &write("b", "y"));
    assert!(scene.result().1 && scene.text("b") == "x");
    scene.tool("write_file", &write("new", "y"));
    scene.tool("edit_file", &edit("./new"));
    assert!(!scene.result().0.contains("before you"), "what the model wrote it knows");
    scene.tool("read_file", &json!({"file_path": "/a"}));
    scene.tool("edit_file", &edit("a"));
    assert_eq!(scene.text("a"), "y");
}

#[test]
fn m6_what_one_call_of_a_reply_writes_or_reads_the_next_one_knows() {
    let mut config = config();
    config.guard.read_before_write = true;
    let mut scene = Scene { desk: Desk::open(config), files: Memory::new() };
    let path = WorkspacePath::parse("old").unwrap();
    scene.files.write(&path, b"x".to_vec()).unwrap();
    let _ = scene.desk.submit("go");
    let edit = |path| json!({"file_path": path, "old_string": "x", "new_string": "y"});
    let reply = Message::call("1", "write_file", &write("new", "x"))
        .and_call("2", "edit_file", &edit("new"))
        .and_call("3", "edit_file", &edit("strange"))
        .and_call("4", "read_file", &json!({"file_path": "old"}))
        .and_call("5", "edit_file", &edit("old"));
    scene.call(&reply);
    assert_eq!((scene.text("new"), scene.text("old")), ("y".into(), "y".into()));
    assert_eq!(scene.desk.requests.len(), 2, "the refused edit holds nothing up");
}

#[test]
fn g8_the_smoke_test_of_the_specification() {
    let mut scene = Scene::new(&[]);
    let _ = scene.desk.submit("Create a file called hello.py that prints 'Hello World'");
    scene.tool("write_file", &write("hello.py", "print('Hello World')\n"));
    scene.says("Created.");
    let _ = scene.desk.submit("Read hello.py and add a second print statement: 'Goodbye'");
    scene.tool("read_file", &json!({"file_path": "hello.py"}));
    let edit = json!({"file_path": "hello.py", "old_string": "print('Hello World')\n",
        "new_string": "print('Hello World')\nprint('Goodbye')\n"});
    scene.tool("edit_file", &edit);
    scene.says("Added.");
    assert!(scene.text("hello.py").contains("Hello") && scene.text("hello.py").contains("Goodbye"));
    let _ = scene.desk.submit("Run it");
    scene.tool("run_program", &json!({"program": "qjs", "args": ["Hello", "Goodbye"]}));
    scene.says("It prints both.");
    let path = WorkspacePath::parse("big.txt").unwrap();
    scene.files.write(&path, "x".repeat(100_000).into_bytes()).unwrap();
    let _ = scene.desk.submit("Read big.txt");
    scene.tool("read_file", &json!({"file_path": "big.txt"}));
    assert!(scene.result().0.contains("WARNING"));
    scene.says("It is all x.");
    let _ = scene.desk.submit("Create a Flask web application with multiple routes");
    let _ = scene.desk.steer("Actually, just create a single /health endpoint for now");
    scene.tool("list_dir", &json!({}));
    scene.tool("write_file", &write("app.py", "/health"));
    scene.says("One endpoint.");
    let _ = scene.desk.submit("Spawn a subagent to write tests for hello.py, then review them");
    scene.desk.reply(&Message::call("s", "spawn_agent", &json!({"task": "Write tests"})));
    scene.desk.reply(&Message::call("w", "wait", &json!({"agent_id": "agent-1"})));
    scene.says("Written.");
    scene.says("They are good.");
    let _ = scene.desk.submit("Run 'sleep 30'");
    let sleep = json!({"program": "qjs", "args": ["sleep"], "timeout_ms": 10_000});
    scene.tool("run_program", &sleep);
    assert!(scene.result().0.contains("timed out after 10000ms"));
    scene.says("It timed out.");
    assert_eq!(scene.end(), Some(RunEnd::Completed));
    let _ = scene.desk.command(Command::Close);
    assert_eq!(scene.desk.names(0).last().unwrap(), "session_end");
}
