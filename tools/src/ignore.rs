//! The files that `.gitignore` files name, by git's rules: the last rule that matches decides, a
//! file further down overrides those above it, and everything in an ignored folder stays ignored.
//! `walk` sees to the last one, since it does not enter such a folder.

use crate::path::WorkspacePath;
use fast_glob::{glob_match, validate};
use innerloop_json::{IntoList, joined};
use std::{borrow::Cow, rc::Rc};

/// The maximum number of rules of a `.gitignore` file and those above it that are obeyed: each one
/// costs time for each file.
pub const MAX_RULES: usize = 10_000;

/// The longest rule, in bytes: no path is longer.
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

    /// Returns whether the rules ignore a file or folder, without regard to the folders above it.
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
    /// Parses the first rules of a `.gitignore` file, and returns whether there are more than
    /// `most`. Of two that match, the later one decides. Like git, it ignores a byte order mark
    /// before the first.
    #[must_use]
    pub fn first(text: &str, most: usize) -> (Vec<Self>, bool) {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut all = text.lines().filter_map(Self::parse);
        let first = all.by_ref().take(most).into_list();
        (first, all.next().is_some())
    }

    /// Parses a line; `None` if it holds no rule.
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
        // A slash at the beginning counts here, one at the end does not, so this comes between the
        // two cuts.
        let scope = if line.contains('/') { RuleScope::Path } else { RuleScope::Name };
        let line = line.strip_prefix('/').unwrap_or(line);
        if line.is_empty() {
            return None;
        }
        // Most rules are plain names, and comparing is faster than matching.
        let literal = !line.contains(['*', '?', '[', '\\']);
        let glob = if literal { line.to_owned() } else { escape(line) };
        // Git, too, skips a pattern that does not parse.
        (literal || validate(&glob).is_ok()).then_some(Self {
            glob,
            literal,
            negated,
            scope,
            target,
        })
    }

    /// Returns whether the rule names a file or folder, given its name and its path from the folder
    /// of the `.gitignore` file on.
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

/// Returns the line without white space at its end, unless a backslash stands before that.
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
    let names: Vec<Cow<'_, str>> = line.split('/').map(single_stars).into_list();
    let escaped = joined(&names, "/").replace('{', "\\{").replace('}', "\\}");
    if escaped.starts_with('!') { format!("\\{escaped}") } else { escaped }
}

fn single_stars(name: &str) -> Cow<'_, str> {
    // A star behind a backslash stands for itself, so such a name is not touched.
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
