//! A log that is kept in memory: whole while it is short, and never much longer than the session.

use crate::stage::{Stage, parts};
use innerloop_core::log;
use innerloop_driver::MemoryLog;
use innerloop_tests::anthropic::Message;

/// A session and its log in memory.
struct Kept {
    stage: Stage,
    log: MemoryLog,
}

impl Kept {
    fn new() -> Self {
        let stage = Stage::new(parts());
        let mut kept = Self { stage, log: MemoryLog::default() };
        kept.take();
        kept
    }

    fn say(&mut self, words: &str) {
        self.stage.submit(words);
        self.stage.reply(&Message::text("I have noted that."));
        self.take();
        // What was sent is of no interest here, and there is much of it.
        self.stage.seen.clear();
    }

    /// Hands over what the stage has noted: each line by itself, as a snapshot where it is one.
    fn take(&mut self) {
        for line in std::mem::take(&mut self.stage.log).split_inclusive('\n') {
            if line.starts_with("{\"snapshot\":") {
                self.log.push("", Some(line));
            } else {
                self.log.push(line, None);
            }
        }
    }

    fn snapshots(&self) -> usize {
        self.log.text().lines().filter(|line| line.starts_with("{\"snapshot\":")).count()
    }
}

#[test]
fn a_short_log_in_memory_is_whole_and_has_one_snapshot() {
    let mut kept = Kept::new();
    ["one", "two", "three"].iter().for_each(|words| kept.say(words));
    assert_eq!((kept.snapshots(), kept.stage.snapshots), (1, 3));
    let replayed = log::replay(&kept.log.text()).unwrap();
    assert_eq!(replayed.session.snapshot(), kept.stage.driver.session().snapshot());
    let heard = replayed.outputs.len();
    assert!(heard > 3 * 3, "of each input it has all, not only the last: {heard}");
}

#[test]
fn the_log_in_memory_grows_with_the_conversation_however_many_snapshots_there_were() {
    let mut kept = Kept::new();
    let mut sizes = Vec::new();
    for number in 0..200 {
        kept.say(&format!("Note the number {number:03} and nothing else."));
        if (number + 1) % 50 == 0 {
            sizes.push(kept.log.text().len());
        }
    }
    assert_eq!(kept.snapshots(), 1);
    let snapshot = kept.stage.driver.session().snapshot().len();
    let [quarter, half, _, whole] = sizes[..] else { panic!("{sizes:?}") };
    assert!(whole < snapshot + 10_000, "{whole} bytes for a session of {snapshot}");
    assert!(whole - half < 2 * (half - quarter) + 10_000, "it grows by more and more: {sizes:?}");
    let replayed = log::replay(&kept.log.text()).unwrap();
    assert_eq!(replayed.session.snapshot(), kept.stage.driver.session().snapshot());
}

#[test]
fn what_comes_after_the_newest_snapshot_stands_in_a_long_log() {
    let mut kept = Kept::new();
    let long = "word ".repeat(20_000);
    kept.say(&long);
    kept.stage.submit("And then?");
    kept.take();
    let text = kept.log.text();
    assert_eq!(text.matches(&*long).count(), 1, "it stands in the snapshot only");
    let resumed = log::resume(&text, innerloop_tests::test_host::EPOCH).unwrap().session;
    assert_eq!(resumed.snapshot(), kept.stage.driver.session().snapshot());
}
