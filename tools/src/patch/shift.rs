//! New lines of a hunk whose old lines were found with other indentation than the file's: what
//! most of the old lines lack, or have too much, is added to them, or taken away.

use crate::edit::indentation;
use innerloop_json::Map;

/// How the file may spell the patch's indentation: as it is, with tabs, or with spaces.
const SPELLINGS: [(&str, &str); 9] = [
    ("\t", "\t"),
    ("    ", "\t"),
    ("  ", "\t"),
    ("        ", "\t"),
    ("   ", "\t"),
    ("\t", "    "),
    ("\t", "  "),
    ("\t", "        "),
    ("\t", "   "),
];

/// What is longer is no step between levels, and each new line would cost as much.
const MAX_STEP_BYTES: usize = 100;

/// An old line of a hunk, and the line of the file that it was found to be.
pub(crate) struct Pair<'a> {
    pub(crate) is_removed: bool,
    pub(crate) given: &'a str,
    pub(crate) there: &'a str,
}

/// From the indentation of a patch to a file's.
#[derive(Default)]
pub(crate) struct Shift {
    spelling: (&'static str, &'static str),
    /// What is put in front, behind a `+`, or taken away, behind a `-`.
    step: String,
}

impl Shift {
    /// The commonest step of the pairs, in the spelling that has it most often; of those that are
    /// equally common, the one of most removed lines, as new lines replace them, then none at all,
    /// then the first.
    pub(crate) fn of(pairs: &[Pair<'_>]) -> Self {
        let mut best = Self::default();
        let mut most = (0, 0, false);
        for spelling in SPELLINGS {
            let steps: Vec<(String, bool)> =
                pairs.iter().filter_map(|pair| pair.step(spelling)).collect();
            let mut votes: Map<(u32, u32)> = Map::new();
            for (step, is_removed) in &steps {
                let (all, removed) = votes.get(step).copied().unwrap_or_default();
                votes.insert(step.clone(), (all + 1, removed + u32::from(*is_removed)));
            }
            for (step, _) in steps {
                let (all, removed) = votes.get(&step).copied().unwrap_or_default();
                let rank = (all, removed, step == "+");
                if rank > most {
                    (most, best) = (rank, Self { spelling, step });
                }
            }
        }
        best
    }

    /// A new line as it is to stand in the file.
    pub(crate) fn apply(&self, line: &str) -> String {
        let given = indentation(line);
        let rest = line.strip_prefix(given).unwrap_or_default();
        let spelled = given.replace(self.spelling.0, self.spelling.1);
        if let Some(added) = self.step.strip_prefix('+') {
            if !rest.trim().is_empty() {
                return [added, &spelled, rest].concat();
            }
        } else if let Some(removed) = self.step.strip_prefix('-') {
            return [spelled.strip_prefix(removed).unwrap_or(&spelled), rest].concat();
        }
        line.to_owned()
    }
}

impl Pair<'_> {
    /// What the line of the file has more, or less, than the one of the patch in that spelling;
    /// and whether the line goes.
    fn step(&self, (from, to): (&str, &str)) -> Option<(String, bool)> {
        let there = indentation(self.there);
        let given = indentation(self.given).replace(from, to);
        let step = match there.strip_suffix(given.as_str()) {
            Some(added) => ["+", added].concat(),
            None => ["-", given.strip_suffix(there)?].concat(),
        };
        // A line of context that is one space short lacks its mark, and says nothing of others.
        let counts = (self.is_removed || step != "+ ") && step.len() <= MAX_STEP_BYTES;
        counts.then_some((step, self.is_removed))
    }
}
