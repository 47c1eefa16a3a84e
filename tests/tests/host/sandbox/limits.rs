//! Programs that misbehave: each limit ends the run, and the engine serves on.

use super::{Bench, collector, run_program};
use innerloop_core::action::{Outcome, ToolError};
use innerloop_sandbox::{CallContext, RunLimits, SessionLimits};
use std::time::{Duration, Instant};

/// Long enough for a program to begin and to print something.
const SHORT: Duration = Duration::from_secs(1);

async fn timed(bench: &Bench, args: &[&str]) -> (Outcome, Duration) {
    bench.run("bombs", &["y"]).await;
    let start = Instant::now();
    let outcome = bench.run_for(SHORT, "bombs", args).await;
    (outcome, start.elapsed())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_spinning_and_a_sleeping_program_end_at_the_time_limit_with_what_they_printed() {
    let bench = Bench::new();
    for letter in ["s", "z"] {
        let (outcome, took) = timed(&bench, &[letter]).await;
        assert_eq!((outcome.error, outcome.timed_out), (Some(ToolError::Timeout), true));
        assert_eq!((outcome.joined_text().as_str(), outcome.exit), ("half", None));
        assert!(took >= SHORT, "{took:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_is_limited_and_a_program_that_copes_goes_on() {
    let limits = RunLimits { memory_bytes: 64 << 20, ..RunLimits::default() };
    let bench = Bench::new().limited(limits);
    let outcome = bench.run("bombs", &["m"]).await;
    assert_eq!(outcome.error, Some(ToolError::Limit));
    assert!(outcome.joined_text().contains("more memory"), "{outcome:?}");
    assert_eq!(bench.run("bombs", &["M"]).await.exit, Some(0));

    let tiny = RunLimits { memory_bytes: 65_536, ..limits };
    let outcome = Bench::new().limited(tiny).run("bombs", &["M"]).await;
    assert_eq!(outcome.error, Some(ToolError::Limit), "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn all_runs_of_a_session_share_quotas() {
    let session = SessionLimits { disk_bytes: 10_000, ..SessionLimits::default() };
    let mut bench = Bench::new();
    bench.executor = bench.executor.with_session_limits(&session);
    for name in ["a", "b"] {
        assert_eq!(bench.ops(&["w", name]).await, 0);
    }
    let outcome = bench.run("ops", &["w", "c"]).await;
    assert_eq!(outcome.error, Some(ToolError::Limit), "two entries have used it up: {outcome:?}");
    assert!(!bench.path("c").exists());

    let session = SessionLimits { output_bytes: 6, ..SessionLimits::default() };
    bench.executor = bench.executor.with_session_limits(&session);
    bench.write("four", "four");
    assert_eq!(bench.run("ops", &["r", "four"]).await.error, None);
    assert_eq!(bench.run("ops", &["r", "four"]).await.error, Some(ToolError::Limit));

    // Memory is given back at the end of a run.
    let session = SessionLimits { memory_bytes: 64 << 20, ..SessionLimits::default() };
    bench.executor = bench.executor.with_session_limits(&session);
    for _ in 0..3 {
        assert_eq!(bench.run("bombs", &["m"]).await.error, Some(ToolError::Limit));
    }
    assert_eq!(bench.run("bombs", &["M"]).await.exit, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_are_limited() {
    let outcome = Bench::new().run("bombs", &["T"]).await;
    assert_eq!(outcome.exit, Some(19), "200,000 elements hold 19 times 10,000 and one");
}

#[tokio::test(flavor = "multi_thread")]
async fn output_is_limited_and_its_start_and_end_are_kept() {
    let limits =
        RunLimits { output_bytes: 4 << 20, kept_output_bytes: 2000, ..RunLimits::default() };
    let bench = Bench::new().limited(limits);
    for letter in ["o", "E"] {
        let outcome = bench.run("bombs", &[letter]).await;
        assert_eq!(outcome.error, Some(ToolError::Limit));
        assert!(outcome.capped_at_source);
        let text = outcome.joined_text();
        assert!(text.len() < 2500, "{} bytes", text.len());
        assert!(text.contains("bytes of output dropped here]"), "{text}");
        assert!(text.ends_with("it printed too much]"), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trap_and_a_deep_recursion_are_crashes_and_no_more() {
    let bench = Bench::new();
    for (letter, why) in [("u", "unreachable"), ("d", "stack")] {
        let outcome = bench.run("bombs", &[letter]).await;
        assert_eq!((outcome.error, outcome.exit), (Some(ToolError::Crashed), None));
        assert!(outcome.joined_text().contains(why), "{outcome:?}");
    }
    assert_eq!(bench.run("bombs", &["y"]).await.exit, Some(127));
}

#[tokio::test(flavor = "multi_thread")]
async fn open_files_are_limited() {
    let bench = Bench::new();
    bench.write("a", "");
    let outcome = bench.run("ops", &["O", "a"]).await;
    assert_eq!(outcome.error, Some(ToolError::Limit));
    assert!(outcome.joined_text().contains("too many files"), "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_disk_quota_counts_writes_sizes_and_gaps_before_they_happen() {
    let limits = RunLimits { disk_bytes: 1 << 20, ..RunLimits::default() };
    let bench = Bench::new().limited(limits);
    for letter in ["F", "z", "g", "G"] {
        let outcome = bench.run("ops", &[letter, letter]).await;
        assert_eq!(outcome.error, Some(ToolError::Limit), "{letter}: {outcome:?}");
        assert!(outcome.joined_text().contains("wrote too much"), "{outcome:?}");
        let len = bench.path(letter).metadata().unwrap().len();
        assert!(len <= 1 << 20, "{letter} left {len} bytes");
    }
    const NOT_SUPPORTED: i32 = 58;
    assert_eq!(bench.ops(&["A", "A"]).await, NOT_SUPPORTED);
    assert_eq!(bench.path("A").metadata().unwrap().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn names_count_as_written_with_their_length() {
    for is_over in [false, true] {
        let bench = Bench::new();
        let bench = if is_over { bench.over() } else { bench };
        let bench = bench.limited(RunLimits { disk_bytes: 4096 + 100, ..RunLimits::default() });
        let (short, long) = ("s".repeat(50), "l".repeat(200));
        assert_eq!(bench.ops(&["m", &short]).await, 0);
        for args in [["m", &long], ["w", &long]] {
            let outcome = bench.run("ops", &args).await;
            assert!(outcome.joined_text().contains("wrote too much"), "{args:?}: {outcome:?}");
        }
        // A move makes new names, too.
        let bench = bench.limited(RunLimits { disk_bytes: 1000, ..RunLimits::default() });
        for file in ["a", "b", "c", "d"] {
            bench.write(&format!("folder/{file}"), file);
        }
        let outcome = bench.run("ops", &["n", "folder", "moved"]).await;
        assert!(outcome.joined_text().contains("wrote too much"), "{outcome:?}");
        assert_eq!(bench.ops(&["r", "folder/a"]).await, 0, "it stands where it stood");
        assert_eq!(bench.ops(&["n", "folder/a", "moved"]).await, 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_run_gives_what_it_printed() {
    let bench = Bench::new();
    let (on_delta, seen) = collector();
    let stop = {
        let seen = seen.clone();
        async move {
            while seen.lock().unwrap().is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
    };
    let action = run_program("bombs", &["s"]);
    let hour = Duration::from_secs(3600);
    let outcome = bench
        .executor
        .run_until(&CallContext::default(), &action, hour, Some(on_delta), stop)
        .await;
    assert_eq!(outcome.error, Some(ToolError::Interrupted));
    assert_eq!(outcome.joined_text(), "half\n[it was interrupted]");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_spinning_program_does_not_hold_up_its_host() {
    let bench = Bench::new();
    let action = run_program("bombs", &["s"]);
    let run = bench.executor.run(&action, Duration::from_secs(60), None);
    // A timer that waits for the guest's worker to look at it comes half a second late each time,
    // all of them two and a half minutes.
    let count = async {
        for _ in 0..300 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::select! {
        outcome = run => panic!("the run ended first: {outcome:?}"),
        () = count => {}
    }
}
