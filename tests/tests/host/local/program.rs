//! `--env local` of the program: what is refused, what is asked, what the model is told, what
//! commands inherit, and that nothing else starts a process.

use super::line;
use innerloop_tests::{
    anthropic::Message,
    program::{Run, innerloop, on_terminal, repository, run, run_with},
    scene::Scene,
    skip::skip,
};
use serde_json::json;
use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::Path,
    process::Command,
};

fn call(command: &str) -> Message {
    Message::call("toolu_1", "shell", &line(command))
}

/// A model that runs this and is done.
fn scene(command: &str) -> Scene {
    Scene::streaming(&[call(command), Message::text("done")]).undecided()
}

fn local(scene: &Scene, args: &[&str]) -> Run {
    run(scene.command("go").args(["--env", "local"]).args(args))
}

/// What the model was told last.
fn told(scene: &Scene) -> String {
    scene.model.requests().last().unwrap().body.clone()
}

#[test]
fn c11_a_command_of_the_model_runs_on_this_machine() {
    let scene = scene("pwd; echo made >made.txt; echo oops >&2; exit 4").file("a.txt", "a\n");
    let run = local(&scene, &["--in-place", "--approve", "all", "--json"]).exits(0);
    assert!(run.stderr.starts_with("--env local: commands run on this machine as "), "{run:?}");
    assert_eq!(scene.text("workspace/made.txt"), "made\n");
    let folder = fs::canonicalize(scene.workspace()).unwrap();
    let folder = folder.to_str().unwrap();
    let (requests, told) = (scene.model.requests(), told(&scene));
    // The model is told the real folder, and that there is a shell.
    let system = &requests[0].body;
    assert!(system.contains(&format!("Working directory: {folder}\\n")), "{system}");
    assert!(system.contains("Program bash: this machine's shell"), "{system}");
    assert!(told.contains(&format!("{folder}\\n")) && told.contains("oops"), "{told}");
    let deltas =
        run.json_lines().into_iter().filter(|event| event["type"] == "tool_call_output_delta");
    let said: String = deltas.map(|event| event["text"].as_str().unwrap().to_owned()).collect();
    assert!(said.contains(folder) && said.contains("oops"), "{run:#?}");
}

/// Whoever is root reads everything: then the program runs as somebody who is not, if such a one
/// can reach it.
#[cfg(target_os = "linux")]
#[test]
fn a_command_cannot_read_the_memory_of_the_program_that_runs_it() {
    use std::os::unix::process::CommandExt as _;
    const NOBODY: u32 = 65_534;
    let find = "p=$PPID; while [ \"$(cat /proc/$p/comm)\" != innerloop ]; do \
                p=$(cut -d' ' -f4 /proc/$p/stat); done; ";
    let look = "for f in environ maps mem; do \
                if head -c 1 /proc/$p/$f >/dev/null 2>&1; then echo $f is read; fi; done; \
                echo looked at $(cat /proc/$p/comm), $(head -c 4 /proc/self/environ | wc -c)";
    let scene = scene(&format!("{find}{look}"));
    let mut command = scene.command("go");
    command.args(["--env", "local", "--bubblewrap", "never", "--in-place", "--approve", "all"]);
    command.env("INNERLOOP_HOME", scene.path("home"));
    if fs::metadata("/proc/self").is_ok_and(|found| found.uid() == 0) {
        let all = ["-R", "a+rwX"];
        assert!(Command::new("chmod").args(all).arg(scene.path("")).status().unwrap().success());
        let mut tried = Command::new(command.get_program());
        if !tried.arg("--version").uid(NOBODY).output().is_ok_and(|done| done.status.success()) {
            return skip("all of it", "nobody but root can start the program here");
        }
        command.uid(NOBODY).gid(NOBODY);
    }
    let _run = run(&mut command).exits(0);
    let told = told(&scene);
    assert!(told.contains(r#""content":"looked at innerloop, 4\n""#), "{told}");
}

#[test]
fn c11_off_a_terminal_nothing_runs_that_was_not_allowed() {
    let write = json!({"file_path": "b.txt", "content": "b\n"});
    let write = Message::call("toolu_0", "write_file", &write).and_call(
        "toolu_1",
        "shell",
        &line("touch c"),
    );
    for (approve, runs) in
        [(&[][..], false), (&["--approve", "edits"], false), (&["--approve", "all"], true)]
    {
        let scene = Scene::streaming(&[write.clone(), Message::text("done")]).undecided();
        let code = if runs { 0 } else { 5 };
        let _run = local(&scene, &[&["--in-place"], approve].concat()).exits(code);
        assert_eq!(scene.text("workspace/b.txt"), "b\n", "{approve:?}");
        assert_eq!(scene.path("workspace/c").exists(), runs, "{approve:?}");
        assert_eq!(told(&scene).contains("The call was denied"), !runs, "{}", told(&scene));
    }
}

#[test]
fn c11_what_only_seems_to_read_needs_a_yes_on_this_machine() {
    // A program of that name may do anything here.
    let scene = scene("cat secret.txt").file("secret.txt", "hidden");
    let _run = local(&scene, &["--in-place"]).exits(5);
    assert!(told(&scene).contains("The call was denied"), "{}", told(&scene));
    assert!(!told(&scene).contains("hidden"), "{}", told(&scene));
}

#[test]
fn c11_on_a_terminal_a_command_is_asked_for() {
    for (answer, runs) in [("y\n", true), ("n\n", false)] {
        let scene = scene("ls; touch made");
        let mut command = scene.command("go");
        command.args(["--env", "local", "--bubblewrap", "never"]).env("NO_COLOR", "1");
        let run = run_with(&mut on_terminal(&command), answer.as_bytes()).exits(0);
        assert!(run.stdout.contains("? shell ls; touch made"), "{run:#?}");
        assert!(run.stdout.contains("--env local: commands run on this machine"), "{run:#?}");
        assert_eq!(scene.path("workspace/made").exists(), runs);
    }
}

#[test]
fn c11_what_does_not_go_together_is_refused_in_words() {
    let scene = scene("touch made");
    let refused =
        |args: &[&str]| run(scene.command("go").args(args)).exits(2).complaint().to_owned();
    for (args, why) in [
        (&["--env", "local", "--apply"][..], "--env local does not go with --apply"),
        (&["--env", "local", "--diff"], "--env local does not go with --diff"),
        (&["--env", "local"], "add --in-place to say that this is meant"),
        (&["--env", "local", "--in-place", "--programs", "."], "leave one of them out"),
        (&["--env", "local", "--in-place", "--set-env", "=x"], "--set-env takes NAME=VALUE"),
        (&["--diff", "--bubblewrap", "auto"], "--bubblewrap needs --env local"),
        (&["--diff", "--env-policy", "all"], "--env-policy needs --env local"),
        (&["--diff", "--set-env", "A=1"], "--set-env needs --env local"),
        (&["--diff", "--allow-network"], "--allow-network needs --env local"),
    ] {
        let complaint = refused(args);
        assert!(complaint.contains(why), "{args:?}: {complaint}");
    }
    assert_eq!(scene.model.requests().len(), 0);
}

#[test]
fn d6_commands_do_not_see_the_secrets_of_the_environment() {
    let workspace = tempfile::tempdir().unwrap();
    let secrets = ["GITHUB_TOKEN", "aws_secret", "DB_PASSWORD", "X_API_KEY", "A_CREDENTIAL"];
    let seen = |args: &[&str]| {
        let mut command = innerloop(["tool", "shell", &line("env").to_string(), "--env", "local"]);
        command.args(args).arg("-C").arg(workspace.path());
        command.env("EDITOR", "vi").env("PATH", "/usr/bin:/bin").env("TERM", "dumb");
        command.env_remove("XDG_CONFIG_HOME").env_remove("XDG_STATE_HOME");
        command.envs(secrets.map(|name| (name, "hidden-value")));
        let run = run(&mut command).exits(0);
        let names = run.stdout.lines().filter_map(|line| line.split_once('='));
        let names: BTreeSet<String> = names.map(|(name, _)| name.to_owned()).collect();
        (names, run.stdout)
    };
    let own = ["PWD", "SHLVL", "_", "OLDPWD"];
    let names = |args: &[&str]| {
        let names = seen(args).0.into_iter().filter(|name| !own.contains(&name.as_str()));
        names.collect::<Vec<_>>().join(" ")
    };
    let filtered = "EDITOR INNERLOOP_CACHE_DIR PATH RUST_BACKTRACE TERM";
    assert_eq!(names(&[]), filtered);
    assert!(!seen(&[]).1.contains("hidden-value"));
    assert_eq!(names(&["--env-policy", "filtered"]), filtered);
    assert_eq!(names(&["--env-policy", "core"]), "PATH TERM");
    assert_eq!(names(&["--env-policy", "none"]), "");
    let set = ["--env-policy", "none", "--set-env", "A_TOKEN=x=y", "--set-env", "B="];
    assert_eq!(names(&set), "A_TOKEN B");
    assert!(seen(&set).1.contains("A_TOKEN=x=y\n"));
    let all = names(&["--env-policy", "all"]);
    assert!(secrets.iter().all(|name| all.contains(name)), "{all}");
}

/// Puts programs of these names in a folder, each of which notes that it was started.
fn traps(folder: &Path, names: &[&str]) {
    for name in names {
        let path = folder.join(name);
        let script =
            format!("#!/bin/sh\necho {name} >>{}\nexit 1\n", folder.join("started").display());
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

#[test]
fn d3_nothing_starts_a_process_without_being_asked_to() {
    let folder = tempfile::tempdir().unwrap();
    traps(folder.path(), &["bash", "sh", "bwrap", "git", "touch"]);
    let program = json!({"program": "touch", "args": ["made"]});
    let messages = [
        call("git status; touch made"),
        Message::call("toolu_2", "run_program", &program),
        Message::call("toolu_3", "write_file", &json!({"file_path": "a.txt", "content": "a\n"})),
        Message::call("toolu_4", "grep", &json!({"pattern": "a"})),
        Message::text("done"),
    ];
    let started = folder.path().join("started");
    let in_path = |command: &mut Command| run(command.env("PATH", folder.path()));
    let none = folder.path().join("none");
    fs::create_dir(&none).unwrap();
    // Without programs of the sandbox, and with those that are installed, a shell perhaps.
    for programs in [Some(&none), None] {
        let programs = programs.map(|folder| ["--programs".as_ref(), folder.as_os_str()]);
        let programs = programs.into_iter().flatten();
        let scene = Scene::streaming(&messages);
        fs::create_dir(scene.path("workspace/.git")).unwrap();
        let _run = in_path(scene.command("go").args(programs.clone())).exits(0);
        assert_eq!(scene.text("workspace/a.txt"), "a\n");
        assert!(programs.clone().count() == 0 || told(&scene).contains("Unknown tool"));
        let mut tool = innerloop(["tool", "shell", &line("git status").to_string(), "-C"]);
        let run = in_path(tool.arg(scene.workspace()).args(programs));
        assert_ne!(run.code, Some(0), "{run:?}");
    }
    let doctor = in_path(&mut innerloop(["doctor", "--offline"])).exits(0);
    let bwrap = folder.path().join("bwrap");
    let told = format!("commands: with --env local they run inside of {}", bwrap.display());
    assert!(doctor.stdout.contains(&told), "{doctor:?}");
    assert!(!started.exists(), "{}", fs::read_to_string(&started).unwrap());
    // The traps are set: asked to, it starts what it finds there.
    let mut tool = innerloop(["tool", "shell", &line("true").to_string(), "--env", "local", "-C"]);
    let _run = in_path(tool.arg(folder.path()));
    assert_eq!(fs::read_to_string(&started).unwrap(), "bwrap\nbash\n");
}

#[test]
fn d3_only_these_places_of_the_host_can_start_a_process() {
    let mut found = BTreeSet::new();
    let mut folders = vec![repository().join("host-native")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            if path.components().any(|part| part.as_os_str() == "tests") {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let starts = ["Command::new(", ".spawn()", "process::Command", "CommandExt"];
            if starts.iter().any(|word| text.contains(word)) {
                let source = repository().join("host-native");
                found.insert(path.strip_prefix(source).unwrap().display().to_string());
            }
        }
    }
    // The person's own editor, which she asks for; her key ring; commands on this machine; and this
    // program itself, as a compiler.
    let expected = [
        "cli/src/editor.rs",
        "cli/src/keyring.rs",
        "host/src/local/machine/bubblewrap.rs",
        "host/src/local/machine/processes.rs",
        "sandbox/src/compiler.rs",
    ];
    assert_eq!(Vec::from_iter(found), expected);
}

#[test]
fn d6_commands_do_not_see_the_variable_that_settings_name_for_a_key() {
    let scene = scene("env");
    std::fs::create_dir(scene.path("home")).unwrap();
    let text = "[providers.anthropic]\napi_key_env = 'MY_ODD_NAME'\n";
    fs::write(scene.path("home/config.toml"), text).unwrap();
    let mut command = scene.command("go");
    command.args(["--in-place", "--env", "local", "--approve", "all"]).env("PATH", "/usr/bin:/bin");
    command.env("INNERLOOP_HOME", scene.path("home")).env("MY_ODD_NAME", "sk-odd-0123456789");
    command.env("SEEN", "1");
    let _run = run(&mut command).exits(0);
    let told = &scene.model.requests()[1].body;
    assert!(told.contains("SEEN=1") && !told.contains("MY_ODD_NAME"), "{told}");
}
