//! What became of the faults, by module, and what is to be done about those that nobody noticed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::fault::{AcceptedMutants, CodeMutant, FILE};
use crate::failure::TaskError;

/// The outcome of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MutantVerdict {
    /// A test failed.
    Caught,
    /// The tests went on for ever, or nearly: a test failed, too.
    TimedOut,
    /// No test failed.
    Survived,
    /// It does not compile: no fault at all.
    Unviable,
}

/// The lists that cargo-mutants leaves, and what stands in them.
const LISTS: [(&str, MutantVerdict); 4] = [
    ("caught.txt", MutantVerdict::Caught),
    ("timeout.txt", MutantVerdict::TimedOut),
    ("missed.txt", MutantVerdict::Survived),
    ("unviable.txt", MutantVerdict::Unviable),
];

/// The verdicts by the faults' names.
///
/// # Errors
/// When a list cannot be read.
pub(crate) fn read(folder: &Path) -> Result<BTreeMap<String, MutantVerdict>, TaskError> {
    let mut verdicts = BTreeMap::new();
    for (file, verdict) in LISTS {
        let names = lines(&folder.join(file))?;
        verdicts.extend(names.into_iter().map(|name| (name, verdict)));
    }
    Ok(verdicts)
}

/// Counts of a module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct VerdictCounts {
    caught: usize,
    timed_out: usize,
    written_down: usize,
    survived: usize,
    unviable: usize,
}

/// The outcomes of all faults.
pub(crate) struct MutationReport<'a> {
    accepted: &'a AcceptedMutants,
    modules: BTreeMap<String, VerdictCounts>,
    /// The keys of those that survived without a reason, and of those that took too long.
    pub(crate) survivors: Vec<String>,
    timed_out: Vec<String>,
    /// Entries of the file that a caught fault fits, and those that one fits that was not caught.
    caught: BTreeSet<&'a str>,
    needed: BTreeSet<&'a str>,
}

impl<'a> MutationReport<'a> {
    pub(crate) fn new(accepted: &'a AcceptedMutants) -> Self {
        let (caught, needed) = (BTreeSet::new(), BTreeSet::new());
        let (survivors, timed_out) = (Vec::new(), Vec::new());
        Self { accepted, modules: BTreeMap::new(), survivors, timed_out, caught, needed }
    }

    pub(crate) fn note(&mut self, fault: &CodeMutant, verdict: MutantVerdict) {
        let counts = self.modules.entry(fault.module()).or_default();
        let entry = fault.accepted(self.accepted);
        match (verdict, entry) {
            (MutantVerdict::Caught, _) => counts.caught += 1,
            (MutantVerdict::TimedOut, _) => {
                counts.timed_out += 1;
                self.timed_out.push(fault.key());
            }
            (MutantVerdict::Unviable, _) => counts.unviable += 1,
            (MutantVerdict::Survived, Some(_)) => counts.written_down += 1,
            (MutantVerdict::Survived, None) => {
                counts.survived += 1;
                self.survivors.push(fault.key());
            }
        }
        if verdict == MutantVerdict::Survived {
            self.needed.extend(entry);
        } else {
            self.caught.extend(entry);
        }
    }

    /// Prints the table, and the entries that are no longer needed.
    pub(crate) fn print(&self) {
        println!("\n== tried  caught  timed out  written down  survived    share  do not compile");
        let mut all = VerdictCounts::default();
        for (module, counts) in &self.modules {
            println!("{}", row(module, *counts));
            all.caught += counts.caught;
            all.timed_out += counts.timed_out;
            all.written_down += counts.written_down;
            all.survived += counts.survived;
            all.unviable += counts.unviable;
        }
        println!("{}", row("in all", all));
        for key in &self.timed_out {
            println!("took too long, which counts as noticed: {key}");
        }
        for entry in self.caught.difference(&self.needed) {
            println!("a test notices it by now, take it out of {FILE}: {entry}");
        }
    }

    /// # Errors
    /// When a fault survived without a reason; the reason names them, and what to do.
    pub(crate) fn verdict(&self) -> Result<(), TaskError> {
        if self.survivors.is_empty() {
            return Ok(());
        }
        Err(TaskError(format!(
            "no test notices {} single faults:\n{}\nfor each, write a test that fails with it and \
             look at its neighbours (`cargo xtask mutants --again` tries these again); where \
             nobody could notice, write it down in {FILE}, with the reason in an indented \
             sentence below",
            self.survivors.len(),
            self.survivors.join("\n")
        )))
    }
}

/// A line of the table. The share is of those that survived without a reason.
fn row(name: &str, counts: VerdictCounts) -> String {
    let VerdictCounts { caught, timed_out, written_down, survived, unviable } = counts;
    let tried = caught + timed_out + written_down + survived;
    let per_mille = (survived * 1_000).checked_div(tried).unwrap_or(0);
    format!(
        "{tried:8}{caught:8}{timed_out:11}{written_down:14}{survived:10}{:6}.{} %{unviable:16}  \
         {name}",
        per_mille / 10,
        per_mille % 10
    )
}

/// Reads a list that cargo-mutants has left, a line each.
pub(super) fn lines(file: &Path) -> Result<Vec<String>, TaskError> {
    let text = fs::read_to_string(file)
        .map_err(|error| TaskError(format!("cannot read {}: {error}", file.display())))?;
    Ok(text.lines().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::super::fault::numbered;
    use super::*;

    #[test]
    fn survivors_fail_unless_they_are_written_down() {
        let faults = numbered(
            "core/src/a/b.rs:1:1: replace f with ()\n\
             core/src/a/b.rs:2:1: replace g with ()\n\
             core/src/a/b.rs:3:1: replace h with ()\n",
        );
        let entry = |name: &str| format!("core/src/a/b.rs: replace {name} with ()");
        let accepted = ["f", "h"].map(|name| (entry(name), "Only speed.".to_owned())).into();
        let mut report = MutationReport::new(&accepted);
        let verdicts = [MutantVerdict::Survived, MutantVerdict::Survived, MutantVerdict::Caught];
        for (fault, verdict) in faults.iter().zip(verdicts) {
            report.note(fault, verdict);
        }
        assert_eq!(report.survivors, [entry("g")]);
        assert!(report.verdict().is_err_and(|TaskError(why)| why.contains(&entry("g"))));
        let gone: Vec<_> = report.caught.difference(&report.needed).collect();
        assert_eq!(gone, [&entry("h").as_str()]);
        let counts = report.modules.get("core/a").copied().unwrap_or_default();
        let row = row("core/a", counts);
        let words: Vec<&str> = row.split_whitespace().collect();
        assert_eq!(words, ["3", "1", "0", "1", "1", "33.3", "%", "0", "core/a"]);
    }
}
