//! `innerloop tool` and `doctor`.

use innerloop_tests::{
    mock::Reply,
    program::{Run, innerloop, run, run_with},
    scene::Scene,
};

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
    assert!(missing.stderr.contains("there is no folder /no/such/folder"), "{missing:?}");
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
