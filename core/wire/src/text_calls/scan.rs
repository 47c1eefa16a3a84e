//! A text under search: positions, tokens, balanced JSON, and the budget for work in vain. All
//! formats are read through `SourceText`, so that no text costs more than its length, however many
//! formats are tried at its places.

use super::{super::lenient::is_json, schema::ArgumentSchema};
use alloc::{rc::Rc, vec::Vec};
use core::cell::Cell;
use innerloop_json::Map;
use innerloop_types::{message::ToolCall, steps, text::prefix, tool::ToolSpec};

/// The number of bytes that may be inspected for each byte of the text, besides the walk itself.
const TRIES: usize = 24;

/// The number of bytes that may be inspected in any text, however short.
pub(super) const AT_LEAST: usize = 4_096;

/// The number of bytes within which a name and its tag end.
// Without this bound, each opening that is never closed would cost a search to the text's end.
const NEAR: usize = 512;

/// The number of calls that are read from a text unless another limit is set.
pub(super) const MOST_CALLS: usize = 1_000;

/// The maximum nesting depth of JSON.
// As deep as the JSON reader goes: what is deeper cannot be read, and need not be followed.
const DEPTH: usize = 127;

/// A text that is searched for calls. Positions are byte offsets on character borders.
#[derive(Debug)]
pub(super) struct SourceText<'a> {
    body: &'a str,
    tools: &'a [ToolSpec],
    /// The number of calls that are read before there are too many.
    most_calls: usize,
    /// The number of bytes that may still be searched in vain.
    budget: Cell<usize>,
    /// The last search for each needle: where it began, and what it found. There are few needles.
    searched: Vec<(&'static str, usize, Option<usize>)>,
    /// The schemas that have been asked for, by the tool's name.
    schemas: Map<Rc<ArgumentSchema>>,
}

impl<'a> SourceText<'a> {
    /// Begins to search a text, with a budget that grows with its length.
    pub(super) fn new(body: &'a str, tools: &'a [ToolSpec]) -> Self {
        let budget = Cell::new(budget(body.len()).saturating_add(AT_LEAST));
        let (searched, schemas) = (Vec::new(), Map::new());
        Self { body, tools, most_calls: MOST_CALLS, budget, searched, schemas }
    }

    /// Sets the number of calls that are read before there are too many.
    pub(super) fn with_most_calls(self, most_calls: usize) -> Self {
        Self { most_calls, ..self }
    }

    /// Sets the number of bytes that may be inspected in vain, for a text that arrives in pieces.
    pub(super) fn with_budget(self, budget: usize) -> Self {
        Self { budget: Cell::new(budget), ..self }
    }

    /// Returns how many bytes may still be searched in vain.
    pub(super) const fn budget(&self) -> usize {
        self.budget.get()
    }

    /// The whole text.
    pub(super) const fn body(&self) -> &'a str {
        self.body
    }

    /// The text from `at` on.
    pub(super) fn rest(&self, at: usize) -> &'a str {
        self.body.get(at..).unwrap_or_default()
    }

    /// Returns the text between two positions and counts it as inspected.
    pub(super) fn between(&self, from: usize, to: usize) -> &'a str {
        let text = self.body.get(from..to).unwrap_or_default();
        self.read(text.len());
        text
    }

    /// Returns the position behind `token` if it stands at `at`.
    pub(super) fn after(&self, at: usize, token: &str) -> Option<usize> {
        steps::count(1);
        self.rest(at).starts_with(token).then_some(at + token.len())
    }

    /// Returns the position behind the first of `tokens` that stands at `at`.
    pub(super) fn after_any(&self, at: usize, tokens: &[&str]) -> Option<usize> {
        tokens.iter().find_map(|token| self.after(at, token))
    }

    /// Returns the position behind the character at `at`.
    pub(super) fn behind_one(&self, at: usize) -> usize {
        at + self.rest(at).chars().next().map_or(1, char::len_utf8)
    }

    /// Returns the position behind the white space at `at`, which is `at` if there is none.
    pub(super) fn skip_space(&self, at: usize) -> usize {
        let rest = self.rest(at);
        let space = rest.len() - rest.trim_start().len();
        self.read(space);
        at + space
    }

    /// Returns whether a backtick stands directly before `at`, so that what follows is quoted as
    /// code.
    pub(super) fn is_quoted(&self, at: usize) -> bool {
        at.checked_sub(1).and_then(|at| self.body.as_bytes().get(at)) == Some(&b'`')
    }

    /// Returns where `needle` stands next, from `from` on.
    pub(super) fn find(&mut self, needle: &'static str, from: usize) -> Option<usize> {
        // The last answer still holds if the new search begins between where that one began and
        // what it found. Without this, a token that never comes would be searched for from each
        // place anew, which is quadratic.
        if let Some(&(_, since, found)) = self.searched.iter().find(|(known, ..)| *known == needle)
            && since <= from
            && found.is_none_or(|found| from <= found)
        {
            return found;
        }
        if self.is_spent() {
            return None;
        }
        let found = find(self.rest(from), needle);
        self.spend(found.unwrap_or(self.body.len() - from.min(self.body.len())));
        let found = found.map(|at| from + at);
        self.searched.retain(|(known, ..)| *known != needle);
        self.searched.push((needle, from, found));
        found
    }

    /// Returns where one of these characters stands next, within the next 512 bytes.
    pub(super) fn near(&self, from: usize, any: &[char]) -> Option<usize> {
        let near = prefix(self.rest(from), NEAR);
        let found = near.find(any);
        self.read(found.unwrap_or(near.len()));
        found.map(|at| from + at)
    }

    /// Spends bytes that are inspected here, and counts them for the tests of costs.
    pub(super) fn read(&self, bytes: usize) {
        steps::count(bytes);
        self.spend(bytes);
    }

    /// Spends bytes whose inspection has been counted already.
    pub(super) fn spend(&self, bytes: usize) {
        self.budget.set(self.budget().saturating_sub(bytes));
    }

    /// Returns whether the budget is spent, so that nothing more may be tried.
    pub(super) const fn is_spent(&self) -> bool {
        self.budget() == 0
    }

    /// Returns where the JSON object or array at `at` ends, and its text; `None` if there is none.
    pub(super) fn json(&mut self, at: usize) -> Option<(usize, &'a str)> {
        if self.is_spent() {
            return None;
        }
        let rest = self.rest(at);
        // Brackets are matched before anything is parsed: that stops at the first byte that JSON
        // cannot have, and most text that begins like JSON is none.
        let found = balanced(rest);
        let length = found.seen(rest);
        self.spend(length);
        let json = rest.get(..length).unwrap_or_default();
        (matches!(found, BracketBalance::End(_)) && is_json(json)).then_some((at + length, json))
    }

    /// Returns whether another call may be read. One too many is, so that the caller notices.
    pub(super) const fn has_room(&self, calls: &[ToolCall]) -> bool {
        calls.len() <= self.most_calls
    }

    /// Returns whether tools were given.
    pub(super) const fn has_tools(&self) -> bool {
        !self.tools.is_empty()
    }

    /// The tools.
    pub(super) const fn tools(&self) -> &'a [ToolSpec] {
        self.tools
    }

    /// Returns whether a tool of that name was given.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.tool(name).is_some()
    }

    /// Returns the tool of that name; if several have it, the last one.
    fn tool(&self, name: &str) -> Option<&'a ToolSpec> {
        self.tools.iter().rev().find(|tool| {
            self.read(1);
            tool.name == name
        })
    }

    /// Returns the schema of a tool's arguments; an empty one if there is no such tool.
    pub(super) fn schema(&mut self, name: &str) -> Rc<ArgumentSchema> {
        // Read once for each tool: a text may call the same one a thousand times, and schemas are
        // long.
        if let Some(schema) = self.schemas.get(name) {
            return Rc::clone(schema);
        }
        let Some(tool) = self.tool(name) else { return Rc::default() };
        let schema = Rc::new(ArgumentSchema::of(&tool.parameters));
        self.schemas.insert(name.into(), Rc::clone(&schema));
        schema
    }
}

/// Returns how many bytes may be inspected in vain for so many bytes of text.
pub(super) const fn budget(bytes: usize) -> usize {
    bytes.saturating_mul(TRIES)
}

/// Returns where `needle` stands in `text`.
pub(super) fn find(text: &str, needle: &str) -> Option<usize> {
    let found = text.find(needle);
    steps::count(found.unwrap_or(text.len()));
    found
}

/// The result of matching brackets and braces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BracketBalance {
    /// They match, and end behind that many bytes.
    End(usize),
    /// Some are still open where the text ends.
    Open,
    /// They can never match, as that many bytes show.
    Broken(usize),
}

impl BracketBalance {
    /// Returns how many bytes of `text` were inspected to find that out.
    pub(super) const fn seen(self, text: &str) -> usize {
        match self {
            Self::End(bytes) | Self::Broken(bytes) => bytes,
            Self::Open => text.len(),
        }
    }
}

/// Follows brackets and braces from the beginning of `text` to where the first of them closes,
/// respecting strings and their escapes. A byte that JSON cannot contain breaks it at once.
pub(super) fn balanced(text: &str) -> BracketBalance {
    BracketTracker::default().follow(text)
}

/// The state of following brackets and braces while their text arrives; see [`balanced`].
#[derive(Clone, Debug, Default)]
pub(super) struct BracketTracker {
    /// The byte that closes each of those that are open.
    open: Vec<u8>,
    in_string: bool,
    escaped: bool,
    wants_key: bool,
    /// The position that it has reached.
    at: usize,
}

impl BracketTracker {
    /// Goes on in `text`, which must be the text of the call before, or begin with it.
    pub(super) fn follow(&mut self, text: &str) -> BracketBalance {
        let new = text.as_bytes().get(self.at..).unwrap_or_default();
        for &byte in new {
            steps::count(1);
            if let Some(found) = self.step(byte) {
                return found;
            }
            self.at += 1;
        }
        BracketBalance::Open
    }

    fn step(&mut self, byte: u8) -> Option<BracketBalance> {
        let broken = Some(BracketBalance::Broken(self.at));
        if self.in_string {
            self.in_string = self.escaped || byte != b'"';
            self.escaped = !self.escaped && byte == b'\\';
            return None;
        }
        // Behind a brace only a key or the closing brace may come. In code such as `{ return x; }`
        // this ends the search at once instead of at the brace that closes the function.
        if self.wants_key && !byte.is_ascii_whitespace() {
            if byte != b'"' && byte != b'}' {
                return broken;
            }
            self.wants_key = false;
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' if self.open.len() >= DEPTH => return broken,
            // In ASCII the closing bracket of both kinds is two behind the opening one.
            b'{' | b'[' => {
                self.open.push(byte + 2);
                self.wants_key = byte == b'{';
            }
            b'}' | b']' => {
                if self.open.pop() != Some(byte) {
                    return broken;
                }
                if self.open.is_empty() {
                    return Some(BracketBalance::End(self.at + 1));
                }
            }
            b',' | b':' | b'-' | b'+' | b'.' => {}
            _ if byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace() => {}
            _ => return broken,
        }
        if self.open.is_empty() { broken } else { None }
    }
}
