//! Hooks as commands of the program: what settings name is asked at points of the loop, with the
//! event on its standard input, and its exit code or its output is the verdict.

use innerloop_tests::{
    anthropic::Message,
    masks::starred,
    program::{Run, innerloop, run},
    scene::Scene,
};
use serde_json::{Value, json};
use std::{fs, path::Path, process::Command, thread::sleep, time::Duration};

const PROJECT: &str = "workspace/.innerloop/config.toml";

fn write(id: &str, path: &str, content: &str) -> Message {
    Message::call(id, "Write", &json!({"file_path": path, "content": content}))
}

/// A scene whose model makes those calls and then says «done».
fn scene(calls: &[Message]) -> Scene {
    let messages = [calls, &[Message::text("done")]].concat();
    Scene::streaming(&messages).natively()
}

fn settings(scene: &Scene, text: &str) {
    fs::create_dir_all(scene.path("home")).unwrap();
    fs::write(scene.path("home/config.toml"), text).unwrap();
}

fn project(scene: &Scene, text: &str) {
    fs::create_dir_all(scene.path(PROJECT).parent().unwrap()).unwrap();
    fs::write(scene.path(PROJECT), text).unwrap();
}

fn command(scene: &Scene, args: &[&str]) -> Command {
    let mut command = scene.command("go");
    command.args(args).env("INNERLOOP_HOME", scene.path("home"));
    command
}

fn go(scene: &Scene, args: &[&str]) -> Run {
    run(&mut command(scene, args))
}

/// `innerloop config` or `trust`, for the workspace.
fn does(scene: &Scene, args: &[&str]) -> Run {
    let mut command = innerloop(args);
    let at: &[&str] = if args[0] == "trust" { &[] } else { &["-C"] };
    run(command.env("INNERLOOP_HOME", scene.path("home")).args(at).arg(scene.workspace()))
}

/// The body of a request.
fn body(scene: &Scene, index: usize) -> String {
    scene.model.requests()[index].body.clone()
}

fn exists(path: impl AsRef<Path>) -> bool {
    path.as_ref().exists()
}

#[test]
fn j21_k22_a_command_denies_a_call_and_the_model_reads_why() {
    let calls = [write("c1", "secret.txt", "x"), write("c2", "a.txt", "x")];
    let scene = scene(&calls);
    settings(
        &scene,
        "[[hooks.before_tool]]\nmatcher = 'Write|Edit'\n\
         command = 'grep -q secret && { echo keep out of that >&2; exit 2; }; exit 0'\n",
    );
    let _run = go(&scene, &[]).exits(0);
    assert!(
        body(&scene, 1).contains("The call was denied: keep out of that"),
        "{}",
        body(&scene, 1)
    );
    assert!(!exists(scene.workspace().join("secret.txt")));
    assert_eq!(scene.text("workspace/a.txt"), "x");
}

#[test]
fn j21_the_example_of_the_docs_denies_a_removal_and_formats_after_an_edit() {
    let docs = include_str!("../../../docs/command-line.md");
    let (_, section) = docs.split_once("\n## Hooks\n").unwrap();
    let (_, example) = section.split_once("```toml\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    let calls = [
        Message::call("c1", "Bash", &json!({"command": "rm -rf build"})),
        Message::call("c2", "Bash", &json!({"command": "echo removed"})),
        write("c3", "a.txt", "x"),
    ];
    let scene = scene(&calls).in_place();
    settings(&scene, &example.replace("cargo fmt", "touch $INNERLOOP_HOME/formatted"));
    let _run = go(&scene, &[]).exits(0);
    assert!(body(&scene, 1).contains("The call was denied: no rm -r"), "{}", body(&scene, 1));
    assert!(
        !body(&scene, 2).contains("denied: no rm -r: ask me to remove it\",\"tool_use_id\":\"c2")
    );
    assert!(exists(scene.path("home/formatted")));
}

#[test]
fn j21_commands_at_a_point_run_in_order_and_see_what_those_before_put_in() {
    let scene = scene(&[write("c1", "a.txt", "one")]);
    let other = r#"{"decision":"replace","tool_input":{"file_path":"b.txt","content":"two"}}"#;
    let told = r#"{"decision":"replace","text":"as told"}"#;
    let hook = |point: &str, command: &str| {
        format!("[[hooks.{point}]]\ncommand = \"{}\"\n", command.replace('"', "\\\""))
    };
    let first = format!("tee -a $INNERLOOP_HOME/first >/dev/null; echo '{other}'");
    let second = "tee -a $INNERLOOP_HOME/second | grep -q b.txt || exit 2";
    let all = [
        hook("before_tool", &first),
        hook("before_tool", second),
        hook("before_tool", "exit 2") + "matcher = 'Bash'\n",
        hook("after_tool", &format!("echo '{told}'")),
    ];
    settings(&scene, &all.concat());
    let _run = go(&scene, &[]).exits(0);
    assert_eq!(scene.text("workspace/b.txt"), "two");
    assert!(!exists(scene.workspace().join("a.txt")));
    assert!(body(&scene, 1).contains("as told"), "{}", body(&scene, 1));
    let event: Value = serde_json::from_str(&scene.text("home/first")).unwrap();
    let folder = fs::canonicalize(scene.workspace()).unwrap();
    assert_eq!(event["point"], "before_tool");
    assert_eq!((&event["tool_name"], &event["call_id"]), (&json!("Write"), &json!("c1")));
    assert_eq!(event["tool_input"], json!({"file_path": "a.txt", "content": "one"}));
    assert_eq!(event["cwd"], json!(folder));
    assert!(event["session_id"].as_str().is_some_and(|id| id.len() > 8), "{event}");
    let event: Value = serde_json::from_str(&scene.text("home/second")).unwrap();
    assert_eq!(event["tool_input"]["file_path"], "b.txt");
}

#[test]
fn j21_a_formatter_runs_after_an_edit_in_the_folder() {
    let scene = scene(&[write("c1", "a.txt", "new\n")]).in_place();
    settings(
        &scene,
        "[[hooks.after_tool]]\nmatcher = 'Write'\n\
         command = 'tr a-z A-Z <a.txt >b.txt && mv b.txt a.txt && echo 1 file formatted'\n",
    );
    let _run = go(&scene, &[]).exits(0);
    assert_eq!(scene.text("workspace/a.txt"), "NEW\n");
}

#[test]
fn k22_what_fails_passes_or_denies_as_the_configuration_wants_it() {
    for (closed, passes) in [(false, true), (true, false)] {
        let scene = scene(&[write("c1", "a.txt", "x")]);
        settings(
            &scene,
            &format!(
                "[config.hooks]\nfail_closed = {closed}\n[[hooks.before_tool]]\n\
                 command = 'echo no linter here >&2; exit 127'\n"
            ),
        );
        let run = go(&scene, &[]).exits(0);
        assert_eq!(exists(scene.workspace().join("a.txt")), passes, "{run:?}");
        assert!(run.stderr.contains("exit code 127: no linter here"), "{run:?}");
    }
}

#[test]
fn k22_a_command_that_takes_too_long_is_killed_with_all_that_it_began() {
    let scene = scene(&[write("c1", "a.txt", "x")]);
    settings(
        &scene,
        "[[hooks.before_tool]]\ntimeout = 1\n\
         command = '(trap \"\" TERM; sleep 5; touch $INNERLOOP_HOME/late) & sleep 600'\n",
    );
    let run = go(&scene, &[]).exits(0);
    assert!(run.stderr.contains("it took longer than 1 s and was killed"), "{run:?}");
    assert!(exists(scene.workspace().join("a.txt")));
    sleep(Duration::from_secs(3));
    assert!(!exists(scene.path("home/late")));
}

#[test]
fn j7_a_command_ends_the_run_after_a_round_or_adds_a_word() {
    let calls = [write("c1", "a.txt", "x"), write("c2", "b.txt", "x")];
    let scene = scene(&calls);
    let word = r#"{"decision":"replace","text":"one file is enough"}"#;
    settings(
        &scene,
        &format!(
            "[[hooks.after_iteration]]\ncommand = '''test -e $INNERLOOP_HOME/once && exit 2; \
             touch $INNERLOOP_HOME/once; echo '{word}' '''\n"
        ),
    );
    let run = go(&scene, &["--json"]);
    assert_eq!(run.json_lines().last().unwrap()["status"], "denied", "{run:?}");
    assert_eq!(scene.model.requests().len(), 2);
    assert!(body(&scene, 1).contains("one file is enough"), "{}", body(&scene, 1));
}

#[test]
fn j21_a_projects_commands_run_only_when_they_are_trusted_and_beside_the_users() {
    let scene =
        scene(&[write("c1", "a.txt", "x"), Message::text("done"), write("c2", "b.txt", "x")]);
    let touch =
        |name: &str| format!("[[hooks.before_tool]]\ncommand = 'touch $INNERLOOP_HOME/{name}'\n");
    settings(&scene, &touch("user"));
    project(&scene, &touch("project"));
    let run = go(&scene, &[]).exits(0);
    assert!(run.stderr.contains("innerloop trust"), "{run:?}");
    assert!(exists(scene.path("home/user")) && !exists(scene.path("home/project")));
    fs::remove_file(scene.path("home/user")).unwrap();
    let told = does(&scene, &["trust"]).exits(0).stdout;
    let line = "hooks.before_tool runs on this machine: touch $INNERLOOP_HOME/project (60 s)";
    assert!(told.contains(line), "{told}");
    let list = does(&scene, &["config", "list"]).exits(0).stdout;
    let places: Vec<_> = ["hooks.before_tool[0]", "hooks.before_tool[1]"]
        .map(|key| list.lines().find(|line| line.starts_with(key)).unwrap_or_default())
        .into();
    assert!(places[0].contains("/project (60 s)") && places[1].contains("/user (60 s)"), "{list}");
    let got = does(&scene, &["config", "get", "hooks.before_tool"]).exits(0).stdout;
    let got: Value = serde_json::from_str(&got).unwrap();
    assert_eq!(got[1], json!({"command": "touch $INNERLOOP_HOME/user", "timeout": 60}));
    let _run = go(&scene, &[]).exits(0);
    assert!(exists(scene.path("home/user")) && exists(scene.path("home/project")));
}

#[test]
fn j21_commands_see_no_key_of_a_provider_and_none_comes_back() {
    let scene = scene(&[write("c1", "a.txt", "x")]);
    settings(
        &scene,
        "[[hooks.before_tool]]\ncommand = 'env >$INNERLOOP_HOME/env'\n\
         [[hooks.after_tool]]\ncommand = 'cat $INNERLOOP_HOME/key >&2; exit 2'\n",
    );
    let key = "sk-ant-test-0123456789abcdef";
    fs::write(scene.path("home/key"), key).unwrap();
    let mut command = command(&scene, &[]);
    let _run = run(command.env("ANTHROPIC_API_KEY", key).env("OTHER", "seen")).exits(0);
    let env = scene.text("home/env");
    assert!(env.contains("OTHER=seen") && !env.contains(key), "{env}");
    assert!(starred(&body(&scene, 1)).contains("The call was denied: ***"), "{}", body(&scene, 1));
}

#[test]
fn j21_what_is_wrong_with_a_hook_is_told_with_its_place() {
    let scene = scene(&[]);
    for (text, want) in [
        ("[[hooks.before_tools]]\ncommand = 'x'\n", "do you mean before_tool?"),
        ("[hooks]\nsubmit = 'x'\n", "line 2, column 10: a list belongs here: [[hooks.submit]]"),
        ("[[hooks.submit]]\ntimeout = 1\n", "line 1, column 1: a hook needs a command"),
        ("[[hooks.submit]]\ncommand = \"a\\nb\"\n", "line 2, column 11: command takes"),
        ("[[hooks.submit]]\ncommand = 'x'\nmatcher = 'Bash'\n", "only before_tool and after_tool"),
        ("[[hooks.submit]]\ncommand = 'x'\ntimeout = 0\n", "timeout takes a number of seconds"),
        ("[[hooks.submit]]\ncomand = 'x'\n", "line 2, column 1: there is no comand; do you mean"),
    ] {
        settings(&scene, text);
        let run = go(&scene, &[]).exits(3);
        assert!(run.complaint().contains(want), "{want}: {run:?}");
    }
    settings(&scene, "");
    let run = does(&scene, &["config", "set", "hooks.submit", "x"]).exits(2);
    assert!(run.complaint().contains("[[hooks.before_tool]]"), "{run:?}");
}

#[test]
fn j21_a_session_that_goes_on_has_the_hooks_of_now() {
    let calls = [write("c1", "a.txt", "x"), Message::text("done"), write("c2", "b.txt", "x")];
    let scene = scene(&calls);
    settings(&scene, "[[hooks.before_tool]]\ncommand = 'touch $INNERLOOP_HOME/first'\n");
    let _run = go(&scene, &[]).exits(0);
    assert!(exists(scene.path("home/first")));
    settings(&scene, "[[hooks.before_stop]]\ncommand = 'touch $INNERLOOP_HOME/second'\n");
    let mut command = innerloop(["resume", "last", "again", "--apply", "-C"]);
    command.arg(scene.workspace()).env("INNERLOOP_HOME", scene.path("home"));
    command.env("ANTHROPIC_BASE_URL", scene.model.url());
    let run = run(&mut command).exits(0);
    assert!(run.stderr.contains("no command of settings is asked at before_tool"), "{run:?}");
    assert!(exists(scene.path("home/second")) && exists(scene.workspace().join("b.txt")));
}
