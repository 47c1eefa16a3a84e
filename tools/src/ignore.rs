//! Which files `.gitignore` files name, with git's rules: the last rule that matches decides, a
//! file further down overrides those above, and everything in an ignored folder stays ignored.

use crate::path::WorkspacePath;
use fast_glob::{glob_match, validate};
use innerloop_json::joined;
use std::{borrow::Cow, rc::Rc};

/// Most rules that are obeyed of a `.gitignore` file and those above it: each costs time for each
/// file.
pub const MAX_RULES: usize = 10_000;

/// Longest rule, in bytes: no path is longer.
const MAX_RULE_BYTES: usize = 4096;

/// The notice that is given where there are more than [`MAX_RULES`].
pub(crate) const TOO_MANY_RULES: &str =
    "[The .gitignore files have more than 10,000 rules. Those behind them are not obeyed.]";

/// The rules of one `.gitignore` file and of those above it.
#[derive(Debug)]
pub(crate) struct IgnoreRuleSet {
    folder: WorkspacePath,
    rules: Vec<IgnoreRule>,
    above: Option<Rc<IgnoreRuleSet>>,
    /// The number of rules that may follow further down.
    room: usize,
    /// True if there were more than are obeyed.
    pub(crate) is_cut: bool,
}

/// One line of a `.gitignore` file.
#[derive(Debug)]
pub struct IgnoreRule {
    /// The pattern of what it names.
    pub glob: String,
    /// True if `glob` holds no special character, so that it is compared as it is.
    pub literal: bool,
    /// True if it begins with `!`: what it matches is not ignored.
    pub negated: bool,
    /// The text that `glob` is compared with.
    pub scope: RuleScope,
    target: RuleTarget,
}

/// The text that a rule's pattern is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleScope {
    /// The name alone, at any depth.
    Name,
    /// The path from the folder of the `.gitignore` file on.
    Path,
}

/// The kind of entries that a rule applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RuleTarget {
    Any,
    Folders,
}

impl IgnoreRuleSet {
    /// The rules of the `.gitignore` file of `folder`, on top of those `above`.
    pub(crate) fn parse(folder: WorkspacePath, text: &str, above: Option<Rc<Self>>) -> Rc<Self> {
        let (most, was_cut) = above.as_ref().map_or((MAX_RULES, false), |it| (it.room, it.is_cut));
        let (rules, is_cut) = IgnoreRule::first(text, most);
        let room = most - rules.len();
        Rc::new(Self { folder, rules, above, room, is_cut: was_cut || is_cut })
    }

    /// Returns whether a file or folder is ignored, whatever becomes of the folders above it.
    pub(crate) fn ignores(&self, path: &WorkspacePath, is_folder: bool) -> bool {
        let mut next = Some(self);
        while let Some(rules) = next {
            let below = path.relative_to(&rules.folder);
            let mut latest_first = rules.rules.iter().rev();
            if let Some(rule) = latest_first.find(|r| r.matches(path.name(), below, is_folder)) {
                return !rule.negated;
            }
            next = rules.above.as_deref();
        }
        false
    }
}

impl IgnoreRule {
    /// Reads the first rules of a `.gitignore` file, and says whether there are more than `most`;
    /// the later of two that match decides. A byte order mark before the first is no part of it,
    /// as for git.
    #[must_use]
    pub fn first(text: &str, most: usize) -> (Vec<Self>, bool) {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut all = text.lines().filter_map(Self::parse);
        let first = all.by_ref().take(most).collect();
        (first, all.next().is_some())
    }

    /// Reads a line; `None` if it holds no rule.
    fn parse(line: &str) -> Option<Self> {
        let line = trim_end(line);
        if line.starts_with('#') || line.len() > MAX_RULE_BYTES {
            return None;
        }
        let (negated, line) = match line.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, line),
        };
        let (target, line) = match line.strip_suffix('/') {
            Some(rest) => (RuleTarget::Folders, rest),
            None => (RuleTarget::Any, line),
        };
        let scope = if line.contains('/') { RuleScope::Path } else { RuleScope::Name };
        let line = line.strip_prefix('/').unwrap_or(line);
        if line.is_empty() {
            return None;
        }
        let literal = !line.contains(['*', '?', '[', '\\']);
        let glob = if literal { line.to_owned() } else { escape(line) };
        // Git skips a pattern that does not parse, too.
        (literal || validate(&glob).is_ok()).then_some(Self {
            glob,
            literal,
            negated,
            scope,
            target,
        })
    }

    /// Returns whether it names a file or folder: its name, and its path from the folder on that
    /// the `.gitignore` file stands in.
    #[must_use]
    pub fn matches(&self, name: &str, below: &str, is_folder: bool) -> bool {
        if self.target == RuleTarget::Folders && !is_folder {
            return false;
        }
        let subject = match self.scope {
            RuleScope::Name => name,
            RuleScope::Path => below,
        };
        if self.literal { self.glob == subject } else { glob_match(&self.glob, subject) }
    }
}

/// The line without the spaces at its end, unless a backslash stands before them.
fn trim_end(line: &str) -> &str {
    let mut line = line;
    while let Some(rest) = line.strip_suffix([' ', '\t', '\r']) {
        if rest.ends_with('\\') {
            break;
        }
        line = rest;
    }
    line
}

/// Escapes what is special to the matcher but not to git: braces, a `!` at the start, and `**`
/// within a name.
fn escape(line: &str) -> String {
    let names: Vec<Cow<'_, str>> = line.split('/').map(single_stars).collect();
    let escaped = joined(&names, "/").replace('{', "\\{").replace('}', "\\}");
    if escaped.starts_with('!') { format!("\\{escaped}") } else { escaped }
}

fn single_stars(name: &str) -> Cow<'_, str> {
    if name.contains('\\') || !name.contains("**") {
        return Cow::Borrowed(name);
    }
    if name.bytes().all(|byte| byte == b'*') {
        return Cow::Borrowed("**");
    }
    let mut single = String::with_capacity(name.len());
    for c in name.chars() {
        if c != '*' || !single.ends_with('*') {
            single.push(c);
        }
    }
    Cow::Owned(single)
}
