//! Rules for calls that run without a question, what a person allows for good, and sessions that
//! only read.

use innerloop_tests::{
    anthropic::Message,
    example::programs_and_shell,
    program::{KEY, innerloop, on_terminal, run, run_with},
    scene::Scene,
};
use serde_json::json;
use std::{fs, process::Command};

fn shell(id: &str, command: &str) -> Message {
    Message::call(id, "shell", &json!({"command": command}))
}

fn write(id: &str, path: &str) -> Message {
    Message::call(id, "write_file", &json!({"file_path": path, "content": "new\n"}))
}

/// A model that does this and is done.
fn scene(calls: &[Message]) -> Scene {
    Scene::streaming(&[calls, &[Message::text("done")]].concat())
}

/// Runs it with the shell among the programs.
fn with_shell(scene: &Scene, args: &[&str]) -> Command {
    let mut command = scene.command("go");
    command.arg("--programs").arg(programs_and_shell()).args(args);
    command
}

/// Which calls were denied, in their order.
fn denied(scene: &Scene) -> Vec<bool> {
    let requests = scene.model.requests();
    let told = |at: usize| requests[at].body.matches("The call was denied").count();
    (1..requests.len()).map(|at| told(at) > told(at - 1)).collect()
}

#[test]
fn m5_a_rule_lets_calls_run_that_nobody_is_asked_about() {
    let scene = scene(&[
        write("toolu_1", "docs/a.txt"),
        write("toolu_2", "src/a.rs"),
        shell("toolu_3", "touch made && ls | wc -l"),
        shell("toolu_4", "touch other; touch evil > made"),
        shell("toolu_5", "touch made | tee evil"),
    ]);
    let rules = ["--approve", "none", "--allow", "write:docs/**", "--allow", "shell:touch made*"];
    let _run = run(&mut with_shell(&scene, &rules)).exits(5);
    assert_eq!(denied(&scene), [false, true, false, true, true]);
    assert_eq!(scene.text("workspace/docs/a.txt"), "new\n");
    assert!(scene.workspace().join("made").exists());
    for none in ["src/a.rs", "other", "evil"] {
        assert!(!scene.workspace().join(none).exists(), "{none}");
    }
}

#[test]
fn m5_a_rule_does_not_hold_where_a_name_stands_for_something_else() {
    for before in ["PATH=/evil", "HOME=/evil; true"] {
        // The first line only reads, and needs nobody.
        let scene = scene(&[shell("toolu_1", before), shell("toolu_2", "touch made")]);
        let rules = ["--approve", "edits", "--allow", "shell:touch *"];
        let _run = run(&mut with_shell(&scene, &rules)).exits(5);
        assert_eq!(denied(&scene), [false, true], "{before}");
    }
    // Also where both stand in one reply, and where a file takes the place of the program.
    let both = shell("toolu_1", "PATH=/evil").and_call(
        "toolu_2",
        "shell",
        &json!({"command": "touch made"}),
    );
    let file = write("toolu_1", "usr/bin/touch").and_call(
        "toolu_2",
        "shell",
        &json!({"command": "touch made"}),
    );
    for reply in [both, file] {
        let scene = scene(&[reply]);
        let rules = ["--approve", "edits", "--allow", "shell:touch *"];
        let _run = run(&mut with_shell(&scene, &rules));
        assert!(!scene.workspace().join("made").exists());
        let told = &scene.model.requests()[1].body;
        assert!(told.contains("the names stand for something else"), "{told}");
    }
}

#[test]
fn m5_rules_hold_for_commands_of_this_machine() {
    let rules = ["--env", "local", "--in-place", "--allow", "shell:touch *", "--allow", "shell:ls"];
    for (line, runs) in [
        ("touch made; ls", true),
        ("touch made && touch 'more'", true),
        ("touch made && cat made", false),
        ("touch made > evil", false),
        ("touch $(echo made)", false),
        ("X=1 touch made", false),
        ("touch made\ntouch more", false),
        ("/bin/touch made", false),
    ] {
        let scene = scene(&[shell("toolu_1", line)]).undecided();
        let _run = run(scene.command("go").args(rules)).exits(if runs { 0 } else { 5 });
        assert_eq!(scene.workspace().join("made").exists(), runs, "{line}");
        assert!(!scene.workspace().join("evil").exists(), "{line}");
    }
}

#[test]
fn m5_the_users_file_has_rules_and_options_come_before_it() {
    let calls = [write("toolu_1", "docs/a.txt")];
    let home = |text: &str| {
        let scene = scene(&calls);
        fs::create_dir(scene.path("home")).unwrap();
        fs::write(scene.path("home/config.toml"), text).unwrap();
        scene
    };
    let go = |scene: &Scene, args: &[&str]| {
        let mut command = scene.command("go");
        run(command
            .args(["--approve", "none"])
            .args(args)
            .env("INNERLOOP_HOME", scene.path("home")))
    };
    // A tool that is not here does no harm.
    let scene = home("allow = ['write:docs/**', 'deploy']");
    let _run = go(&scene, &[]).exits(0);
    let scene = home("allow = ['write:docs/**']");
    let _run = go(&scene, &["--allow", "edit"]).exits(5);
    let run = go(&home("allow = ['shell:git*']"), &[]).exits(3);
    assert!(run.complaint().contains("a program's name is whole"), "{run:?}");
}

#[test]
fn m5_a_rule_that_names_nothing_is_refused() {
    for (rule, why) in [
        ("shell:ls > x", "--allow: \"shell:ls > x\": write the words of one command"),
        (
            "deploy",
            "--allow: there is no tool deploy; name one of the model's, or an action: read, ",
        ),
        ("write:../x", "neither . nor .."),
    ] {
        let scene = scene(&[]);
        let run = scene.run(&["--allow", rule]).exits(2);
        assert!(run.complaint().contains(why), "{run:?}");
        assert_eq!(scene.model.requests().len(), 0);
    }
}

#[test]
fn m5_always_allows_a_command_line_and_no_other() {
    let scene = scene(&[
        shell("toolu_1", "echo a > made"),
        shell("toolu_2", "echo a > made"),
        shell("toolu_3", "echo b > made"),
    ])
    .in_place();
    let mut command = with_shell(&scene, &[]);
    let run = run_with(&mut on_terminal(command.env("NO_COLOR", "1")), b"a\nn\n").exits(0);
    assert_eq!(denied(&scene), [false, false, true]);
    assert_eq!(run.stdout.matches("[a]lways (this command line)").count(), 2, "{}", run.stdout);
    assert_eq!(scene.text("workspace/made"), "a\n");
}

#[test]
fn m5_a_resumed_session_has_its_rules() {
    let scene = scene(&[write("toolu_1", "a.txt")]);
    let args = ["--approve", "none", "--allow", "write:*.txt"];
    let _run = scene.run(&args).exits(0);
    let again = [write("toolu_2", "b.txt"), write("toolu_3", "b.md"), Message::text("done")];
    let other = Scene::streaming(&again);
    let mut command = innerloop(["resume", "last", "go on", "--base-url"]);
    command.arg(other.model.url());
    command.env("XDG_STATE_HOME", scene.path("state")).current_dir(scene.workspace());
    command.env("ANTHROPIC_API_KEY", KEY);
    let _run = run(&mut command).exits(5);
    assert!(scene.workspace().join("b.txt").exists());
    assert!(!scene.workspace().join("b.md").exists());
}

#[test]
fn m5_a_relative_path_names_a_program_of_the_first_folder() {
    for (before, code) in [("cd .", 0), ("cd sub", 5)] {
        let scene = scene(&[shell("toolu_1", before), shell("toolu_2", "./check.sh")]);
        let script = "#!/bin/bash\necho checked\n";
        fs::create_dir(scene.path("workspace/sub")).unwrap();
        fs::write(scene.path("workspace/sub/check.sh"), script).unwrap();
        let rules = ["--approve", "none", "--allow", "shell:./check.sh"];
        let _run = run(&mut with_shell(&scene, &rules)).exits(code);
        assert_eq!(denied(&scene), [false, code != 0], "{before}");
    }
}

/// A model that tries to change something in every way that it knows.
fn hostile() -> Vec<Message> {
    let program = json!({"program": "qjs", "args": ["-e", "1"]});
    vec![
        Message::call("toolu_0", "read_file", &json!({"file_path": "a.txt"})),
        write("toolu_1", "b.txt"),
        shell("toolu_2", "echo x > c.txt"),
        shell("toolu_3", "cat a.txt"),
        Message::call("toolu_4", "run_program", &program),
        Message::text("done"),
    ]
}

/// The files of the workspace.
fn files(scene: &Scene) -> usize {
    fs::read_dir(scene.workspace()).unwrap().count()
}

/// What the model was shown in its last request.
fn tools(scene: &Scene) -> Vec<String> {
    let body = scene.model.requests().last().unwrap().body.clone();
    let body: serde_json::Value = serde_json::from_str(&body).unwrap();
    let tools = body["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn m5_a_session_that_only_reads_changes_and_runs_nothing() {
    let scene = Scene::streaming(&hostile()).undecided().file("a.txt", "hello\n");
    let run = run(&mut with_shell(&scene, &["--read-only", "--approve", "all"])).exits(0);
    assert!(run.stderr.contains("0 files changed"), "{run:?}");
    assert_eq!(files(&scene), 1);
    let shown = tools(&scene);
    for (name, is_shown) in
        [("read_file", true), ("grep", true), ("write_file", false), ("shell", false)]
    {
        assert_eq!(shown.contains(&name.to_owned()), is_shown, "{shown:?}");
    }
    let told = scene.model.requests().last().unwrap().body.clone();
    assert!(told.contains("hello"), "{told}");
    assert_eq!(told.matches("Unknown tool").count(), 4, "{told}");
}

#[test]
fn m5_a_session_that_only_reads_stays_so() {
    let only_reads =
        Scene::streaming(&[Message::text("done")]).undecided().file("a.txt", "hello\n");
    let _run = only_reads.run(&["--read-only"]).exits(0);
    let wrote = Scene::streaming(&[Message::text("done")]).file("a.txt", "hello\n");
    let _run = wrote.run(&[]).exits(0);
    for (scene, option) in [(&only_reads, None), (&wrote, Some("--read-only"))] {
        let other = Scene::streaming(&hostile());
        let resume = |args: &[&str]| {
            let mut command = innerloop(["resume", "last", "go on", "--base-url"]);
            command.arg(other.model.url()).args(args);
            command.env("XDG_STATE_HOME", scene.path("state")).current_dir(scene.workspace());
            run(command.env("ANTHROPIC_API_KEY", KEY))
        };
        let _run = resume(&option.into_iter().collect::<Vec<_>>()).exits(0);
        assert_eq!(files(scene), 1);
        assert!(!tools(&other).contains(&"write_file".to_owned()));
        let refused = resume(&["--apply"]).exits(2);
        assert!(refused.complaint().contains("the session only reads"), "{refused:?}");
    }
}

#[test]
fn m5_what_does_not_go_with_reading_is_refused_in_words() {
    let scene = Scene::streaming(&[]).undecided();
    for (args, why) in [
        (&["--apply"][..], "--apply"),
        (&["--in-place"], "--in-place"),
        (&["--tools", "all"], "--tools"),
        (&["--without-tools", "shell"], "--without-tools"),
        (&["--allow-domain", "example.com"], "--allow-domain"),
        (&["--env", "local"], "--env local does not go with --read-only"),
    ] {
        let run = scene.run(&[&["--read-only"], args].concat()).exits(2);
        assert!(run.stderr.contains(why), "{args:?}: {run:?}");
    }
    assert_eq!(scene.model.requests().len(), 0);
}
