//! `cargo xtask bench`: what command lines and programs cost in the sandbox, beside the machine's
//! own bash and programs in the same run. It asserts nothing.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a bench that meets what it does not expect is to fail at once"
)]

use innerloop_core::action::{Action, Outcome};
use innerloop_sandbox::{EngineOptions, Executor, SandboxEngine, programs::ProgramRegistry};
use innerloop_tests::example::programs_and_shell;
use innerloop_workspace::Workspace;
use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// How many files the tree has, of about 2 KiB each, and how many stand in one folder.
const FILES: usize = 5_000;
const FOLDER: usize = 100;

/// How often a time is taken; the least counts, since what else the machine does only adds to it.
const ROUNDS: usize = 10;

const A_MINUTE: Duration = Duration::from_secs(60);

/// Command lines, and how many times what bash needs they may cost at most.
const LINES: &[(&str, &str, &str)] = &[
    ("a word", "echo hi", ""),
    ("a pipeline", "echo hi | tr a-z A-Z | cat", ""),
    ("1,000 rounds", "for ((i = 0; i < 1000; i++)); do :; done", ""),
    ("names", "find . -name '*.txt' | wc -l", ""),
    ("lines", "grep -rn foo . | sort | uniq -c | head", "goal: 10 times at most"),
    ("of that, reading", "cat d*/* > /dev/null", ""),
    ("and searching", "grep -rn foo . > /dev/null", ""),
    ("10 MB sorted", "cat d*/* | sort | tail -1", ""),
    ("10 MB of words", "cat d*/* | awk '{ n += NF } END { print n }'", ""),
];

fn main() {
    let scene = TempDir::new().unwrap();
    let (tree, programs) = (scene.path().join("tree"), scene.path().join("programs"));
    lay_out(&tree);
    fs::create_dir(&programs).unwrap();
    fs::copy(programs_and_shell().join("bash.wasm"), programs.join("bash.wasm")).unwrap();
    let nothing = "(module (memory (export \"memory\") 1) (func (export \"_start\")))";
    fs::write(programs.join("nothing.wasm"), wat::parse_str(nothing).unwrap()).unwrap();
    let options =
        EngineOptions { cache_dir: Some(scene.path().join("cache")), ..EngineOptions::default() };
    let programs = ProgramRegistry::open(&programs).unwrap();
    let executor =
        Executor::new(SandboxEngine::new(options), Workspace::open(&tree).unwrap(), programs);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    for (name, line, goal) in LINES {
        let action = Action::Shell { command: (*line).to_owned(), folder: None };
        let ours = least(|| runtime.block_on(run(&executor, &action)));
        let theirs = least(|| bash(&tree, line));
        told(name, line, ours, ("bash", theirs), goal);
    }
    let nothing = Action::RunProgram { program: "nothing".into(), args: vec![], stdin: None };
    let ours = least(|| runtime.block_on(run(&executor, &nothing)));
    let theirs = least(|| output(&mut Command::new("/bin/true")));
    told("a program", "that does nothing", ours, ("/bin/true", theirs), "goal: 100 µs at most");
}

fn told(name: &str, what: &str, ours: Duration, (peer, theirs): (&str, Duration), goal: &str) {
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let times = ours.as_secs_f64() / theirs.as_secs_f64();
    println!(
        "{name} ({what}): {:.3} ms, {peer} {:.3} ms: {times:.2} times; {goal}",
        ms(ours),
        ms(theirs)
    );
}

/// Files of about 2 KiB, in each of which one line is searched for.
fn lay_out(tree: &Path) {
    for number in 0..FILES {
        let folder = tree.join(format!("d{:02}", number / FOLDER));
        fs::create_dir_all(&folder).unwrap();
        let rest = "some words of no use\n".repeat(95);
        let text = format!("first {number}\nfoo {}\n{rest}", number % 7);
        fs::write(folder.join(format!("f{number}.txt")), text).unwrap();
    }
}

fn least(mut run: impl FnMut()) -> Duration {
    // The first one fills caches.
    run();
    let times = (0..ROUNDS).map(|_| {
        let begun = Instant::now();
        run();
        begun.elapsed()
    });
    times.min().unwrap()
}

async fn run(executor: &Executor, action: &Action) {
    let outcome: Outcome = executor.run(action, A_MINUTE, None).await;
    assert!(outcome.error.is_none(), "{outcome:?}");
}

fn bash(tree: &Path, line: &str) {
    output(Command::new("bash").args(["-c", line]).current_dir(tree).env("LC_ALL", "C"));
}

fn output(command: &mut Command) {
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{command:?}");
}
