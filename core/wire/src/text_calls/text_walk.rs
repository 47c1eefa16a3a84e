//! The walk through a whole text, from one place where thinking or a call may begin to the next,
//! and which formats are tried there for each family. `stream` asks the same `WalkState` while a
//! text arrives; where the two disagree, what was shown has to be shown anew.

use super::{
    cut, gemma, harmony,
    marked_names::{self, LineStart},
    minimax, plamo, pythonic,
    scan::{BracketBalance, SourceText, balanced},
    tagged::{self, CodeFence},
    text_findings::{CallRegion, ParsedText, TextAssembly},
    think::{self, TAGS, TagPair, ThinkTag},
    tokens::{self, DeepseekToken},
    xml, xtml,
};
use innerloop_types::{model::TextFamily as Family, steps};

/// Tokens that frame a reply and mean nothing, each with its family.
pub(super) const FRAMES: [(&str, Family); 23] = [
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
    ("<|message_model|>", Family::Inkling),
    ("<|content_text|>", Family::Inkling),
    (tagged::INKLING.1, Family::Inkling),
    ("<|content_model_end_sampling|>", Family::Inkling),
];

/// The item that stands at a place of the text.
#[derive(Debug)]
pub(super) enum WalkStep {
    /// Text, which ends there.
    Text(usize),
    /// A token that means nothing, which ends there.
    Drop(usize),
    /// Thinking begins or ends.
    Thinking(ThinkTag),
    /// Calls.
    Calls(CallRegion),
    /// Messages of Harmony, which take up the rest of the text.
    Message,
}

/// The tokens of calls before which white space belongs to the text, since no template puts any
/// there.
const KEEPS_SPACE: [&str; 4] = [
    "<|tool_calls_section_begin|>",
    "<|tool_call_section_begin|>",
    "<|tool_call_begin|>",
    "<|python_tag|>",
];

/// Takes a text apart. With `in_thinking` it begins in thinking, which the model's template has
/// opened.
pub(super) fn walk(family: Family, in_thinking: bool, doc: &mut SourceText<'_>) -> ParsedText {
    // A reply of gpt-oss may begin within a head, whose first token stood in the prompt. Such a
    // beginning has no token that the walk would stop at.
    if family == Family::Auto && harmony::begins_in_head(doc.body()) == Some(true) {
        return harmony::parse(doc, 0, ParsedText::default());
    }
    let walk = WalkState { family, in_thought: false, is_data: false, is_open: false };
    let mut way = WalkProgress {
        walk,
        out: TextAssembly::default(),
        pair: TAGS[0],
        opened: 0,
        from: 0,
        at: 0,
    };
    if in_thinking && think::is_begun(doc.body()) != Some(false) {
        way.begin_in_thinking(doc);
    }
    while let Some(start) = next_start(family, doc, way.at).filter(|_| way.goes_on(doc)) {
        let mut step = way.walk.step(doc, start);
        // Behind a call, or where thinking was found and none is open, a closing tag is only
        // mentioned. Otherwise it closes what the prompt has opened, and everything before it was
        // thinking.
        if let WalkStep::Thinking(tag) = step
            && !tag.is_open
            && way.out.is_taken()
            && (way.out.has_calls() || way.opened == 0)
        {
            step = WalkStep::Text(tag.end);
        }
        if let WalkStep::Text(end) = step {
            // Not appended yet: that happens in one piece, when something else follows.
            way.on_text(doc, start, end);
            continue;
        }
        way.put(doc, start);
        match step {
            WalkStep::Thinking(tag) => way.on_tag(doc, start, tag),
            WalkStep::Calls(region) => way.on_calls(doc, start, region),
            WalkStep::Drop(end) => {
                way.drop_to(doc, start, end);
            }
            WalkStep::Message => return harmony::parse(doc, start, way.out.finish()),
            WalkStep::Text(_) => {}
        }
    }
    if way.walk.in_thought {
        let thought = doc.between(way.from, doc.body().len());
        way.out.cut_thinking(&think::bare(thought, way.pair).0);
    } else {
        way.put(doc, doc.body().len());
    }
    way.out.finish()
}

/// The progress of a walk.
#[derive(Debug)]
struct WalkProgress {
    walk: WalkState,
    out: TextAssembly,
    /// The tags of the thinking that was opened last.
    pair: TagPair,
    /// The number of tags that may still close thinking that is nested.
    opened: usize,
    /// The position up to which the text has been appended or left out.
    from: usize,
    /// The position up to which it has been looked at.
    at: usize,
}

impl WalkProgress {
    fn goes_on(&self, doc: &SourceText<'_>) -> bool {
        !doc.is_spent() && self.out.has_room(doc)
    }

    const fn skip_to(&mut self, end: usize) {
        (self.from, self.at) = (end, end);
    }

    /// Appends what stands before `to`, as thinking or as text.
    fn put(&mut self, doc: &SourceText<'_>, to: usize) {
        let text = doc.between(self.from, to);
        match self.walk.in_thought {
            true => self.out.thinking(&think::bare(text, self.pair).0),
            false => self.out.text(text),
        }
    }

    /// Begins in thinking that the template has opened. It ends at the first tag that can close it.
    fn begin_in_thinking(&mut self, doc: &mut SourceText<'_>) {
        if let Some((to, pair)) = think::first_close(doc.body(), 0) {
            doc.read(to);
            let (thought, opened) = think::bare(doc.between(0, to), pair);
            self.out.thinking(&thought);
            self.opened = opened;
            self.skip_to(to + pair.1.len());
        } else {
            self.walk.in_thought = true;
        }
    }

    fn on_tag(&mut self, doc: &mut SourceText<'_>, start: usize, tag: ThinkTag) {
        self.skip_to(tag.end);
        let is_first = !self.out.is_taken();
        if !tag.is_open {
            // This cannot underflow: `walk` takes a closing tag for text where none is open.
            self.opened -= usize::from(!is_first);
            self.out.all_thinking(&think::bare(doc.between(0, start), tag.pair).0);
            return;
        }
        // Text before the first tag may be thinking that was begun in the prompt.
        self.opened += usize::from(is_first && !doc.between(0, start).trim().is_empty());
        self.pair = tag.pair;
        if let Some(to) = doc.find(tag.pair.1, tag.end) {
            let (thought, inner) = think::bare(doc.between(tag.end, to), tag.pair);
            self.out.thinking(&thought);
            self.opened += inner;
            self.skip_to(to + tag.pair.1.len());
        } else {
            self.out.thinking("");
            self.walk.in_thought = true;
        }
    }

    fn on_calls(&mut self, doc: &SourceText<'_>, start: usize, region: CallRegion) {
        self.keep_space(doc, start);
        self.walk.in_thought = false;
        self.out.calls(region.calls);
        self.skip_to(region.end);
    }

    fn drop_to(&mut self, doc: &SourceText<'_>, start: usize, end: usize) {
        self.keep_space(doc, start);
        self.out.drop_token();
        self.skip_to(end);
    }

    fn keep_space(&mut self, doc: &SourceText<'_>, start: usize) {
        if doc.after_any(start, &KEEPS_SPACE).is_some() {
            self.out.keep_space();
        }
    }

    /// Passes over text, and notes if a call begins there that cannot be read. A call that the
    /// text's end cuts is left out behind other calls, and so is an opening with nothing behind it.
    fn on_text(&mut self, doc: &mut SourceText<'_>, start: usize, end: usize) {
        self.at = end.max(start + 1);
        let (behind, is_cut) = match self.walk.line(doc, start) {
            Some(LineStart::Call(name, from)) if doc.knows(name) => {
                // The object is passed over as a whole: marks in its strings are no calls.
                let found = balanced(doc.rest(from));
                let seen = found.seen(doc.rest(from));
                doc.spend(seen);
                self.at = from + seen;
                (from, found == BracketBalance::Open)
            }
            _ => {
                let Some(behind) = cut::begins(doc, start) else { return };
                (behind, cut::is_cut(doc, start))
            }
        };
        self.out.malformed();
        let is_bare = doc.rest(doc.skip_space(behind)).is_empty();
        let follows = || self.out.has_calls() && doc.between(self.from, start).trim().is_empty();
        if is_bare || (is_cut && follows()) {
            self.put(doc, start);
            self.drop_to(doc, start, doc.body().len());
        } else if is_cut {
            // What a cut call holds belongs to it and is not a call of its own.
            self.at = doc.body().len();
        }
    }
}

/// Returns the next place from `at` on where anything but text may begin.
pub(super) fn next_start(family: Family, doc: &SourceText<'_>, at: usize) -> Option<usize> {
    // The first mark of these families may stand in the prompt, so that a call begins without one.
    if at == 0 && marked_names::is_marked(family) {
        return Some(0);
    }
    let rest = doc.rest(at);
    // `]` begins MiniMax's token, `>` and `A` begin the marks of Functionary and ReAct.
    let found = rest.find(['<', '[', '{', '`', '◁', ']', '>', 'A']);
    steps::count(found.unwrap_or(rest.len()));
    found.map(|found| at + found)
}

/// Returns whether more than text may begin here, by the first two characters.
pub(super) fn may_begin(rest: &str) -> bool {
    // The byte 0xef begins the full-width bar of DeepSeek's tokens.
    match rest.as_bytes() {
        [b'<', second, ..] => second.is_ascii_alphabetic() || matches!(second, b'|' | b'/' | 0xef),
        [b'<'] => false,
        [b']', ..] => rest.starts_with(minimax::SPACE),
        _ => true,
    }
}

/// The facts that earlier places have shown, which decide what later ones may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct WalkState {
    /// The family whose calls may be found.
    pub(super) family: Family,
    /// True if thinking has begun that never ends. Then only calls behind tags or tokens are calls.
    pub(super) in_thought: bool,
    /// True if bare JSON has turned out to be data.
    pub(super) is_data: bool,
    /// True if bare JSON or a list of calls has begun that never ends. Then nothing behind it is a
    /// call, unless it has tags or tokens.
    pub(super) is_open: bool,
}

impl WalkState {
    /// Returns what stands at `at`.
    pub(super) fn step(&mut self, doc: &mut SourceText<'_>, at: usize) -> WalkStep {
        if !may_begin(doc.rest(at)) {
            return WalkStep::Text(at + 1);
        }
        if !self.in_thought {
            // Thinking and fences come first: a call that stands in either is only talked about.
            if let Some(tag) = think::tag_at(doc, at) {
                return WalkStep::Thinking(tag);
            }
            if let Some(fence) = tagged::fence_at(doc, at) {
                return self.fence(doc, at, fence);
            }
            if self.family == Family::Auto && harmony::begins(doc, at) {
                return WalkStep::Message;
            }
        }
        self.unfenced(doc, at)
    }

    /// Returns what stands at `at`, which is neither a tag of thinking nor a fence.
    pub(super) fn unfenced(&mut self, doc: &mut SourceText<'_>, at: usize) -> WalkStep {
        if let Some(region) = self.calls(doc, at) {
            return match region.calls.is_empty() {
                // Calls that name no tool are text.
                true if region.is_meant => WalkStep::Text(region.end),
                true => WalkStep::Drop(region.end),
                false => WalkStep::Calls(region),
            };
        }
        if matches!(self.family, Family::Auto | Family::Deepseek)
            && let Some((DeepseekToken::Output, end)) = tokens::deepseek_token(doc, at)
        {
            return WalkStep::Drop(end);
        }
        if let Some(LineStart::Drop(end)) = self.line(doc, at) {
            return WalkStep::Drop(end);
        }
        match self.frame(doc, at) {
            Some(end) => WalkStep::Drop(end),
            // Not `at + 1`, which is within a character such as `◁`: the search would find nothing
            // from there on.
            None => WalkStep::Text(doc.behind_one(at)),
        }
    }

    /// Returns what begins at `at` with marks of a line or with marks before a name.
    fn line<'a>(&self, doc: &SourceText<'a>, at: usize) -> Option<LineStart<'a>> {
        if self.in_thought || self.is_open {
            None
        } else {
            marked_names::line(self.family, doc, at)
        }
    }

    /// Reads a call behind marks of a line. Behind a result that the model has made up there are
    /// none.
    fn on_line(&mut self, doc: &mut SourceText<'_>, at: usize) -> Option<CallRegion> {
        let Some(LineStart::Call(name, from)) = self.line(doc, at) else { return None };
        let (region, is_answered) = marked_names::called(doc, name, from)?;
        // What the model invents behind `Observation:` is text, and no call in it may run.
        self.is_open = is_answered;
        Some(region)
    }

    /// Returns the position behind a token that frames the reply and means nothing.
    fn frame(&self, doc: &SourceText<'_>, at: usize) -> Option<usize> {
        if self.in_thought || doc.is_quoted(at) || !doc.rest(at).starts_with('<') {
            return None;
        }
        FRAMES.iter().find_map(|&(token, family)| {
            // Other models write `<answer>` where a prompt asks for it, so it is left out only
            // where Hunyuan is chosen.
            let may_be = family == self.family || family != Family::Hunyuan && self.is(&[]);
            if may_be { doc.after(at, token) } else { None }
        })
    }

    /// Reads a fence of calls. Any other fence is text as a whole, since it shows an example.
    fn fence(&self, doc: &mut SourceText<'_>, at: usize, fence: CodeFence<'_>) -> WalkStep {
        let holds_calls = match self.family {
            Family::FencedJson => true,
            Family::Auto | Family::Hermes | Family::Json | Family::LlamaJson | Family::Cohere => {
                tagged::is_language(fence.language)
            }
            Family::Gemma => fence.language == tagged::CODE,
            _ => false,
        };
        if holds_calls && let Some(region) = tagged::fenced(doc, fence) {
            return WalkStep::Calls(region);
        }
        // An unclosed fence with a language was cut, and holds the rest of the text. Without one,
        // it may be three stray backticks, and only those are text.
        let is_word = !fence.language.is_empty() && !fence.language.contains(char::is_whitespace);
        let is_named = is_word && !tagged::is_language(fence.language);
        let unclosed = if is_named { doc.body().len() } else { at + 3 };
        WalkStep::Text(tagged::fence_end(doc, fence).unwrap_or(unclosed))
    }

    fn calls(&mut self, doc: &mut SourceText<'_>, at: usize) -> Option<CallRegion> {
        match doc.rest(at).chars().next()? {
            '<' => self.marked(doc, at),
            ']' if self.is(&[Family::Minimax]) => minimax::calls(doc, at),
            '[' if self.is(&[Family::Mistral, Family::Json])
                && doc.after(at, tokens::MISTRAL).is_some() =>
            {
                tokens::mistral(doc, at)
            }
            // Up to here tokens say that a call is meant; what follows has only its shape to show.
            _ if self.in_thought || self.is_open => None,
            '[' => self.pythonic(doc, at).or_else(|| self.bare(doc, at)),
            '{' => self.bare(doc, at),
            _ => self.on_line(doc, at),
        }
    }

    /// Reads calls behind a tag or a token.
    fn marked(&self, doc: &mut SourceText<'_>, at: usize) -> Option<CallRegion> {
        // The order matters where formats share a tag. `<tool_call>` may hold elements, JSON or
        // GLM's bare name: elements are told by the next tag, and a name fits almost anything, so
        // it is tried last.
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
        if self.is(&[Family::Hermes])
            && let Some(region) = plamo::calls(doc, at)
        {
            return Some(region);
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
            Family::Inkling,
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

    fn glm(&self, doc: &mut SourceText<'_>, at: usize) -> Option<CallRegion> {
        let region = xml::glm(doc, at)?;
        // Where the family is only guessed, a lone word in the tags may be anything: it must name a
        // tool.
        let is_lone = |region: &CallRegion| {
            !region.calls.is_empty() && region.calls.iter().all(|call| call.arguments == "{}")
        };
        let knows = |region: &CallRegion| region.calls.iter().all(|call| doc.knows(&call.name));
        let is_doubtful = self.family == Family::Auto && is_lone(&region) && !knows(&region);
        if is_doubtful && doc.has_tools() { None } else { Some(region) }
    }

    fn pythonic(&self, doc: &mut SourceText<'_>, at: usize) -> Option<CallRegion> {
        if !self.is(&[Family::Pythonic]) {
            return None;
        }
        // Where the family is only guessed, `[f(x=1)]` may be code: one of the calls must name a
        // tool.
        let region = pythonic::list(doc, at)?;
        let knows_one = region.calls.iter().any(|call| doc.knows(&call.name));
        let is_doubtful = self.family == Family::Auto && doc.has_tools() && !knows_one;
        if is_doubtful { None } else { Some(region) }
    }

    fn bare(&mut self, doc: &mut SourceText<'_>, at: usize) -> Option<CallRegion> {
        let before = doc.body().get(..at).unwrap_or_default();
        // Trimmed at the end only: white space at the beginning would be gone through at each
        // brace.
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
        self.is_open = region.is_none() && tagged::is_open(doc, at);
        // JSON at the beginning that is not a call shows that the text is about data.
        if region.is_none() && is_whole && doc.json(at).is_some() {
            self.is_data = true;
        }
        region
    }

    /// Returns whether the family is one of these, or is not known.
    fn is(&self, families: &[Family]) -> bool {
        self.family == Family::Auto || families.contains(&self.family)
    }
}
