//! The encoder of messages. A turn is written once; a body is a copy of what was written.

use super::{
    super::{
        head::RequestHead,
        ids::sendable_name,
        left_out::UNSIGNED,
        protocol::WirePrefix,
        writer::{JsonWriter, arguments_object},
    },
    ids::CallIdMap,
};
use alloc::{borrow::ToOwned, format, string::String, vec::Vec};
use innerloop_json::{IntoList, joined};
use innerloop_types::{
    config::ModelConfig,
    json::Json,
    message::{Block, Part, Reply, ToolCall, ToolResult, VisibleTurn, joined_text},
    model::{EndpointCompat, ReplayReasoning, SystemRole, WireKind},
};

/// The text before a picture's URL.
const IMAGE: &str = "{\"type\":\"image_url\",\"image_url\":{\"url\":";

/// The messages written so far, each with a comma in front.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChatPrefix {
    out: JsonWriter,
    compat: EndpointCompat,
    ids: CallIdMap,
    /// Id and name of the last reply's calls, where results must carry the name.
    names: Vec<(String, String)>,
    /// True if the last message is a tool's result.
    after_result: bool,
    /// True if the model is Gemini, whose signatures stand on calls.
    is_gemini: bool,
}

impl WirePrefix for ChatPrefix {
    fn new(model: &ModelConfig) -> Self {
        let compat = model.compat.clone();
        let ids = CallIdMap::new(compat.call_ids);
        let is_gemini = model.name.to_ascii_lowercase().contains("gemini");
        Self {
            out: JsonWriter::new(),
            compat,
            ids,
            names: Vec::new(),
            after_result: false,
            is_gemini,
        }
    }

    fn push(&mut self, said: &VisibleTurn<'_>) {
        match said {
            VisibleTurn::User(parts) | VisibleTurn::Steering(parts) => self.user(parts),
            VisibleTurn::System(text) => self.system(text),
            VisibleTurn::ToolResults(results) => self.results(results),
            VisibleTurn::Assistant(reply) => self.reply(reply),
        }
    }

    fn body(&self, head: &RequestHead, cache_key: &str) -> String {
        let size = head.before.len() + self.out.len() + head.after.len() + cache_key.len() + 8;
        let mut body = JsonWriter::with_capacity(size);
        // Without a system prompt, the first message has nothing in front.
        let is_first = head.before.ends_with('[');
        let messages = self.out.0.strip_prefix(',').filter(|_| is_first).unwrap_or(&self.out.0);
        body.raw(&head.before).raw(messages).raw("]");
        if !head.after.is_empty() && !cache_key.is_empty() {
            body.raw(&head.after).string(cache_key);
        }
        body.raw("}");
        body.0
    }
}

impl ChatPrefix {
    /// Begins a message; its content comes next.
    fn message(&mut self, role: &str) -> &mut JsonWriter {
        self.after_result = role == "tool";
        self.out.raw(",{\"role\":\"").raw(role).raw("\"")
    }

    fn system(&mut self, text: &str) {
        // Many chat templates take a system message only in the first place.
        match self.compat.system_role {
            SystemRole::Developer => {
                self.message("developer").raw(",\"content\":").string(text).raw("}");
            }
            SystemRole::System => {
                self.user(&[Part::text(format!("<system>\n{text}\n</system>"))]);
            }
        }
    }

    fn user(&mut self, parts: &[Part]) {
        let parts: Vec<&Part> = parts.iter().filter(|part| !is_blank(part)).into_list();
        if parts.is_empty() {
            return;
        }
        // Some endpoints refuse a user's message right behind a tool's result.
        if self.after_result && self.compat.assistant_after_tool_result {
            self.message("assistant").raw(",\"content\":\"I have read the results.\"}");
        }
        let out = self.message("user").raw(",\"content\":");
        if parts.iter().any(|part| part.as_text().is_none()) {
            for (index, part) in parts.into_iter().enumerate() {
                push_part(out.raw(if index == 0 { "[" } else { "," }), part);
            }
            out.raw("]}");
        } else {
            let parts: Vec<Part> = parts.into_iter().cloned().into_list();
            out.string(&joined_text(&parts)).raw("}");
        }
    }

    fn results(&mut self, results: &[ToolResult]) {
        let mut shown = Vec::new();
        for result in results {
            let mut text = joined_text(&result.parts);
            let images = result.parts.iter().filter(|part| part.as_text().is_none());
            let images: Vec<&Part> = images.into_list();
            if text.is_empty() {
                let empty = if images.is_empty() { "(nothing)" } else { "(see the image below)" };
                empty.clone_into(&mut text);
            }
            self.result(result, &text);
            if !images.is_empty() {
                let said =
                    format!("From the result of the call {}:", self.ids.sent(&result.call_id));
                shown.push(Part::text(said));
                shown.extend(images.into_iter().cloned());
            }
        }
        // Images in a tool's message are not portable, and all results must come first: the images
        // follow in a message of the user.
        self.user(&shown);
    }

    fn result(&mut self, result: &ToolResult, text: &str) {
        let named = self.names.iter().find(|(id, _)| *id == result.call_id);
        let name = named.map(|(_, name)| sendable_name(name));
        let id = self.ids.sent(&result.call_id).to_owned();
        let out = self.message("tool").raw(",\"tool_call_id\":").string(&id);
        if let Some(name) = name {
            out.raw(",\"name\":").string(&name);
        }
        out.raw(",\"content\":").string(text).raw("}");
    }

    fn reply(&mut self, reply: &Reply) {
        let own = reply.wire == Some(WireKind::OpenaiChat);
        let has_calls = reply.tool_calls().next().is_some();
        let mut text = reply.text();
        if text.trim().is_empty() && !has_calls {
            text = reply.refusal.clone().unwrap_or_default();
        }
        let said = !text.trim().is_empty();
        // Thinking alone makes no message: nothing was said.
        if !said && !has_calls {
            return;
        }
        // The thinking of another provider's model goes as text, unless there is a field for it.
        let goes_as_text = match self.compat.replay_reasoning {
            ReplayReasoning::Text => true,
            ReplayReasoning::ReasoningContent => !own && !has_calls,
            ReplayReasoning::Never | ReplayReasoning::ReasoningDetails => !own,
        };
        if goes_as_text {
            let thought = reply.reasoning();
            let parts = [thought.trim_end(), &text];
            let parts: Vec<&str> =
                parts.into_iter().filter(|part| !part.trim().is_empty()).into_list();
            text = joined(&parts, "\n\n");
        }
        self.names.clear();
        for call in reply.tool_calls() {
            self.ids.add(&call.id, own);
            if self.compat.tool_result_name {
                self.names.push((call.id.clone(), call.name.clone()));
            }
        }
        let out = self.message("assistant").raw(",\"content\":");
        if text.trim().is_empty() {
            out.raw("null")
        } else {
            out.string(&text)
        };
        self.reasoning(reply);
        self.calls(reply, own);
        self.out.raw("}");
    }

    /// Writes the thinking, where the endpoint wants it back.
    fn reasoning(&mut self, reply: &Reply) {
        match self.compat.replay_reasoning {
            ReplayReasoning::Never | ReplayReasoning::Text => {}
            // DeepSeek refuses a message with calls that lacks the field, even where it is empty,
            // and wants it on no other.
            ReplayReasoning::ReasoningContent => {
                if reply.tool_calls().next().is_some() {
                    self.out.raw(",\"reasoning_content\":").string(&reply.reasoning());
                }
            }
            ReplayReasoning::ReasoningDetails if reply.wire == Some(WireKind::OpenaiChat) => {
                let thought = reply.reasoning();
                if let Some(details) = details(reply) {
                    self.out.raw(",\"reasoning_details\":").raw(details.text());
                } else if !thought.is_empty() {
                    self.out.raw(",\"reasoning\":").string(&thought);
                }
            }
            // Signed and sealed thinking means nothing to another provider.
            ReplayReasoning::ReasoningDetails => {}
        }
    }

    fn calls(&mut self, reply: &Reply, own: bool) {
        let Self { out, compat, ids, is_gemini, .. } = self;
        for (index, call) in reply.tool_calls().enumerate() {
            out.raw(if index == 0 { ",\"tool_calls\":[{\"id\":" } else { ",{\"id\":" });
            out.string(ids.sent(&call.id));
            push_call(out, call, compat.custom_tools);
            let signature = call.detail.as_ref().and_then(|detail| detail.signature.as_ref());
            // In place of another model's signature Gemini takes a literal, where the call came
            // with one.
            let signature = signature.map(String::as_str).filter(|_| own || *is_gemini);
            if let Some(signature) = signature {
                out.raw(",\"extra_content\":{\"google\":{\"thought_signature\":");
                out.string(if own { signature } else { UNSIGNED }).raw("}}");
            }
            out.raw("}");
        }
        if reply.tool_calls().next().is_some() {
            out.raw("]");
        }
    }
}

/// Returns the provider's own form of the thinking.
fn details(reply: &Reply) -> Option<&Json> {
    reply.blocks.iter().find_map(|block| match block {
        Block::Reasoning(reasoning) => reasoning.item.as_ref(),
        _ => None,
    })
}

fn is_blank(part: &Part) -> bool {
    part.as_text().is_some_and(|text| text.trim().is_empty())
}

fn push_part(out: &mut JsonWriter, part: &Part) {
    match part {
        Part::Text { text } => out.raw("{\"type\":\"text\",\"text\":").string(text).raw("}"),
        Part::Image { media_type, data } => out.raw(IMAGE).data_url(media_type, data).raw("}}"),
        Part::ImageUrl { url } => out.raw(IMAGE).string(url).raw("}}"),
        Part::File { media_type, name, data } => {
            out.raw("{\"type\":\"file\",\"file\":{").file(media_type, name, data).raw("}}")
        }
    };
}

/// Writes a call without its id and its closing brace.
fn push_call(out: &mut JsonWriter, call: &ToolCall, custom: bool) {
    let name = sendable_name(&call.name);
    if call.is_freeform() && custom {
        out.raw(",\"type\":\"custom\",\"custom\":{\"name\":").string(&name);
        out.raw(",\"input\":").string(&call.arguments).raw("}");
        return;
    }
    out.raw(",\"type\":\"function\",\"function\":{\"name\":").string(&name);
    out.raw(",\"arguments\":");
    if call.is_freeform() {
        let mut input = JsonWriter::new();
        input.raw("{\"input\":").string(&call.arguments).raw("}");
        out.string(&input.0);
    } else {
        out.string(arguments_object(call));
    }
    out.raw("}");
}
