//! What `innerloop run` does before the first request, and what it leaves for later.

use innerloop_tests::{
    anthropic::Message,
    mock::Reply,
    program::{Started, innerloop, run, wait_for},
    scene::Scene,
};
use serde_json::json;
use std::{
    fs,
    process::Command,
    thread,
    time::{Duration, SystemTime},
};

/// Longer than any test takes.
const LONG: Duration = Duration::from_secs(60);

/// What a run has left in its cache folder, but for the key.
fn kept(scene: &Scene) -> Vec<String> {
    let Ok(entries) = fs::read_dir(scene.path("cache/.innerloop")) else { return Vec::new() };
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name != "key").collect();
    names.sort();
    names
}

/// Whether that is one compiled module and its signature.
fn is_one_module(files: &[String]) -> bool {
    matches!(files, [code, signature] if code.ends_with(".cwasm")
        && *signature == format!("{code}.signature"))
}

fn cold(scene: &Scene) -> Command {
    let mut command = scene.command("go");
    command.env("INNERLOOP_CACHE_DIR", scene.path("cache"));
    command
}

/// What needs the tools.
fn call() -> Message {
    Message::call("toolu_1", "write_file", &json!({"file_path": "a", "content": "text"}))
}

const PREPARING: &str = "preparing the tools";

#[test]
fn neither_the_request_nor_the_end_waits_for_tools_that_nobody_calls() {
    let left = || {
        // Slow enough that the tools are begun.
        let reply = Reply::stream(&Message::text("done")).paced(Duration::from_millis(20));
        let scene = Scene::new(vec![reply]);
        let program = Started::new(&mut cold(&scene), b"");
        wait_for("the request", || scene.model.requests().len() == 1);
        assert_eq!(kept(&scene), [""; 0], "the tools came first");
        let run = program.finish().exits(0);
        assert_eq!(run.stdout, "done\n");
        assert!(scene.path("cache/.innerloop/key").exists(), "the tools were not begun: {run:?}");
        assert!(!run.stderr.contains(PREPARING), "nobody has waited: {run:?}");
        kept(&scene)
    };
    // Compiling them takes many times as long as such a run; where it does not, for once, they are
    // kept.
    let runs = [left(), left(), left()];
    assert!(runs.iter().any(Vec::is_empty), "each run waited for the tools: {runs:?}");
}

#[test]
fn a_run_that_calls_a_tool_keeps_them_for_the_next() {
    let scene =
        Scene::streaming(&[call(), Message::text("done"), call(), Message::text("done again")]);
    let first = run(&mut cold(&scene)).exits(0);
    assert!(first.stderr.contains(PREPARING), "{first:?}");
    let files = kept(&scene);
    assert!(is_one_module(&files), "{files:?}");
    let second = run(&mut cold(&scene)).exits(0);
    assert!(!second.stderr.contains(PREPARING), "{second:?}");
    assert_eq!((second.stdout.as_str(), kept(&scene)), ("done again\n", files));
}

#[test]
fn what_a_run_leaves_that_ends_at_any_moment_is_whole_or_removed_by_the_next() {
    let scene = Scene::streaming(&[call(), Message::text("done")]);
    let mut cut = 0;
    for wait_ms in [1, 40, 160, 400, 700] {
        let hangs = Reply::stream(&Message::text("x")).paced(LONG);
        let idle = Scene::new(vec![Reply::stream(&call()), hangs]);
        let mut command = idle.command("go");
        let program = Started::new(command.env("INNERLOOP_CACHE_DIR", scene.path("cache")), b"");
        wait_for("the tools", || program.said().contains(PREPARING) || !kept(&scene).is_empty());
        thread::sleep(Duration::from_millis(wait_ms));
        program.signal("KILL");
        drop(program.finish());
        cut += usize::from(kept(&scene).iter().all(|name| !name.ends_with(".cwasm")));
    }
    assert!(cut > 0, "no run was ended before it had compiled them");
    for name in kept(&scene).iter().filter(|name| name.ends_with(".tmp")) {
        let file = fs::File::open(scene.path("cache/.innerloop").join(name)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
    }
    assert_eq!(run(&mut cold(&scene)).exits(0).stdout, "done\n");
    let files = kept(&scene);
    assert!(is_one_module(&files), "{files:?}");
}

/// A machine without any certificate.
fn without_certificates(scene: &Scene, command: &mut Command) {
    command.env("SSL_CERT_FILE", scene.path("none")).env("SSL_CERT_DIR", scene.path("none"));
}

#[test]
fn an_endpoint_without_tls_on_this_machine_needs_no_certificates() {
    let scene = Scene::streaming(&[Message::text("done")]);
    let mut command = scene.command("go");
    without_certificates(&scene, &mut command);
    assert_eq!(run(&mut command).exits(0).stdout, "done\n");

    for base in ["https://127.0.0.1:9", "https://models.example"] {
        let mut command = innerloop(["run", "go", "--apply", "--base-url", base]);
        command.arg("--workspace").arg(scene.workspace());
        without_certificates(&scene, &mut command);
        let run = run(&mut command).exits(3);
        assert!(run.complaint().contains("cannot set up TLS"), "{run:?}");
        assert!(run.complaint().contains("install CA certificates"), "{run:?}");
    }
}
