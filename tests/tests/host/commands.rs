//! `innerloop tool` and `doctor`.

use innerloop_tests::{
    mock::{Mock, Reply},
    program::{KEY, Run, Started, innerloop, run, run_with, wait_for},
    scene::Scene,
};
use std::{fs, os::unix::fs::PermissionsExt as _};

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
        ("read", r#"{"path": 1}"#, "path: must be a string, not 1"),
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

    // Longer than a test waits.
    let program = Started::new(&mut call("echo begun; sleep 600; echo done", &[]), b"");
    wait_for("the first line", || program.said().contains("begun"));
    program.signal("INT");
    assert_eq!(program.finish().exits(130).stdout, "begun\n[it was interrupted]\n");
}

#[test]
fn the_doctor_tells_what_works_and_what_does_not() {
    let programs = innerloop_tests::example::programs();
    let mut command = innerloop(["doctor", "--offline", "--programs"]);
    let fine = run(command.arg(&programs)).exits(0);
    for line in [
        "ok    version: innerloop 0.1.0",
        "ok    settings: none; `innerloop config set` writes your own",
        "ok    key: the key of anthropic is in ANTHROPIC_API_KEY\n",
        "ok    cache: ",
        "ok    tools: a file was read in the sandbox",
        "ok    walls: a write outside of the folder was refused",
        "warn  shell: there is none",
        "ok    javascript: a program ran in the sandbox",
        "ok    programs: qjs (SHA-256 f9742952",
        "ok    folder: ",
        "ok    provider: not asked\n",
    ] {
        assert!(fine.stdout.contains(line), "{line}: {fine:#?}");
    }

    let scene = Scene::new(vec![Reply::new(404, "text/plain", "no")]);
    let mut command = innerloop(["doctor", "--base-url", &scene.model.url()]);
    let online = run(command.arg("--programs").arg(&programs)).exits(0);
    assert!(online.stdout.contains("warn  provider: "), "{online:#?}");
    assert!(online.stdout.contains("answers (HTTP 404), and lists no models"), "{online:#?}");

    let mut command = innerloop(["doctor", "--base-url", "http://127.0.0.1:9"]);
    let sick = run(command.arg("--programs").arg(scene.path("none"))).exits(1);
    assert!(sick.stdout.contains("FAIL  programs: "), "{sick:#?}");
    assert!(sick.stdout.contains("FAIL  provider: cannot connect"), "{sick:#?}");
    let mut command = innerloop(["doctor"]);
    let keyless = run(command.env_remove("ANTHROPIC_API_KEY")).exits(0);
    assert!(keyless.stdout.contains("warn  key: ANTHROPIC_API_KEY is not set"), "{keyless:#?}");
    assert!(keyless.stdout.contains("warn  provider: anthropic is not asked without a key"));
}

/// What is listed there, in the protocols' forms.
fn list(wire: &str) -> Reply {
    let body = match wire {
        "gemini" => r#"{"models": [{"name": "models/m1"}, {"name": "models/m2"}]}"#,
        "ollama" => r#"{"models": [{"name": "m1:latest", "model": "m1:latest"}]}"#,
        _ => r#"{"object": "list", "data": [{"id": "m1"}, {"id": "m2"}]}"#,
    };
    Reply::new(200, "application/json", body)
}

fn asks(provider: &str, variable: &str, model: &str, reply: Reply) -> (Run, Mock) {
    let mock = Mock::start(vec![reply]);
    let mut command = innerloop(["doctor", "--provider", provider]);
    command.args(["--model", model, "--base-url", &mock.url()]).env(variable, KEY);
    (run(&mut command), mock)
}

#[test]
fn the_doctor_tries_the_key_and_the_model_in_every_protocol_without_cost() {
    let bearer = format!("Bearer {KEY}");
    for (provider, variable, line, header, key) in [
        ("anthropic", "ANTHROPIC_API_KEY", "/v1/models?limit=1000", "x-api-key", KEY),
        ("openai", "OPENAI_API_KEY", "/models", "authorization", &*bearer),
        ("groq", "GROQ_API_KEY", "/models", "authorization", &bearer),
        ("gemini", "GEMINI_API_KEY", "/v1beta/models?pageSize=1000", "x-goog-api-key", KEY),
        ("ollama", "OLLAMA_API_KEY", "/api/tags", "authorization", &bearer),
    ] {
        let (fine, mock) = asks(provider, variable, "m1", list(provider));
        let fine = fine.exits(0);
        let words = "takes the key, and m1 is among its ";
        assert!(fine.stdout.contains("ok    provider: "), "{provider}: {fine:#?}");
        assert!(fine.stdout.contains(words), "{provider}: {fine:#?}");
        let requests = mock.requests();
        assert_eq!(requests.len(), 1);
        assert_eq!(requests[0].line, format!("GET {line} HTTP/1.1"), "{provider}");
        assert_eq!(requests[0].header(header), Some(key), "{provider}");

        let (other, _) = asks(provider, variable, "m3", list(provider));
        let other = other.exits(0);
        assert!(other.stdout.contains("warn  provider: "), "{provider}: {other:#?}");
        assert!(other.stdout.contains("m3 is not among its"), "{provider}: {other:#?}");
    }
}

#[test]
fn the_doctor_says_what_a_providers_refusal_means() {
    let error = |status| {
        let body = format!(r#"{{"error": {{"message": "no: {KEY}"}}}}"#);
        Reply::new(status, "application/json", body)
    };
    for (reply, code, mark, words) in [
        (error(401), 1, "FAIL", "it does not take the key in ANTHROPIC_API_KEY; put another"),
        (error(403), 1, "FAIL", "it does not take the key"),
        (error(429), 0, "warn", "no credit"),
        (error(503), 1, "FAIL", "try again later"),
        (Reply::new(302, "text/html", ""), 1, "FAIL", "it leads elsewhere"),
        (Reply::new(200, "text/html", "<html>"), 0, "warn", "something else than models"),
    ] {
        let (run, _) = asks("anthropic", "ANTHROPIC_API_KEY", "m1", reply);
        let run = run.exits(code);
        let line = run.stdout.lines().find(|line| line.contains(" provider: ")).unwrap();
        assert!(line.starts_with(mark) && line.contains(words), "{line}");
        assert!(!run.stdout.contains(KEY), "{run:?}");
    }
}

#[test]
fn the_doctor_names_folders_and_what_does_not_fit_into_the_prompt() {
    let scene = Scene::new(vec![]).file("AGENTS.md", &"long\n".repeat(10_000));
    fs::write(scene.path("file"), "no folder").unwrap();
    let mut command = innerloop(["doctor", "--offline", "-C"]);
    command.arg(scene.workspace()).env("XDG_STATE_HOME", scene.path("state"));
    command.env("XDG_DATA_HOME", scene.path("file/below")).env("XDG_CONFIG_HOME", "/");
    let told = run(&mut command).exits(0).stdout;
    let state = scene.arg("state");
    for words in [
        format!("ok    state: {state}/innerloop, not made yet, for sessions and keys"),
        " MB of compiled modules".to_owned(),
        "ok    shell: a command line ran in the sandbox in ".to_owned(),
        "bash (SHA-256 ".to_owned(),
        ", comes along)".to_owned(),
        ": AGENTS.md is cut: the model sees the first 31 KiB of it".to_owned(),
    ] {
        assert!(told.contains(&words), "{words}: {told}");
    }
}

#[test]
fn the_doctor_fails_where_the_folder_that_is_named_is_none() {
    let scene = Scene::streaming(&[]).file("note.txt", "");
    for (name, told) in [("nowhere", "there is no folder "), ("workspace/note.txt", " is a file; ")]
    {
        let mut command = innerloop(["doctor", "--offline", "-C", &scene.arg(name)]);
        let run = run(&mut command).exits(1);
        let line = run.stdout.lines().find(|line| line.contains("  folder: ")).unwrap();
        assert!(line.starts_with("FAIL") && line.contains(told), "{line}");
    }
}

/// The line of `innerloop doctor` that begins with these words.
fn line(run: &Run, name: &str) -> String {
    let words = format!("  {name}: ");
    let line = run.stdout.lines().find(|line| line.contains(&words));
    line.unwrap_or_else(|| panic!("{name}: {run:#?}")).to_owned()
}

#[test]
fn the_doctor_looks_where_a_session_would() {
    let scene = Scene::new(vec![]).file("a.txt", "a");
    let (config, state) = (scene.path("config/innerloop"), scene.path("state/innerloop"));
    [&config, &state, &scene.path("workspace/.innerloop")]
        .into_iter()
        .for_each(|folder| fs::create_dir_all(folder).unwrap());
    let doctor = || {
        let mut command = innerloop(["doctor", "-C"]);
        command.arg(scene.workspace()).env_remove("ANTHROPIC_API_KEY");
        command.env("XDG_CONFIG_HOME", scene.path("config"));
        command.env("XDG_STATE_HOME", scene.path("state"));
        command
    };
    // Provider, model, address and the key's variable are those of settings.
    let mock = Mock::start(vec![list("openai"), list("openai")]);
    let said = format!(
        "provider = 'openai'\nmodel = 'm2'\nbase_url = '{}'\n[providers.openai]\n\
         api_key_env = 'WORK_KEY'\n",
        mock.url()
    );
    fs::write(config.join("config.toml"), said).unwrap();
    let run_ = run(doctor().env("WORK_KEY", KEY)).exits(0);
    assert_eq!(line(&run_, "key"), "ok    key: the key of openai is in WORK_KEY");
    assert!(line(&run_, "settings").ends_with("config/innerloop/config.toml"), "{run_:#?}");
    assert!(line(&run_, "provider").contains("takes the key, and m2 is among"), "{run_:#?}");

    // The key is kept in a file, and a project's file waits for a word.
    fs::write(scene.path("workspace/.innerloop/config.toml"), "model = 'm1'\n").unwrap();
    let credentials = state.join("credentials.toml");
    fs::write(&credentials, format!("openai = '{KEY}'\n")).unwrap();
    let mode = |mode| fs::set_permissions(&credentials, fs::Permissions::from_mode(mode)).unwrap();
    mode(0o600);
    let run_ = run(&mut doctor()).exits(0);
    let file = credentials.display();
    assert_eq!(line(&run_, "key"), format!("ok    key: the key of openai is in {file}"));
    let settings = line(&run_, "settings");
    assert!(settings.starts_with("warn") && settings.contains("`innerloop trust`"), "{settings}");

    // What others may read is no key, and what cannot be understood no settings.
    mode(0o644);
    fs::write(config.join("config.toml"), "provider = 7\n").unwrap();
    let run_ = run(doctor().args(["--provider", "openai", "--offline"])).exits(1);
    let key = line(&run_, "key");
    assert!(key.starts_with("FAIL") && key.contains("chmod 600"), "{key}");
    let settings = line(&run_, "settings");
    assert!(settings.starts_with("FAIL") && settings.contains("config.toml: "), "{settings}");
    let other = run(doctor().args(["--offline"]).env("OPENAI_API_KEY", KEY)).exits(1);
    assert!(line(&other, "key").starts_with("warn"), "{other:#?}");
    assert!(!format!("{run_:?}{other:?}").contains(KEY));
}
