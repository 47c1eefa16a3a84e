//! Pipelines that go wrong on purpose, or by a clumsy model: bombs end by a limit with what was
//! said, two shells at once get no further out of the workspace than one, and each time the next
//! command line works.

use super::{Bench, Swaps, TEN_SECONDS, of_agent};
use innerloop_core::action::{Action, Outcome, ToolError};
use innerloop_sandbox::{CallContext, Executor, RunLimits};
use std::{fs, future::pending, os::unix::fs::symlink, path::Path, time::Duration};

async fn line(executor: &Executor, command: &str, limit: Duration) -> Outcome {
    let action = Action::Shell { command: command.into(), folder: None };
    executor.run(&action, limit, None).await
}

async fn line_of(bench: &Bench, call: &CallContext, command: &str, limit: Duration) -> Outcome {
    let action = Action::Shell { command: command.into(), folder: None };
    bench.executor.run_until(call, &action, limit, None, pending()).await
}

/// How a bomb ends.
#[derive(Clone, Copy, Debug)]
enum Ends {
    /// By itself, with this on standard output.
    Alone(&'static str),
    /// By itself, with these words on standard error.
    Refused(&'static str),
    /// By a limit or a crash, which is told by these words.
    Limit(&'static str),
    /// When its time is up.
    Late,
}
use Ends::{Alone, Late, Limit, Refused};

const MEMORY: Ends = Limit("more memory than it may have");
const OUTPUT: Ends = Limit("printed too much");
const DISK: Ends = Limit("wrote too much to files");

/// Bombs, and whether what was printed before them is told: a loop within a command that reads no
/// file leaves no time for it.
const BOMBS: [(&str, Ends, bool); 29] = [
    ("yes | head -2", Alone("y\ny\n"), true),
    ("cat /dev/zero | head -c 3 | wc -c", Alone("3\n"), true),
    ("cat /dev/zero | sort", MEMORY, true),
    ("yes | sort | tail -1", MEMORY, true),
    ("seq 1 1000000000 | sort -n | tail -1", MEMORY, true),
    ("yes | xargs -n 1 echo | cat > /dev/null", MEMORY, true),
    ("yes", OUTPUT, true),
    ("yes | cat | tee /dev/null", OUTPUT, true),
    ("qjs -e 'for (;;) print(1e9)' | cat", OUTPUT, true),
    ("yes > a", DISK, true),
    ("yes | tee a | cat > /dev/null", DISK, true),
    ("i=0; while :; do : > f$((i++)); done", DISK, true),
    ("awk 'BEGIN { while (1) {} }' | cat", Late, true),
    ("awk 'BEGIN { while (1) print \"x\" }' | cat", Late, true),
    ("awk 'BEGIN { x = \"x\"; while (1) x = x x }' | cat", Refused("string size limit"), true),
    ("jq -n 'def f: f; f' | cat", Late, false),
    ("jq 'last(range(1e12))' number | cat", Late, true),
    ("sed ':a; s/$/x/; ta' <<< x | wc -l", Refused("loop limit"), true),
    ("x=x; while :; do x=$x$x; done | cat", Refused("variable byte limit"), true),
    ("printf '%1000000000s' x | wc -c", Refused("exceeds limit"), true),
    ("echo {1..100000000} | wc -w", Refused("brace range too large"), false),
    (":() { : | : & }; :", Late, false),
    ("f() { f | f; }; f", Refused("maximum function depth"), true),
    ("./self.sh", Late, true),
    ("bash -c 'while :; do bash -c \"$0\" & done'", Late, true),
    ("for i in {1..200}; do qjs --std -e 'os.sleep(1e5)' & done; wait", Late, true),
    ("while :; do qjs -e 1 | qjs -e 1; done", Late, true),
    ("qjs -e 'const a = []; for (;;) a.push(new Uint8Array(1e7))'", Refused("out of memory"), true),
    ("mkdir d; while :; do mkdir d/d; cd d; done", Late, true),
];

#[tokio::test(flavor = "multi_thread")]
async fn c11_bombs_in_a_pipeline_end_by_a_limit_with_what_was_said() {
    let bench = Bench::shell().limited(RunLimits {
        memory_bytes: 128 << 20,
        output_bytes: 4 << 20,
        disk_bytes: 1 << 20,
        ..RunLimits::default()
    });
    bench.write("self.sh", "#!/bin/bash\n./self.sh | ./self.sh\n");
    line(&bench.executor, "chmod +x self.sh", 6 * TEN_SECONDS).await;
    bench.write("number", "1\n");
    // The time limit is not spent on compiling.
    line(&bench.executor, "qjs -e 1", 6 * TEN_SECONDS).await;
    for (bomb, ends, is_told) in BOMBS {
        // What never ends takes all of its time: more only where a slow machine needs it.
        let limits = match ends {
            Late => [1, 5, 30].map(Duration::from_secs),
            _ => [3 * TEN_SECONDS; 3],
        };
        let mut outcome = Outcome::default();
        for limit in limits {
            outcome = line(&bench.executor, &format!("echo said; {bomb}"), limit).await;
            if !is_told || outcome.stdout().is_some_and(|said| !said.is_empty()) {
                break;
            }
        }
        let [Some(stdout), Some(stderr)] = [outcome.stdout(), outcome.stderr()] else {
            panic!("{bomb}: {outcome:?}")
        };
        assert_eq!(stdout.starts_with("said\n"), is_told, "{bomb}: {outcome:?}");
        let told = outcome.joined_text();
        match ends {
            Alone(printed) => assert_eq!(stdout, format!("said\n{printed}"), "{bomb}"),
            Refused(words) => assert!(stderr.contains(words), "{bomb}: {outcome:?}"),
            Limit(words) => {
                let error = outcome.error;
                let is_limit = matches!(error, Some(ToolError::Limit | ToolError::Crashed));
                assert!(is_limit && told.contains(words), "{bomb}: {error:?} {told:.500}");
            }
            Late => assert!(outcome.timed_out, "{bomb}: {outcome:?}"),
        }
        let next = line(&bench.executor, "cd /; rm -rf a d f*; ls; echo goes on", TEN_SECONDS);
        assert_eq!(next.await.stdout(), Some("number\nself.sh\ngoes on\n"), "after {bomb}");
    }
}

/// The host swaps a folder for a link out of the workspace and back, while two shells read and
/// write through it; and two shells do the same to one another with `.git`.
#[tokio::test(flavor = "multi_thread")]
async fn c11_two_shells_at_once_reach_no_further_than_one() {
    for bench in Bench::both(Bench::shell) {
        let outside = bench.dir.path().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("secret"), "secret").unwrap();
        bench.write("a/plain", "plain\n");
        symlink("../outside", bench.path("b")).unwrap();
        let [one, other] = [1, 2].map(of_agent);
        let reads = "for i in {1..150}; do cat a/plain a/secret | cat; done | sort -u; echo over";
        let writes = "for i in {1..150}; do echo $i | tee a/$i | cat > a/plain; done; echo done";
        let swaps = Swaps::of(&bench);
        let long = 6 * TEN_SECONDS;
        let (read, written) =
            tokio::join!(line_of(&bench, &one, reads, long), line_of(&bench, &other, writes, long));
        swaps.end();
        let said = read.stdout().unwrap();
        assert!(!said.contains("secret") && said.ends_with("over\n"), "{read:?}");
        assert_eq!(written.stdout().map(|said| said.contains("done")), Some(true), "{written:?}");
        assert_eq!(names(&outside), ["secret"]);
        assert_eq!(fs::read_to_string(outside.join("secret")).unwrap(), "secret");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn c11_two_shells_at_once_can_not_change_git_between_them() {
    for bench in Bench::both(Bench::shell) {
        bench.write(".git/config", "config");
        bench.write("door/config", "plain");
        symlink(".git", bench.path("link")).unwrap();
        let [one, other] = [1, 2].map(of_agent);
        let swaps = "for i in {1..150}; do mv door aside && mv link door && mv door link && \
                     mv aside door && echo swapped; done | sort | uniq -c";
        let writes = "for i in {1..300}; do for name in config hook; do \
                      echo evil | tee door/$name; done; done 2>/dev/null | sort | uniq -c";
        let long = 6 * TEN_SECONDS;
        let (swapped, written) =
            tokio::join!(line_of(&bench, &one, swaps, long), line_of(&bench, &other, writes, long));
        for (outcome, word) in [(swapped, "swapped"), (written, "evil")] {
            assert!(outcome.stdout().unwrap().contains(word), "{outcome:?}");
        }
        assert_eq!(bench.read(".git/config"), "config");
        assert!(!bench.has(".git/hook"));
    }
}

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    names.map(|name| name.into_string().unwrap()).collect()
}
