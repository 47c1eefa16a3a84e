//! A look at one place of a text that still arrives: surely text, the beginning of a call or of
//! thinking, or undecided until more has come. `stream` acts on the answer. When in doubt it is
//! undecided, since a reply that was shown wrongly has to be shown anew.

use super::{
    cut::{self, OPENINGS},
    gemma, harmony,
    marked_names::{self, LineStart},
    pythonic,
    scan::{BracketBalance, BracketTracker, SourceText},
    tagged,
    text_walk::{self, WalkState, WalkStep},
    think::{self, TagPair},
};
use innerloop_types::{model::TextFamily as Family, steps, text::is_word};

/// JSON that has not ended: where it begins, and how far it has been followed.
pub(super) type PendingJson = (usize, BracketTracker);

/// The tokens that begin a message of Harmony.
const MESSAGES: [&str; 3] = ["<|channel|>", "<|start|>", harmony::MESSAGE];

/// A length that none of the tokens compared here exceeds, in bytes.
const LONGEST: usize = 40;

/// The answer about a place while the text goes on.
#[derive(Debug)]
pub(super) enum LookResult {
    /// Text up to there, whatever follows.
    Text(usize),
    /// Undecided until more has come; if it is JSON, until that ends.
    Wait(Option<PendingJson>),
    /// Undecided until the rest of a token has come.
    Part,
    /// The beginning of a call.
    Call,
    /// Something that is left out, up to there.
    Drop(usize),
    /// The beginning or the end of thinking.
    Thinking(think::ThinkTag),
    /// The beginning of a fence that holds no call, whose content begins there.
    Fence(usize),
    /// The beginning of a message of Harmony.
    Message,
}

/// Returns what stands at `at`.
pub(super) fn look(family: Family, doc: &mut SourceText<'_>, at: usize) -> LookResult {
    let rest = doc.rest(at);
    match marked_names::line(family, doc, at) {
        Some(LineStart::Drop(end)) => return LookResult::Drop(end),
        Some(LineStart::Call(_, from)) if !doc.rest(from).is_empty() => return LookResult::Call,
        Some(_) => return LookResult::Wait(None),
        // These two characters begin nothing but marks of a line.
        None if rest.starts_with(['A', '>']) => return LookResult::Text(at + 1),
        None => {}
    }
    if rest.len() < LONGEST && !rest.starts_with('{') && is_part(rest) {
        return LookResult::Part;
    }
    if !text_walk::may_begin(rest) {
        return LookResult::Text(at + 1);
    }
    if let Some(tag) = think::tag_at(doc, at) {
        return LookResult::Thinking(tag);
    }
    if matches!(family, Family::Auto | Family::Harmony)
        && !doc.is_quoted(at)
        && doc.after_any(at, &MESSAGES).is_some()
    {
        let is_told = doc.after(at, harmony::MESSAGE).is_none() || family == Family::Harmony;
        // Content without a head counts only if a message with one follows.
        return if is_told || harmony::begins_bare(doc, at) {
            LookResult::Message
        } else {
            LookResult::Call
        };
    }
    if cut::opening(doc, at).is_some() {
        return LookResult::Call;
    }
    if let Some(fence) = tagged::fence_at(doc, at) {
        return look_at_fence(family, doc, at, fence);
    }
    // A fresh state: earlier places rule out nothing here, which only holds more text back.
    let mut walk = WalkState { family, in_thought: false, is_data: false, is_open: false };
    match walk.unfenced(doc, at) {
        WalkStep::Calls(_) | WalkStep::Message => LookResult::Call,
        WalkStep::Drop(end) => LookResult::Drop(end),
        WalkStep::Text(end) => grows(doc, at).map_or(LookResult::Text(end), LookResult::Wait),
        WalkStep::Thinking(tag) => LookResult::Text(tag.end),
    }
}

/// Returns whether the text so far is the beginning of a token.
fn is_part(rest: &str) -> bool {
    let is_part = |token: &str| {
        steps::count(1);
        token.len() > rest.len() && token.starts_with(rest)
    };
    let ends =
        |pairs: &[TagPair]| pairs.iter().any(|(open, close)| is_part(open) || is_part(close));
    OPENINGS.into_iter().chain(MESSAGES).chain(["```"]).any(is_part)
        || text_walk::FRAMES.iter().any(|(token, _)| is_part(token))
        || [&tagged::TAGS[..], &tagged::PLAIN_TAGS, &gemma::TAGS, &think::TAGS]
            .into_iter()
            .any(ends)
}

fn look_at_fence(
    family: Family,
    doc: &mut SourceText<'_>,
    at: usize,
    fence: tagged::CodeFence<'_>,
) -> LookResult {
    let from = doc.skip_space(fence.inner);
    let inner = doc.rest(from);
    let is_code = fence.language == tagged::CODE;
    let is_open = is_code || inner.is_empty() || inner.starts_with(['{', '[', '<']);
    let is_known = family == Family::FencedJson || tagged::is_language(fence.language);
    let line_is_open = fence.inner >= doc.body().len();
    if line_is_open {
        return LookResult::Wait(None);
    }
    if !(is_open && is_known) {
        return LookResult::Fence(fence.inner);
    }
    if tagged::fenced(doc, fence).is_some() {
        return LookResult::Call;
    }
    // A fence may stand in a string, so JSON is followed to its end.
    if inner.starts_with(['{', '[']) {
        let (found, follower) = follow(doc, from);
        match found {
            BracketBalance::Open => return LookResult::Wait(Some((from, follower))),
            BracketBalance::End(end) => {
                let behind = doc.skip_space(from + end);
                if "```".starts_with(doc.rest(behind)) {
                    return LookResult::Wait(None);
                }
            }
            BracketBalance::Broken(_) => {}
        }
    }
    match tagged::fence_end(doc, fence) {
        Some(end) if end > at => LookResult::Text(end),
        _ => LookResult::Wait(None),
    }
}

/// Follows the JSON that begins at `at`.
fn follow(doc: &SourceText<'_>, at: usize) -> (BracketBalance, BracketTracker) {
    // The tracker goes on where it stopped when more has come, so JSON is followed once, in however
    // many pieces it arrives.
    let mut follower = BracketTracker::default();
    let found = follower.follow(doc.rest(at));
    doc.spend(found.seen(doc.rest(at)));
    (found, follower)
}

/// Returns whether something begins that has not ended yet: JSON, a list of calls, or a token.
fn grows(doc: &SourceText<'_>, at: usize) -> Option<Option<PendingJson>> {
    let rest = doc.rest(at);
    let json = || {
        let (found, follower) = follow(doc, at);
        (found == BracketBalance::Open).then_some(Some((at, follower)))
    };
    if tagged::is_python(rest) {
        let ends = pythonic::closing(rest.get(1..).unwrap_or_default()).map(|(end, _)| end);
        doc.spend(ends.unwrap_or(rest.len()));
        return ends.is_none().then_some(None);
    }
    match rest.chars().next() {
        Some('{') => json(),
        Some('[') => {
            let inner = rest.get(1..).unwrap_or_default();
            let fits = |c: char| is_word(c) || matches!(c, '.' | '-');
            let name = inner.trim_start();
            let behind = name.trim_start_matches(fits);
            doc.read(rest.len() - behind.len());
            let is_list = behind.len() < name.len() && behind.starts_with('(');
            let ends = || {
                let end = pythonic::closing(inner).map(|(end, _)| end);
                doc.spend(end.unwrap_or(inner.len()));
                end.is_some()
            };
            if behind.is_empty() || (is_list && !ends()) { Some(None) } else { json() }
        }
        Some('<') => {
            let inner = rest.get(1..).unwrap_or_default();
            // DeepSeek's tokens are spelt in many ways, so any short text behind a bar may be one.
            let is_part = inner.starts_with(['|', '｜']) && rest.len() < 48 && !rest.contains('>');
            is_part.then_some(None)
        }
        _ => None,
    }
}
