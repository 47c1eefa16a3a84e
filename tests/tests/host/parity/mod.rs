//! The specification's parity matrix through the native host: fifteen rows for the families of
//! OpenAI, Anthropic and Gemini, each over its own protocol and HTTP, with real tools and programs
//! in the sandbox. But for the rows of the shell, QuickJS, which runs scripts, stands in its place,
//! and where a row needs to know what goes on at the same time, a tool of the host's own.

mod cell;

use cell::{Cell, row};
use innerloop_core::{
    config::ProfileKind,
    event::{Event, EventKind},
    id::AgentId,
    input::Command,
    json::Json,
    message::Part,
    tool::ToolSpec,
};
use innerloop_host::{
    host::CommandSender,
    tools::{OwnTool, OwnToolCall},
};
use innerloop_tests::{
    columns::{Column, Wish, wish},
    patience::PATIENCE,
    wires::read::Said,
};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::{
    sync::{Barrier, Notify},
    time::timeout,
};

/// A script run by QuickJS, in a shell's place.
fn run(script: &str) -> Wish {
    wish("run_program", json!({"program": "qjs", "args": ["-m", script]}))
}

fn spec(name: &str) -> ToolSpec {
    let parameters = r#"{"type":"object","properties":{"n":{"type":"integer"}}}"#;
    ToolSpec {
        read_only: true,
        timeout_ms: Some(60_000),
        ..ToolSpec::new(name, "Waits for something.", Json::parse(parameters).unwrap())
    }
}

/// Gives that command as soon as a call has begun, so that it is there before the result.
fn at_each_call<'a>(
    mut next: impl FnMut() -> Command + 'a,
) -> impl FnMut(&Event, &CommandSender) + 'a {
    move |event, commands| {
        if matches!(event.kind, EventKind::ToolCallStart { .. }) {
            commands.send(next());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn g7_simple_file_creation() {
    row(|column| async move {
        let text = "print('Hello World')\n";
        let cell = Cell::new(column).does(&[column.write("hello.py", text)]).says("Done.");
        let played = cell.play("Create hello.py that prints Hello World").await;
        assert_eq!(played.errors(), [false], "{}", played.result(1));
        assert_eq!(played.text("hello.py").as_deref(), Some(text));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn g7_read_a_file_then_edit_it() {
    row(|column| async move {
        let cell = Cell::new(column)
            .file("a.js", "let a = 1;\nlet b = 2;\n")
            .does(&[column.read("a.js")])
            .does(&[column.edit("a.js", "let b = 2;", "let b = 3;")])
            .says("Done.");
        let played = cell.play("Set b to 3").await;
        let read = played.result(1);
        assert!(read.contains("let a = 1;") && read.contains("let b = 2;"), "{read}");
        assert_eq!(played.text("a.js").unwrap(), "let a = 1;\nlet b = 3;\n");
        assert_eq!(played.errors(), [false, false], "{}", played.result(2));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn g7_edit_several_files_in_one_session() {
    row(|column| async move {
        let cell = Cell::new(column)
            .file("a", "one\n")
            .file("b/c", "one\n")
            .does(&[column.read("a"), column.read("b/c")])
            .does(&[column.edit("a", "one", "two"), column.edit("b/c", "one", "two")])
            .says("Done.");
        let played = cell.play("one becomes two").await;
        assert_eq!(played.results(2).len(), 2);
        let texts = (played.text("a").unwrap(), played.text("b/c").unwrap());
        assert_eq!((&*texts.0, &*texts.1), ("two\n", "two\n"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn g7_run_a_command() {
    row(|column| async move {
        let cell = Cell::new(column)
            .file("hi.mjs", "console.log('hi there');\n")
            .file("fail.mjs", "console.log('so far'); throw new Error('boom');\n")
            .does(&[run("hi.mjs")])
            .does(&[run("fail.mjs")])
            .says("One of them fails.");
        let played = cell.play("Run both").await;
        let (said, failed) = (played.result(1), played.result(2));
        assert!(said.contains("hi there"), "{said}");
        assert!(failed.contains("so far") && failed.contains("boom"), "{failed}");
        assert_eq!(played.errors(), [false, true]);
        assert_eq!(played.exits(), [Some(0), Some(1)]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn g7_a_commands_timeout_is_told_with_what_came_before() {
    row(|column| async move {
        let sleep = "import * as os from 'qjs:os';\nconsole.log('begun');\nos.sleep(30000);\n";
        let mut wish = run("sleep.mjs");
        wish.arguments["timeout_ms"] = json!(400);
        let cell =
            Cell::new(column).file("sleep.mjs", sleep).does(&[wish]).says("It takes too long.");
        let played = cell.play("Sleep for 30 seconds").await;
        let told = played.result(1);
        let (begun, ended) = (told.find("begun"), told.find("timed out after 400ms."));
        assert!(begun.unwrap() < ended.unwrap(), "{told}");
        assert_eq!(played.errors(), [true]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn c11_g7_run_a_command_line_in_the_shell() {
    row(|column| async move {
        let column = Column { has_shell: true, ..column };
        let cell = Cell::new(column)
            .file("fail.mjs", "console.log('so far'); throw new Error('boom');\n")
            .does(&[column.shell("mkdir out && cd out && echo hi there | tee said", None)])
            .does(&[column.shell("ls; qjs -m ../fail.mjs", None)])
            .says("One of them fails.");
        let played = cell.play("Run both").await;
        let (said, failed) = (played.result(1), played.result(2));
        assert!(said.contains("hi there"), "{said}");
        for text in ["said", "so far", "boom"] {
            assert!(failed.contains(text), "{text}: {failed}");
        }
        assert_eq!(played.exits(), [Some(0), Some(1)]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn c11_g7_a_command_line_that_takes_too_long_is_told_with_what_came_before() {
    row(|column| async move {
        if column.profile == ProfileKind::Gemini {
            // Its tool takes no time limit, and has two minutes.
            return;
        }
        let column = Column { has_shell: true, ..column };
        let command = "echo begun; sleep 30";
        let cell = Cell::new(column)
            .does(&[column.shell(command, Some(400))])
            .does(&[column.shell("echo goes on", None)])
            .says("It takes too long.");
        let played = cell.play("Sleep for 30 seconds").await;
        let told = played.result(1);
        let words = if column.is_native() && column.profile == ProfileKind::Openai {
            ["command timed out after 400 milliseconds", "begun"]
        } else {
            ["begun", "400ms"]
        };
        let [first, second] = words.map(|word| told.find(word));
        assert!(first.unwrap() < second.unwrap(), "{told}");
        assert!(played.result(2).contains("goes on"));
        assert_eq!(played.errors().first(), Some(&true));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn g7_grep_and_glob_find_files() {
    row(|column| async move {
        let cell = Cell::new(column)
            .file("src/a.ts", "needle\n")
            .file("src/b.ts", "hay\n")
            .file("c.md", "needle\n")
            .does(&[column.glob("**/*.ts").unwrap()])
            .does(&[column.grep("need.e")])
            .says("Found.");
        let played = cell.play("Find it").await;
        let (globbed, grepped) = (played.result(1), played.result(2));
        assert!(globbed.contains("src/a.ts") && globbed.contains("src/b.ts"), "{globbed}");
        assert!(!globbed.contains("c.md"), "{globbed}");
        assert!(grepped.contains("src/a.ts") && grepped.contains("c.md"), "{grepped}");
        assert!(grepped.contains("needle") && !grepped.contains("hay"), "{grepped}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn g7_read_analyze_edit_in_several_steps() {
    row(|column| async move {
        let wrong = "export const total = (a, b) => a - b;";
        let right = "export const total = (a, b) => a + b;";
        let test = "import { total } from './cart.mjs';\n\
                    if (total(1, 2) !== 3) throw new Error('not 3');\nconsole.log('ok');\n";
        let cell = Cell::new(column)
            .file("cart.mjs", &format!("{wrong}\n"))
            .file("test.mjs", test)
            .does(&[run("test.mjs")])
            .does(&[column.read("cart.mjs")])
            .does(&[column.edit("cart.mjs", wrong, right)])
            .does(&[run("test.mjs")])
            .says("Fixed.");
        let played = cell.play("Make the test pass").await;
        assert!(played.result(1).contains("not 3"), "{}", played.result(1));
        assert!(played.result(2).contains(wrong));
        assert!(played.result(4).contains("ok"), "{}", played.result(4));
        assert_eq!(played.errors(), [true, false, false, false]);
        assert_eq!(played.text("cart.mjs").unwrap(), format!("{right}\n"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn g7_a_large_file_is_truncated_for_the_model_and_whole_in_the_event() {
    row(|column| async move {
        let line = format!("{}\n", "x".repeat(99));
        let cell = Cell::new(column)
            .file("big.txt", &line.repeat(1_000))
            .does(&[column.read("big.txt")])
            .says("It is all x.");
        let played = cell.play("Read big.txt").await;
        let told = played.result(1);
        assert!(told.contains("[WARNING: Tool output was truncated."), "{told}");
        assert!(told.len() < 60_000);
        let whole = played.find(|kind| match kind {
            EventKind::ToolCallEnd { outcome, .. } => {
                Some(outcome.joined_text().matches('x').count())
            }
            _ => None,
        });
        assert_eq!(whole, [99_000]);
    })
    .await;
}

/// A tool whose calls wait for one another to begin, and each for the next one's end.
fn meeting(all: &Arc<Barrier>, may_end: &Arc<[Notify; 3]>) -> OwnTool {
    let (all, may_end) = (Arc::clone(all), Arc::clone(may_end));
    OwnTool::new(spec("meet"), move |call: OwnToolCall| {
        let (all, may_end) = (Arc::clone(&all), Arc::clone(&may_end));
        async move {
            let Numbered { n } = call.read().map_err(|error| error.to_string())?;
            timeout(PATIENCE, all.wait()).await.map_err(|_| "they do not run side by side")?;
            timeout(PATIENCE, may_end[n].notified()).await.map_err(|_| "it may not end")?;
            Ok::<_, String>(format!("met {n}"))
        }
    })
}

#[derive(serde::Deserialize)]
struct Numbered {
    n: usize,
}

#[tokio::test(flavor = "multi_thread")]
async fn g7_parallel_calls_run_side_by_side_and_are_answered_in_order() {
    row(|column| async move {
        let (all, may_end) = (Arc::new(Barrier::new(3)), Arc::<[Notify; 3]>::default());
        may_end[2].notify_one();
        let calls = [0, 1, 2].map(|n| wish("meet", json!({ "n": n })));
        let cell = Cell::new(column).tool(meeting(&all, &may_end)).does(&calls).says("Met.");
        let mut ends = Vec::new();
        let watch = |event: &Event, _: &CommandSender| {
            if let EventKind::ToolCallEnd { call_id, .. } = &event.kind {
                ends.push(call_id.clone());
                let left = 3 - ends.len();
                may_end[left.saturating_sub(1)].notify_one();
            }
        };
        let played = cell.watched("Meet", watch).await;
        let told: Vec<String> = played.results(1).into_iter().map(|result| result.text).collect();
        assert_eq!(told, ["met 0", "met 1", "met 2"]);
        assert_eq!(ends, ["call-3", "call-2", "call-1"], "the last one ends first");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn g7_steering_in_mid_task() {
    row(|column| async move {
        let steer = "Only a /health endpoint";
        let cell = Cell::new(column)
            .file("a", "x")
            .does(&[column.look()])
            .does(&[column.write("app.py", "/health\n")])
            .says("One endpoint.");
        let mut words = vec![steer, "And no more"].into_iter();
        let command = || Command::Steer { parts: vec![Part::text(words.next().unwrap())] };
        let watch = at_each_call(command);
        let played = cell.watched("Create a Flask application", watch).await;
        assert_eq!(played.results(1).len(), 1, "the round's result comes first");
        assert_eq!(played.last_said(1), Said::User(steer.into(), 0));
        assert_eq!(played.last_said(2), Said::User("And no more".into(), 0));
        assert_eq!(played.text("app.py").as_deref(), Some("/health\n"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn g7_a_change_of_the_reasoning_effort() {
    row(|column| async move {
        let cell = (0..3).fold(Cell::new(column), |cell, _| cell.does(&[column.look()]));
        let mut efforts = [json!("high"), json!("low"), Value::Null].into_iter();
        let command = || {
            let patch = json!({"model": {"reasoning_effort": efforts.next()}});
            Command::Configure { patch: serde_json::from_str(&patch.to_string()).unwrap() }
        };
        let played = cell.says("Done.").watched("Think", at_each_call(command)).await;
        assert_eq!(played.efforts(), [Value::Null, json!("high"), json!("low"), Value::Null]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn g7_spawn_another_agent_and_wait_for_it() {
    row(|column| async move {
        let spawn = wish("spawn_agent", json!({"task": "Write tests"}));
        let cell = Cell::new(column)
            .does(&[spawn, wish("wait", json!({"agent_id": "agent-1"}))])
            // From here on the other one's, until it is done.
            .does(&[column.write("test.js", "ok\n")])
            .says("Written.")
            .says("All done.");
        let played = cell.play("Have tests written").await;
        assert_eq!(played.text("test.js").as_deref(), Some("ok\n"));
        let [_, waited] = &played.results(3)[..] else { panic!("{:?}", played.results(3)) };
        let told: Value = serde_json::from_str(&waited.text).unwrap();
        let told = (&told["output"], &told["success"], &told["turns_used"]);
        assert_eq!(told, (&json!("Written."), &json!(true), &json!(3)));
        let starts = played.events.iter().filter_map(|event| match &event.kind {
            EventKind::ToolCallStart { name, .. } => Some((event.agent, name.as_str())),
            _ => None,
        });
        let (root, child) = (AgentId::ROOT, AgentId(1));
        let write = column.write("test.js", "").tool;
        assert_eq!(
            starts.collect::<Vec<_>>(),
            [(root, "spawn_agent"), (root, "wait"), (child, write)]
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn g7_loop_detection_warns_the_model() {
    row(|column| async move {
        let looks = (0..10).fold(Cell::new(column), |cell, _| cell.does(&[column.look()]));
        let played = looks.file("a", "x").says("I stop here.").play("go").await;
        let Said::User(warning, 0) = played.last_said(10) else { panic!("no warning") };
        assert!(warning.starts_with("Loop detected: the last 10 tool calls"), "{warning}");
        let told = played.find(|kind| match kind {
            EventKind::LoopDetection { message, .. } => Some(message.clone()),
            _ => None,
        });
        assert_eq!(told, [warning]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn g7_a_failing_tool_is_recovered_from() {
    row(|column| async move {
        let cell = Cell::new(column)
            .file("a.js", "x\n")
            .does(&[column.read("b.js")])
            .does(&[column.read("a.js")])
            .does(&[column.edit("a.js", "nowhere", "y")])
            .does(&[column.edit("a.js", "x", "y")])
            .says("Done.");
        let played = cell.play("x becomes y").await;
        assert_eq!(played.errors(), [true, false, true, false]);
        for (request, told) in [(1, "b.js"), (3, "a.js")] {
            let [result] = &played.results(request)[..] else { panic!("one result") };
            assert!(result.is_error.unwrap_or(true), "{result:?}");
            assert!(result.text.contains(told), "{result:?}");
        }
        assert_eq!(played.text("a.js").as_deref(), Some("y\n"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn g7_the_families_own_way_to_edit() {
    row(|column| async move {
        let own = column.edit("a", "2", "two");
        let is_openai = column.profile == ProfileKind::Openai;
        let cell = Cell::new(column).file("a", "1\n2\n3\n").file("old", "x\n");
        let cell =
            cell.does(&[column.read("a"), column.read("old")]).does(std::slice::from_ref(&own));
        let patch = "*** Add File: new\n+n\n*** Delete File: old\n*** Update File: a\n\
                     *** Move to: b\n@@\n 1\n-two\n+zwei\n 3\n";
        let cell = if is_openai { cell.does(&[column.patch(patch)]) } else { cell };
        let played = cell.says("Done.").play("two").await;
        for tool in ["apply_patch", "edit_file", "Edit", "replace"] {
            let is_shown = played.tools().iter().any(|shown| shown == tool);
            assert_eq!(is_shown, own.tool == tool, "{tool} in {:?}", played.tools());
        }
        let told = [2, 3].map(|request| played.results(request.min(played.requests() - 1)));
        assert!(played.errors().iter().all(|error| !error), "{told:?}");
        if is_openai {
            let texts = ["a", "b", "new", "old"].map(|name| played.text(name));
            let expected = [None, Some("1\nzwei\n3\n".into()), Some("n\n".into()), None];
            assert_eq!(texts, expected);
        } else {
            assert_eq!(played.text("a").as_deref(), Some("1\ntwo\n3\n"));
        }
    })
    .await;
}
