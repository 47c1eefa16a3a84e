//! Runs that end at any moment, be it within an operation on a file: by a stop, by their time
//! limit, by being dropped. What is told of them is true, and the next run works.

use super::{Bench, Dice, run_program, wasm};
use innerloop_core::action::{Action, ChangeKind, Outcome, ReportedChange, ToolError};
use innerloop_sandbox::{CallContext, RunLimits, SessionLimits};
use std::{fs, path::Path, time::Duration};

const BUSY: &str = include_str!("../guests/busy.wat");
const OPS: &str = super::OPS;

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(60);

/// Mostly next to nothing, now and then longer than the guest runs without a pause.
fn moment(dice: &mut Dice) -> Duration {
    let most = if dice.below(8) == 0 { 25_000 } else { 2_000 };
    Duration::from_micros(dice.below(most))
}

/// With a folder of 10,000 files, and room to write for as long as it takes.
fn busy() -> Bench {
    let mut bench = Bench::with(&[("busy", &wasm(BUSY)), ("ops", &wasm(OPS))]);
    let much = 1 << 50;
    let session = SessionLimits { disk_bytes: much, ..SessionLimits::default() };
    let limits = RunLimits { disk_bytes: much, ..RunLimits::default() };
    bench.executor = bench.executor.with_session_limits(&session).with_limits(limits);
    fs::create_dir(bench.path("many")).unwrap();
    for n in 0..10_000 {
        fs::write(bench.path("many").join(n.to_string()), "").unwrap();
    }
    bench
}

/// What the guest is to do, and on which path.
const DEEDS: [[&str; 2]; 3] = [["w", "short"], ["b", "long"], ["l", "many"]];

/// What was told is what is there, and stays so.
fn assert_told(outcome: &Outcome, path: &str, place: &Path) {
    let paths: Vec<_> = outcome.changes.iter().map(|change| change.path.as_str()).collect();
    let is_there = place.is_file();
    assert_eq!(paths, [path].repeat(usize::from(is_there)), "{outcome:?}");
    let Some(ReportedChange { kind, after, .. }) = outcome.changes.first() else { return };
    assert_eq!(*kind, ChangeKind::Created);
    let found = fs::read(place).unwrap();
    if found.len() <= 256 << 10 {
        let is_told = after.as_ref().is_some_and(|after| *after.as_bytes() == found);
        assert!(is_told, "what is told of {path} is not what is there");
    }
    let marks = || [fs::metadata(place).unwrap().modified().unwrap()];
    let before = marks();
    std::thread::sleep(Duration::from_millis(5));
    assert_eq!(marks(), before, "{path} was written to after the end");
}

async fn assert_serves_on(bench: &Bench) {
    bench.write("note", "text");
    let args = ["r", "note"];
    let next = tokio::time::timeout(LONG, bench.run("ops", &args)).await;
    assert_eq!(next.expect("the next run hangs").joined_text(), "text");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_stopped_within_an_operation_on_a_file_is_told_as_it_is() {
    let (bench, mut dice) = (busy(), Dice(7));
    // Compiled once, so that what is stopped is the guest.
    assert_eq!(bench.run("busy", &["", ""]).await.exit, Some(0));
    let mut told = 0;
    for _ in 0..30 {
        for [letter, path] in DEEDS {
            let (place, moment) = (bench.path(path), moment(&mut dice));
            let action = run_program("busy", &[letter, path]);
            let stop = tokio::time::sleep(moment);
            let call = CallContext::default();
            let run = bench.executor.run_until(&call, &action, LONG, None, stop);
            let outcome = tokio::time::timeout(LONG, run).await.expect("it does not end");
            assert_eq!(outcome.error, Some(ToolError::Interrupted), "{outcome:?}");
            assert_told(&outcome, path, &place);
            told += outcome.changes.len();
            drop(fs::remove_file(place));
        }
    }
    assert!(told > 0, "none was stopped once it had begun");
    assert_serves_on(&bench).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_time_is_up_within_an_operation_on_a_file_is_told_as_it_is() {
    let (bench, mut dice) = (busy(), Dice(8));
    assert_eq!(bench.run("busy", &["", ""]).await.exit, Some(0));
    for _ in 0..30 {
        for [letter, path] in DEEDS {
            let limit = moment(&mut dice) + Duration::from_millis(1);
            let args = [letter, path];
            let run = bench.run_for(limit, "busy", &args);
            let outcome = tokio::time::timeout(LONG, run).await.expect("it does not end");
            assert_eq!((outcome.error, outcome.timed_out), (Some(ToolError::Timeout), true));
            assert_told(&outcome, path, &bench.path(path));
            drop(fs::remove_file(bench.path(path)));
        }
    }
    assert_serves_on(&bench).await;
}

/// RUSTSEC-2026-0022 was a panic when a running call was dropped.
#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_runs_are_dropped_at_any_yield_and_the_engine_serves_on() {
    let (mut bench, mut dice) = (Bench::new(), Dice(9));
    bench.write("a", "text");
    // What a dropped run does not give back is missing soon.
    let (memory_bytes, listing_bytes) = (16 << 20, 4 << 10);
    let session = SessionLimits { memory_bytes, listing_bytes, ..SessionLimits::default() };
    bench.executor = bench.executor.with_session_limits(&session);
    for program in ["ops", "bombs"] {
        assert_eq!(bench.run(program, &[""]).await.exit, Some(0));
    }
    for _ in 0..1_000 {
        let (program, args): (&str, &[&str]) = match dice.below(6) {
            0 => ("bombs", &["s"]),
            1 => ("bombs", &["z"]),
            2 => ("bombs", &["o"]),
            3 => ("ops", &["O", "a"]),
            4 => ("ops", &["L", "."]),
            _ => ("ops", &["F", "b"]),
        };
        let action = run_program(program, args);
        let run = bench.executor.run(&action, LONG, None);
        let _ = tokio::time::timeout(moment(&mut dice), run).await;
    }
    assert_eq!(bench.ops(&["r", "a"]).await, 0);
    assert_eq!(bench.ops(&["L", "."]).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn c4_a_write_that_has_begun_when_it_is_stopped_is_written_to_its_end() {
    let bench = Bench::new();
    let content = "0123456789abcdef".repeat(1 << 19);
    for round in 0..10 {
        bench.write("large.txt", &format!("before {round}"));
        let (path, before) = (bench.path("large.txt"), 8);
        let begun = async move {
            let len = || fs::metadata(&path).map_or(0, |found| found.len());
            while len() == before {
                tokio::task::yield_now().await;
            }
        };
        let write = Action::write("large.txt", content.clone());
        let outcome =
            bench.executor.run_until(&CallContext::default(), &write, LONG, None, begun).await;
        assert_eq!(outcome.error, None, "{outcome:?}");
        assert!(fs::read(bench.path("large.txt")).unwrap() == content.as_bytes());
    }
    // One that has not begun does not begin.
    let write = Action::write("small.txt", content);
    let outcome =
        bench.executor.run_until(&CallContext::default(), &write, LONG, None, async {}).await;
    assert_eq!(outcome.error, Some(ToolError::Interrupted));
    assert!(!bench.path("small.txt").exists());
}
