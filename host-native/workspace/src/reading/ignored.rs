//! The rules of `.gitignore` files, as the tools themselves understand them. Most rules are ruled
//! out by how a name begins or ends, before their pattern is compared; that must never rule out a
//! rule that matches.

use super::files::WorkspaceReader;
use innerloop_tools::{
    WorkspaceFiles, WorkspacePath,
    parts::{IgnoreRule, MAX_RULES, RuleScope},
};
use innerloop_types::action::HiddenFiles;
use std::sync::Arc;

/// The rules of one `.gitignore` file and of those above it.
#[derive(Debug)]
pub(super) struct IgnoreRules {
    folder: WorkspacePath,
    rules: Vec<IndexedRule>,
    above: Option<Arc<Self>>,
    /// The number of rules that may still be added further down.
    room: usize,
    /// True if there were more rules than are obeyed.
    pub(super) is_cut: bool,
}

/// A rule, and the start and end of every name that it matches.
#[derive(Debug)]
struct IndexedRule {
    rule: IgnoreRule,
    begins: String,
    ends: String,
}

/// Reads the rules of the folders above `folder`.
pub(super) fn rules_above(
    reader: &WorkspaceReader,
    folder: &WorkspacePath,
    hidden: HiddenFiles,
) -> Option<Arc<IgnoreRules>> {
    let mut rules = None;
    let mut above = WorkspacePath::root();
    for name in folder.names().filter(|_| hidden == HiddenFiles::Ignored) {
        if let Ok(text) = reader.read(&above.join(".gitignore")) {
            rules = Some(IgnoreRules::parse(above.clone(), &text, rules));
        }
        above = above.join(name);
    }
    rules
}

impl IgnoreRules {
    /// Parses the `.gitignore` file of `folder`, whose rules come before those `above`.
    pub(super) fn parse(folder: WorkspacePath, text: &[u8], above: Option<Arc<Self>>) -> Arc<Self> {
        // Each rule is compared with each file, so that the limit holds for a file's rules and all
        // those above it together.
        let (most, was_cut) = above.as_ref().map_or((MAX_RULES, false), |it| (it.room, it.is_cut));
        let (rules, is_cut) = IgnoreRule::first(&String::from_utf8_lossy(text), most);
        let room = most - rules.len();
        let rules = rules.into_iter().map(IndexedRule::of).collect();
        Arc::new(Self { folder, rules, above, room, is_cut: was_cut || is_cut })
    }

    /// Returns whether a file or folder is ignored by its own path, without a look at the folders
    /// above it.
    pub(super) fn ignores(&self, path: &WorkspacePath, is_folder: bool) -> bool {
        let name = path.name();
        let mut next = Some(self);
        while let Some(Self { folder, rules, above, .. }) = next {
            let below = path.relative_to(folder);
            // As in git, the deepest file that has a matching rule decides, and in it the last one.
            let mut latest_first = rules.iter().rev();
            if let Some(known) = latest_first.find(|known| known.names(name, below, is_folder)) {
                return !known.rule.negated;
            }
            next = above.as_deref();
        }
        false
    }
}

impl IndexedRule {
    fn of(rule: IgnoreRule) -> Self {
        const SPECIAL: [char; 8] = ['*', '?', '[', ']', '{', '}', '\\', '!'];
        let glob = rule.glob.as_str();
        let (mut begins, mut ends) = ("", "");
        if !rule.literal {
            begins = glob.split(SPECIAL).next().unwrap_or_default();
            ends = glob.rsplit(SPECIAL).next().unwrap_or_default();
        }
        // `**` may match nothing, together with the slash beside it: `a/**/b` matches `a/b`.
        let begins = begins.trim_end_matches('/').to_owned();
        let ends = ends.trim_start_matches('/').to_owned();
        Self { begins, ends, rule }
    }

    fn names(&self, name: &str, below: &str, is_folder: bool) -> bool {
        let subject = match self.rule.scope {
            RuleScope::Name => name,
            RuleScope::Path => below,
        };
        // Checked first, since some processors compare two empty texts very slowly.
        (self.ends.is_empty() || subject.ends_with(&self.ends))
            && (self.begins.is_empty() || subject.starts_with(&self.begins))
            && self.rule.matches(name, below, is_folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random rules and paths: what is ruled out beforehand is not what a rule names.
    #[test]
    fn rules_name_what_the_tools_say_that_they_name() {
        const PIECES: &[&str] = &[
            "a", "b", "/", "*", "**", "?", "[ab]", "[!a]", ".", "{", "}", "!", "\\", ".c", "a/",
            "-",
        ];
        let mut state = 9_u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from(state >> 33).unwrap_or(0) % below
        };
        let (mut named, mut compared) = (0, 0);
        for _ in 0..40_000 {
            let line: String =
                (0..=random(5)).filter_map(|_| PIECES.get(random(PIECES.len()))).copied().collect();
            for rule in IgnoreRule::first(&line, 1).0 {
                let known = IndexedRule::of(rule);
                for _ in 0..8 {
                    let below: String = (0..=random(4))
                        .filter_map(|_| ["a", "b", "/", ".", "{", "!", "a.c"].get(random(7)))
                        .copied()
                        .collect();
                    let name = below.rsplit('/').next().unwrap_or_default();
                    let expected = known.rule.matches(name, &below, true);
                    assert_eq!(known.names(name, &below, true), expected, "{line:?} {below:?}");
                    compared += 1;
                    named += usize::from(expected);
                }
            }
        }
        assert!(compared > 100_000 && named > 10_000, "{compared} {named}");
    }
}
