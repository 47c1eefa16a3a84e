//! What a run of the whole program costs, beside what no program could do without; and how much
//! memory it takes while an endpoint sends without end, beside what the documentation says.

use crate::limits::median;
use innerloop_core::config::WireKind;
use innerloop_tests::{
    anthropic::Message,
    mock::{Mock, Reply},
    program::innerloop,
    scene::Scene,
    wires,
};
use serde_json::json;
use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// How often a time is taken; the middle one counts.
const TIMES: usize = 15;
/// How long an endpoint sends.
const ENDLESS: Duration = Duration::from_secs(10);

/// Prints the times and the memory.
pub(super) fn run() {
    times();
    println!("memory under an endpoint that sends without end, for {ENDLESS:?} at most:");
    for (name, reply, bound) in endless() {
        let scene = Scene::new(vec![reply]);
        memory(name, bound, scene.command("go").args(["--json"]));
    }
}

/// A run that answers, one with a tool, and either with an empty cache for compiled modules.
fn times() {
    let start = middle(|| timed(&mut innerloop(["--version"])));
    let exchange = middle(|| {
        let mock = Mock::start(vec![Reply::stream(&Message::text("done"))]);
        let begun = Instant::now();
        post(&mock);
        begun.elapsed()
    });
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    println!("start and end of the program: {:.1} ms", ms(start));
    println!("one exchange on this machine: {:.1} ms", ms(exchange));
    let floor = |exchanges: u32| ms(start + exchange * exchanges);
    let write = || {
        let arguments = json!({"file_path": "a", "content": "text"});
        Message::call("toolu_1", "write_file", &arguments)
    };
    let done = || Message::text("done");
    for (name, messages, is_cold, goal) in [
        ("a run without a tool", vec![done()], false, "goal 8 ms"),
        ("the same, with an empty cache", vec![done()], true, "goal 300 ms"),
        ("a run with one tool", vec![write(), done()], false, "beside its floor"),
        ("the same, with an empty cache", vec![write(), done()], true, "it compiles the tools"),
    ] {
        let time = middle(|| {
            let scene = Scene::streaming(&messages);
            let mut command = scene.command("go");
            if is_cold {
                command.env("INNERLOOP_CACHE_DIR", scene.path("cache"));
            }
            timed(&mut command)
        });
        let exchanges = u32::try_from(messages.len()).unwrap();
        println!("{name}: {:.1} ms (floor {:.1} ms; {goal})", ms(time), floor(exchanges));
    }
}

fn middle(mut take: impl FnMut() -> Duration) -> Duration {
    // The first one fills caches.
    take();
    median((0..TIMES).map(|_| take()).collect())
}

fn timed(command: &mut Command) -> Duration {
    let begun = Instant::now();
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    let time = begun.elapsed();
    assert!(status.success(), "{command:?}");
    time
}

/// One request as small as can be, and its whole answer.
fn post(mock: &Mock) {
    let address = mock.url();
    let mut stream = TcpStream::connect(address.trim_start_matches("http://")).unwrap();
    stream.write_all(b"POST /v1/messages HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    assert!(answer.ends_with(b"0\r\n\r\n"));
}

/// Replies without end, and what the documentation says of them.
fn endless() -> [(&'static str, Reply, &'static str); 3] {
    let wire = WireKind::Anthropic;
    let parts = wires::events(wire, &Message::text(&"All ".repeat(1_125)));
    let text = parts.iter().position(|event| event.contains("All")).unwrap();
    let begin = || Reply::new(200, wires::stream_type(wire), parts[..text].concat());
    let piece = "x".repeat(1 << 20);
    let held = "at most 32 MiB of a reply held, 256 MiB read";
    [
        ("deltas", begin().and_then(parts[text].repeat(20)).without_end(), held),
        (
            "one line",
            begin().and_then("data: {\"type\":\"").and_then(piece.as_str()).without_end(),
            held,
        ),
        (
            "the body of an error",
            Reply::new(500, "text/plain", piece).without_end(),
            "at most 1 MiB of each error's body read",
        ),
    ]
}

/// Prints the most memory that the program had in use, whose output is read and thrown away.
fn memory(name: &str, bound: &str, command: &mut Command) {
    let begun = Instant::now();
    let mut program = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut most = 0;
    let end = loop {
        if let Some(status) = program.try_wait().unwrap() {
            break format!("ended by itself, {status}");
        }
        most = peak(&program).unwrap_or(most);
        if begun.elapsed() > ENDLESS {
            program.kill().unwrap();
            program.wait().unwrap();
            break "still running".to_owned();
        }
        thread::sleep(Duration::from_millis(5));
    };
    let (seconds, most) = (begun.elapsed().as_secs_f64(), most as f64 / f64::from(1 << 20));
    println!("  {name}: {most:.1} MiB after {seconds:.1} s, {end} ({bound})");
}

/// The most bytes of memory that the program has had in use so far.
fn peak(program: &Child) -> Option<u64> {
    let status = Path::new("/proc").join(program.id().to_string()).join("status");
    let status = fs::read_to_string(status).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes * 1024)
}
