//! Each mistake gives one clear line that says what to do, and its exit code.

use innerloop_tests::{
    anthropic::Message,
    mock::Reply,
    program::{KEY, Run, innerloop, on_terminal, run, run_with},
    scene::Scene,
};
use serde_json::json;
use std::process::Command;

/// Runs `command`, which must end with `code` and complain in one line with all of `words`.
fn complains(command: &mut Command, code: i32, words: &[&str]) -> Run {
    let run = run(command).exits(code);
    for word in words {
        assert!(run.complaint().contains(word), "{word:?} is not in {:?}", run.complaint());
    }
    assert!(!run.stderr.contains("RUST_BACKTRACE"), "{run:#?}");
    run
}

fn quiet() -> Scene {
    Scene::streaming(&[Message::text("done")])
}

#[test]
fn arguments() {
    let scene = quiet();
    let folder = scene.workspace();
    let mut undecided = innerloop(["run", "go", "--workspace"]);
    let words = ["nobody can be asked", "--apply", "--diff", "--in-place"];
    let _ = complains(undecided.arg(&folder), 2, &words);
    for both in [["--apply", "--diff"], ["--diff", "--in-place"], ["--in-place", "--apply"]] {
        let mut undecided = innerloop(["run", "go", "--workspace"]);
        let run = run(undecided.arg(&folder).args(both)).exits(2);
        assert!(run.stderr.contains("cannot be used with"), "{run:#?}");
    }
    let mut missing = innerloop(["run", "go", "--apply", "--workspace"]);
    let _ = complains(missing.arg(scene.path("nowhere")), 2, &["nowhere", "create it"]);
    let scene = scene.file("file", "x");
    let mut file = innerloop(["run", "go", "--apply", "--workspace"]);
    let _ = complains(file.arg(folder.join("file")), 2, &["is a file", "name the folder"]);
    for folder in ["/", "/etc", "/usr/lib", "/tmp"] {
        for mut command in [
            innerloop(["run", "go", "--apply", "--workspace", folder]),
            innerloop(["tool", "list", "{}", "--workspace", folder]),
        ] {
            let _ = complains(&mut command, 2, &[folder, "--any-folder"]);
        }
    }
    let mut insists = innerloop(["tool", "list", "{}", "--any-folder", "--workspace", "/usr/lib"]);
    let _ = run(&mut insists).exits(0);
    let _ = complains(&mut scene.command(" \n"), 2, &["the prompt is empty"]);
    let _ = complains(&mut scene.command("-"), 2, &["the prompt is empty"]);
    assert_eq!(scene.model.requests().len(), 0);
}

#[test]
fn a_mistake_on_the_command_line_is_told_by_usage_and_as_a_record() {
    let told = run(&mut innerloop(["run", "--no-such-option", "--json"])).exits(2);
    assert!(told.stderr.contains("--no-such-option") && told.stderr.contains("Usage"), "{told:?}");
    let [record] = &told.json_lines()[..] else { panic!("{told:?}") };
    assert_eq!((record["status"].as_str(), record["exit_code"].as_u64()), (Some("usage"), Some(2)));
    let silent = run(&mut innerloop(["run", "--no-such-option"])).exits(2);
    assert_eq!(silent.stdout, "");
    let help = run(&mut innerloop(["run", "--help"])).exits(0);
    assert!(help.stdout.contains("Exit codes:") && help.stdout.contains("130"), "{help:?}");
}

#[test]
fn keys_providers_and_addresses() {
    let scene = quiet();
    let mut unset = scene.command("go");
    let _ = complains(unset.env_remove("ANTHROPIC_API_KEY"), 3, &["ANTHROPIC_API_KEY is not set"]);
    for empty in ["", "  "] {
        let mut command = scene.command("go");
        let command = command.env("ANTHROPIC_API_KEY", empty);
        let _ = complains(command, 3, &["ANTHROPIC_API_KEY", "--replay"]);
    }
    #[cfg(unix)]
    {
        use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
        let mut command = scene.command("go");
        let key = OsStr::from_bytes(b"sk-\xff-0123456789");
        let command = command.env("ANTHROPIC_API_KEY", key);
        let _ = complains(command, 3, &["ANTHROPIC_API_KEY holds characters"]);
    }
    let mut provider = scene.command("go");
    let words = ["unknown provider \"nobody\"", "known: anthropic, openai, gemini, "];
    let _ = complains(provider.args(["--provider", "nobody"]), 3, &words);
    let mut url = innerloop(["run", "go", "--apply", "--base-url", "localhost", "--workspace"]);
    let _ = complains(url.arg(scene.workspace()), 3, &["\"localhost\" is no base URL"]);
    let mut variable = innerloop(["run", "go", "--apply", "--workspace"]);
    let variable = variable.arg(scene.workspace()).env("ANTHROPIC_BASE_URL", scene.model.url());
    assert_eq!(run(variable).exits(0).stdout, "done\n");
}

#[test]
fn endpoints_that_do_not_serve() {
    let scene = Scene::new(vec![
        Reply::error(401, "authentication_error", "invalid x-api-key"),
        Reply::error(400, "invalid_request_error", "max_tokens: too large"),
        Reply::redirect(308, "http://127.0.0.1:1/elsewhere"),
    ]);
    let told = complains(
        scene.command("go").arg("--json"),
        3,
        &["invalid x-api-key", "ANTHROPIC_API_KEY"],
    );
    assert_eq!(told.json_lines().last().unwrap()["status"], "configuration");
    let _ = complains(&mut scene.command("go"), 1, &["max_tokens: too large", "--model"]);
    let _ = complains(&mut scene.command("go"), 3, &["redirects are not followed", "--base-url"]);
    // Nothing listens on the port that the system has just given away and got back.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{free}");
    let mut refused = innerloop(["run", "go", "--apply", "--base-url", &url, "--workspace"]);
    let words = ["cannot connect to", "connection refused", "--base-url"];
    let _ = complains(refused.arg(scene.workspace()), 3, &words);
}

#[test]
fn a_long_message_of_an_endpoint_is_one_line_with_an_end() {
    let long = format!("line one\ninnerloop: {}", "word ".repeat(10_000));
    let scene = Scene::new(vec![Reply::error(400, "invalid_request_error", &long)]);
    let told = complains(&mut scene.command("go"), 1, &["line one innerloop: word", "…"]);
    assert!(told.complaint().chars().count() < 600, "{told:?}");
}

#[test]
fn recordings() {
    let scene = quiet();
    std::fs::write(scene.path("garbage"), "{\"call\":1}\n").unwrap();
    std::fs::write(scene.path("empty"), "").unwrap();
    let cases = [
        ("absent", ["cannot read the recording", "absent"]),
        ("garbage", ["is no recording", "line 1"]),
        ("empty", ["is no recording", "it is empty"]),
        ("workspace", ["cannot read the recording", "workspace"]),
    ];
    for (name, words) in cases {
        let mut command = scene.command("go");
        let _ = complains(command.arg("--replay").arg(scene.path(name)), 3, &words);
    }
    let mut both = scene.command("go");
    let both = run(both.args(["--replay", "a", "--record", "b"])).exits(2);
    assert!(both.stderr.contains("cannot be used with"), "{both:?}");
}

#[test]
fn files_that_cannot_be_written() {
    let scene = quiet();
    let nowhere = scene.path("no/such/folder/file");
    let mut log = scene.command("go");
    let _ = complains(log.arg("--log").arg(&nowhere), 2, &["cannot create the log"]);
    let mut recording = scene.command("go");
    let recording = recording.arg("--record").arg(&nowhere);
    let _ = complains(recording, 2, &["cannot create the recording"]);
    std::fs::write(scene.path("precious"), "another session").unwrap();
    let mut precious = scene.command("go");
    let _ = complains(precious.arg("--log").arg(scene.path("precious")), 2, &["exists already"]);
    let mut precious = scene.command("go");
    let precious = precious.arg("--record").arg(scene.path("precious"));
    let _ = complains(precious, 2, &["exists already", "name a new file for the recording"]);
    assert_eq!(scene.text("precious"), "another session");
    assert_eq!(scene.model.requests().len(), 0);
}

#[test]
fn programs_that_cannot_be_used() {
    let scene = quiet();
    let mut absent = scene.command("go");
    let _ = complains(absent.arg("--programs").arg(scene.path("nowhere")), 3, &["nowhere"]);
    std::fs::create_dir(scene.path("programs")).unwrap();
    std::fs::write(scene.path("programs/qjs.wasm"), "something else").unwrap();
    let mut other = scene.command("go");
    let words = ["qjs.wasm", "SHA-256", "replace the file"];
    let _ = complains(other.arg("--programs").arg(scene.path("programs")), 3, &words);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told() {
    let scene = quiet();
    let mut recording = scene.command("go");
    let recording = recording.args(["--record", "/dev/full"]);
    let _ = complains(recording, 1, &["is not whole", "make room"]);
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_told() {
    let full = || std::fs::File::options().write(true).open("/dev/full").unwrap();
    let words = ["cannot write to standard output", "make room"];
    for options in [&["--json"][..], &["--quiet"], &[]] {
        let scene = quiet();
        let mut command = scene.command("go");
        let _ = complains(command.args(options).stdout(full()), 1, &words);
    }
    let _ = complains(innerloop(["run", "--help"]).stdout(full()), 1, &words);
    let scene = quiet().file("a", "text");
    let mut tool = innerloop(["tool", "read_file", r#"{"file_path": "a"}"#, "--workspace"]);
    let _ = complains(tool.arg(scene.workspace()).stdout(full()), 1, &words);
}

/// A folder that nobody can make.
const NOWHERE: &str = "/dev/null/home";

#[test]
fn without_a_folder_of_its_own_each_command_says_so_or_goes_on() {
    let scene = quiet();
    let project = scene.path("workspace/.innerloop");
    std::fs::create_dir(&project).unwrap();
    std::fs::write(project.join("config.toml"), "model = 'm'\n").unwrap();
    let folder = scene.arg("workspace");
    let homeless = |args: &[&str]| {
        let mut command = innerloop(args);
        command.env("INNERLOOP_HOME", NOWHERE);
        command
    };
    for (args, file) in
        [(&["config", "set", "model", "m"][..], "config.toml"), (&["trust", &folder], "trust.toml")]
    {
        let words = [&*format!("cannot write {NOWHERE}/{file}: "), "set INNERLOOP_HOME"];
        let _ = complains(&mut homeless(args), 1, &words);
    }
    let login = run_with(&mut homeless(&["login", "openai"]), format!("{KEY}\n").as_bytes());
    assert!(login.exits(1).complaint().contains("set INNERLOOP_HOME"));
    let _ = complains(&mut homeless(&["man", NOWHERE]), 2, &["cannot write to /dev/null/home"]);
    let sessions = &["cannot read /dev/null/home/sessions: "];
    let _ = complains(&mut homeless(&["sessions", "list"]), 3, sessions);
    let _list = run(&mut homeless(&["config", "list", "-C", &folder])).exits(0);
    let mut go = scene.command("go");
    let run = run(go.env("INNERLOOP_HOME", NOWHERE)).exits(0);
    let told = "this session is not kept: cannot make /dev/null/home/sessions/";
    assert!(run.stderr.contains(told) && run.stdout.contains("done"), "{run:#?}");
}

#[test]
fn a_home_folder_as_the_workspace_keeps_nothing_and_says_so() {
    let write = Message::call("c", "write_file", &json!({"file_path": "n", "content": "n\n"}));
    let scene = Scene::streaming(&[write, Message::text("done")]);
    let mut command = scene.command("go");
    command.env("HOME", scene.workspace()).env_remove("XDG_STATE_HOME").arg("--any-folder");
    let run = run(&mut command).exits(0);
    let told = format!("since its folder is in {}: apply them", scene.workspace().display());
    assert!(run.stderr.contains(&told), "{run:#?}");
    assert_eq!(scene.text("workspace/n"), "n\n");
}

#[test]
fn instructions_that_are_cut_are_told_at_the_start() {
    let scene = quiet().file("AGENTS.md", &"long\n".repeat(10_000));
    let run = scene.run(&[]).exits(0);
    let told = "AGENTS.md is cut: the model sees the first 31 KiB of it";
    assert_eq!(run.stderr.matches(told).count(), 1, "{run:#?}");
    let run = quiet().file("AGENTS.md", "short").run(&[]).exits(0);
    assert!(!run.stderr.contains("is cut"), "{run:#?}");
}

#[test]
fn a_conversation_needs_a_terminal_that_is_not_dumb() {
    let scene = quiet();
    let mut command = innerloop(["-C", &scene.arg("workspace")]);
    let run = run_with(&mut on_terminal(command.env("TERM", "dumb")), b"hello\n").exits(2);
    for words in ["a conversation needs a terminal", "innerloop run"] {
        assert!(run.unwrapped().contains(words), "{run:#?}");
    }
    let _ = complains(&mut innerloop([] as [&str; 0]), 2, &["a conversation needs a terminal"]);
}
