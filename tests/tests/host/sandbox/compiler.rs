//! Modules of the workspace are compiled by a process with limits, which ends with its call.

use super::{Bench, OPS, wasm};
use innerloop_core::action::{Action, Outcome, ToolError};
use innerloop_sandbox::{EngineOptions, Executor, SandboxEngine, programs::ProgramRegistry};
use innerloop_tests::program::{binary, wait_for};
use innerloop_workspace::Workspace;
use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

/// A module of so many empty functions, and `_start`.
fn many(functions: usize) -> Vec<u8> {
    let unsigned = |mut number: usize| {
        let mut bytes = Vec::new();
        while number > 0x7f {
            bytes.push(u8::try_from(number & 0x7f).unwrap() | 0x80);
            number >>= 7;
        }
        bytes.push(u8::try_from(number).unwrap());
        bytes
    };
    let section = |id: u8, content: Vec<u8>| [vec![id], unsigned(content.len()), content].concat();
    let list = |item: &[u8]| [unsigned(functions), item.repeat(functions)].concat();
    [
        b"\0asm\x01\0\0\0".to_vec(),
        section(1, vec![1, 0x60, 0, 0]),
        section(3, list(&[0])),
        section(7, [&[1, 6][..], b"_start", &[0, 0]].concat()),
        section(10, list(&[2, 0, 0x0b])),
    ]
    .concat()
}

/// The shell over a workspace, with this as the compiler.
fn compiled_by(bench: Bench, compiler: &Path) -> Bench {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sandbox-cache");
    let compiler = Some(compiler.to_owned());
    let engine = EngineOptions { cache_dir: Some(cache), compiler, ..EngineOptions::default() };
    let workspace = Workspace::open(bench.path("")).unwrap();
    let programs = ProgramRegistry::open(&innerloop_tests::example::programs_and_shell()).unwrap();
    Bench { executor: Executor::new(SandboxEngine::new(engine), workspace, programs), ..bench }
}

/// A compiler that is this script.
fn script(bench: Bench, text: &str) -> Bench {
    let path = bench.dir.path().join("compiler");
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    compiled_by(bench, &path)
}

fn says(outcome: &Outcome, why: &str) {
    assert_eq!(outcome.error, Some(ToolError::Exit), "{outcome:?}");
    assert!(outcome.stderr().unwrap().contains(why), "{why}: {outcome:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn m3_a_module_of_too_many_functions_is_not_compiled() {
    let bench = Bench::shell();
    fs::write(bench.path("few"), many(300)).unwrap();
    fs::write(bench.path("many"), many(400_000)).unwrap();
    fs::write(bench.path("broken"), &wasm(OPS)[..200]).unwrap();
    assert_eq!(bench.line("wasi-run few").await.exit, Some(0));
    says(&bench.line("wasi-run many").await, "it has 400000 functions; at most 100000 are");
    says(&bench.line("wasi-run broken").await, "it is not a valid module: ");
}

/// Whoever reads its limits finds those that are promised, before it has read anything.
#[cfg(target_os = "linux")]
#[test]
fn m3_the_compiler_limits_itself() {
    let mut child = Command::new(binary())
        .arg("__compile-module")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let path = format!("/proc/{}/limits", child.id());
    let is_limited = |limits: &str, name: &str, most: u64| {
        let line = limits.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().any(|word| word.parse() == Ok(most))
    };
    wait_for("its limits", || {
        let limits = fs::read_to_string(&path).unwrap();
        is_limited(&limits, "Max data size", 1 << 30)
            && is_limited(&limits, "Max cpu time", 60)
            && is_limited(&limits, "Max core file size", 0)
    });
    drop(child.stdin.take());
    assert_eq!(child.wait().unwrap().code(), Some(3), "nothing is no module");
}

#[tokio::test(flavor = "multi_thread")]
async fn m3_the_compiler_ends_with_its_call() {
    let bench = script(Bench::shell(), "echo $$ > \"$(dirname \"$0\")/pid\"; exec sleep 1000");
    fs::write(bench.path("ops"), wasm(OPS)).unwrap();
    let action = Action::Shell { command: "wasi-run ops r x".to_owned(), folder: None };
    let pid = bench.dir.path().join("pid");
    let started = async {
        while !fs::read_to_string(&pid).is_ok_and(|pid| pid.ends_with('\n')) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let call = bench.executor.run(&action, Duration::from_secs(600), None);
    tokio::select! {
        outcome = call => panic!("{outcome:?}"),
        () = started => {}
    }
    let pid = fs::read_to_string(&pid).unwrap();
    let is_running =
        || Command::new("kill").args(["-0", pid.trim()]).stderr(Stdio::null()).status();
    wait_for("the compiler's end", || !is_running().unwrap().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn m3_a_compiler_that_fails_is_told() {
    for (text, why) in [
        ("cat > /dev/null; kill -9 $$", "takes more than 1 GiB of memory or 60 seconds"),
        ("cat > /dev/null; echo no module", "is another version than this program"),
        ("cat > /dev/null; exec cat /dev/zero", "takes more than 1 GiB of memory or 60 seconds"),
        ("echo odd >&2; exit 3", "it is not a valid module: odd"),
    ] {
        let bench = script(Bench::shell(), text);
        fs::write(bench.path("ops"), wasm(OPS)).unwrap();
        says(&bench.line("wasi-run ops r x").await, why);
    }
    let bench = compiled_by(Bench::shell(), Path::new("/nowhere/innerloop"));
    fs::write(bench.path("ops"), wasm(OPS)).unwrap();
    says(&bench.line("wasi-run ops r x").await, "what compiles modules of the workspace can't be");
}
