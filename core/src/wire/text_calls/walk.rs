//! The way through a text: from one place where thinking or calls may begin to the next, with
//! what each family may hold.

use super::{
    found::{Assembly, Parsed, Region},
    gemma, minimax, pythonic,
    scan::Doc,
    tagged::{self, Fence},
    think::{self, Pair, TAGS, Tag},
    tokens::{self, DeepseekToken},
    xml, xtml,
};
use crate::{base::steps, types::model::TextFamily as Family};

/// Tokens around a reply, which mean nothing, and whose they are.
pub(super) const FRAMES: [(&str, Family); 19] = [
    ("<|open|>response<|sep|>", Family::Kimi),
    ("<|close|>response<|sep|>", Family::Kimi),
    ("<|open|>message<|sep|>", Family::Kimi),
    ("<|close|>message<|sep|>", Family::Kimi),
    ("<|close|>tools<|sep|>", Family::Kimi),
    ("<|START_RESPONSE|>", Family::Cohere),
    ("<|END_RESPONSE|>", Family::Cohere),
    ("<|START_TEXT|>", Family::Cohere),
    ("<|END_TEXT|>", Family::Cohere),
    ("<|START_OF_TURN_TOKEN|>", Family::Cohere),
    ("<|END_OF_TURN_TOKEN|>", Family::Cohere),
    ("<|CHATBOT_TOKEN|>", Family::Cohere),
    ("<turn|>", Family::Gemma),
    ("<|tool_response>", Family::Gemma),
    ("<end_of_turn>", Family::Gemma),
    ("<start_function_response>", Family::Gemma),
    ("<eos>", Family::Gemma),
    ("<answer>", Family::Hunyuan),
    ("</answer>", Family::Hunyuan),
];

/// What stands at a place of the text.
#[derive(Debug)]
pub(super) enum Step {
    /// Text, up to there.
    Text(usize),
    /// A token that means nothing, up to there.
    Drop(usize),
    /// Thinking begins or ends.
    Thinking(Tag),
    /// Calls.
    Calls(Region),
}

/// Takes a text apart.
pub(super) fn walk(family: Family, doc: &mut Doc<'_>) -> Parsed {
    let mut out = Assembly::default();
    let mut walk = Walk { family, in_thought: false, is_data: false };
    // How many tags may still close thinking that is nested, and the tags that are open.
    let (mut opened, mut pair) = (0, TAGS[0]);
    let (mut from, mut at) = (0, 0);
    while let Some(start) = next_start(doc, at).filter(|_| !doc.is_spent()) {
        let mut step = walk.step(doc, start);
        if let Step::Thinking(tag) = step
            && !tag.is_open
            && out.is_taken()
            && (out.has_calls() || opened == 0)
        {
            step = Step::Text(tag.end);
        }
        let end = match &step {
            Step::Text(end) => {
                at = (*end).max(start + 1);
                continue;
            }
            Step::Drop(end) => *end,
            Step::Thinking(tag) => tag.end,
            Step::Calls(region) => region.end,
        };
        let text = doc.between(from, start);
        put(&mut out, walk.in_thought.then_some(pair), text);
        (from, at) = (end, end);
        match step {
            Step::Thinking(tag) if tag.is_open => {
                // Text before the first tag may be thinking that was begun in the prompt.
                opened += usize::from(!out.is_taken() && !doc.between(0, start).trim().is_empty());
                pair = tag.pair;
                if let Some(to) = doc.find(pair.1, end) {
                    let (thought, inner) = think::bare(doc.between(end, to), pair);
                    out.thinking(&thought);
                    opened += inner;
                    (from, at) = (to + pair.1.len(), to + pair.1.len());
                } else {
                    out.thinking("");
                    walk.in_thought = true;
                }
            }
            Step::Thinking(tag) => {
                opened -= usize::from(out.is_taken());
                out.all_thinking(&think::bare(doc.between(0, start), tag.pair).0);
            }
            Step::Calls(region) => {
                walk.in_thought = false;
                out.calls(region.calls);
            }
            Step::Drop(_) => out.drop_token(),
            Step::Text(_) => {}
        }
    }
    let rest = doc.rest(from);
    put(&mut out, walk.in_thought.then_some(pair), rest);
    out.finish()
}

/// Appends what is neither a call nor a tag.
fn put(out: &mut Assembly, thought: Option<Pair>, text: &str) {
    match thought {
        Some(pair) => out.thinking(&think::bare(text, pair).0),
        None => out.text(text),
    }
}

/// The next place from `at` on where anything but text may begin.
pub(super) fn next_start(doc: &Doc<'_>, at: usize) -> Option<usize> {
    let rest = doc.rest(at);
    let found = rest.find(['<', '[', '{', '`', '◁', ']']);
    steps::count(found.unwrap_or(rest.len()));
    found.map(|found| at + found)
}

/// Whether more than text may begin here, by the first two characters.
pub(super) fn may_begin(rest: &str) -> bool {
    match rest.as_bytes() {
        [b'<', second, ..] => second.is_ascii_alphabetic() || matches!(second, b'|' | b'/' | 0xef),
        [b'<'] => false,
        [b']', ..] => rest.starts_with(minimax::SPACE),
        _ => true,
    }
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
        if !may_begin(doc.rest(at)) {
            return Step::Text(at + 1);
        }
        if !self.in_thought {
            if let Some(tag) = think::tag_at(doc, at) {
                return Step::Thinking(tag);
            }
            if let Some(fence) = tagged::fence_at(doc, at) {
                return self.fence(doc, at, fence);
            }
        }
        self.unfenced(doc, at)
    }

    /// What stands at `at` if it is no tag of thinking and no fence.
    pub(super) fn unfenced(&mut self, doc: &mut Doc<'_>, at: usize) -> Step {
        if let Some(region) = self.calls(doc, at) {
            // Calls that name no tool are text.
            let is_text = region.calls.is_empty();
            return if is_text { Step::Text(region.end) } else { Step::Calls(region) };
        }
        if matches!(self.family, Family::Auto | Family::Deepseek)
            && let Some((DeepseekToken::Output, end)) = tokens::deepseek_token(doc, at)
        {
            return Step::Drop(end);
        }
        match self.frame(doc, at) {
            Some(end) => Step::Drop(end),
            None => Step::Text(at + 1),
        }
    }

    /// Behind a token that means nothing.
    fn frame(&self, doc: &Doc<'_>, at: usize) -> Option<usize> {
        if self.in_thought || doc.is_quoted(at) || !doc.rest(at).starts_with('<') {
            return None;
        }
        FRAMES.iter().find_map(|&(token, family)| {
            // Others write Hunyuan's tags when they are told to.
            let may_be = family == self.family || family != Family::Hunyuan && self.is(&[]);
            if may_be { doc.after(at, token) } else { None }
        })
    }

    /// A fence of calls, or all of it text: what it shows is an example.
    fn fence(&self, doc: &mut Doc<'_>, at: usize, fence: Fence<'_>) -> Step {
        let holds_calls = match self.family {
            Family::FencedJson => true,
            Family::Auto | Family::Hermes | Family::Json | Family::LlamaJson | Family::Cohere => {
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
            ']' if self.is(&[Family::Minimax]) => minimax::calls(doc, at),
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
            if self.is(&[Family::Deepseek, Family::Step3])
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
        if self.is(&[Family::Gemma])
            && let Some(region) = gemma::calls(doc, at)
        {
            return Some(region);
        }
        if self.is(&[Family::Deepseek, Family::Step3, Family::Minimax])
            && let Some(region) = xml::invokes(doc, at)
        {
            return Some(region);
        }
        if self.is(&[Family::Qwen3CoderXml, Family::Hermes, Family::Step3])
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
            Family::Minimax,
            Family::Cohere,
            Family::Hunyuan,
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
        if self.is(&[Family::Glm, Family::Hunyuan]) { self.glm(doc, at) } else { None }
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
        let before = doc.body().get(..at).unwrap_or_default();
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
