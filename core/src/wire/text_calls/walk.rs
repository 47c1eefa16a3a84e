//! The way through a text: from one place where thinking or calls may begin to the next, with
//! what each family may hold.

use super::{
    found::{Assembly, Parsed, Region},
    pythonic,
    scan::Doc,
    tagged::{self, Fence},
    think::{self, Tag},
    tokens::{self, DeepseekToken},
    xml, xtml,
};
use crate::{base::steps, types::model::TextFamily as Family};

/// What stands at a place of the text.
#[derive(Debug)]
pub(super) enum Step {
    /// Text, up to there.
    Text(usize),
    /// A token that means nothing, up to there.
    Drop(usize),
    /// Thinking, from there to there, and its closing tag's end.
    Thinking(usize, usize, usize),
    /// Thinking begins behind the tag and never ends.
    Unclosed(usize),
    /// Thinking ends that never began.
    Unopened(usize),
    /// Calls.
    Calls(Region),
}

/// Takes a text apart.
pub(super) fn walk(family: Family, doc: &mut Doc<'_>) -> Parsed {
    let mut out = Assembly::default();
    let mut walk = Walk { family, in_thought: false, is_data: false };
    let (mut from, mut at) = (0, 0);
    while let Some(start) = next_start(doc, at) {
        let step = walk.step(doc, start);
        let end = match &step {
            Step::Text(end) => {
                at = (*end).max(start + 1);
                continue;
            }
            Step::Drop(end) | Step::Unclosed(end) | Step::Unopened(end) => *end,
            Step::Thinking(_, _, end) => *end,
            Step::Calls(region) => region.end,
        };
        let text = doc.between(from, start);
        put(&mut out, walk.in_thought, text);
        match step {
            Step::Thinking(begin, to, _) => out.thinking(doc.between(begin, to)),
            Step::Unclosed(_) => {
                out.thinking("");
                walk.in_thought = true;
            }
            Step::Unopened(_) => {
                if !out.turn_to_thinking() {
                    out.text(doc.between(start, end));
                }
            }
            Step::Calls(region) => {
                walk.in_thought = false;
                out.calls(region.calls);
            }
            Step::Text(_) | Step::Drop(_) => {}
        }
        (from, at) = (end, end);
    }
    let rest = doc.rest(from);
    put(&mut out, walk.in_thought, rest);
    out.finish()
}

/// Appends what is neither a call nor a tag.
fn put(out: &mut Assembly, in_thought: bool, text: &str) {
    if in_thought {
        out.thinking(text);
    } else {
        out.text(text);
    }
}

/// The next place from `at` on where anything but text may begin.
pub(super) fn next_start(doc: &Doc<'_>, at: usize) -> Option<usize> {
    let rest = doc.rest(at);
    let found = rest.find(['<', '[', '{', '`', '◁']);
    steps::count(found.unwrap_or(rest.len()));
    found.map(|found| at + found)
}

/// What is known on the way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walk {
    /// What may be found.
    pub(super) family: Family,
    /// Whether thinking has begun that never ends: only marked calls are calls then.
    pub(super) in_thought: bool,
    /// Whether bare JSON has turned out to be data.
    pub(super) is_data: bool,
}

impl Walk {
    /// What stands at `at`.
    pub(super) fn step(&mut self, doc: &mut Doc<'_>, at: usize) -> Step {
        if !self.in_thought {
            match think::tag_at(doc, at) {
                Some(Tag::Open { end, close }) => {
                    return match doc.find(close, end) {
                        Some(to) => Step::Thinking(end, to, to + close.len()),
                        None => Step::Unclosed(end),
                    };
                }
                Some(Tag::Close { end }) => return Step::Unopened(end),
                None => {}
            }
            if let Some(fence) = tagged::fence_at(doc, at) {
                return self.fence(doc, at, fence);
            }
        }
        if let Some(region) = self.calls(doc, at) {
            return Step::Calls(region);
        }
        if matches!(self.family, Family::Auto | Family::Deepseek)
            && let Some((DeepseekToken::Output, end)) = tokens::deepseek_token(doc, at)
        {
            return Step::Drop(end);
        }
        if self.is(&[Family::Kimi])
            && let Some(end) = doc.after_any(at, &xtml::FRAME)
        {
            return Step::Drop(end);
        }
        Step::Text(at + 1)
    }

    /// A fence of calls, or all of it text: what it shows is an example.
    fn fence(&self, doc: &mut Doc<'_>, at: usize, fence: Fence<'_>) -> Step {
        let holds_calls = match self.family {
            Family::FencedJson => true,
            Family::Auto | Family::Hermes | Family::Json | Family::LlamaJson => {
                tagged::is_language(fence.language)
            }
            _ => false,
        };
        if holds_calls && let Some(region) = tagged::fenced(doc, fence) {
            return Step::Calls(region);
        }
        // A fence that is never closed does not count, unless it has a language.
        let is_word = !fence.language.is_empty() && !fence.language.contains(char::is_whitespace);
        let is_named = is_word && !tagged::is_language(fence.language);
        let unclosed = if is_named { doc.body().len() } else { at + 3 };
        Step::Text(tagged::fence_end(doc, fence).unwrap_or(unclosed))
    }

    fn calls(&mut self, doc: &mut Doc<'_>, at: usize) -> Option<Region> {
        match doc.rest(at).chars().next()? {
            '<' => self.marked(doc, at),
            '[' if self.is(&[Family::Mistral, Family::Json])
                && doc.after(at, tokens::MISTRAL).is_some() =>
            {
                tokens::mistral(doc, at)
            }
            _ if self.in_thought => None,
            '[' => self.pythonic(doc, at).or_else(|| self.bare(doc, at)),
            '{' => self.bare(doc, at),
            _ => None,
        }
    }

    /// Calls behind a tag or a token.
    fn marked(&self, doc: &mut Doc<'_>, at: usize) -> Option<Region> {
        let second = doc.rest(at).chars().nth(1)?;
        if matches!(second, '|' | '｜') {
            if self.is(&[Family::Deepseek])
                && let Some(region) = tokens::deepseek(doc, at)
            {
                return Some(region);
            }
            if self.is(&[Family::Kimi])
                && let Some(region) = tokens::kimi(doc, at).or_else(|| xtml::calls(doc, at))
            {
                return Some(region);
            }
        }
        if self.is(&[Family::Deepseek])
            && let Some(region) = xml::invokes(doc, at)
        {
            return Some(region);
        }
        if self.is(&[Family::Qwen3CoderXml, Family::Hermes])
            && let Some(region) = xml::qwen(doc, at)
        {
            return Some(region);
        }
        let holds_json = [
            Family::Hermes,
            Family::LlamaJson,
            Family::Qwen3CoderXml,
            Family::Json,
            Family::Deepseek,
        ];
        if self.is(&holds_json)
            && let Some(region) = tagged::tagged(doc, at).or_else(|| tagged::function_json(doc, at))
        {
            return Some(region);
        }
        if self.is(&[Family::Pythonic])
            && let Some(region) = pythonic::tagged(doc, at).or_else(|| tagged::tagged(doc, at))
        {
            return Some(region);
        }
        if self.is(&[Family::LlamaJson])
            && let Some(region) = pythonic::built_in(doc, at)
        {
            return Some(region);
        }
        if self.is(&[Family::Glm]) { self.glm(doc, at) } else { None }
    }

    fn glm(&self, doc: &mut Doc<'_>, at: usize) -> Option<Region> {
        let region = xml::glm(doc, at)?;
        // Where the family is only guessed, a lone word in the tags may be anything.
        let is_lone = |region: &Region| region.calls.iter().all(|call| call.arguments == "{}");
        let knows = |region: &Region| region.calls.iter().all(|call| doc.knows(&call.name));
        let is_doubtful = self.family == Family::Auto && is_lone(&region) && !knows(&region);
        if is_doubtful && doc.has_tools() { None } else { Some(region) }
    }

    fn pythonic(&self, doc: &mut Doc<'_>, at: usize) -> Option<Region> {
        if !self.is(&[Family::Pythonic]) {
            return None;
        }
        let region = pythonic::list(doc, at)?;
        let knows_one = region.calls.iter().any(|call| doc.knows(&call.name));
        let is_doubtful = self.family == Family::Auto && doc.has_tools() && !knows_one;
        if is_doubtful { None } else { Some(region) }
    }

    fn bare(&mut self, doc: &mut Doc<'_>, at: usize) -> Option<Region> {
        let before = doc.between(0, at);
        // From its end, where anything but white space shows at once.
        let said = before.trim_end();
        steps::count(before.len() - said.len());
        let is_whole = said.is_empty();
        let may_be = match self.family {
            Family::Auto | Family::LlamaJson => true,
            Family::Json => !self.is_data,
            Family::Hermes | Family::FencedJson => is_whole,
            _ => false,
        };
        if !may_be {
            return None;
        }
        let region = tagged::bare(doc, at);
        // JSON that is no call shows that the text is about data.
        if region.is_none() && is_whole && doc.json(at).is_some() {
            self.is_data = true;
        }
        region
    }

    /// Whether the family is one of these, or not known.
    fn is(&self, families: &[Family]) -> bool {
        self.family == Family::Auto || families.contains(&self.family)
    }
}
