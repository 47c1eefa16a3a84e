//! `innerloop tool`, `decode` and `doctor`.

use innerloop_tests::{
    anthropic::Message,
    mock::Reply,
    program::{Run, innerloop, run, run_with},
    scene::Scene,
};
use serde_json::{Value, json};

fn tool(scene: &Scene, name: &str, arguments: &str) -> Run {
    run(innerloop(["tool", name, arguments, "--workspace"]).arg(scene.workspace()))
}

#[test]
fn a_tool_runs_in_either_vocabulary() {
    let scene = Scene::new(vec![]).file("a.txt", "one\ntwo\n");
    let seen = tool(&scene, "read_file", r#"{"file_path": "a.txt"}"#).exits(0);
    assert!(seen.stdout.contains("| one\n"), "{seen:?}");
    let seen = tool(&scene, "read", r#"{"path": "a.txt"}"#).exits(0);
    assert_eq!(seen.stdout, "one\ntwo\n");
    let _edit = tool(&scene, "edit", r#"{"path": "a.txt", "old": "two", "new": "2"}"#).exits(0);
    assert_eq!(scene.text("workspace/a.txt"), "one\n2\n");
    let mut piped = innerloop(["tool", "write_file", "-", "--workspace"]);
    let arguments = br#"{"file_path": "b.txt", "content": "b"}"#;
    let _write = run_with(piped.arg(scene.workspace()), arguments).exits(0);
    assert_eq!(scene.text("workspace/b.txt"), "b");
}

#[test]
fn an_error_result_exits_with_1_and_bad_usage_with_2() {
    let scene = Scene::new(vec![]).file("a.txt", "one\n");
    let failed = tool(&scene, "read_file", r#"{"file_path": "nope.txt"}"#).exits(1);
    assert!(failed.stdout.contains("nope.txt"), "{failed:?}");
    assert_eq!(failed.complaint(), "innerloop: the tool failed: not_found");
    let outside = tool(&scene, "read_file", r#"{"file_path": "../../x"}"#).exits(1);
    assert!(outside.complaint().contains("permission_denied"), "{outside:?}");
    for (name, arguments, why) in [
        ("read_file", "{", "no JSON"),
        ("read_file", "[]", "no JSON object"),
        ("read_file", "{}", "file_path"),
        ("read", r#"{"path": "a.txt", "colour": 1}"#, "colour"),
        ("no_such_tool", "{}", "no_such_tool"),
    ] {
        let run = tool(&scene, name, arguments).exits(2);
        assert!(run.complaint().contains(why), "{why}: {run:?}");
    }
    let missing = run(&mut innerloop(["tool", "read", "{}", "-C", "/no/such/folder"])).exits(2);
    assert!(missing.stderr.contains("path"), "{missing:?}");
}

fn decode(args: &[&str], stdin: &[u8]) -> Vec<Value> {
    let mut command = innerloop(["decode", "--wire", "anthropic"]);
    run_with(command.args(args), stdin).exits(0).json_lines()
}

#[test]
fn a_response_is_decoded_the_same_in_any_pieces() {
    let message =
        Message::text("Grüße").thinking("hm").and_raw_call("toolu_1", "f", r#"{"b": 1.50}"#);
    let stream = message.events().concat();
    let want = json!([{
        "id": null,
        "text": "Grüße",
        "reasoning": "hm",
        "refusal": "",
        "tool_calls": [{"id": "toolu_1", "name": "f", "arguments": {"b": 1.5}}],
        "finish": "tool_calls",
        "usage": {
            "input_total": 100, "output_total": 10, "cache_read": 0, "cache_write": 0,
            "reasoning": 0,
        },
        "error": null,
    }]);
    assert_eq!(json!(decode(&[], stream.as_bytes())), want);
    for size in ["1", "2", "7", "4096"] {
        assert_eq!(json!(decode(&["--chunk", size], stream.as_bytes())), want, "pieces of {size}");
        let whole = message.body();
        assert_eq!(json!(decode(&["--chunk", size], whole.as_bytes())), want, "pieces of {size}");
    }
}

#[test]
fn an_error_is_decoded_with_its_status() {
    let body = Reply::error(429, "rate_limit_error", "slow down").body();
    let lines = decode(&["--status", "429"], &body);
    assert_eq!(lines[0]["error"]["kind"], "rate_limit");
    assert_eq!(lines[0]["error"]["status"], 429);
    assert_eq!(lines[0]["finish"], "error");
    assert!(lines[0]["error"]["message"].as_str().unwrap().contains("slow down"));
    let cut = Message::text("hello").events()[..3].concat();
    assert_eq!(decode(&[], cut.as_bytes())[0]["error"]["kind"], "protocol");
}

#[test]
fn interactions_are_decoded_line_by_line() {
    let stream = Message::text("one").events().concat();
    let whole = Message::text("two").body();
    let lines = [
        json!({
            "id": "a", "wire": "anthropic", "status": 200,
            "headers": {"content-type": "text/event-stream"}, "body": stream,
        }),
        json!({"id": 7, "body_base64": "eyJub3BlIjp0cnVlfQ==", "status": 500, "headers": {}}),
        json!({"id": "c", "wire": "anthropic", "body": whole}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let decoded = decode(&["--jsonl", "--chunk", "3"], text.as_bytes());
    assert_eq!(decoded.len(), 3);
    assert_eq!((&decoded[0]["id"], &decoded[0]["text"]), (&json!("a"), &json!("one")));
    assert_eq!((&decoded[1]["id"], &decoded[1]["error"]["status"]), (&json!(7), &json!(500)));
    assert_eq!((&decoded[2]["id"], &decoded[2]["text"]), (&json!("c"), &json!("two")));
}

#[test]
fn what_cannot_be_decoded_is_told_by_line() {
    let mut command = innerloop(["decode", "--wire", "anthropic", "--jsonl"]);
    let bad = run_with(&mut command, b"{\"body\": \"\"}\n{oops}\n").exits(2);
    assert!(bad.complaint().contains("line 2 is no interaction"), "{bad:?}");
    let mut command = innerloop(["decode", "--wire", "anthropic", "--jsonl"]);
    let bad = run_with(&mut command, b"{\"body\": \"\", \"wire\": \"telex\"}").exits(2);
    assert!(bad.complaint().contains("telex"), "{bad:?}");
    let _no_wire = run(&mut innerloop(["decode"])).exits(2);
    let _zero = run(&mut innerloop(["decode", "--wire", "anthropic", "--chunk", "0"])).exits(2);
}

#[test]
fn the_doctor_tells_what_works_and_what_does_not() {
    let programs = innerloop_tests::example::programs();
    let mut command = innerloop(["doctor", "--programs"]);
    let fine = run(command.arg(&programs)).exits(0);
    for line in [
        "ok    version: innerloop 0.1.0",
        "ok    key: ANTHROPIC_API_KEY is set\n",
        "ok    cache: ",
        "ok    tools: a file was read in the sandbox",
        "ok    programs: qjs (SHA-256 f9742952",
    ] {
        assert!(fine.stdout.contains(line), "{line}: {fine:#?}");
    }
    assert!(!fine.stdout.contains("provider"), "{fine:#?}");

    let scene = Scene::new(vec![Reply::new(404, "text/plain", "no")]);
    let mut command = innerloop(["doctor", "--online", "--base-url", &scene.model.url()]);
    let online = run(command.arg("--programs").arg(&programs)).exits(0);
    assert!(online.stdout.contains("answers (HTTP 404)"), "{online:#?}");
    assert_eq!(scene.model.requests()[0].header("x-api-key"), None);

    let mut command = innerloop(["doctor", "--online", "--base-url", "http://127.0.0.1:9"]);
    let sick = run(command.arg("--programs").arg(scene.path("none"))).exits(1);
    assert!(sick.stdout.contains("FAIL  programs: "), "{sick:#?}");
    assert!(sick.stdout.contains("FAIL  provider: cannot connect"), "{sick:#?}");
    let mut command = innerloop(["doctor"]);
    let keyless = run(command.env_remove("ANTHROPIC_API_KEY")).exits(0);
    assert!(keyless.stdout.contains("warn  key: ANTHROPIC_API_KEY is not set"), "{keyless:#?}");
}
