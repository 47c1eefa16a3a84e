//! The parity matrix of the specification and its smoke test: whole runs of the loop with real
//! tools over files in memory; the shell is scripted, since the core runs no programs. Every row
//! is run for each family over the protocol that it mostly speaks, and for the families' own
//! vocabularies; beside the three families of the matrix for small models, where they have what
//! the row needs. The hosts run the same rows with programs.

mod scene;

use innerloop_core::{
    action::ToolError,
    config::{ExecMode, ProfileKind},
    event::EventKind,
    id::AgentId,
    input::Command,
    status::RunEnd,
};
use innerloop_tests::{
    anthropic::Message,
    columns::{Column, Wish, wish},
    wires::read,
};
use scene::{Scene, config_of, row, row_of_the_matrix};
use serde_json::{Value, json};

fn write(path: &str, content: &str) -> Value {
    json!({"file_path": path, "content": content})
}

#[test]
fn g7_simple_file_creation() {
    row(|column| {
        let mut scene = Scene::new(column, &[]);
        let _ = scene.host.submit("Create hello.py that prints Hello World");
        scene.does(&[column.write("hello.py", "print('Hello World')\n")]);
        assert!(!scene.failed(), "{}", scene.result());
        scene.says("Done.");
        assert_eq!(scene.text("hello.py"), "print('Hello World')\n");
        assert_eq!(scene.end(), Some(RunEnd::Completed));
    });
}

#[test]
fn g7_read_a_file_then_edit_it() {
    row(|column| {
        let mut scene = Scene::new(column, &[("a.js", "let a = 1;\nlet b = 2;\n")]);
        let _ = scene.host.submit("Set b to 3");
        scene.does(&[column.read("a.js")]);
        let result = scene.result();
        assert!(!scene.failed() && result.contains("let a = 1;\n"), "{result}");
        if !column.is_native() {
            assert_eq!(result, "1 | let a = 1;\n2 | let b = 2;");
        }
        scene.does(&[column.edit("a.js", "let b = 2;", "let b = 3;")]);
        assert!(!scene.failed(), "{}", scene.result());
        scene.says("Done.");
        assert_eq!(scene.text("a.js"), "let a = 1;\nlet b = 3;\n");
    });
}

#[test]
fn g7_edit_several_files_in_one_session() {
    row(|column| {
        let mut scene = Scene::new(column, &[("a", "one\n"), ("b/c", "one\n")]);
        let _ = scene.host.submit("one becomes two");
        scene.does(&[column.edit("a", "one", "two"), column.edit("b/c", "one", "two")]);
        assert_eq!((&*scene.text("a"), &*scene.text("b/c")), ("two\n", "two\n"));
        assert_eq!(read::results(column.wire, &scene.host.body()).len(), 2);
    });
}

#[test]
fn g7_run_a_shell_command() {
    row(|column| {
        let mut scene = Scene::new(column, &[]);
        let _ = scene.host.submit("Run it");
        scene.does(&[column.shell("echo hi there", None)]);
        assert!(!scene.failed() && scene.result().contains("hi there"), "{}", scene.result());
        scene.does(&[column.shell("fail", None)]);
        let result = scene.result();
        assert!(result.contains("boom") && result.contains('1'), "{result}");
        if scene.tools().contains(&"run_program".to_owned()) {
            let run = json!({"program": "qjs", "args": ["hi", "there"]});
            scene.does(&[wish("run_program", run)]);
            assert!(!scene.failed() && scene.result().contains("hi there"));
        } else {
            // Five tools are all that small models are shown; a shell runs programs, too.
            assert_eq!((column.profile, scene.tools().len()), (ProfileKind::Small, 5));
        }
    });
}

#[test]
fn g7_a_commands_timeout_is_told_with_what_came_before() {
    row(|column| {
        let mut scene = Scene::new(column, &[]);
        let _ = scene.host.submit("Sleep");
        let wish = column.shell("sleep 30", Some(900));
        // Gemini's own tool has no time limit of the model's choosing.
        let is_limited = wish.arguments.as_object().unwrap().len() > 1;
        scene.does(&[wish]);
        let limit = if is_limited { "900" } else { "300000" };
        let result = scene.result();
        assert!(scene.failed() && result.contains(&format!("slept {limit}")), "{result}");
        assert!(result.contains("timed out after") && result.contains(limit), "{result}");
        scene.says("It takes too long.");
        assert_eq!(scene.end(), Some(RunEnd::Completed));
    });
}

#[test]
fn g7_grep_and_glob_find_files() {
    let files = [("src/a.ts", "needle\n"), ("src/b.ts", "hay\n"), ("c.md", "x")];
    row(|column| {
        let mut config = config_of(column);
        if column.profile == ProfileKind::Small {
            // Of the five tools that small models are shown, a search is one only where nothing
            // can be run; they find files by listing.
            config.facts.programs.clear();
        }
        let mut scene = Scene::with(column, config, &files);
        let _ = scene.host.submit("Find it");
        match column.glob("**/*.ts") {
            Some(glob) => scene.does(&[glob]),
            None => {
                assert!(!scene.tools().contains(&"glob".to_owned()));
                scene.does(&[wish("list_dir", json!({"path": "src"}))]);
            }
        }
        let found = scene.result();
        assert!(found.contains("a.ts") && found.contains("b.ts"), "{found}");
        assert!(!found.contains("c.md"), "{found}");
        scene.does(&[column.grep("need.e")]);
        let found = scene.result();
        assert!(!scene.failed() && found.contains("src/a.ts"), "{found}");
        assert!(found.contains("needle") && !found.contains("hay"), "{found}");
    });
}

#[test]
fn g7_read_analyze_edit_in_several_steps() {
    row(|column| {
        let wrong = "const total = (a, b) => a - b;";
        let right = "const total = (a, b) => a + b;";
        let mut scene = Scene::new(column, &[("cart.js", &format!("{wrong}\n"))]);
        let _ = scene.host.submit("Make the tests pass");
        scene.does(&[column.shell("fail", None)]);
        assert!(scene.result().contains("boom"));
        scene.does(&[column.read("cart.js")]);
        assert!(scene.result().contains(wrong));
        scene.does(&[column.edit("cart.js", wrong, right)]);
        scene.does(&[column.shell("echo ok", None)]);
        scene.says("Fixed.");
        assert_eq!(scene.text("cart.js"), format!("{right}\n"));
        assert_eq!(scene.host.session.status(AgentId::ROOT).unwrap().tool_calls, 4);
    });
}

#[test]
fn g7_a_large_file_is_truncated_for_the_model_and_whole_in_the_event() {
    row(|column| {
        let line = format!("{}\n", "x".repeat(99));
        let mut scene = Scene::new(column, &[("big.txt", &line.repeat(1_000))]);
        let _ = scene.host.submit("Read big.txt");
        scene.does(&[column.read("big.txt")]);
        let result = scene.result();
        assert!(result.contains("[WARNING: Tool output was truncated."), "{}", &result[..200]);
        assert!(result.len() < 60_000);
        let whole = scene.host.find(|kind| match kind {
            EventKind::ToolCallEnd { outcome, .. } => {
                Some(outcome.joined_text().matches('x').count())
            }
            _ => None,
        });
        assert_eq!(whole, [99_000]);
    });
}

#[test]
fn g7_parallel_calls_run_side_by_side_and_are_answered_in_order() {
    row(|column| {
        let mut config = config_of(column);
        let look = column.read("a").tool;
        // A shell may do anything, so its commands run one after the other unless the host says
        // otherwise of them; so do all calls of small models, unless the host knows the model.
        let _ = config.exec_modes.insert(look.into(), ExecMode::Parallel);
        config.model.parallel_tool_calls = Some(true);
        let mut scene = Scene::with(column, config, &[("a", "A-A"), ("b", "B-B"), ("c", "C-C")]);
        let _ = scene.host.submit("Read all");
        let calls = scene.message(&[column.read("a"), column.read("b"), column.read("c")]);
        scene.host.reply(&calls);
        assert_eq!(scene.host.runs.len(), 3, "side by side");
        answered_in_order(scene);
    });
}

#[test]
fn c23_a_shells_commands_and_small_models_calls_run_one_by_one_unless_the_host_says_otherwise() {
    row(|column| {
        let mut scene = Scene::new(column, &[("a", "A-A"), ("b", "B-B"), ("c", "C-C")]);
        let _ = scene.host.submit("Read all");
        let calls = scene.message(&[column.read("a"), column.read("b"), column.read("c")]);
        scene.host.reply(&calls);
        let is_small = column.profile == ProfileKind::Small;
        let together = if column.is_shell_only() || is_small { 1 } else { 3 };
        assert_eq!(scene.host.runs.len(), together);
        answered_in_order(scene);
    });
}

/// The newest of the open calls ends first, and yet the results stand in the order of the calls.
fn answered_in_order(mut scene: Scene) {
    while let Some(&id) = scene.host.runs.keys().next_back() {
        scene.run(id);
    }
    let results = read::results(scene.wire(), &scene.host.body());
    let ids: Vec<&str> = results.iter().map(|result| result.id.as_str()).collect();
    assert_eq!(ids, ["call-1", "call-2", "call-3"]);
    for (result, text) in results.iter().zip(["A-A", "B-B", "C-C"]) {
        assert!(result.text.contains(text), "{result:?}");
    }
}

#[test]
fn g7_steering_in_mid_task() {
    row(|column| {
        let mut scene = Scene::new(column, &[("a", "x")]);
        let _ = scene.host.submit("Create a Flask application");
        let _ = scene.host.steer("Only a /health endpoint");
        scene.does(&[column.look()]);
        let said = read::said(column.wire, &scene.host.body());
        assert_eq!(said.last(), Some(&read::Said::User("Only a /health endpoint".into(), 0)));
    });
}

#[test]
fn g7_a_change_of_the_reasoning_effort() {
    row(|column| {
        let mut scene = Scene::new(column, &[]);
        let _ = scene.host.submit("go");
        assert_eq!(read::effort(column.wire, &scene.host.body()), Value::Null);
        for effort in [json!("high"), json!("low"), Value::Null] {
            let patch = json!({"model": {"reasoning_effort": effort}}).to_string();
            let patch = serde_json::from_str(&patch).unwrap();
            let _ = scene.host.command(Command::Configure { patch });
            scene.does(&[column.look()]);
            assert_eq!(read::effort(column.wire, &scene.host.body()), effort);
        }
    });
}

#[test]
fn g7_spawn_another_agent_and_wait_for_it() {
    // Small models are no column of the matrix, and are not offered agents.
    row_of_the_matrix(|column| {
        let mut scene = Scene::new(column, &[]);
        let _ = scene.host.submit("Have tests written");
        scene.does(&[wish("spawn_agent", json!({"task": "Write tests"}))]);
        scene.does(&[wish("wait", json!({"agent_id": "agent-1"}))]);
        assert_eq!(scene.host.calls.len(), 1, "only the other one calls its model");
        scene.does(&[column.write("test.js", "ok\n")]);
        scene.says("Written.");
        assert!(scene.result().contains("Written."));
        scene.says("All done.");
        assert_eq!(scene.text("test.js"), "ok\n");
        assert_eq!(scene.end(), Some(RunEnd::Completed));
    });
}

#[test]
fn small_models_have_enough_to_choose_from_without_other_agents() {
    row(|column| {
        let mut scene = Scene::new(column, &[]);
        let _ = scene.host.submit("Have tests written");
        let is_small = column.profile == ProfileKind::Small;
        assert_eq!(scene.tools().contains(&"spawn_agent".to_owned()), !is_small);
        if is_small {
            scene.does(&[wish("spawn_agent", json!({"task": "Write tests"}))]);
            assert!(scene.failed() && scene.result().contains("Unknown tool"));
        }
    });
}

#[test]
fn g7_loop_detection_warns_the_model() {
    row(|column| {
        let mut scene = Scene::new(column, &[("a", "x")]);
        let _ = scene.host.submit("go");
        for _ in 0..10 {
            scene.does(&[column.look()]);
        }
        let said = read::said(column.wire, &scene.host.body());
        let Some(read::Said::User(warning, 0)) = said.last() else { panic!("{said:?}") };
        assert!(warning.contains("Loop detected"), "{warning}");
    });
}

#[test]
fn g7_a_failing_tool_is_recovered_from() {
    row(|column| {
        let mut scene = Scene::new(column, &[("a.js", "x\n")]);
        let _ = scene.host.submit("go");
        scene.does(&[column.edit("a.js", "nowhere", "y")]);
        assert!(scene.failed());
        scene.does(&[column.edit("a.js", "x", "y")]);
        assert!(!scene.failed(), "{}", scene.result());
        assert_eq!(scene.text("a.js"), "y\n");
    });
}

#[test]
fn g7_the_families_own_way_to_edit() {
    row(|column| {
        let mut scene = Scene::new(column, &[("a", "1\n2\n3\n"), ("old", "x\n")]);
        let _ = scene.host.submit("go");
        let tools = scene.tools();
        let own = column.edit("a", "2", "two");
        for tool in ["apply_patch", "edit_file", "Edit", "replace"] {
            let is_shown = tools.iter().any(|shown| shown == tool);
            assert_eq!(is_shown, own.tool == tool, "{tool} in {tools:?}");
        }
        scene.does(&[own]);
        assert_eq!(scene.text("a"), "1\ntwo\n3\n");
        if column.profile == ProfileKind::Openai {
            let patch = "*** Add File: new\n+n\n*** Delete File: old\n*** Update File: a\n\
                         *** Move to: b\n@@\n 1\n-two\n+zwei\n 3\n";
            scene.does(&[column.patch(patch)]);
            assert!(!scene.failed(), "{}", scene.result());
            assert_eq!((&*scene.text("b"), &*scene.text("new")), ("1\nzwei\n3\n", "n\n"));
            assert_eq!((&*scene.text("a"), &*scene.text("old")), ("", ""));
        }
    });
}

/// The specification's seven kinds of error of a tool: a call in a column's own words, the kind,
/// and what the model is told, which says what to fix.
fn errors(column: Column) -> [(Wish, ToolError, &'static str); 7] {
    // A family that has a shell alone meets a missing file when it changes one.
    let missing = match column.is_shell_only() {
        true => column.edit("missing.js", "x", "y"),
        false => column.read("missing.js"),
    };
    let timeout = match column.shell("sleep 30", Some(900)) {
        // Gemini's own tool has no time limit of the model's choosing.
        wish if wish.arguments.as_object().unwrap().len() == 1 => (wish, "300000"),
        wish => (wish, "timed out after 900"),
    };
    let name = column.shell("", None).tool;
    [
        (missing, ToolError::NotFound, "missing.js"),
        (column.edit("a.js", "nowhere", "y"), ToolError::EditConflict, "a.js"),
        (column.shell("fail", None), ToolError::Exit, "boom"),
        (timeout.0, ToolError::Timeout, timeout.1),
        (column.write("../out.js", "x"), ToolError::PermissionDenied, "../out.js"),
        (wish(name, json!({"command": 7})), ToolError::InvalidArguments, "must be string"),
        (wish("teleport", json!({})), ToolError::UnknownTool, "Unknown tool: teleport"),
    ]
}

#[test]
fn g1_each_kind_of_tool_error_is_an_error_result_and_the_model_goes_on() {
    row(|column| {
        for (wish, kind, told) in errors(column) {
            let mut scene = Scene::new(column, &[("a.js", "x\n")]);
            let _ = scene.host.submit("go");
            scene.does(&[wish]);
            assert!(scene.failed(), "{kind:?}: {}", scene.result());
            assert!(scene.result().contains(told), "{kind:?}: {}", scene.result());
            let ended = scene.host.find(|kind| match kind {
                EventKind::ToolCallEnd { outcome, .. } => Some(outcome.error),
                _ => None,
            });
            assert_eq!(ended, [Some(kind)], "{}", scene.result());
            // The model has read it and fixes what it did.
            scene.does(&[column.edit("a.js", "x", "y")]);
            assert!(!scene.failed(), "{kind:?}: {}", scene.result());
            scene.says("Fixed.");
            assert_eq!((scene.end(), &*scene.text("a.js")), (Some(RunEnd::Completed), "y\n"));
        }
    });
}

#[test]
fn m6_a_file_that_is_there_is_read_before_it_is_changed() {
    let mut scene = Scene::guarded(&[("a", "x"), ("b", "x")]);
    let _ = scene.host.submit("go");
    let edit = |path| json!({"file_path": path, "old_string": "x", "new_string": "y"});
    scene.does(&[wish("edit_file", edit("a"))]);
    assert_eq!(scene.result(), "Tool error (edit_file): Read a before you edit it.");
    assert!(scene.failed());
    scene.does(&[wish("write_file", write("b", "y"))]);
    assert!(scene.failed() && scene.text("b") == "x");
    scene.does(&[wish("write_file", write("new", "y"))]);
    scene.does(&[wish("edit_file", edit("./new"))]);
    assert!(!scene.result().contains("before you"), "what the model wrote it knows");
    scene.does(&[wish("read_file", json!({"file_path": "/a"}))]);
    scene.does(&[wish("edit_file", edit("a"))]);
    assert_eq!(scene.text("a"), "y");
}

#[test]
fn m6_what_one_call_of_a_reply_writes_or_reads_the_next_one_knows() {
    let mut scene = Scene::guarded(&[("old", "x")]);
    let _ = scene.host.submit("go");
    let edit = |path| json!({"file_path": path, "old_string": "x", "new_string": "y"});
    let reply = Message::call("1", "write_file", &write("new", "x"))
        .and_call("2", "edit_file", &edit("new"))
        .and_call("3", "edit_file", &edit("strange"))
        .and_call("4", "read_file", &json!({"file_path": "old"}))
        .and_call("5", "edit_file", &edit("old"));
    scene.call(&reply);
    assert_eq!((scene.text("new"), scene.text("old")), ("y".into(), "y".into()));
    assert_eq!(scene.host.requests.len(), 2, "the refused edit holds nothing up");
}

#[test]
fn m6_what_somebody_else_has_changed_is_left_alone_and_reported() {
    let mut scene = Scene::guarded(&[("a", "x"), ("b", "x"), ("c", "x")]);
    let _ = scene.host.submit("go");
    for path in ["a", "b", "c"] {
        scene.does(&[wish("read_file", json!({"file_path": path}))]);
    }
    scene.put("a", "x, theirs");
    scene.put("b", "x, theirs");
    let changed = |tool: &str, path: &str| {
        let rest = "has changed since you read it. Read it again before you change it.";
        format!("Tool error ({tool}): {path} {rest}")
    };
    let edit = |path| json!({"file_path": path, "old_string": "x", "new_string": "y"});
    scene.does(&[wish("edit_file", edit("d/../a"))]);
    assert_eq!(scene.result(), changed("edit_file", "a"));
    scene.does(&[wish("write_file", write("b", "mine"))]);
    assert_eq!(scene.result(), changed("write_file", "b"));
    assert_eq!((scene.text("a"), scene.text("b")), ("x, theirs".into(), "x, theirs".into()));
    // Read again, it is known as it is; what the agent has changed itself it knows, too.
    scene.does(&[wish("read_file", json!({"file_path": "a"}))]);
    scene.does(&[wish("edit_file", edit("a"))]);
    scene.does(&[wish("write_file", write("a", "again"))]);
    assert!(!scene.failed() && scene.text("a") == "again");
    // What is gone may be written anew, and a snapshot keeps what is known.
    scene.delete("c");
    scene.does(&[wish("write_file", write("c", "new"))]);
    assert!(!scene.failed() && scene.text("c") == "new");
    scene.put("c", "theirs");
    scene.restore();
    scene.does(&[wish("write_file", write("c", "mine"))]);
    assert_eq!(scene.result(), changed("write_file", "c"));
}

#[test]
fn m6_a_patch_stops_before_a_file_that_has_changed() {
    let mut scene = Scene::guarded_as(ProfileKind::Openai, &[("a", "x\n"), ("b", "x\n")]);
    let _ = scene.host.submit("go");
    for path in ["a", "b"] {
        scene.does(&[wish("read_file", json!({"file_path": path}))]);
    }
    scene.put("b", "x\ntheirs\n");
    let hunk = |path: &str| format!("*** Update File: {path}\n@@\n-x\n+y\n");
    let patch = format!("*** Begin Patch\n{}{}*** End Patch", hunk("a"), hunk("b"));
    scene.does(&[wish("apply_patch", json!({ "patch": patch }))]);
    assert!(scene.result().contains("b has changed since you read it."), "{}", scene.result());
    assert_eq!((scene.text("a"), scene.text("b")), ("x\n".into(), "x\ntheirs\n".into()));
    scene.does(&[wish("read_file", json!({"file_path": "b"}))]);
    scene.does(&[wish("apply_patch", json!({ "patch": patch }))]);
    assert_eq!((scene.text("a"), scene.text("b")), ("y\n".into(), "y\ntheirs\n".into()));
    // The patch has left them as it knows them.
    scene.does(&[wish("write_file", write("b", "z"))]);
    assert_eq!(scene.text("b"), "z");
}

#[test]
fn g8_the_smoke_test_of_the_specification() {
    row(|column| {
        let mut scene = Scene::new(column, &[]);
        let (hello, bye) = ("print('Hello World')", "print('Goodbye')");
        let _ = scene.host.submit("Create a file called hello.py that prints 'Hello World'");
        scene.does(&[column.write("hello.py", &format!("{hello}\n"))]);
        scene.says("Created.");
        let _ = scene.host.submit("Read hello.py and add a second print statement: 'Goodbye'");
        scene.does(&[column.read("hello.py")]);
        scene.does(&[column.edit("hello.py", hello, &format!("{hello}\n{bye}"))]);
        scene.says("Added.");
        assert_eq!(scene.text("hello.py"), format!("{hello}\n{bye}\n"));
        let _ = scene.host.submit("Run it");
        scene.does(&[column.shell("echo Hello World Goodbye", None)]);
        scene.says("It prints both.");
        scene.put("big.txt", &format!("{}\n", "x".repeat(99)).repeat(1_000));
        let _ = scene.host.submit("Read big.txt");
        scene.does(&[column.read("big.txt")]);
        assert!(scene.result().contains("WARNING"));
        scene.says("It is all x.");
        let _ = scene.host.submit("Create a Flask web application with multiple routes");
        let _ = scene.host.steer("Actually, just create a single /health endpoint for now");
        scene.does(&[column.look()]);
        scene.does(&[column.write("app.py", "/health\n")]);
        scene.says("One endpoint.");
        if column.profile != ProfileKind::Small {
            let _ = scene.host.submit("Spawn a subagent to write tests for hello.py");
            scene.does(&[wish("spawn_agent", json!({"task": "Write tests"}))]);
            scene.does(&[wish("wait", json!({"agent_id": "agent-1"}))]);
            scene.says("Written.");
            scene.says("They are good.");
        }
        let _ = scene.host.submit("Run 'sleep 30'");
        scene.does(&[column.shell("sleep 30", Some(10_000))]);
        assert!(scene.failed() && scene.result().contains("timed out"), "{}", scene.result());
        scene.says("It timed out.");
        assert_eq!(scene.end(), Some(RunEnd::Completed));
        let _ = scene.host.command(Command::Close);
        assert_eq!(scene.host.names(0).last().unwrap(), "session_end");
    });
}
