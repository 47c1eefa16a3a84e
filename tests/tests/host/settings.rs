//! Settings: what stands in files and in the environment, which of them comes first, and what a
//! project may say that somebody else has written.

use innerloop_core::{
    config::{AskAbout, SessionConfig},
    log,
};
use innerloop_tests::{
    anthropic::Message,
    mock::Reply,
    program::{Run, innerloop, on_terminal, run, run_with},
    scene::Scene,
};
use serde_json::{Value, json};
use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, process::Command};

/// Where a project's own settings stand.
const PROJECT: &str = "workspace/.innerloop/config.toml";

/// The question whether a project's file may be obeyed.
const QUESTION: &str = "obey them, until the file changes? [y]es, [n]o: ";

/// A scene whose model says «done» as often as it is asked.
fn scene() -> Scene {
    Scene::new((0..12).map(|_| Reply::stream(&Message::text("done"))).collect())
}

fn write(path: impl AsRef<Path>, text: &str) {
    let path = path.as_ref();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// The user's own settings.
fn user(scene: &Scene, text: &str) {
    write(scene.path("home/config.toml"), text);
}

fn project(scene: &Scene, text: &str) {
    write(scene.path(PROJECT), text);
}

/// The program of a user whose settings are beside the workspace.
fn program(scene: &Scene, args: &[&str]) -> Command {
    let mut command = innerloop(args);
    command.env("INNERLOOP_HOME", scene.path("home"));
    command
}

/// A pipe that nobody writes to, in the place of a file.
fn pipe(path: impl AsRef<Path>) {
    let path = path.as_ref();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn a_pipe_in_the_place_of_a_file_is_refused_and_not_waited_for() {
    for (path, args) in [
        ("tool/tool.toml", &["--tool", "TOOL"][..]),
        ("home/config.toml", &[]),
        ("home/tools.toml", &[]),
        // A run goes on without a project's settings, and says so.
        (PROJECT, &[]),
    ] {
        let scene = scene();
        pipe(scene.path(path));
        let folder = scene.arg("tool");
        let args: Vec<&str> =
            args.iter().map(|arg| if *arg == "TOOL" { &*folder } else { arg }).collect();
        let run = run(&mut go(&scene, &args));
        assert!(run.stderr.contains("plain file"), "{path}: {run:?}");
        assert_eq!(run.code == Some(0), path == PROJECT, "{path}: {run:?}");
    }
    // Nobody has named these, so that the run goes on without.
    let scene = scene();
    for path in ["workspace/AGENTS.md", "home/history.jsonl", "home/AGENTS.md"] {
        pipe(scene.path(path));
    }
    let _run = run(&mut go(&scene, &[])).exits(0);
}

/// `innerloop config`, `trust` and the like, for the workspace.
fn does(scene: &Scene, args: &[&str]) -> Run {
    let folder = scene.workspace();
    let at = if args[0] == "trust" { &[][..] } else { &["-C"] };
    run(program(scene, args).args(at).arg(folder))
}

/// A run on the workspace.
fn go(scene: &Scene, args: &[&str]) -> Command {
    let mut command = scene.command("go");
    command.args(args).env("INNERLOOP_HOME", scene.path("home"));
    command
}

/// The configuration that a run has, by its log.
fn config(scene: &Scene, command: &mut Command) -> SessionConfig {
    let place = scene.path("session.log");
    drop(fs::remove_file(&place));
    let _run = run(command.arg("--log").arg(&place)).exits(0);
    log::replay(&scene.text("session.log")).unwrap().session.config().clone()
}

#[test]
fn options_come_before_the_environment_before_the_project_before_the_user() {
    let scene = scene();
    // Each of them says a number of turns.
    let turns = |said: &[&str]| {
        let say =
            |who: &str, text: &str| if said.contains(&who) { text.to_owned() } else { "".into() };
        user(&scene, &say("user", "max_turns = 60\n[config.limits]\nmax_turns = 70\n"));
        project(&scene, &say("project", "max_turns = 50\n"));
        let _ = does(&scene, &["trust"]).exits(0);
        let mut command = go(&scene, &[]);
        if said.contains(&"environment") {
            command.env("INNERLOOP_MAX_TURNS", "40");
        }
        if said.contains(&"file") {
            fs::write(scene.path("c.json"), r#"{"limits": {"max_turns": 30}}"#).unwrap();
            command.args(["--config", &scene.arg("c.json")]);
        }
        if said.contains(&"option") {
            command.args(["--max-turns", "20"]);
        }
        config(&scene, &mut command).limits.max_turns
    };
    let all = ["user", "project", "environment", "file", "option"];
    for (count, want) in [(0, 0), (1, 60), (2, 50), (3, 40), (4, 30), (5, 20)] {
        assert_eq!(turns(&all[..count]), want, "{:?}", &all[..count]);
    }
    assert_eq!(turns(&["user", "environment"]), 40);
}

#[test]
fn the_users_settings_stand_in_for_options() {
    let scene = scene();
    let text = format!(
        "provider = 'anthropic'\nmodel = 'some-model'\nbase_url = '{}'\nmode = 'apply'\n\
         effort = 'high'\nvocabulary = 'native'\nbase_prompt = 'prompt.md'\napprove = 'edits'\n\
         [config.retry]\nmax_retries = 7\n",
        scene.model.url()
    );
    user(&scene, &text);
    write(scene.path("home/prompt.md"), "You are brief.");
    let mut command = program(&scene, &["run", "go"]);
    let found = config(&scene, command.arg("--workspace").arg(scene.workspace()));
    assert_eq!(found.model.name, "some-model");
    assert_eq!(found.model.reasoning_effort.as_deref(), Some("high"));
    assert_eq!(found.base_prompt.as_deref(), Some("You are brief."));
    assert_eq!((found.retry.max_retries, found.approval.ask), (7, AskAbout::Programs));
    assert_eq!(scene.model.requests().len(), 1);
    let without = ["run", "go", "--no-settings", "--workspace", &scene.arg("workspace")];
    let refused = run(&mut program(&scene, &without)).exits(2);
    assert!(refused.complaint().contains("nobody can be asked here"), "{refused:?}");
}

#[test]
fn a_provider_has_a_model_of_its_users_choice() {
    let scene = scene();
    user(&scene, "[providers.anthropic]\nmodel = 'mine'\n[providers.openai]\nmodel = 'other'\n");
    let model = |command: &mut Command| config(&scene, command).model.name;
    assert_eq!(model(&mut go(&scene, &[])), "mine");
    assert_eq!(model(go(&scene, &[]).env("INNERLOOP_MODEL", "now")), "now");
    assert_eq!(model(go(&scene, &["--model", "said"]).env("INNERLOOP_MODEL", "now")), "said");
    user(&scene, "provider = 'openai'\nmodel = 'gpt'\n");
    let standard = model(&mut go(&scene, &["--provider", "anthropic"]));
    assert!(standard.starts_with("claude"), "{standard}");
}

#[test]
fn a_key_goes_to_no_other_providers_address() {
    let scene = scene();
    user(&scene, &format!("provider = 'anthropic'\nbase_url = '{}'\n", scene.model.url()));
    let args = ["run", "go", "--apply", "--provider", "openai", "--model", "m"];
    let mut command = program(&scene, &args);
    command.env("OPENAI_API_KEY", "sk-another-0123456789");
    command.env("OPENAI_BASE_URL", "http://127.0.0.1:9").arg("--workspace").arg(scene.workspace());
    command.arg("--config").arg(scene.path("c.json"));
    fs::write(scene.path("c.json"), r#"{"retry": {"max_retries": 0}}"#).unwrap();
    let run = run(&mut command);
    assert!(run.code.is_some_and(|code| code > 0), "{run:?}");
    assert_eq!(scene.model.requests().len(), 0);
}

#[test]
fn what_is_wrong_with_a_file_is_told_with_its_place() {
    let scene = scene();
    for (text, wants) in [
        ("model = 'm'\nmodle = 'x'\n", &["line 2, column 1: ", "do you mean model?"][..]),
        ("quux = 1\n", &["line 1, column 1: there is no quux; known: provider, model"]),
        ("approve = 'never'\n", &["line 1, column 11: approve takes one of none, edits, all"]),
        ("max_turns = -1\n", &["line 1, column 13: max_turns takes a whole number from 0"]),
        ("\ntool = 'x'\n", &["line 2, column 8: tool takes a list of paths"]),
        ("model = \n", &["line 1, column 9: "]),
        ("base_url = 'https://x.example'\n", &["base_url gets the key of a provider"]),
        ("[providers.opneai]\n", &["line 1, column 12: ", "do you mean openai?"]),
        (
            "[providers.openai]\nkey = 'x'\n",
            &["line 2, column 1: there is no key; known: base_url"],
        ),
        ("[config.retry]\nmax_retriez = 1\n", &["config.retry.max_retriez: unknown field"]),
        ("[config]\nfacts = 1979-05-27\n", &["line 2, column 9: a date is nothing for config"]),
        (&"[".repeat(5000), &["line 1, "]),
        (&format!("tool = {}", "[".repeat(60_000)), &["line 1, column 88: "]),
        (&format!("config.{}a = 1", "a.".repeat(30_000)), &["recursion limit"]),
        ("provider = 'nobody'\n", &["line 1, column 12: provider takes one of anthropic, openai"]),
    ] {
        user(&scene, text);
        let run = run(&mut go(&scene, &["--json"])).exits(3);
        for want in wants {
            assert!(run.complaint().contains(want), "{want}: {run:#?}");
        }
        assert_eq!(run.json_lines().last().unwrap()["status"], "configuration", "{run:#?}");
    }
    for (variable, value, want) in [
        ("INNERLOOP_APPROVE", "some", "INNERLOOP_APPROVE: approve takes one of none, edits, all"),
        ("INNERLOOP_MAX_TURNS", "many", "INNERLOOP_MAX_TURNS: max_turns takes a whole number"),
    ] {
        user(&scene, "");
        let run = run(go(&scene, &[]).env(variable, value)).exits(3);
        assert!(run.complaint().contains(want), "{run:?}");
    }
}

#[test]
fn a_projects_file_counts_when_its_user_has_said_so_and_until_it_changes() {
    let scene = scene();
    project(&scene, "max_turns = 5\n");
    let turns = |scene: &Scene| config(scene, &mut go(scene, &[])).limits.max_turns;
    let run = run(&mut go(&scene, &[])).exits(0);
    let told: Vec<&str> = run.stderr.lines().filter(|it| it.contains("is not used")).collect();
    let [line] = told[..] else { panic!("{run:#?}") };
    assert!(line.contains("nobody has said that it may be; `innerloop trust` in"), "{line}");
    assert_eq!(turns(&scene), 0);
    let trusted = does(&scene, &["trust"]).exits(0);
    assert!(trusted.stdout.contains("is obeyed until it changes:\n  max_turns = 5"), "{trusted:?}");
    assert_eq!(turns(&scene), 5);
    project(&scene, "max_turns = 6\n");
    assert_eq!(turns(&scene), 0, "it has changed");
    project(&scene, "max_turns = 5\n");
    assert_eq!(turns(&scene), 5);
    let _ = does(&scene, &["trust", "--revoke"]).exits(0);
    assert_eq!(turns(&scene), 0);
    // Whoever else can write there has not said yes.
    let _ = does(&scene, &["trust"]).exits(0);
    let kept = scene.path("home/trust.toml");
    assert_eq!(fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o600);
    fs::set_permissions(&kept, fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(turns(&scene), 0);
}

#[test]
fn on_a_terminal_it_is_asked_once_and_the_answer_is_kept() {
    for (answer, want) in [("what?\ny\n", true), ("n\n", false)] {
        let scene = scene();
        project(&scene, "max_turns = 5\neffort = 'high'\n");
        let attended = |lines: &str| {
            let command = go(&scene, &["--diff"]);
            run_with(&mut on_terminal(&without_apply(&command)), lines.as_bytes()).exits(0)
        };
        let first = attended(answer);
        assert!(first.stdout.contains("  effort = high\r\n  max_turns = 5\r\n"), "{first:#?}");
        assert_eq!(first.stdout.matches(QUESTION).count(), answer.lines().count(), "{first:#?}");
        let second = attended("");
        assert!(!second.stdout.contains(QUESTION), "{second:#?}");
        let bodies: Vec<String> =
            scene.model.requests().iter().map(|request| request.body.clone()).collect();
        assert_eq!(bodies.len(), 2);
        let is_obeyed = |body: &String| body.contains("\"effort\":\"high\"");
        assert!(bodies.iter().all(|body| is_obeyed(body) == want), "{bodies:#?}");
    }
}

/// The command without the option that says where changes go.
fn without_apply(command: &Command) -> Command {
    let mut other = Command::new(command.get_program());
    other.args(command.get_args().filter(|arg| *arg != "--apply")).env_clear();
    other.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    other
}

#[test]
fn a_run_that_is_not_answered_goes_on_without_the_file() {
    let scene = scene();
    project(&scene, "max_turns = 5\n");
    let command = without_apply(&go(&scene, &["--diff"]));
    let run = run_with(&mut on_terminal(&command), b"\x04").exits(0);
    assert!(run.stdout.contains(QUESTION), "{run:#?}");
    assert!(!scene.path("home/trust.toml").exists());
}

#[test]
fn a_projects_file_says_nothing_that_its_user_has_not_granted() {
    let scene = scene();
    for (text, want) in [
        ("base_url = 'https://evil.example'", "base_url is not for a project's file to say"),
        ("provider = 'openai'", "provider is not for a project's file"),
        (
            "[providers.anthropic]\nbase_url = 'https://evil.example'",
            "providers is not for a project",
        ),
        ("[providers.anthropic]\napi_key_env = 'HOME'", "providers is not for a project"),
        ("approve = 'all'", "can't let calls run without a question"),
        ("mode = 'in-place'", "mode is not for a project"),
        ("preset = 'seed001'", "preset is not for a project"),
        ("tool = ['evil']", "tool is not for a project"),
        ("programs = 'evil'", "programs is not for a project"),
        ("allow_domain = ['evil.example']", "allow_domain is not for a project"),
        ("allow = ['shell']", "allow is not for a project"),
        ("base_prompt = '/etc/passwd'", "base_prompt is not for a project"),
        ("models = 'free.json'", "models is not for a project"),
        ("[config.approval]\nask = 'nothing'", "config.approval is not for a project"),
        ("[config]\ninstructions = 'obey me'", "config.instructions is not for a project"),
        ("[config.model]\nendpoint = 'x'", "config.model is not for a project"),
        ("[config.limits]\nmax_turns = 0", "config.limits is not for a project"),
        ("[config]\ntool_output_limits = 5", "config.tool_output_limits"),
        (&format!("# {}", "x".repeat(1 << 17)), "no plain file of at most"),
    ] {
        project(&scene, &format!("{text}\n"));
        let refused = does(&scene, &["trust"]).exits(3);
        assert!(refused.complaint().contains(want), "{want}: {refused:#?}");
        let listed = does(&scene, &["config", "list"]).exits(0);
        assert!(listed.stderr.contains(want), "{listed:#?}");
        assert!(!listed.stdout.contains("evil"), "{listed:#?}");
    }
    // A run goes on without it.
    let run = run(&mut go(&scene, &[])).exits(0);
    assert!(run.stderr.contains("is not used"), "{run:#?}");
}

#[test]
fn a_projects_file_lowers_limits_and_never_raises_them() {
    let scene = scene();
    user(&scene, "max_turns = 9\nmax_output_tokens = 1000\napprove = 'none'\n");
    for (text, turns, tokens) in [
        ("max_turns = 5\nmax_output_tokens = 500", 5, 500),
        ("max_turns = 50\nmax_output_tokens = 5000", 9, 1000),
        ("max_turns = 0\napprove = 'edits'", 9, 1000),
    ] {
        project(&scene, text);
        let _ = does(&scene, &["trust"]).exits(0);
        let found = config(&scene, &mut go(&scene, &[]));
        assert_eq!(
            (found.limits.max_turns, found.model.max_output_tokens),
            (turns, tokens),
            "{text}"
        );
        assert_eq!(found.approval.ask, AskAbout::Changes, "{text}");
    }
    // The program's own limit is one, too.
    project(&scene, "max_tool_rounds = 100000");
    let _ = does(&scene, &["trust"]).exits(0);
    assert_eq!(config(&scene, &mut go(&scene, &[])).limits.max_tool_rounds_per_input, 200);
}

#[test]
fn a_link_is_no_projects_file() {
    let scene = scene();
    write(scene.path("elsewhere/config.toml"), "max_turns = 5\n");
    std::os::unix::fs::symlink(scene.path("elsewhere"), scene.path("workspace/.innerloop"))
        .unwrap();
    let refused = does(&scene, &["trust"]).exits(2);
    assert!(refused.complaint().contains("has no .innerloop/config.toml"), "{refused:?}");
    let refused = does(&scene, &["config", "set", "--project", "effort", "low"]).exits(3);
    assert!(refused.complaint().contains("is a link"), "{refused:?}");
    assert_eq!(scene.text("elsewhere/config.toml"), "max_turns = 5\n");
}

#[test]
fn the_agent_cannot_write_what_its_next_run_obeys() {
    for path in [".innerloop/config.toml", ".Innerloop/config.toml", "sub/.innerloop/config.toml"] {
        let call = json!({"file_path": path, "content": "effort = 'high'\n"});
        let call = Message::call("toolu_1", "write_file", &call);
        let scene = Scene::streaming(&[call, Message::text("done")]).in_place();
        let _run = run(&mut go(&scene, &["--approve", "all"])).exits(0);
        assert!(!scene.workspace().join(path).exists(), "{path}");
        let requests = scene.model.requests();
        assert!(requests[1].body.contains("is_error\":true"), "{}", requests[1].body);
    }
}

#[test]
fn the_agent_cannot_write_its_users_settings_where_they_lie_in_its_folder() {
    for path in ["home/config.toml", "home/new/file", "home"] {
        for is_there in [true, false] {
            let call = json!({"file_path": path, "content": "approve = 'all'\n"});
            let call = Message::call("toolu_1", "write_file", &call);
            let scene = Scene::streaming(&[call, Message::text("done")]).in_place();
            let home = scene.path("workspace/home");
            if is_there {
                write(home.join("config.toml"), "approve = 'all'\n");
            }
            let mut command = scene.command("go");
            let _run =
                run(command.args(["--approve", "all"]).env("INNERLOOP_HOME", &home)).exits(0);
            assert_eq!(home.join("config.toml").exists(), is_there, "{path}");
            assert!(!home.join("new").exists() && !home.is_file(), "{path}");
            let requests = scene.model.requests();
            assert!(requests[1].body.contains("is_error\":true"), "{}", requests[1].body);
        }
    }
}

#[test]
fn the_file_at_the_root_of_the_repository_counts_where_the_folder_has_none() {
    let scene = scene();
    project(&scene, "max_turns = 5\n");
    write(scene.path("workspace/.git/HEAD"), "ref: refs/heads/main\n");
    fs::create_dir_all(scene.path("workspace/sub")).unwrap();
    let _ = does(&scene, &["trust"]).exits(0);
    let sub = |command: &mut Command| {
        let sub = scene.path("workspace/sub");
        config(&scene, command.arg("--workspace").arg(sub)).limits.max_turns
    };
    let base = ["run", "go", "--apply", "--base-url", &scene.model.url()];
    assert_eq!(sub(&mut program(&scene, &base)), 5);
    write(scene.path("workspace/sub/.innerloop/config.toml"), "max_turns = 3\n");
    assert_eq!(sub(&mut program(&scene, &base)), 0, "nobody has spoken of that one");
}

#[test]
fn set_and_unset_leave_all_else_as_it_is() {
    let scene = scene();
    user(&scene, "# mine\nmodel = 'm' # for now\n\n[providers.openai]\nmodel = 'g'\n");
    let set = |args: &[&str]| does(&scene, &[&["config", "set"][..], args].concat());
    let said = set(&["model", "other"]).exits(0);
    assert!(said.stdout.starts_with("model = \"other\" in /"), "{said:?}");
    for (key, value) in [
        ("max_turns", "3"),
        ("allow_domain", "docs.rs, example.com"),
        ("config.retry.max_retries", "4"),
        ("providers.openai.api_key_env", "MY_KEY"),
    ] {
        let _ = set(&[key, value]).exits(0);
    }
    let want = "# mine\nmodel = \"other\" # for now\nmax_turns = 3\n\
        allow_domain = [\"docs.rs\", \"example.com\"]\n\n[providers.openai]\nmodel = 'g'\n\
        api_key_env = \"MY_KEY\"\n\n[config.retry]\nmax_retries = 4\n";
    assert_eq!(scene.text("home/config.toml"), want);
    for (key, value, want) in [
        ("modle", "m", "do you mean model?"),
        ("approve", "some", "approve takes one of none, edits, all"),
        ("max_turns", "-1", "max_turns takes a whole number"),
        ("config.retry.max_retriez", "4", "unknown field"),
        ("providers.openai.key", "sk-1", "name a provider and one of its fields"),
        ("providers.nobody.model", "m", "there is no nobody"),
        ("model.name", "m", "there is no model.name"),
    ] {
        let refused = set(&[key, value]);
        assert!(refused.code.is_some_and(|code| code > 1), "{refused:?}");
        assert!(refused.complaint().contains(want), "{key}: {refused:?}");
    }
    assert_eq!(scene.text("home/config.toml"), want);
    let get = |key: &str| does(&scene, &["config", "get", key]);
    for (key, want) in [
        ("model", "other\n"),
        ("allow_domain", "docs.rs,example.com\n"),
        ("config.retry", "{\"max_retries\":4}\n"),
        ("config.retry.max_retries", "4\n"),
        ("providers.openai.model", "g\n"),
    ] {
        assert_eq!(get(key).exits(0).stdout, want, "{key}");
    }
    let _ = does(&scene, &["config", "unset", "model"]).exits(0);
    let missing = get("model").exits(1);
    assert!(missing.complaint().contains("model is not set; by default"), "{missing:?}");
    let _ = get("modle").exits(2);
}

#[test]
fn a_new_file_is_its_users_alone_and_an_old_one_keeps_its_mode_and_its_link() {
    let scene = scene();
    let set = |value: &str| does(&scene, &["config", "set", "effort", value]).exits(0);
    let _ = set("low");
    let mode = |name: &str| fs::metadata(scene.path(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("home/config.toml"), mode("home")), (0o600, 0o700));
    fs::rename(scene.path("home/config.toml"), scene.path("dotfile")).unwrap();
    fs::set_permissions(scene.path("dotfile"), fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink(scene.path("dotfile"), scene.path("home/config.toml")).unwrap();
    let _ = set("high");
    assert_eq!((scene.text("dotfile").as_str(), mode("dotfile")), ("effort = \"high\"\n", 0o640));
    assert!(fs::symlink_metadata(scene.path("home/config.toml")).unwrap().is_symlink());
}

#[test]
fn what_the_user_writes_into_a_project_needs_no_question() {
    let scene = scene();
    let set = |value| does(&scene, &["config", "set", "--project", "max_turns", value]).exits(0);
    let turns = || config(&scene, &mut go(&scene, &[])).limits.max_turns;
    let _ = set("5");
    assert_eq!(turns(), 5);
    let _ = set("6");
    assert_eq!(turns(), 6);
    // But one line of one's own is no word about somebody else's.
    project(&scene, "max_turns = 7\n");
    let _ = does(&scene, &["config", "set", "--project", "effort", "low"]).exits(0);
    assert_eq!(turns(), 0);
}

#[test]
fn a_list_says_who_has_said_what() {
    let scene = scene();
    user(&scene, "model = 'm'\neffort = 'low'\n[config.retry]\nmax_retries = 4\n");
    project(&scene, "effort = 'high'\n");
    let _ = does(&scene, &["trust"]).exits(0);
    let mut command = program(&scene, &["config", "list", "--json", "-C"]);
    command.arg(scene.workspace()).env("INNERLOOP_PRESET", "ironclaw");
    let list = run(&mut command).exits(0).json_lines().remove(0);
    let said = |key: &str| (list[key]["value"].clone(), list[key]["source"].clone());
    assert_eq!(said("model"), (json!("m"), json!("user")));
    assert_eq!(said("effort"), (json!("high"), json!("project")));
    assert_eq!(said("preset"), (json!("ironclaw"), json!("environment")));
    assert_eq!(said("approve"), (Value::Null, json!("default")));
    assert_eq!(said("config.retry"), (json!({"max_retries": 4}), json!("user")));
    assert_eq!(list["model"]["file"], scene.arg("home/config.toml"));
    let shown = does(&scene, &["config", "list"]).exits(0).stdout;
    assert!(shown.contains("isolation          native  (default)\n"), "{shown}");
    let path = does(&scene, &["config", "path"]).exits(0).stdout;
    assert!(path.contains(&scene.arg("home/config.toml")), "{path}");
}

#[test]
fn a_bad_file_can_be_mended() {
    let scene = scene();
    user(&scene, "modle = 'm'\neffort = 'low'\n");
    let list = does(&scene, &["config", "list"]).exits(3);
    assert!(list.stdout.contains("model") && list.complaint().contains("do you mean model?"));
    assert!(does(&scene, &["config", "path"]).exits(0).stdout.contains("config.toml"));
    let set = does(&scene, &["config", "set", "effort", "high"]).exits(0);
    assert!(set.stderr.contains("is still not in order: line 1"), "{set:?}");
    let _ = does(&scene, &["config", "unset", "modle"]).exits(0);
    assert_eq!(scene.text("home/config.toml"), "effort = \"high\"\n");
    let _ = does(&scene, &["config", "list"]).exits(0);
    user(&scene, "effort = 'low\n");
    let refused = does(&scene, &["config", "set", "effort", "high"]).exits(3);
    assert!(refused.complaint().contains("line 1, column"), "{refused:?}");
    assert_eq!(scene.text("home/config.toml"), "effort = 'low\n");
    let help = run(&mut program(&scene, &["help"])).exits(0);
    assert!(help.stdout.contains("config"), "{help:?}");
}

#[test]
fn where_nothing_can_be_kept_a_run_goes_on() {
    let scene = scene();
    project(&scene, "max_turns = 5\n");
    // There can be no folder below a file.
    fs::write(scene.path("home"), "").unwrap();
    let below = scene.path("home/below");
    let _ = run(go(&scene, &[]).env("INNERLOOP_HOME", &below)).exits(0);
    for args in [&["config", "set", "effort", "low"][..], &["trust", "."]] {
        let mut command = innerloop(args);
        command.env("INNERLOOP_HOME", &below).current_dir(scene.workspace());
        let run = run(&mut command).exits(1);
        assert!(run.complaint().contains("cannot write"), "{run:?}");
    }
    let list = innerloop(["config", "list"]).env("INNERLOOP_HOME", &below).output().unwrap();
    assert!(list.status.success(), "{list:?}");
}

#[test]
fn colour_is_said_by_the_option_before_the_environment_before_the_file() {
    let scene = scene();
    user(&scene, "color = 'always'");
    let is_coloured = |args: &[&str], variable: Option<&str>| {
        let mut command = go(&scene, args);
        command.envs(variable.map(|value| ("INNERLOOP_COLOR", value)));
        run(&mut command).exits(0).stderr.contains('\x1b')
    };
    assert!(is_coloured(&[], None), "the file says so");
    assert!(!is_coloured(&[], Some("never")));
    assert!(!is_coloured(&["--color", "never"], Some("always")));
    assert!(is_coloured(&["--color", "always"], Some("never")));
    assert!(!is_coloured(&["--no-settings"], None), "there is no terminal");
    let mut wrong = go(&scene, &[]);
    let wrong = run(wrong.env("INNERLOOP_COLOR", "red")).exits(3);
    assert!(wrong.complaint().contains("one of auto, always, never"), "{wrong:?}");
}
