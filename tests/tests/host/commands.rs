//! `innerloop tool` and `doctor`.

use innerloop_tests::{
    mock::Reply,
    program::{Run, Started, innerloop, run, run_with, wait_for},
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
        ("read_file", r#"{"file_pth": "a"}"#, "file_pth: unknown, did you mean file_path?"),
        (
            "read_file",
            r#"{"file_path": "a.txt", "limit": "x"}"#,
            "limit: expected a whole number from 1, got \"x\"; it takes file_path, [limit]",
        ),
        ("read_file", r#"{"file_path": "a.txt", "limit": 0}"#, "`limit` must be at least 1"),
        ("read", "{}", "path: missing"),
        ("read", r#"{"path": 1}"#, "path: invalid type"),
        ("read", r#"{"path": "a.txt", "colour": 1}"#, "colour: unknown; it takes path, offset"),
        ("no_such_tool", "{}", "no_such_tool"),
        ("raed_file", "{}", "did you mean read_file?"),
    ] {
        let run = tool(&scene, name, arguments).exits(2);
        assert!(run.complaint().contains(why), "{why}: {run:?}");
    }
    let missing = run(&mut innerloop(["tool", "read", "{}", "-C", "/no/such/folder"])).exits(2);
    assert!(missing.stderr.contains("there is no folder /no/such/folder"), "{missing:?}");
}

#[test]
fn tools_are_listed_and_described_with_a_call_that_works() {
    let scene = Scene::new(vec![]).file("README.md", "teh TODO\n");
    let told = |args: &[&str]| {
        let mut command = innerloop(["tool"]);
        run(command.args(args).current_dir(scene.workspace())).exits(0).stdout
    };
    let list = told(&[]);
    assert!(list.contains("Write a whole file"), "{list}");
    assert!(list.contains("              file_path, content\n"), "{list}");
    let specs: Vec<serde_json::Value> =
        told(&["--json"]).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<&str> = specs.iter().map(|spec| spec["name"].as_str().unwrap()).collect();
    let all = ["read_many_files", "write_file", "apply_patch", "shell", "run_program", "grep"];
    assert!(all.iter().all(|name| names.contains(name)), "{names:?}");
    for name in names {
        let shown = told(&[name]);
        let line = shown.lines().last().unwrap().trim();
        let json = line.strip_prefix(&format!("innerloop tool {name} ")).unwrap();
        let json = json.trim_matches('\'');
        let ran = told(&[name, json]);
        assert!(!ran.is_empty(), "{line}");
    }
    assert_eq!(scene.text("workspace/README.md"), "the TODO\n", "the last example but one edits");
    assert!(told(&["read"]).starts_with("read, an action, takes path, offset"));
    let mut unknown = innerloop(["tool", "shel"]);
    let unknown = run(unknown.current_dir(scene.workspace())).exits(2);
    assert!(unknown.complaint().contains("did you mean shell?"), "{unknown:?}");
}

#[test]
fn what_a_program_prints_is_shown_as_it_comes_and_its_exit_code_told() {
    let scene = Scene::new(vec![]);
    let call = |command: &str, args: &[&str]| {
        let json = serde_json::json!({ "command": command }).to_string();
        let mut tool = innerloop(["tool", "shell", &json]);
        tool.args(args).current_dir(scene.workspace());
        tool
    };
    let failed = run(&mut call("echo one; echo two >&2; exit 3", &[])).exits(1);
    assert_eq!(failed.stdout, "one\ntwo\n");
    assert_eq!(failed.complaint(), "innerloop: the tool failed: exit code 3");
    let whole = run(&mut call("exit 3", &["--json"])).exits(1);
    assert_eq!(whole.json_lines()[0]["exit"], 3, "{whole:?}");

    let begun = std::time::Instant::now();
    let program = Started::new(&mut call("echo begun; sleep 20; echo done", &[]), b"");
    wait_for("the first line", || program.said().contains("begun"));
    assert!(begun.elapsed() < std::time::Duration::from_secs(20));
    program.signal("INT");
    assert_eq!(program.finish().exits(130).stdout, "begun\n[it was interrupted]\n");
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
