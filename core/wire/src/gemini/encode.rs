//! The encoder of a request's `contents`. A turn is written once; a body is a copy of what was
//! written.

use super::{
    super::{
        head::RequestHead,
        ids::spelled,
        left_out::UNSIGNED,
        protocol::WirePrefix,
        writer::{JsonWriter, arguments_object},
    },
    family::GeminiGeneration,
};
use alloc::{string::String, vec::Vec};
use innerloop_types::{
    message::{
        Block, MarkedText, Part, Reply, ToolCall, ToolResult, VisibleTurn, is_made_up_call_id,
        joined_text,
    },
    model::{ModelConfig, WireKind},
};

/// The contents written so far. The last one is left open, so that a further turn of the same
/// role can join it: the provider wants roles that alternate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GeminiPrefix {
    out: JsonWriter,
    open: Option<GeminiRole>,
    family: GeminiGeneration,
    /// The calls of the last reply: a result must name its tool, too.
    calls: Vec<PendingCall>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GeminiRole {
    User,
    Model,
}

/// A call that waits for its result.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PendingCall {
    id: String,
    name: String,
    /// True if the provider gave the id, so that it wants it back. Up to 2.5 it gives none, and
    /// does not know ours.
    is_known: bool,
}

impl WirePrefix for GeminiPrefix {
    fn new(model: &ModelConfig) -> Self {
        Self {
            out: JsonWriter::new(),
            open: None,
            family: GeminiGeneration::of(&model.name),
            calls: Vec::new(),
        }
    }

    fn push(&mut self, said: &VisibleTurn<'_>) {
        match said {
            VisibleTurn::User(parts) | VisibleTurn::Steering(parts) => self.parts(parts),
            VisibleTurn::System(text) => {
                // `contents` has no role for the system.
                self.parts(&[Part::text(alloc::format!("<system>\n{text}\n</system>"))]);
            }
            VisibleTurn::ToolResults(results) => self.results(results),
            VisibleTurn::Assistant(reply) => self.reply(reply),
        }
    }

    fn body(&self, head: &RequestHead, _cache_key: &str) -> String {
        let mut body = JsonWriter::with_capacity(head.before.len() + self.out.len() + 8);
        body.raw(&head.before).raw(&self.out.0);
        body.raw(if self.open.is_some() { "]}]" } else { "]" }).raw(&head.after).raw("}");
        body.0
    }
}

impl GeminiPrefix {
    fn parts(&mut self, parts: &[Part]) {
        for part in parts {
            match part {
                Part::Text { text } if text.trim().is_empty() => {}
                Part::Text { text } => {
                    self.part(GeminiRole::User).raw("{\"text\":").string(text).raw("}");
                }
                part => self.part(GeminiRole::User).data(part),
            }
        }
    }

    /// Writes results together and in the order of their calls; images that cannot be part of them
    /// follow.
    fn results(&mut self, results: &[ToolResult]) {
        for result in results {
            let called = self.calls.iter().find(|called| called.id == result.call_id).cloned();
            let (name, id) = match called {
                Some(called) => (called.name, called.is_known.then_some(called.id)),
                None => (String::from("unknown"), None),
            };
            let family = self.family;
            let out = self.part(GeminiRole::User);
            out.raw("{\"functionResponse\":{");
            if let Some(id) = id {
                out.raw("\"id\":").string(&id).raw(",");
            }
            out.raw("\"name\":").string(&name).raw(",\"response\":{");
            out.raw(if result.is_error { "\"error\":" } else { "\"output\":" });
            let text = joined_text(&result.parts);
            let is_shown = text.is_empty() && shown(result).next().is_some();
            out.string(if is_shown { "The result is an image." } else { &text }).raw("}");
            let mut inner = shown(result).filter(|part| fits(family, part));
            if let Some(part) = inner.next() {
                out.raw(",\"parts\":[").data(part);
                for part in inner {
                    out.raw(",").data(part);
                }
                out.raw("]");
            }
            out.raw("}}");
        }
        let family = self.family;
        for result in results {
            for part in shown(result).filter(|part| !fits(family, part)) {
                self.part(GeminiRole::User).data(part);
            }
        }
    }

    fn reply(&mut self, reply: &Reply) {
        let is_own = reply.wire == Some(WireKind::Gemini);
        self.calls.clear();
        // Thinking alone is no turn: the contents are to end with the user's.
        let says = |block: &Block| match block {
            Block::Text(text) | Block::MarkedText(MarkedText { text, .. }) => {
                !text.trim().is_empty()
            }
            Block::ToolCall(_) => true,
            Block::Opaque(_) => is_own,
            Block::Reasoning(_) => false,
        };
        if !reply.blocks.iter().any(says) {
            return;
        }
        for block in &reply.blocks {
            match block {
                Block::Text(text) => self.text(text, None),
                Block::MarkedText(MarkedText { text, mark }) => {
                    self.text(text, Some(mark).filter(|_| is_own));
                }
                // The thinking of another provider's model goes as text.
                Block::Reasoning(reasoning) if !is_own => {
                    if !reasoning.text.trim().is_empty() {
                        self.text(&reasoning.text, None);
                    }
                }
                // The model's own thinking is of use to it only where it is signed.
                Block::Reasoning(reasoning) => {
                    if let Some(signature) = &reasoning.signature {
                        let out = self.part(GeminiRole::Model);
                        out.raw("{\"text\":").string(&reasoning.text);
                        out.raw(",\"thought\":true").signature(signature).raw("}");
                    }
                }
                Block::ToolCall(call) => self.call(call, is_own),
                Block::Opaque(json) if is_own => {
                    self.part(GeminiRole::Model).raw(json.text());
                }
                Block::Opaque(_) => {}
            }
        }
    }

    fn text(&mut self, text: &str, signature: Option<&String>) {
        // A signature may have come on an empty text, and must go back on the part that it came
        // with.
        if text.is_empty() && signature.is_none() {
            return;
        }
        let out = self.part(GeminiRole::Model);
        out.raw("{\"text\":").string(text);
        if let Some(signature) = signature {
            out.signature(signature);
        }
        out.raw("}");
    }

    fn call(&mut self, call: &ToolCall, is_own: bool) {
        let own = call.detail.as_ref().and_then(|detail| detail.signature.as_deref());
        let is_first = self.calls.is_empty();
        // Gemini 3 refuses a step whose first call has no signature. Of parallel calls it signs the
        // first alone, so that the others go without.
        let signature = own
            .filter(|_| is_own)
            .or_else(|| (is_first && self.family == GeminiGeneration::Level).then_some(UNSIGNED));
        let called = PendingCall {
            id: call.id.clone(),
            name: function_name(&call.name),
            is_known: is_own && !call.id.is_empty() && !is_made_up_call_id(&call.id),
        };
        let out = self.part(GeminiRole::Model);
        out.raw("{\"functionCall\":{");
        if called.is_known {
            out.raw("\"id\":").string(&called.id).raw(",");
        }
        out.raw("\"name\":").string(&called.name).raw(",\"args\":").raw(arguments_object(call));
        out.raw("}");
        if let Some(signature) = signature {
            out.signature(signature);
        }
        out.raw("}");
        self.calls.push(called);
    }

    /// Opens a content of `role` if none is open, and separates the next part from the last.
    fn part(&mut self, role: GeminiRole) -> &mut JsonWriter {
        if self.open == Some(role) {
            self.out.raw(",");
        } else {
            self.out.raw(if self.open.is_some() { "]}," } else { "" });
            self.out.raw(match role {
                GeminiRole::User => "{\"role\":\"user\",\"parts\":[",
                GeminiRole::Model => "{\"role\":\"model\",\"parts\":[",
            });
            self.open = Some(role);
        }
        &mut self.out
    }
}

impl JsonWriter {
    /// Writes a part that is not a text.
    fn data(&mut self, part: &Part) {
        match part {
            Part::Text { .. } => self,
            Part::ImageUrl { url } => self.raw("{\"fileData\":{\"fileUri\":").string(url).raw("}}"),
            Part::Image { media_type, data } | Part::File { media_type, data, .. } => {
                self.raw("{\"inlineData\":{\"mimeType\":").string(media_type);
                self.raw(",\"data\":").string(data).raw("}}")
            }
        };
    }

    fn signature(&mut self, signature: &str) -> &mut Self {
        self.raw(",\"thoughtSignature\":").string(signature)
    }
}

/// Returns the parts of a result that are not text.
fn shown(result: &ToolResult) -> impl Iterator<Item = &Part> {
    result.parts.iter().filter(|part| part.as_text().is_none())
}

/// Returns whether a picture may stand within a result.
fn fits(family: GeminiGeneration, part: &Part) -> bool {
    let Part::Image { media_type, .. } = part else { return false };
    family == GeminiGeneration::Level
        && matches!(media_type.as_str(), "image/png" | "image/jpeg" | "image/webp")
}

/// Returns a function's name in the characters that the provider accepts: letters, digits and
/// `_.:-`, at most 128, the first a letter or `_`.
pub(super) fn function_name(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':' | '-');
    let first = name.chars().next();
    // A first character that does not fit becomes `_` below, which may stand there.
    let needs_start = !first.is_some_and(|c| c.is_ascii_alphabetic() || !fits(c) || c == '_');
    let start = if needs_start { "_" } else { "" };
    spelled(&alloc::format!("{start}{name}"), fits, 128)
}
