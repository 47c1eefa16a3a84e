//! What a whole task costs the processor, and how much memory it takes, beside the limits and
//! beside codex where that is installed. Both read a small file, once and ten times, as a mock
//! model asks them to.

use innerloop_core::config::WireKind;
use innerloop_tests::{
    anthropic::Message,
    mock::{Mock, Reply},
    scene::Scene,
};
use nix::sys::{
    resource::{UsageWho, getrusage},
    time::TimeValLike,
};
use serde_json::{Value, json};
use std::{
    env, fs,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// How often a task is done; the middle one of each figure counts.
const TIMES: usize = 15;
/// The argument by which this program measures another one, whose command line follows.
pub(super) const COST: &str = "cost";
/// What codex is told: where the model is, and that nothing needs a yes.
const CODEX: [&str; 8] = [
    "exec",
    "--skip-git-repo-check",
    "--dangerously-bypass-approvals-and-sandbox",
    "-m",
    "gpt-5.2",
    "-c",
    "model_provider=mock",
    "-c",
];

/// How a program was measured.
struct Cost {
    /// Of all its threads and of the programs that it has started and waited for.
    processor: Duration,
    time: Duration,
    /// The most memory that it had in use, or one of those programs, in bytes.
    memory: u64,
}

/// Prints the costs.
pub(super) fn run() {
    // Programs of the sandbox are compiled once; a short run would begin with that in vain.
    let line = json!({"command": "true"});
    let _compiled = innerloop("shell", &line, 1);
    println!("tasks: time of the processor · from start to end · most memory in use");
    for (name, tool, arguments, calls, limit) in [
        ("reading a file", "read_file", json!({"file_path": "a.txt"}), 1, "limit 15 ms, 20 MiB"),
        ("ten times", "read_file", json!({"file_path": "a.txt"}), 10, "limit 25 ms, 20 MiB"),
        ("by the shell", "shell", json!({"command": "cat a.txt"}), 1, "no limit of its own"),
        ("ten times", "shell", json!({"command": "cat a.txt"}), 10, "no limit of its own"),
    ] {
        report(name, limit, &middle(|| innerloop(tool, &arguments, calls)));
    }
    match Command::new("codex").arg("--version").output() {
        Ok(told) if told.status.success() => {
            println!("  {}:", String::from_utf8_lossy(&told.stdout).trim());
            report("by the shell", "", &middle(|| codex(1)));
            report("ten times", "", &middle(|| codex(10)));
        }
        _ => println!("  codex is not installed, so that there is nothing beside it"),
    }
}

fn report(name: &str, limit: &str, cost: &Cost) {
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let mebibytes = cost.memory as f64 / f64::from(1 << 20);
    let (processor, time) = (ms(cost.processor), ms(cost.time));
    let limit = if limit.is_empty() { String::new() } else { format!(" ({limit})") };
    println!("  {name}: {processor:.1} ms · {time:.1} ms · {mebibytes:.1} MiB{limit}");
}

/// A reply for each call, and one that ends the task.
fn replies(wire: WireKind, tool: &str, arguments: &Value, calls: usize) -> Vec<Reply> {
    let call = |number| Message::call(&format!("call_{number}"), tool, arguments);
    let messages = (0..calls).map(call).chain([Message::text("done")]);
    messages.map(|message| Reply::stream_in(wire, &message)).collect()
}

fn innerloop(tool: &str, arguments: &Value, calls: usize) -> Cost {
    let scene = Scene::new(replies(WireKind::Anthropic, tool, arguments, calls));
    let scene = scene.file("a.txt", "hello\n");
    measured(&scene.command("go"))
}

fn codex(calls: usize) -> Cost {
    let arguments = json!({"cmd": "cat a.txt"});
    let script = replies(WireKind::OpenaiResponses, "exec_command", &arguments, calls);
    let (model, folder) = (Mock::start(script), tempfile::tempdir().unwrap());
    let home = folder.path().join("home");
    fs::create_dir(&home).unwrap();
    fs::write(folder.path().join("a.txt"), "hello\n").unwrap();
    let url = format!("{}/v1", model.url());
    let provider = format!(
        "model_providers.mock={{name=\"mock\",base_url=\"{url}\",env_key=\"KEY\",\
         wire_api=\"responses\"}}"
    );
    let mut command = Command::new("codex");
    command.args(CODEX).arg(provider).args(["-C".as_ref(), folder.path().as_os_str()]).arg("go");
    let path = env::var_os("PATH").unwrap_or_default();
    command.env("PATH", path).env("HOME", &home).env("CODEX_HOME", &home).env("KEY", "key");
    let cost = measured(&command);
    assert_eq!(model.left(), 0, "codex has not made all calls");
    cost
}

fn middle(mut take: impl FnMut() -> Cost) -> Cost {
    // The first one fills caches.
    take();
    let costs: Vec<Cost> = (0..TIMES).map(|_| take()).collect();
    Cost {
        processor: of_middle(&costs, |cost| cost.processor),
        time: of_middle(&costs, |cost| cost.time),
        memory: of_middle(&costs, |cost| cost.memory),
    }
}

fn of_middle<T: Ord + Copy>(costs: &[Cost], figure: fn(&Cost) -> T) -> T {
    let mut figures: Vec<T> = costs.iter().map(figure).collect();
    figures.sort_unstable();
    figures[figures.len() / 2]
}

/// Has `command` run by a program of its own, since the system sums up what all children cost.
fn measured(command: &Command) -> Cost {
    let mut measure = Command::new(env::current_exe().unwrap());
    measure.arg(COST).arg(command.get_program()).args(command.get_args()).env_clear();
    measure.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let told = measure.stdin(Stdio::null()).stderr(Stdio::inherit()).output().unwrap();
    assert!(told.status.success(), "{command:?}");
    let told = String::from_utf8(told.stdout).unwrap();
    let figures: Vec<u64> = told.split_whitespace().map(|word| word.parse().unwrap()).collect();
    let [processor, time, memory] = figures[..] else { panic!("not three figures: {told}") };
    let (processor, time) = (Duration::from_micros(processor), Duration::from_micros(time));
    Cost { processor, time, memory }
}

/// Runs that command line, and prints what it cost: microseconds of the processor and of the
/// clock, and bytes of memory.
pub(super) fn cost(line: &[String]) {
    let [program, args @ ..] = line else { panic!("no program to measure") };
    let begun = Instant::now();
    let mut command = Command::new(program);
    let output = command.args(args).stdin(Stdio::null()).output().unwrap();
    let time = begun.elapsed().as_micros();
    assert!(output.status.success(), "{output:?}");
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap();
    let processor = (usage.user_time() + usage.system_time()).num_microseconds();
    println!("{processor} {time} {}", usage.max_rss() * 1024);
}
