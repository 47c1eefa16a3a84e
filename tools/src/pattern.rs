//! Patterns of paths: `*`, `**`, `?`, `[a-z]`, `{a,b}`. Names may hold brackets, too, such as those
//! of routes (`app/[id]`): a pattern that names an existing path means that path.

use crate::{
    failure_texts,
    files::WorkspaceFiles,
    path::{WorkspacePath, lower_case},
    walk::walk,
};
use fast_glob::{glob_match, validate};
use innerloop_json::{IntoList, quoted};
use innerloop_types::action::{HiddenFiles, Outcome, ToolError};
use std::{borrow::Cow, ops::ControlFlow};

/// The maximum number of combinations of alternatives that a pattern's braces may have: each path
/// may be compared with all of them.
const MAX_ALTERNATIVES: usize = 1000;

/// A pattern of paths below a folder. Without a `/` it matches names at any depth.
#[derive(Clone, Debug)]
pub(crate) struct PathPattern {
    glob: String,
    /// The readings in which brackets stand for themselves, until it is known which one is meant.
    named: Vec<String>,
    names_only: bool,
    ignore_case: bool,
}

impl PathPattern {
    /// Parses a pattern that the model gave.
    pub(crate) fn parse(text: &str) -> Result<Self, Outcome> {
        let invalid = |why: &str| {
            let message = format!("The pattern {} is invalid: {why}.", quoted(text));
            failure_texts::error(ToolError::InvalidArguments, message)
        };
        let negations = text.len() - text.trim_start_matches('!').len();
        let (sign, rest) = text.split_at_checked(negations).unwrap_or(("", text));
        let rest = rest.strip_prefix("./").unwrap_or(rest).trim_start_matches('/');
        if rest.is_empty() {
            return Err(invalid("it is empty; give for example **/*.ts"));
        }
        validate(rest).map_err(|error| invalid(&error.to_string()))?;
        if alternatives(rest) > MAX_ALTERNATIVES {
            return Err(invalid("it has more than 1,000 alternatives"));
        }
        // A folder's name with a slash at its end means everything below it.
        let rest = match rest.ends_with('/') {
            true => Cow::Owned(format!("{rest}**")),
            false => Cow::Borrowed(rest),
        };
        let names_only = !rest.contains('/');
        // First all brackets as parts of names, then only those that cannot be a class: a pattern
        // may have both kinds.
        let mut named = Vec::new();
        for is_named in [|_: &str| true, |inside: &str| !is_class(inside)] {
            let glob = format!("{sign}{}", with_names(&rest, is_named));
            if glob.len() > sign.len() + rest.len() && !named.contains(&glob) {
                named.push(glob);
            }
        }
        Ok(Self { names_only, glob: format!("{sign}{rest}"), named, ignore_case: false })
    }

    /// Returns the same pattern for letters of any case.
    pub(crate) fn ignoring_case(self) -> Self {
        // The matcher has no such option, so both sides are put in lower case.
        let named = self.named.iter().map(|glob| lower_case(glob)).into_list();
        Self { glob: lower_case(&self.glob), named, ignore_case: true, ..self }
    }

    /// Takes the reading that names `path`, and returns whether there is one.
    fn settle_by(&mut self, path: &WorkspacePath, folder: &WorkspacePath) -> bool {
        let names = |glob: &String| self.reads(glob, path, folder);
        let Some(meant) = self.named.iter().position(names) else { return false };
        self.glob = self.named.swap_remove(meant);
        self.named.clear();
        true
    }

    /// Returns whether the pattern matches `path`, seen from `folder`.
    pub(crate) fn matches(&self, path: &WorkspacePath, folder: &WorkspacePath) -> bool {
        self.reads(&self.glob, path, folder)
    }

    /// Returns whether that reading of the pattern matches `path`, seen from `folder`.
    fn reads(&self, glob: &str, path: &WorkspacePath, folder: &WorkspacePath) -> bool {
        let subject = if self.names_only { path.name() } else { path.relative_to(folder) };
        if self.ignore_case {
            glob_match(glob, lower_case(subject))
        } else {
            glob_match(glob, subject)
        }
    }
}

/// Settles what patterns mean below `folder`: brackets stand for themselves if a file or folder has
/// such a name. One walk settles all of them.
pub(crate) fn settle<'p>(
    patterns: impl IntoIterator<Item = &'p mut PathPattern>,
    files: &impl WorkspaceFiles,
    folder: &WorkspacePath,
    hidden: HiddenFiles,
) {
    let patterns = patterns.into_iter().filter(|pattern| !pattern.named.is_empty());
    let mut patterns: Vec<&mut PathPattern> = patterns.into_list();
    if patterns.is_empty() {
        return;
    }
    // A folder that does not exist is reported by the search itself.
    let _ = walk(files, folder, hidden, &mut |path| {
        // A walk visits files only, and a pattern may name a folder above one.
        let mut above = Some(path.clone());
        while let Some(here) = above.filter(|here| here != folder) {
            patterns.retain_mut(|pattern| !pattern.settle_by(&here, folder));
            above = here.parent();
        }
        if patterns.is_empty() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
}

/// Returns a pattern in which brackets stand for themselves, unless they are certainly a class of
/// characters: `[a-z0-9]` and `[!a]` are classes, `[id]`, `[...slug]` and `[date-slug]` are names.
#[must_use]
pub fn with_bracketed_names(glob: &str) -> Cow<'_, str> {
    with_names(glob, |inside| !is_class(inside))
}

/// Returns the pattern with those brackets escaped whose inside is a name.
fn with_names(glob: &str, is_name: impl Fn(&str) -> bool) -> Cow<'_, str> {
    if !glob.contains('[') {
        return Cow::Borrowed(glob);
    }
    let mut out = String::with_capacity(glob.len() + 8);
    let mut rest = glob;
    while let Some(c) = rest.chars().next() {
        let (taken, behind) = rest.split_at(c.len_utf8());
        let (group, behind) = match c {
            '\\' => {
                let next = behind.chars().next().map_or(0, char::len_utf8);
                (rest.get(..1 + next).unwrap_or(rest), behind.get(next..).unwrap_or_default())
            }
            '[' => match inside(behind) {
                Some(inside) if is_name(inside) => {
                    push_escaped(inside, &mut out);
                    ("", behind.get(inside.len() + 1..).unwrap_or_default())
                }
                Some(inside) => {
                    let end = inside.len() + 2;
                    (rest.get(..end).unwrap_or(rest), rest.get(end..).unwrap_or_default())
                }
                None => (taken, behind),
            },
            _ => (taken, behind),
        };
        out.push_str(group);
        rest = behind;
    }
    Cow::Owned(out)
}

/// Returns the inside of brackets, behind the opening one. A closing bracket that comes first
/// belongs to it.
fn inside(text: &str) -> Option<&str> {
    let signs = text.len() - text.trim_start_matches(['!', '^']).len();
    let signs = signs.min(1);
    let first = usize::from(text.get(signs..)?.starts_with(']'));
    let end = text.get(signs + first..)?.find(']')?;
    text.get(..signs + first + end)
}

/// Appends brackets and their inside, escaped so that all brackets stand for themselves.
fn push_escaped(inside: &str, out: &mut String) {
    out.push_str("\\[");
    let mut is_escaped = false;
    for c in inside.chars() {
        if matches!(c, '[' | ']') && !is_escaped {
            out.push('\\');
        }
        is_escaped = c == '\\' && !is_escaped;
        out.push(c);
    }
    out.push_str("\\]");
}

/// Returns whether the inside of brackets is certainly a class of characters: ranges of letters or
/// digits alone, or everything except something.
fn is_class(inside: &str) -> bool {
    if inside.starts_with(['!', '^']) {
        return true;
    }
    let letters: Vec<char> = inside.chars().into_list();
    let is_range = |from: char, to: char| {
        let kinds = [char::is_ascii_digit, char::is_ascii_lowercase, char::is_ascii_uppercase];
        from < to && kinds.iter().any(|kind| kind(&from) && kind(&to))
    };
    let (mut at, mut ranges) = (0, 0);
    while let Some(c) = letters.get(at) {
        match (letters.get(at + 1), letters.get(at + 2)) {
            (Some('-'), Some(to)) if is_range(*c, *to) => {
                ranges += 1;
                at += 3;
            }
            _ if matches!(c, '_' | '-' | '.') => at += 1,
            _ => return false,
        }
    }
    ranges > 0
}

/// Returns how many combinations of alternatives the braces have at most.
fn alternatives(glob: &str) -> usize {
    let mut product = 1_usize;
    let mut open: Vec<usize> = Vec::new();
    let mut escaped = false;
    for byte in glob.bytes() {
        match byte {
            _ if escaped => {
                escaped = false;
                continue;
            }
            b'\\' => escaped = true,
            b'{' => open.push(1),
            b',' => {
                if let Some(count) = open.last_mut() {
                    *count += 1;
                }
            }
            b'}' => product = product.saturating_mul(open.pop().unwrap_or(1)),
            _ => {}
        }
    }
    product
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail at once")]

    use super::*;

    #[test]
    fn brackets_stand_for_themselves_unless_they_are_a_class_beyond_doubt() {
        for (pattern, meant) in [
            ("app/[id]/**", r"app/\[id\]/**"),
            ("app/[...slug]/page.tsx", r"app/\[...slug\]/page.tsx"),
            ("app/[[...slug]]/x", r"app/\[\[...slug\]]/x"),
            ("[date-slug].ts", r"\[date-slug\].ts"),
            ("[user-id]/[a-z]*", r"\[user-id\]/[a-z]*"),
            ("*.[ch]", r"*.\[ch\]"),
            ("[A-Za-z0-9_]", "[A-Za-z0-9_]"),
            ("[!a]/[^b]", "[!a]/[^b]"),
            ("v[0-9].[z-a]", r"v[0-9].\[z-a\]"),
            (r"\[id\]/[x]", r"\[id\]/\[x\]"),
            ("größe/[ü]", r"größe/\[ü\]"),
            ("[]a]", r"\[\]a\]"),
            ("a]b", "a]b"),
        ] {
            assert_eq!(with_bracketed_names(pattern), meant, "{pattern}");
            validate(meant).unwrap();
        }
    }
}
