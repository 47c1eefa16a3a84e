//! A single fault by its name, which moves with the lines, and by its key, which does not; and the
//! file of those that are accepted, each with its reason.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::failure::TaskError;

/// The file of faults that no test can notice.
pub(crate) const FILE: &str = "tests/mutants.txt";

/// A single fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CodeMutant {
    /// Its name: `FILE:LINE:COLUMN: CHANGE in FUNCTION`.
    pub(crate) name: String,
    /// Which of equal changes in the file it is, counted from 1, and how many there are.
    nth: (usize, usize),
}

/// Faults that nobody can notice, with the reasons.
pub(crate) type AcceptedMutants = BTreeMap<String, String>;

/// The faults of a list, a name each line, in which all of a file stand.
pub(crate) fn numbered(list: &str) -> Vec<CodeMutant> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut faults = Vec::new();
    for name in list.lines().filter(|line| split(line).is_some()) {
        let fault = CodeMutant { name: name.to_owned(), nth: (0, 0) };
        let count = counts.entry(fault.change()).or_default();
        *count += 1;
        faults.push(CodeMutant { nth: (*count, 0), ..fault });
    }
    for fault in &mut faults {
        fault.nth.1 = counts.get(&fault.change()).copied().unwrap_or_default();
    }
    faults
}

/// A name's file, and its change.
fn split(name: &str) -> Option<(&str, &str)> {
    let (place, change) = name.split_once(": ")?;
    let (file, _) = place.split_once(':')?;
    file.ends_with(".rs").then_some((file, change))
}

impl CodeMutant {
    /// The file, from the workspace's root on.
    pub(crate) fn file(&self) -> &str {
        split(&self.name).map_or("", |(file, _)| file)
    }

    /// The crate and the module in it, as `core/machine`.
    pub(crate) fn module(&self) -> String {
        let module = self.file().replacen("/src/", "/", 1);
        let steps: Vec<&str> = module.trim_end_matches(".rs").split('/').take(2).collect();
        steps.join("/")
    }

    /// The file and the change, without the line: equal changes of one function share it.
    fn change(&self) -> String {
        split(&self.name).map(|(file, change)| format!("{file}: {change}")).unwrap_or_default()
    }

    /// Returns what it is written down under: `FILE: CHANGE in FUNCTION`, and behind it ` #2` where
    /// it is the second of its kind there.
    pub(crate) fn key(&self) -> String {
        match self.nth {
            (nth, all) if all > 1 => format!("{} #{nth}", self.change()),
            _ => self.change(),
        }
    }

    /// Returns whether it is written down, alone or with all of its kind.
    pub(crate) fn accepted<'a>(&self, accepted: &'a AcceptedMutants) -> Option<&'a str> {
        let (key, _) = accepted
            .get_key_value(&self.key())
            .or_else(|| accepted.get_key_value(&self.change()))?;
        Some(key)
    }
}

/// Reads the accepted faults.
///
/// # Errors
/// When the file cannot be read, or a line has no place in it.
pub(crate) fn accepted(file: &Path) -> Result<AcceptedMutants, TaskError> {
    let text = fs::read_to_string(file)
        .map_err(|error| TaskError(format!("cannot read {}: {error}", file.display())))?;
    parse(&text).map_err(|reason| TaskError(format!("{}: {reason}", file.display())))
}

/// A fault stands in a line, its reason in indented lines below; `#` begins a comment.
fn parse(text: &str) -> Result<AcceptedMutants, String> {
    let mut accepted = AcceptedMutants::new();
    let mut last: Option<String> = None;
    let is_entry = |line: &&str| !line.starts_with('#') && !line.trim().is_empty();
    for line in text.lines().filter(is_entry) {
        let reason = line.trim_start();
        if reason == line {
            accepted.insert(line.trim_end().to_owned(), String::new());
            last = Some(line.trim_end().to_owned());
            continue;
        }
        let Some(said) = last.as_ref().and_then(|last| accepted.get_mut(last)) else {
            return Err(format!("{reason:?} stands under no fault"));
        };
        *said = format!("{said} {reason}").trim().to_owned();
    }
    match accepted.iter().find(|(_, reason)| reason.is_empty()) {
        Some((fault, _)) => Err(format!("{fault:?} has no reason")),
        None => Ok(accepted),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_changes_are_told_apart_by_number() {
        let list = "a/src/b/c.rs:3:9: replace > with < in f\n\
                    a/src/b/c.rs:4:9: replace > with < in f\n\
                    a/src/b/c.rs:7:1: replace f -> bool with true\n\
                    WARN something else\n";
        let faults = numbered(list);
        let keys: Vec<String> = faults.iter().map(CodeMutant::key).collect();
        let first = "a/src/b/c.rs: replace > with < in f";
        let last = "a/src/b/c.rs: replace f -> bool with true";
        assert_eq!(keys, [format!("{first} #1"), format!("{first} #2"), last.to_owned()]);
        assert_eq!(faults.iter().map(CodeMutant::module).collect::<Vec<_>>(), ["a/b"; 3]);
        let accepted = |text: &str| {
            faults
                .iter()
                .map(|fault| fault.accepted(&parse(text).unwrap_or_default()).is_some())
                .collect::<Vec<_>>()
        };
        assert_eq!(accepted(&format!("{first}\n  Both.\n")), [true, true, false]);
        assert_eq!(accepted(&format!("{first} #2\n  One.\n{last}\n  Too.")), [false, true, true]);
    }

    #[test]
    fn a_fault_without_reason_is_refused() {
        assert!(parse("# nothing yet\n").is_ok_and(|accepted| accepted.is_empty()));
        assert!(parse("a.rs: f\n").is_err());
        assert!(parse("  A reason.\n").is_err());
        let accepted = parse("a.rs: f\n  It says\n  the same.\n").unwrap_or_default();
        assert_eq!(accepted.get("a.rs: f").map(String::as_str), Some("It says the same."));
    }
}
