//! `innerloop run` in scripts and in CI: what is piped in, what is attached, where the final
//! message goes and in which form, limits, and what is said where nobody is there.

use innerloop_tests::{
    anthropic::Message,
    mock::Reply,
    program::{KEY, Run, Started, innerloop, on_terminal, run, run_with, wait_for},
    scene::Scene,
};
use serde_json::{Value, json};
use std::{
    fs::{self, File},
    io::Write as _,
    net::TcpListener,
    os::unix::{
        fs::{PermissionsExt as _, symlink},
        net::UnixStream,
    },
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

fn write(id: &str, text: &str) -> Message {
    Message::call(id, "write_file", &json!({"file_path": "note.txt", "content": text}))
}

fn done() -> Scene {
    Scene::streaming(&[Message::text("done")])
}

/// The first request's blocks of the user's message.
fn said(scene: &Scene) -> Vec<Value> {
    let body: Value = serde_json::from_str(&scene.model.requests()[0].body).unwrap();
    body["messages"][0]["content"].as_array().unwrap().clone()
}

/// The last line of `--json`.
fn record(run: &Run) -> Value {
    run.json_lines().pop().unwrap()
}

/// `innerloop run` without a prompt.
fn without_prompt(scene: &Scene) -> Command {
    let mut command = innerloop(["run", "--apply", "--vocabulary", "seed", "--base-url"]);
    command.arg(scene.model.url()).arg("--workspace").arg(scene.workspace());
    command
}

#[test]
fn what_is_piped_in_goes_with_the_prompt() {
    for input in ["one\ntwo", "one\ntwo\n"] {
        let scene = done();
        let run = run_with(scene.command("Why?").arg("-q"), input.as_bytes()).exits(0);
        assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("done\n", ""));
        assert_eq!(said(&scene)[0]["text"], "Why?\n\n<stdin>\none\ntwo\n</stdin>");
    }
    // A file, and a socket as some programs give their children.
    let scene = done();
    fs::write(scene.path("input"), "from a file").unwrap();
    let status = |command: &mut Command| command.status().unwrap().code();
    let file = File::open(scene.path("input")).unwrap();
    assert_eq!(status(scene.command("Why?").stdin(file)), Some(0));
    assert!(said(&scene)[0]["text"].as_str().unwrap().contains("<stdin>\nfrom a file\n</stdin>"));
    let scene = done();
    let (mut own, other) = UnixStream::pair().unwrap();
    own.write_all(b"from a socket").unwrap();
    drop(own);
    let other = std::os::fd::OwnedFd::from(other);
    assert_eq!(status(scene.command("Why?").stdin(other)), Some(0));
    assert!(said(&scene)[0]["text"].as_str().unwrap().contains("from a socket"));
    for (nothing, input) in [("-", ""), ("Why?", ""), ("Why?", " \n")] {
        let scene = done();
        let code = if nothing == "-" { 2 } else { 0 };
        let _run = run_with(&mut scene.command(nothing), input.as_bytes()).exits(code);
        assert!(nothing == "-" || said(&scene)[0]["text"] == "Why?");
    }
    let scene = done();
    let null = File::open("/dev/null").unwrap();
    assert_eq!(status(scene.command("Why?").stdin(null)), Some(0));
    assert_eq!(said(&scene)[0]["text"], "Why?");
}

#[test]
fn the_prompt_itself_may_be_piped_in() {
    let scene = done();
    let _run = run_with(&mut without_prompt(&scene), b"Make it so").exits(0);
    assert_eq!(said(&scene)[0]["text"], "Make it so");
    let scene = done();
    let empty = run_with(&mut without_prompt(&scene), b"").exits(2);
    assert!(empty.complaint().contains("the prompt is empty; say what you want"), "{empty:?}");
    let none = run_with(&mut on_terminal(&without_prompt(&scene)), b"").exits(2);
    assert!(none.stdout.contains("there is no prompt; say what you want"), "{none:?}");
}

#[test]
fn what_cannot_go_with_the_prompt_is_refused() {
    let complains = |input: &[u8], words: &str| {
        let scene = done();
        let run = run_with(&mut scene.command("Why?"), input).exits(2);
        assert!(run.complaint().contains(words), "{}", run.complaint());
        assert_eq!(scene.model.requests().len(), 0);
    };
    complains(b"abc\xff", "standard input is not UTF-8 text (byte 4)");
    complains(&vec![b'a'; (10 << 20) + 1], "standard input has more than 10 MiB");
    for prompt in ["-", ""] {
        let scene = done();
        let mut command = without_prompt(&scene);
        command.args(Some(prompt).filter(|prompt| !prompt.is_empty())).args(["--config", "-"]);
        let run = run_with(&mut command, b"{}").exits(2);
        assert!(run.complaint().contains("is the configuration already"), "{}", run.complaint());
    }
    let scene = done();
    let _run = run_with(scene.command("Why?").args(["--config", "-"]), b"{}").exits(0);
    assert_eq!(said(&scene)[0]["text"], "Why?", "what is configuration is not said, too");
}

/// As a service or a CI may leave it.
#[test]
fn a_pipe_that_nobody_writes_to_does_not_hold_the_run_up() {
    let scene = done();
    let (open, _writer) = std::io::pipe().unwrap();
    let mut command = scene.command("Why?");
    let child = command.stdin(open).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let ended = child.unwrap().wait_with_output().unwrap();
    let told = String::from_utf8(ended.stderr).unwrap();
    assert_eq!((ended.status.code(), &*ended.stdout), (Some(0), b"done\n".as_slice()), "{told}");
    assert!(told.contains("reading standard input; end it with Ctrl-D"), "{told}");
    assert!(told.contains("nothing came on standard input in 10 s"), "{told}");
}

#[test]
fn a_mention_in_the_prompt_attaches_a_file_of_the_workspace() {
    let scene = done().file("a.txt", "text of a").file("b c.txt", "text of b");
    fs::write(scene.workspace().join("x.png"), b"\x89PNG\r\n\x1a\n").unwrap();
    fs::write(scene.path("outside"), "confidential").unwrap();
    symlink("../outside", scene.workspace().join("out")).unwrap();
    let prompt = "See @a.txt, @\"b c.txt\", @x.png and @out, @none; me@a.txt";
    let _run = run(&mut scene.command(prompt)).exits(0);
    let said = said(&scene);
    let kinds: Vec<_> = said.iter().map(|block| block["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["text", "text", "text", "image"], "{said:?}");
    assert_eq!(said[0]["text"], prompt);
    assert_eq!(said[1]["text"], "a.txt:\n\ntext of a");
    assert_eq!(said[2]["text"], "b c.txt:\n\ntext of b");
    assert!(!scene.model.requests()[0].body.contains("confidential"));
}

#[test]
fn pictures_are_attached_by_other_names_of_the_option() {
    let scene = done();
    fs::write(scene.path("x.png"), b"\x89PNG\r\n\x1a\n").unwrap();
    let image = scene.arg("x.png");
    let _run = run(scene.command("Look").args(["-i", &image, "--image", &image])).exits(0);
    assert_eq!(said(&scene).len(), 3);
    let absent = run(scene.command("Look").args(["--image", "/no/such.png"])).exits(2);
    assert!(absent.complaint().contains("--attach /no/such.png"), "{absent:?}");
}

#[test]
fn the_final_message_goes_to_a_file_too() {
    for mode in [&[][..], &["--json"], &["-q"], &["-q", "--diff"]] {
        let scene = Scene::streaming(&[write("toolu_1", "x"), Message::text("All done.\n")]);
        let scene = if mode.contains(&"--diff") { scene.undecided() } else { scene };
        let run = scene.run(&[mode, &["-o", &scene.arg("last.txt")]].concat()).exits(0);
        assert_eq!(scene.text("last.txt"), "All done.\n");
        assert_eq!(run.stdout == "All done.\n", mode.len() < 2 && mode != ["--json"], "{run:?}");
        let beside = fs::read_dir(scene.path("")).unwrap().map(|entry| entry.unwrap().file_name());
        let mut beside: Vec<_> = beside.collect();
        beside.sort();
        assert_eq!(beside, ["last.txt", "state", "workspace"], "nothing else is left");
    }
}

#[test]
fn the_file_is_replaced_with_its_mode_and_through_links() {
    let scene = done();
    fs::write(scene.path("old.txt"), "a longer text than the new one").unwrap();
    fs::set_permissions(scene.path("old.txt"), fs::Permissions::from_mode(0o604)).unwrap();
    symlink("old.txt", scene.path("link")).unwrap();
    let _run = scene.run(&["--output", &scene.arg("link")]).exits(0);
    assert_eq!(scene.text("old.txt"), "done\n");
    let mode = fs::metadata(scene.path("old.txt")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o604);
    assert!(fs::symlink_metadata(scene.path("link")).unwrap().is_symlink());
    // What is no file stays what it is.
    let scene = done();
    let run = scene.run(&["-q", "-o", "/dev/null"]).exits(0);
    assert_eq!(run.stdout, "done\n");
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
    // A run that fails has no final message.
    let scene = Scene::new(vec![Reply::error(400, "invalid_request_error", "no")]);
    fs::write(scene.path("old.txt"), "old").unwrap();
    let _run = scene.run(&["-o", &scene.arg("old.txt")]).exits(1);
    assert_eq!(scene.text("old.txt"), "old");
}

#[test]
fn a_file_that_cannot_be_written_is_told_before_the_run() {
    let scene = done();
    for (file, words) in [
        (scene.arg("workspace"), "it is a folder; name a file"),
        (scene.arg("no/such/file"), "No such file"),
        ("-".to_owned(), "goes to standard output anyway"),
    ] {
        let run = scene.run(&["-o", &file]).exits(2);
        assert!(run.complaint().contains(&format!("--output {file}: ")), "{run:?}");
        assert!(run.complaint().contains(words), "{run:?}");
    }
    assert_eq!(scene.model.requests().len(), 0);
}

#[test]
fn the_agent_does_not_change_the_file_for_the_final_message() {
    for (in_place, there) in [(true, false), (true, true), (false, false), (false, true)] {
        let scene = Scene::streaming(&[write("toolu_1", "mine"), Message::text("done")]);
        let scene = if in_place { scene.in_place() } else { scene };
        let scene = if there { scene.file("note.txt", "old") } else { scene };
        let run = scene.run(&["--json", "-o", &scene.arg("workspace/note.txt")]).exits(0);
        assert_eq!(scene.text("workspace/note.txt"), "done\n");
        assert_eq!(record(&run)["files"], json!([]), "{in_place} {there}");
    }
}

fn answer(value: &Value) -> Message {
    Message::call("toolu_9", "final_answer", value)
}

const SCHEMA: &str = r#"{
    "type": "object",
    "properties": {"ok": {"type": "boolean"}, "why": {"const": null}},
    "required": ["ok"]
}"#;

/// A scene with a schema beside the workspace.
fn asking(messages: &[Message]) -> Scene {
    let scene = Scene::streaming(messages);
    fs::write(scene.path("schema.json"), SCHEMA).unwrap();
    scene
}

#[test]
fn the_final_answer_has_the_form_that_was_asked_for() {
    let script =
        [Message::text("It is fine."), answer(&json!({"ok": 1})), answer(&json!({"ok": true}))];
    let scene = asking(&script);
    let (schema, file) = (scene.arg("schema.json"), scene.arg("last.json"));
    let run = scene.run(&["--output-schema", &schema, "-o", &file]).exits(0);
    assert_eq!(run.stdout, "{\"ok\":true}\n");
    assert_eq!(scene.text("last.json"), run.stdout);
    let scene = asking(&script[2..]);
    let run = scene.run(&["--json", "--output-schema", &scene.arg("schema.json")]).exits(0);
    let record = record(&run);
    assert_eq!(
        (&record["answer"], &record["text"]),
        (&json!({"ok": true}), &json!("{\"ok\":true}"))
    );
    // What was asked for reaches the model as it stands.
    let body: Value = serde_json::from_str(&scene.model.requests()[0].body).unwrap();
    let tools = body["tools"].as_array().unwrap();
    let tool = tools.iter().find(|tool| tool["name"] == "final_answer").unwrap();
    assert_eq!(tool["input_schema"]["properties"]["why"], json!({"const": null}));
    // On a terminal nobody has seen it yet.
    let scene = asking(&script[2..]);
    let mut command = scene.command("go");
    command.args(["--output-schema", &scene.arg("schema.json")]);
    let run = run_with(&mut on_terminal(&command), b"").exits(0);
    assert!(run.stdout.contains("\n{\"ok\":true}\r\n"), "{}", run.stdout);
}

#[test]
fn a_run_without_the_answer_has_failed() {
    let scene = asking(&[Message::text("a"), Message::text("b"), Message::text("c")]);
    let run = scene.run(&["--output-schema", &scene.arg("schema.json")]).exits(1);
    assert_eq!(run.stdout, "");
    assert!(run.complaint().contains("without the final answer in its form"), "{run:?}");
    assert!(run.complaint().contains("final_answer"), "{run:?}");
}

#[test]
fn what_is_no_schema_is_told_with_its_file() {
    let scene = done();
    for (text, words) in [
        (None, "No such file"),
        (Some("{"), ""),
        (Some("[]"), "object"),
        (Some(r#"{"type": "string"}"#), "object"),
    ] {
        if let Some(text) = text {
            fs::write(scene.path("schema.json"), text).unwrap();
        }
        let file = scene.arg("schema.json");
        let run = scene.run(&["--output-schema", &file]).exits(3);
        assert!(run.complaint().contains(&format!("--output-schema {file}: ")), "{run:?}");
        assert!(run.complaint().contains(words), "{run:?}");
    }
    assert_eq!(scene.model.requests().len(), 0);
}

fn writing() -> Scene {
    Scene::streaming(&[write("toolu_1", "one"), write("toolu_2", "two"), Message::text("done")])
}

#[test]
fn a_run_that_has_taken_too_much_is_stopped() {
    // Each reply takes 100 tokens in and 10 out, or 0.0003 dollars.
    for (option, value, told) in [
        ("--max-tokens", "150", "--max-tokens 150 was hit: 220 so far"),
        ("--max-cost-usd", "0.0005", "--max-cost-usd $0.0005 was hit: $0.0006 so far"),
    ] {
        let scene = writing();
        let run = scene.run(&[option, value]).exits(4);
        assert!(run.complaint().contains(told), "{run:?}");
        let stays = "raise it to let the agent go on; what was done so far is applied";
        assert!(run.complaint().contains(stays), "{run:?}");
        assert_eq!(run.stdout, "");
        // The second call may have begun, and what has begun is written to its end.
        assert!(["one", "two"].contains(&&*scene.text("workspace/note.txt")), "{run:?}");
        let scene = writing();
        let run = scene.run(&[option, value, "--json"]).exits(4);
        let record = record(&run);
        assert_eq!((&record["status"], &record["exit_code"]), (&json!("limit"), &json!(4)));
        // One that is not reached is none, and one that the last reply reaches comes too late.
        let last = if option == "--max-tokens" { "330" } else { "0.0009" };
        for enough in [last, "1000"] {
            let _run = writing().run(&[option, enough]).exits(0);
        }
    }
}

#[test]
fn a_run_that_takes_too_long_is_stopped() {
    let slow = Reply::stream(&Message::text("slow")).paced(Duration::from_secs(30));
    let scene = Scene::new(vec![Reply::stream(&write("toolu_1", "one")), slow]);
    let run = scene.run(&["--timeout", "1500ms"]).exits(4);
    assert!(run.complaint().contains("the limit of --timeout 1s 500ms was hit"), "{run:?}");
    let scene = Scene::streaming(&[Message::text("done")]);
    let _run = scene.run(&["--timeout", "1h30m"]).exits(0);
    // Before the run has begun.
    let (_open, writer) = std::io::pipe().unwrap();
    let scene = done();
    let mut command = scene.command("-");
    let command = command.args(["--timeout", "0.2s"]);
    let run = Started::reading(command, _open).finish().exits(4);
    assert!(run.complaint().contains("--timeout 200ms was hit before the run began"), "{run:?}");
    drop(writer);
}

#[test]
fn a_limit_that_cannot_be_kept_is_refused() {
    let scene = done();
    for (option, value) in [
        ("--timeout", "soon"),
        ("--timeout", "0"),
        ("--max-cost-usd", "-1"),
        ("--max-cost-usd", "much"),
        ("--max-tokens", "0"),
    ] {
        let run = scene.run(&[&format!("{option}={value}")]).exits(2);
        assert!(run.stderr.contains(option), "{run:?}");
    }
    let run = scene.run(&["--model", "unheard-of", "--max-cost-usd", "1"]).exits(3);
    let words = "--max-cost-usd: the price of unheard-of is not known";
    assert!(run.complaint().contains(words) && run.complaint().contains("--models"), "{run:?}");
    assert_eq!(scene.model.requests().len(), 0);
    let calls = [write("toolu_1", "one"), write("toolu_2", "two")];
    let run = Scene::streaming(&calls).run(&["--max-rounds", "1"]).exits(4);
    assert!(run.complaint().contains("--max-tool-rounds 1"), "{run:?}");
}

#[test]
fn calls_that_nobody_could_allow_are_told_at_the_end() {
    let script = [write("toolu_1", "one"), Message::text("I could not write it.")];
    let scene = Scene::streaming(&script);
    let run = scene.run(&["--approve", "none"]).exits(5);
    assert_eq!(run.stdout, "I could not write it.\n", "that is its final message all the same");
    let told = "1 call needed a yes that nobody was there to give: write: note.txt (1 line)";
    assert!(run.complaint().contains(told), "{run:?}");
    assert!(
        run.complaint().contains("--approve all, or changes of files alone with --approve edits"),
        "{run:?}"
    );
    let scene = Scene::streaming(&script);
    let record = record(&scene.run(&["--approve", "none", "--json"]).exits(5));
    assert_eq!((&record["status"], &record["exit_code"]), (&json!("denied"), &json!(5)));
    assert_eq!(record["denied"][0]["name"], "write_file");
    // A no of somebody is none of those.
    let scene = Scene::streaming(&script).in_place();
    let _run = run_with(&mut on_terminal(&scene.command("go")), b"n\n").exits(0);
    let record = self::record(&done().run(&["--approve", "none", "--json"]).exits(0));
    assert_eq!(record["denied"], Value::Null);
}

#[test]
fn only_the_final_message_is_on_standard_output_and_only_once() {
    let script = || [write("toolu_1", "x"), Message::text("the end").thinking("hm")];
    let scene = Scene::streaming(&script());
    let run = scene.run(&[]).exits(0);
    assert_eq!(run.stdout, "the end\n");
    for words in ["write note.txt", "+x", "applied: 1 file", "turns"] {
        assert!(run.stderr.contains(words), "{words}: {run:?}");
    }
    let run = Scene::streaming(&script()).run(&["-q"]).exits(0);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("the end\n", ""));
    let run = Scene::streaming(&script()).run(&["--json"]).exits(0);
    assert_eq!(run.stderr, "");
    assert_eq!(run.json_lines().iter().filter(|line| line["type"] == "result").count(), 1);
    // A run that fails has none; what the model said on the way is no final message.
    let fails = || {
        let said = Message::text("I begin.").and_call("toolu_1", "read_file", &json!({}));
        let refused = Reply::error(400, "invalid_request_error", "no");
        Scene::new(vec![Reply::stream(&said), refused])
    };
    for options in [&[][..], &["-q"]] {
        let run = fails().run(options).exits(1);
        assert_eq!(run.stdout, "", "{run:?}");
        let told = run.stderr.contains("I begin.");
        assert_eq!(told, options.is_empty(), "{run:?}");
    }
    let run = fails().run(&["--json"]).exits(1);
    assert_eq!(record(&run)["status"], "failed");
    assert!(run.complaint().contains("no;"), "{run:?}");
}

#[test]
fn a_summary_after_a_loop_is_the_final_message() {
    let look = || Message::text("").and_call("toolu_1", "list_dir", &json!({"path": "."}));
    let ladder = |step: &str| format!(r#"{{"loops": {{"window": 3, "ladder": ["{step}"]}}}}"#);
    for (step, said) in [("summarize", "It goes round.\n"), ("stop", "")] {
        let looks = std::iter::repeat_with(look).take(3);
        let script: Vec<_> = looks.chain([Message::text("It goes round.")]).collect();
        let scene = Scene::streaming(&script);
        fs::write(scene.path("c.json"), ladder(step)).unwrap();
        let options = ["-q", "--config", &scene.arg("c.json"), "-o", &scene.arg("last.txt")];
        let run = scene.run(&options).exits(1);
        assert_eq!(run.stdout, said, "{run:?}");
        assert_eq!(fs::read_to_string(scene.path("last.txt")).unwrap_or_default(), said);
        assert!(run.complaint().contains("repeat themselves"), "{run:?}");
    }
}

#[test]
fn an_endpoint_that_never_answers_is_told_after_seconds() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let (url, scene) = (format!("http://{}", silent.local_addr().unwrap()), done());
    let start = |options: &[&str]| {
        let mut command = innerloop(["run", "go", "--diff", "--base-url", &url]);
        command.args(options).arg("--workspace").arg(scene.workspace());
        Started::new(&mut command, b"")
    };
    for program in [start(&[]), start(&["--json"])] {
        let told = format!("no answer from {url} for 10 s; Ctrl-C interrupts");
        wait_for("the line", || program.said().contains(&told));
        program.interrupt();
        let _run = program.finish().exits(130);
    }
}

#[test]
fn an_endpoint_that_never_answers_fails_after_a_second_try() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let (url, scene) = (format!("http://{}", silent.local_addr().unwrap()), done());
    std::fs::write(scene.path("c.json"), r#"{"retry": {"idle_ms": 2000, "base_ms": 1}}"#).unwrap();
    let mut command = innerloop(["run", "go", "--diff", "--base-url", &url, "--config"]);
    command.arg(scene.path("c.json")).arg("--workspace").arg(scene.workspace());
    let run = innerloop_tests::program::run(&mut command).exits(1);
    assert!(run.complaint().contains("said nothing for 1.9 s, twice; "), "{run:?}");
}

#[test]
fn a_stream_that_stops_in_the_middle_is_told_on_a_line_of_its_own() {
    let whole = Reply::stream(&Message::text("A long way to go")).body();
    let text = whole.windows(6).position(|bytes| bytes == b"A long").unwrap();
    let begin = Reply::new(200, "text/event-stream", &whole[..text + 40]);
    let scene = Scene::new(vec![begin.and_paused(Duration::from_secs(20))]);
    let program = Started::new(&mut scene.command("go"), b"");
    wait_for("the line", || program.said().contains("\nnothing more from http://127.0.0.1"));
    program.interrupt();
    let _run = program.finish().exits(130);
}

#[test]
fn a_recording_names_what_it_was_made_with_and_replays_so() {
    let scene = Scene::streaming(&[
        Message::call(
            "c1",
            "Write",
            &json!({
                "file_path": "note.txt", "content": "x"
            }),
        ),
        Message::text("done"),
    ])
    .natively();
    let file = scene.arg("traffic.jsonl");
    let _run = scene.run(&["--model", "claude-opus-4-5", "--record", &file]).exits(0);
    let text = scene.text("traffic.jsonl");
    let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let named = json!({
        "recording": 1, "provider": "anthropic", "model": "claude-opus-4-5", "vocabulary": "native"
    });
    assert_eq!(first, named);
    assert!(!text.contains(KEY));
    fs::remove_file(scene.path("workspace/note.txt")).unwrap();
    let replay = |options: &[&str]| {
        let mut command = innerloop(["run", "go", "--diff", "--json", "--replay", &file]);
        command.env_remove("ANTHROPIC_API_KEY").args(options);
        run(command.arg("--workspace").arg(scene.workspace()))
    };
    let again = replay(&["--preset", "seed001"]).exits(0);
    assert_eq!(again.stderr, "");
    let start = &again.json_lines()[0];
    let now = ["provider", "model", "vocabulary"].map(|field| start[field].as_str().unwrap());
    assert_eq!(now, ["anthropic", "claude-opus-4-5", "native"]);
    let other = replay(&["--model", "claude-sonnet-5-5"]).exits(0);
    let told = "the recording is of anthropic, claude-opus-4-5, vocabulary native; this run is for \
                anthropic, claude-sonnet-5-5, vocabulary native";
    assert!(other.stderr.contains(told), "{other:?}");
    let other = replay(&["--vocabulary", "seed"]);
    assert!(other.stderr.contains("this run is for anthropic, claude-opus-4-5, vocabulary seed"));
    // An earlier recording says nothing, and one of somewhere else what is not known here.
    let rest = text.split_once('\n').unwrap().1;
    fs::write(Path::new(&file), rest).unwrap();
    let _run = replay(&["--vocabulary", "native"]).exits(0);
    for (from, to) in
        [("anthropic", "nobody"), ("native", "klingon"), ("recording\":1", "recording\":2")]
    {
        fs::write(Path::new(&file), text.replacen(from, to, 1)).unwrap();
        let run = replay(&[]).exits(3);
        assert!(run.complaint().contains("traffic.jsonl"), "{run:?}");
    }
}
