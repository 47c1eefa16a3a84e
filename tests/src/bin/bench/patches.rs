//! Patches of a large file.

use crate::limits::{copy_us, median};
use innerloop_core::action::Action;
use innerloop_tools::{InMemoryFiles, WorkspaceFiles, WorkspacePath, perform};
use std::{hint::black_box, time::Instant};

/// Patches of a file of 50,000 lines and 2.1 MB, with lines as the file has them, and with ones
/// that are found only when white space, or punctuation too, is left aside.
pub(super) fn run() {
    const LINES: usize = 50_000;
    let line = |n: usize| format!("    let value_{n:05} = compute(\"{n}\"); ");
    let file: String = (0..LINES).map(|n| line(n) + "\n").collect();
    let path = WorkspacePath::parse("large.rs").unwrap();
    let exact: fn(&str) -> String = str::to_owned;
    let spaces: fn(&str) -> String = |line| format!("{}   ", line.trim());
    let quotes: fn(&str) -> String = |line| line.replace('"', "\u{201d}");
    for (hunks, what, spelt, goal) in [
        (1, "exact", exact, ""),
        (50, "exact", exact, ""),
        (500, "exact", exact, " (goal ≤ 6 ms)"),
        (500, "white space", spaces, " (goal ≤ 40 ms)"),
        (500, "punctuation", quotes, " (goal ≤ 40 ms)"),
    ] {
        let step = LINES / (hunks + 1);
        let mut patch = String::from("*** Begin Patch\n*** Update File: large.rs\n");
        for hunk in 1..=hunks {
            patch.push_str("@@\n");
            for n in hunk * step - 3..=hunk * step + 3 {
                let mark = if n == hunk * step { '-' } else { ' ' };
                patch.push_str(&format!("{mark}{}\n", spelt(&line(n))));
                if mark == '-' {
                    patch.push_str("+    let value = None;\n");
                }
            }
        }
        patch.push_str("*** End Patch\n");
        let action = Action::patch(patch);
        let times = (0..15).map(|_| {
            let mut files = InMemoryFiles::new();
            files.write(&path, file.clone().into_bytes()).unwrap();
            let start = Instant::now();
            let outcome = perform(&mut files, &action);
            let time = start.elapsed();
            assert_eq!(outcome.error, None, "{}", outcome.joined_text());
            black_box(&files);
            time
        });
        let time = median(times.collect()).as_secs_f64() * 1e3;
        println!("patch of {hunks} hunks, {what}: {time:.2} ms{goal}");
    }
    let size = file.len();
    println!("    limit: {:.2} ms to copy the file of {size} bytes", copy_us(size) / 1e3);
}
