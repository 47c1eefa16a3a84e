//! New lines of a hunk whose old lines were found with other indentation than the file's: what
//! most of the old lines lack, or have too much, is added to them, or taken away.

use innerloop_json::{Map, joined};

/// How the file may spell the patch's indentation: as it is, with tabs, or with spaces.
const SPELLINGS: [(&str, &str); 7] = [
    ("\t", "\t"),
    ("    ", "\t"),
    ("  ", "\t"),
    ("        ", "\t"),
    ("\t", "    "),
    ("\t", "  "),
    ("\t", "        "),
];

/// Wider lines say nothing, and stay as they are: each new line would cost as much.
const MAX_BYTES: usize = 100;

/// From the indentation of a patch to a file's.
#[derive(Default)]
pub(crate) struct Shift {
    spelling: (&'static str, &'static str),
    /// What is taken away in front.
    removed: String,
    /// What is put in front.
    added: String,
    /// How many lines say so, and what counts among equals.
    weight: u64,
    votes: Map<u64>,
}

impl Shift {
    /// Counts an old line of the hunk and the line of the file that it was found to be. What most
    /// of them say is done, in the spelling in which most do; among equals, what the removed lines
    /// say, as new lines replace them, then nothing, then what was said first.
    pub(crate) fn count(&mut self, is_removed: bool, given: &str, there: &str) {
        let (Some((given, _)), Some((there, _))) = (split(given), split(there)) else { return };
        for spelling in SPELLINGS {
            let given = given.replace(spelling.0, spelling.1);
            let (removed, added) = match there.strip_suffix(given.as_str()) {
                Some(added) => ("", added),
                None => match given.strip_suffix(there) {
                    Some(removed) => (removed, ""),
                    None => continue,
                },
            };
            // A line of context that is one space short lacks its mark, and says nothing of others.
            if !is_removed && added == " " {
                continue;
            }
            let name = joined(&[spelling.0, spelling.1, "-", removed, "+", added], "");
            let is_none = removed.len() + added.len() == 0;
            let votes = self.votes.get(&name).copied().unwrap_or(u64::from(is_none));
            let weight = votes + (1 << 32) + (u64::from(is_removed) << 1);
            self.votes.insert(name, weight);
            if weight > self.weight {
                (self.weight, self.spelling) = (weight, spelling);
                (self.removed, self.added) = (removed.into(), added.into());
            }
        }
    }

    /// A new line as it is to stand in the file.
    pub(crate) fn apply(&self, line: &str) -> String {
        let Some((given, rest)) = split(line).filter(|_| self.weight > 0) else {
            return line.to_owned();
        };
        let given = given.replace(self.spelling.0, self.spelling.1);
        let kept = given.strip_prefix(self.removed.as_str()).unwrap_or(&given);
        joined(&[self.added.as_str(), kept, rest], "")
    }
}

/// A line's indentation and the rest; `None` if it is blank, or too wide.
fn split(line: &str) -> Option<(&str, &str)> {
    let end = line.bytes().take(MAX_BYTES).position(|byte| !matches!(byte, b' ' | b'\t'))?;
    line.split_at_checked(end)
}
