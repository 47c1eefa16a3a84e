//! A text while it is searched: positions, balanced JSON, and a bound on all the work, so that
//! no text costs more than its length.

use super::{super::lenient::is_json, schema::Schema};
use crate::{
    base::{steps, text::prefix},
    types::tool::ToolSpec,
};
use alloc::{rc::Rc, vec::Vec};
use innerloop_json::Map;

/// How many bytes may be searched in vain for each byte of the text.
const TRIES: usize = 24;

/// Within how many bytes a name and its tag end.
const NEAR: usize = 512;

/// How deep JSON may nest.
const DEPTH: usize = 127;

/// A text that is searched for calls. Positions are byte offsets on character borders.
#[derive(Debug)]
pub(super) struct Doc<'a> {
    body: &'a str,
    tools: &'a [ToolSpec],
    /// How many bytes may still be searched in vain.
    budget: usize,
    /// From where and to where each needle was searched last. There are few.
    searched: Vec<(&'static str, usize, Option<usize>)>,
    /// The schemas of the tools that were asked for.
    schemas: Map<Rc<Schema>>,
}

impl<'a> Doc<'a> {
    /// Nothing searched yet.
    pub(super) const fn new(body: &'a str, tools: &'a [ToolSpec]) -> Self {
        let budget = body.len().saturating_mul(TRIES).saturating_add(65_536);
        Self { body, tools, budget, searched: Vec::new(), schemas: Map::new() }
    }

    /// The same, with so many bytes to be searched in vain.
    pub(super) fn with_budget(self, budget: usize) -> Self {
        Self { budget, ..self }
    }

    /// How many bytes may still be searched in vain.
    pub(super) const fn budget(&self) -> usize {
        self.budget
    }

    /// The whole text.
    pub(super) const fn body(&self) -> &'a str {
        self.body
    }

    /// The text from `at` on.
    pub(super) fn rest(&self, at: usize) -> &'a str {
        self.body.get(at..).unwrap_or_default()
    }

    /// The text between two positions.
    pub(super) fn between(&self, from: usize, to: usize) -> &'a str {
        self.body.get(from..to).unwrap_or_default()
    }

    /// Behind `token`, if it stands at `at`.
    pub(super) fn after(&self, at: usize, token: &str) -> Option<usize> {
        self.rest(at).starts_with(token).then_some(at + token.len())
    }

    /// Behind the first of `tokens` that stands at `at`.
    pub(super) fn after_any(&self, at: usize, tokens: &[&str]) -> Option<usize> {
        tokens.iter().find_map(|token| self.after(at, token))
    }

    /// Behind white space.
    pub(super) fn skip_space(&self, at: usize) -> usize {
        let rest = self.rest(at);
        let space = rest.len() - rest.trim_start().len();
        steps::count(space);
        at + space
    }

    /// Where `needle` stands next, from `from` on.
    pub(super) fn find(&mut self, needle: &'static str, from: usize) -> Option<usize> {
        if let Some(&(_, since, found)) = self.searched.iter().find(|(known, ..)| *known == needle)
            && since <= from
            && found.is_none_or(|found| from <= found)
        {
            return found;
        }
        if self.budget == 0 {
            return None;
        }
        let found = find(self.rest(from), needle);
        self.spend(found.unwrap_or(self.body.len() - from.min(self.body.len())));
        let found = found.map(|at| from + at);
        self.searched.retain(|(known, ..)| *known != needle);
        self.searched.push((needle, from, found));
        found
    }

    /// Where one of these characters stands next, if that is near.
    pub(super) fn near(&self, from: usize, any: &[char]) -> Option<usize> {
        let near = prefix(self.rest(from), NEAR);
        let found = near.find(any);
        steps::count(found.unwrap_or(near.len()));
        found.map(|at| from + at)
    }

    /// Notes that `bytes` were searched in vain.
    pub(super) const fn spend(&mut self, bytes: usize) {
        self.budget = self.budget.saturating_sub(bytes);
    }

    /// Whether nothing more may be tried.
    pub(super) const fn is_spent(&self) -> bool {
        self.budget == 0
    }

    /// The JSON object or array that begins at `at`: where it ends, and its text.
    pub(super) fn json(&mut self, at: usize) -> Option<(usize, &'a str)> {
        if self.is_spent() {
            return None;
        }
        let rest = self.rest(at);
        let (length, is_json) = match balanced(rest) {
            Balanced::End(length) => (length, is_json(rest.get(..length).unwrap_or_default())),
            Balanced::Open => (rest.len(), false),
            Balanced::Broken(length) => (length, false),
        };
        if !is_json {
            self.spend(length);
            return None;
        }
        Some((at + length, self.between(at, at + length)))
    }

    /// Whether tools were given.
    pub(super) const fn has_tools(&self) -> bool {
        !self.tools.is_empty()
    }

    /// The tools.
    pub(super) const fn tools(&self) -> &'a [ToolSpec] {
        self.tools
    }

    /// Whether a tool of that name was given.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool.name == name)
    }

    /// The schema of a tool's arguments; an empty one if there is no such tool.
    pub(super) fn schema(&mut self, name: &str) -> Rc<Schema> {
        if let Some(schema) = self.schemas.get(name) {
            return Rc::clone(schema);
        }
        let Some(tool) = self.tools.iter().rev().find(|tool| tool.name == name) else {
            return Rc::default();
        };
        let schema = Rc::new(Schema::of(&tool.parameters));
        self.schemas.insert(name.into(), Rc::clone(&schema));
        schema
    }
}

/// Where `needle` stands in `text`.
pub(super) fn find(text: &str, needle: &str) -> Option<usize> {
    let found = text.find(needle);
    steps::count(found.unwrap_or(text.len()));
    found
}

/// Whether brackets and braces match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Balanced {
    /// They do, and end behind that many bytes.
    End(usize),
    /// Some are still open at the end of the text.
    Open,
    /// They never will; seen behind that many bytes.
    Broken(usize),
}

/// Follows brackets and braces from the beginning of `text` to where the first of them closes,
/// strings and their escapes respected. A byte that JSON cannot contain breaks it at once.
pub(super) fn balanced(text: &str) -> Balanced {
    let found = follow(text);
    steps::count(match found {
        Balanced::End(bytes) | Balanced::Broken(bytes) => bytes,
        Balanced::Open => text.len(),
    });
    found
}

fn follow(text: &str) -> Balanced {
    let mut open: Vec<u8> = Vec::new();
    let (mut in_string, mut escaped, mut wants_key) = (false, false, false);
    for (at, byte) in text.bytes().enumerate() {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        if wants_key && !byte.is_ascii_whitespace() {
            if byte != b'"' && byte != b'}' {
                return Balanced::Broken(at);
            }
            wants_key = false;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' if open.len() >= DEPTH => return Balanced::Broken(at),
            b'{' => {
                open.push(b'}');
                wants_key = true;
            }
            b'[' => open.push(b']'),
            b'}' | b']' => {
                if open.pop() != Some(byte) {
                    return Balanced::Broken(at);
                }
                if open.is_empty() {
                    return Balanced::End(at + 1);
                }
            }
            b',' | b':' | b'-' | b'+' | b'.' => {}
            _ if byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace() => {}
            _ => return Balanced::Broken(at),
        }
        if open.is_empty() {
            return Balanced::Broken(at);
        }
    }
    Balanced::Open
}
