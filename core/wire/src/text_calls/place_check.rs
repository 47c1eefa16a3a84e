//! What a place of a text is while it arrives: text, whatever follows; a call; or nothing that
//! could be told yet.

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

/// JSON that has not ended: where it begins, and how far it was followed.
pub(super) type PendingJson = (usize, BracketTracker);

/// The tokens that begin a message of Harmony.
const MESSAGES: [&str; 3] = ["<|channel|>", "<|start|>", harmony::MESSAGE];

/// No token is longer.
const LONGEST: usize = 40;

/// The way to treat a place while the text goes on.
#[derive(Debug)]
pub(super) enum LookResult {
    /// It is text up to there, whatever follows.
    Text(usize),
    /// More must come before it can be told: the end of the JSON, if it is that.
    Wait(Option<PendingJson>),
    /// So must the rest of a token.
    Part,
    /// A call begins.
    Call,
    /// It is left out.
    Drop(usize),
    /// Thinking begins or ends.
    Thinking(think::ThinkTag),
    /// A fence begins that holds no call.
    Fence(usize),
    /// A message of Harmony begins.
    Message,
}

/// Returns what stands at `at`.
pub(super) fn look(family: Family, doc: &mut SourceText<'_>, at: usize) -> LookResult {
    let rest = doc.rest(at);
    match marked_names::line(family, doc, at) {
        Some(LineStart::Drop(end)) => return LookResult::Drop(end),
        Some(LineStart::Call(_, from)) if !doc.rest(from).is_empty() => return LookResult::Call,
        Some(_) => return LookResult::Wait(None),
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
        // Content without a head is only a message if another one follows.
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
    let mut walk = WalkState { family, in_thought: false, is_data: false, is_open: false };
    match walk.unfenced(doc, at) {
        WalkStep::Calls(_) | WalkStep::Message => LookResult::Call,
        WalkStep::Drop(end) => LookResult::Drop(end),
        WalkStep::Text(end) => grows(doc, at).map_or(LookResult::Text(end), LookResult::Wait),
        WalkStep::Thinking(tag) => LookResult::Text(tag.end),
    }
}

/// Returns whether that is the beginning of a token.
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
    let mut follower = BracketTracker::default();
    let found = follower.follow(doc.rest(at));
    doc.spend(found.seen(doc.rest(at)));
    (found, follower)
}

/// Returns whether JSON or a list of calls begins that has not ended yet, or a token of which only
/// a part has come.
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
            let is_part = inner.starts_with(['|', '｜']) && rest.len() < 48 && !rest.contains('>');
            is_part.then_some(None)
        }
        _ => None,
    }
}
