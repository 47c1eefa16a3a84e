//! Each mistake gives one clear line that says what to do, and its exit code.

use innerloop_tests::{
    anthropic::Message,
    mock::Reply,
    program::{Run, innerloop, run},
    scene::Scene,
};
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
