//! The parts that a provider refuses: which may be at fault, and what becomes of them. They are
//! left out of the view and described in words, since they would fail every later request; the log
//! keeps them (`docs/decisions.md#what-a-provider-refuses`).

use super::{ctx::StepContext, history::History, route::ToolAccess, unsent::name};
use alloc::{boxed::Box, format, string::String, vec::Vec};
use innerloop_json::{IntoList, joined};
use innerloop_types::{
    event::EventKind,
    message::{LeftOut, LeftOutKind, Part, PartPlace, TurnKind, VisibleTurn},
    text::listed,
};
use innerloop_wire::{FailureKind, MediaGate, ModelCallError, named};

/// The number of times in a row that single parts are left out; after that, all parts that may be
/// meant are left out.
const MOST_IN_A_ROW: usize = 8;

/// The words for pictures, and those for documents, in error messages, in lower case.
const PICTURES: &str = "image|images|picture|pictures|photo|pixel|pixels|vision|multimodal|\
    media|mime|base64|inline_data|inlinedata|image_url|input_image";
const DOCUMENTS: &str = "pdf|pdfs|document|file|files|page|pages|mime|base64|inline_data|\
    inlinedata|file_data|input_file|attachment";

/// The words in error messages for data that only the maker of a reply can read.
const SIGNED: &str = "signature|signatures|thought_signature|encrypted|encrypted_content|\
    reasoning_details|redacted_thinking";

/// A part that is not text.
#[derive(Debug)]
struct SuspectPart {
    at: PartPlace,
    /// The name that people know it by.
    name: String,
    /// The data by which it appears in a request.
    data: String,
    is_picture: bool,
    /// True if the model has not read it yet.
    is_new: bool,
}

/// Leaves out what may be at fault for a refusal. Returns whether the model is to be called again.
pub(super) fn on_refused(failure: &ModelCallError, ctx: &mut StepContext<'_>) -> bool {
    let may_be_a_part = matches!(
        failure.kind,
        FailureKind::InvalidRequest | FailureKind::ContextOverflow | FailureKind::ContentFilter
    );
    if !may_be_a_part || ctx.used_up(true).is_some() {
        return false;
    }
    // Another key or place under the same name refuses signatures that it has not made. They are
    // dropped once: replies that go without them are no longer signed, so that a second refusal
    // passes by here.
    if says(&failure.message, SIGNED) && ctx.body.history.seen().any(|said| is_signed(&said)) {
        ctx.warn(&format!(
            "earlier thinking goes without its signatures from now on, since the provider refuses \
             them ({})",
            failure.message
        ));
        append(Vec::new(), LeftOutKind::Named, &failure.message, ctx);
        return true;
    }
    let tried = tried(&ctx.body.history);
    let suspects = suspects(&ctx.body.history, ctx.gate());
    match guilty(failure, &suspects, &tried, ctx) {
        Some((how, parts)) => {
            let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).into_list();
            let message = format!(
                "left out of the conversation from now on, since the provider refuses it: {} ({})",
                joined(&names, ", "),
                failure.message
            );
            let parts = parts.iter().map(|part| part.at).into_list();
            ctx.warn(&message);
            append(parts, how, &failure.message, ctx);
            true
        }
        None => {
            // What was left out on a guess did not help. It is put back, and the refusal stands.
            let guesses = tried.into_iter().filter(|left| left.how == LeftOutKind::Tried);
            let mut parts: Vec<PartPlace> = Vec::new();
            guesses.for_each(|mut left| parts.append(&mut left.parts));
            if !parts.is_empty() {
                ctx.warn("what was left out is put back: without it the request is refused, too");
                append(parts, LeftOutKind::PutBack, &failure.message, ctx);
            }
            false
        }
    }
}

/// Returns whether a reply is sent with data that only its maker can read.
fn is_signed(said: &VisibleTurn<'_>) -> bool {
    matches!(said, VisibleTurn::Assistant(reply) if reply.wire.is_some())
}

fn append(parts: Vec<PartPlace>, how: LeftOutKind, why: &str, ctx: &mut StepContext<'_>) {
    ctx.append(TurnKind::LeftOut(Box::new(LeftOut { parts, how, why: why.into() })));
    let reason = "parts that the provider refuses are left out";
    ctx.event(EventKind::PrefixRebased { reason });
}

/// Returns the parts that are most likely at fault, and how sure that is; `None` if none may be.
fn guilty<'a>(
    failure: &ModelCallError,
    suspects: &'a [SuspectPart],
    tried: &[LeftOut],
    ctx: &StepContext<'_>,
) -> Option<(LeftOutKind, Vec<&'a SuspectPart>)> {
    let texts: Vec<&str> = suspects.iter().map(|part| part.data.as_str()).into_list();
    // Each try costs a request. After so many, everything that may be meant goes at once, or a turn
    // with many bad pictures would take as many refusals.
    let is_late = tried.len() >= MOST_IN_A_ROW;
    let named = if is_late { Vec::new() } else { named(&body(ctx), &failure.message, &texts) };
    let (pictures, documents) =
        (says(&failure.message, PICTURES), says(&failure.message, DOCUMENTS));
    // Being new is the weakest suspicion, and is tried once. A 404 is about the model or the
    // address, not about what was said.
    let may_be_new = tried.is_empty() && failure.status != 404;
    let likelihood = |nth: usize, part: &SuspectPart| {
        let is_meant = if part.is_picture { pictures } else { documents };
        match (named.get(nth), is_meant, part.is_new) {
            (Some(true), _, _) => FaultLikelihood::Named,
            (_, true, true) if !is_late => FaultLikelihood::KindAndNew,
            (_, true, _) => FaultLikelihood::Kind,
            (_, false, true) if may_be_new => FaultLikelihood::New,
            _ => FaultLikelihood::None,
        }
    };
    let all: Vec<FaultLikelihood> =
        suspects.iter().enumerate().map(|(nth, part)| likelihood(nth, part)).into_list();
    let most = *all.iter().max()?;
    let parts = suspects.iter().zip(&all).filter(|(_, one)| **one == most).map(|(part, _)| part);
    let is_sure = is_late || most == FaultLikelihood::Named;
    let how = if is_sure { LeftOutKind::Named } else { LeftOutKind::Tried };
    (most != FaultLikelihood::None).then(|| (how, parts.into_list()))
}

/// The likelihood that a part is at fault, least first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum FaultLikelihood {
    None,
    /// The error does not mention its kind, but it is new since the last request.
    New,
    /// The error mentions its kind.
    Kind,
    KindAndNew,
    /// The error names its place.
    Named,
}

/// Returns the body of the request that was refused.
fn body(ctx: &StepContext<'_>) -> String {
    let request = ctx.body.history.request_again(&ctx.route(), ToolAccess::On, &ctx.session.0);
    String::from_utf8(request.body.0).unwrap_or_default()
}

/// Returns whether a message has one of the words.
fn says(message: &str, words: &'static str) -> bool {
    let said = message.to_ascii_lowercase();
    let mut said = said.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    said.any(|word| listed(words).any(|known| known == word))
}

/// Returns what was left out since anything else was appended.
fn tried(history: &History) -> Vec<LeftOut> {
    let newest = history.turns().iter().rev().map_while(|turn| match &turn.kind {
        TurnKind::LeftOut(left) => Some((**left).clone()),
        _ => None,
    });
    newest.into_list()
}

/// Returns the parts that are sent and are not text, in the order of the view.
fn suspects(history: &History, gate: MediaGate) -> Vec<SuspectPart> {
    let mut suspects: Vec<SuspectPart> = Vec::new();
    for (turn, said) in history.seen_at() {
        match &said {
            // The provider has taken everything before a reply of the model at least once.
            VisibleTurn::Assistant(_) => suspects.iter_mut().for_each(|part| part.is_new = false),
            VisibleTurn::System(_) => {}
            VisibleTurn::User(parts) | VisibleTurn::Steering(parts) => {
                collect(parts, (turn, None), gate, &mut suspects);
            }
            VisibleTurn::ToolResults(results) => {
                for (result, nth) in results.iter().zip(0..) {
                    collect(&result.parts, (turn, Some(nth)), gate, &mut suspects);
                }
            }
        }
    }
    suspects
}

fn collect(
    parts: &[Part],
    (turn, result): (u32, Option<u32>),
    gate: MediaGate,
    suspects: &mut Vec<SuspectPart>,
) {
    let mut before = "";
    for (part, nth) in parts.iter().zip(0..) {
        let (data, is_picture) = match part {
            Part::Text { text } => {
                before = text;
                continue;
            }
            Part::Image { data, .. } => (data, true),
            Part::ImageUrl { url } => (url, true),
            Part::File { data, .. } => (data, false),
        };
        if !gate.is_open_for(part) {
            continue;
        }
        let (at, name) = (PartPlace { turn, result, part: nth }, name(part, before));
        suspects.push(SuspectPart { at, name, data: data.clone(), is_picture, is_new: true });
    }
}
