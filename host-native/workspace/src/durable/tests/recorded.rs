//! Saves after which the view is not written again: what changed is recorded beside it.

use super::{Bench, Dice, Picture, change, inner, picture, put, remove, rename, told};
use crate::WorkspaceError;
use std::{fs, path::Path};

/// Files enough for a view of more than 64 KiB.
const MANY: usize = 2_000;

/// An overlay with many changed files, which is saved whole.
fn large(bench: &Bench) -> crate::Workspace {
    let overlay = bench.open();
    for number in 0..MANY {
        put(&overlay, format!("many/{number:04}"), "one");
    }
    overlay.save().unwrap();
    overlay
}

impl Bench {
    fn large() -> Self {
        let bench = Self::new();
        fs::create_dir(bench.path("many")).unwrap();
        bench
    }

    fn view(&self) -> Vec<u8> {
        fs::read(self.store().join("view.json")).unwrap()
    }

    fn records(&self) -> Option<Vec<u8>> {
        fs::read(self.store().join("view.records")).ok()
    }
}

#[test]
fn a_save_costs_what_was_changed_and_is_whole_after_a_kill() {
    let bench = Bench::large();
    let overlay = large(&bench);
    let view = bench.view();
    assert!(view.len() > 100_000 && bench.records().is_none(), "{} bytes", view.len());
    put(&overlay, "many/0007", "two");
    overlay.save().unwrap();
    assert!(bench.records().is_none(), "no name has changed, only what is in a file");
    put(&overlay, "many/more", "more");
    overlay.save().unwrap();
    let records = bench.records().unwrap().len();
    assert!(records < 1_000, "{records} bytes for one file");
    assert_eq!(bench.view(), view, "the view is not written again");

    change(&overlay);
    remove(&overlay, "many/0008");
    rename(&overlay, "many/0009", "many/other");
    overlay.save().unwrap();
    overlay.save().unwrap();
    let (shown, changes) = (picture(&overlay), told(&overlay));
    let killed = bench.after_kill(0);
    assert_eq!((picture(&killed), told(&killed)), (shown, changes));
    assert!(!killed.temporary_files().is_empty() && !killed.is_partial());
    drop(killed);

    // A folder that is moved changes all names below it, which is more than a view.
    rename(&overlay, "many", "moved");
    overlay.save().unwrap();
    put(&overlay, "last", "last");
    overlay.save().unwrap();
    assert_ne!(bench.view(), view);
    let shown = picture(&overlay);
    drop(overlay);
    let overlay = bench.open();
    assert_eq!(picture(&overlay), shown);
    overlay.apply().unwrap();
    let is_applied = |path: &Path| !path.starts_with("tmp");
    let paths = |all: Picture| all.into_keys().filter(|path| is_applied(path)).collect::<Vec<_>>();
    assert_eq!(paths(bench.tree()), paths(shown));
    assert_eq!(bench.stored(), ["lock"]);
}

#[test]
fn what_a_kill_cuts_off_is_the_last_save_alone() {
    let bench = Bench::large();
    let overlay = large(&bench);
    put(&overlay, "f\u{fc}r.txt", "one");
    overlay.save().unwrap();
    let (before, first) = (picture(&overlay), bench.records().unwrap());
    put(&overlay, "\u{fc}ber.txt", "two");
    overlay.save().unwrap();
    let (after, both) = (picture(&overlay), bench.records().unwrap());
    let records = bench.store().join("view.records");
    let cuts = (first.len()..both.len()).step_by(41).chain([both.len() - 1, 0, 10]);
    for (number, cut) in cuts.enumerate() {
        fs::write(&records, &both[..cut]).unwrap();
        let killed = bench.after_kill(number);
        let shown = picture(&killed);
        if cut < first.len() {
            assert!(!shown.contains_key(Path::new("f\u{fc}r.txt")), "cut at {cut}");
        } else {
            assert_eq!(shown, before, "cut at {cut}");
        }
    }
    fs::write(&records, &both).unwrap();
    assert_eq!(picture(&bench.after_kill(900)), after);

    // A save that was cut off in the middle is no save that was: it is said.
    let mut broken = both.clone();
    broken[first.len() - 10] ^= 1;
    fs::write(&records, &broken).unwrap();
    drop(overlay);
    let error = bench.try_open();
    assert!(matches!(error, Err(WorkspaceError::Damaged { .. })), "{error:?}");
    fs::write(&records, &both).unwrap();
    assert_eq!(picture(&bench.open()), after);
}

/// After any number of saves of any changes the next program finds what was saved last.
#[test]
fn any_changes_are_taken_up_as_they_were_saved() {
    let bench = Bench::large();
    let overlay = large(&bench);
    let (mut dice, mut recorded) = (Dice(3), 0);
    for round in 0..120 {
        for _ in 0..=dice.below(4) {
            let [one, other] = [(); 2].map(|()| format!("many/{:04}", dice.below(40)));
            let is_there = |path: &str| overlay.stat(Path::new(path)).is_ok();
            match dice.below(4) {
                0 if is_there(&one) => remove(&overlay, &one),
                1 if is_there(&one) && one != other => rename(&overlay, &one, &other),
                2 => overlay.rebase(),
                _ => put(&overlay, &one, &format!("{round}")),
            }
        }
        overlay.save().unwrap();
        recorded += usize::from(bench.records().is_some());
        if round % 8 == 0 {
            let killed = bench.after_kill(round);
            assert_eq!((picture(&killed), told(&killed)), (picture(&overlay), told(&overlay)));
        }
    }
    assert!(recorded > 100, "{recorded}");
    // A save that fails is made up for by a whole one.
    inner(&overlay).touch_again();
    overlay.save().unwrap();
    assert!(bench.records().is_none());
}
