//! The encoder of requests. A turn is written once; a body is a copy of what was written with cache
//! markers spliced in.

use super::{
    super::{
        head::RequestHead, ids::sendable_name, lenient::JsonDocument, protocol::WirePrefix,
        writer::JsonWriter,
    },
    fields::{is_blank, is_form_of},
};
use alloc::{format, string::String};
use innerloop_types::{
    message::{Block, FinishReason, MarkedText, Part, Reply, VisibleTurn},
    model::{ModelConfig, WireKind},
    tool::ToolSpec,
};

/// The field that asks the provider to cache everything up to the block that carries it.
const MARKER: &str = r#","cache_control":{"type":"ephemeral"}"#;

/// Encodes model, limits, system prompt and tools. The provider puts the tools before the system
/// prompt, so that one marker covers both.
pub(crate) fn head(model: &ModelConfig, system: &str, tools: &[&ToolSpec]) -> RequestHead {
    let option = |name: &str| model.options.get(name);
    let mut out = JsonWriter::default();
    out.raw("{\"model\":").string(&model.name);
    if option("max_tokens").is_none() {
        out.raw(",\"max_tokens\":").number(u64::from(model.max_output_tokens));
    }
    out.raw(",\"stream\":").bool(model.stream);
    out.thinking(model);
    for (name, value) in &model.options {
        // The session decides about these fields, whatever the options say.
        if !matches!(name, "model" | "stream" | "system" | "messages" | "tools") {
            out.raw(",").string(name).raw(":").raw(value.text());
        }
    }
    let mut mark = None;
    let mut count = 0;
    for tool in tools {
        out.raw(if count == 0 { ",\"tools\":[{" } else { ",{" });
        out.named(&sendable_name(&tool.name), &tool.description);
        out.raw(",\"input_schema\":").raw(tool.parameters.text());
        mark = Some(out.len());
        out.raw("}");
        count += 1;
    }
    // The provider's own tools are given as an option and come behind ours.
    let theirs = JsonDocument::kept(option("tools"));
    for tool in theirs.root().elements() {
        out.raw(if count == 0 { ",\"tools\":[" } else { "," }).raw(tool.json());
        count += 1;
    }
    if count > 0 {
        out.raw("]");
    }
    if !system.trim().is_empty() {
        out.raw(",\"system\":[{\"type\":\"text\",\"text\":").string(system);
        mark = Some(out.len());
        out.raw("}]");
    }
    out.raw(",\"messages\":[");
    // The choice of tools stands behind the messages: a request that forbids tools for once still
    // has the prefix of the others.
    let mut after = JsonWriter::new();
    if count > 0 {
        after.tool_choice(model);
    }
    RequestHead { before: out.0, mark, after: after.0 }
}

/// The messages written so far. The last one is left open, so that a further turn of the same
/// role can join it: the provider merges them anyway, and wants tool results first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AnthropicPrefix {
    out: JsonWriter,
    open: Option<AnthropicRole>,
    /// The position where the last block of the user's side takes a marker.
    mark: Option<usize>,
    /// The position that the marker had in the request before: the provider finds its cache entry
    /// there.
    mark_before: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnthropicRole {
    User,
    Assistant,
}

impl WirePrefix for AnthropicPrefix {
    fn new(_: &ModelConfig) -> Self {
        Self { out: JsonWriter::new(), open: None, mark: None, mark_before: None }
    }

    fn push(&mut self, said: &VisibleTurn<'_>) {
        match said {
            VisibleTurn::User(parts) | VisibleTurn::Steering(parts) => self.parts(parts),
            VisibleTurn::System(text) => {
                // Only newer versions of the API take a system message among the others.
                self.parts(&[Part::text(format!("<system>\n{text}\n</system>"))]);
            }
            VisibleTurn::ToolResults(results) => {
                for result in results.iter() {
                    self.block(AnthropicRole::User).tool_result(result);
                    self.end_user_block();
                }
            }
            VisibleTurn::Assistant(reply) => self.reply(reply),
        }
    }

    fn body(&self, head: &RequestHead, _cache_key: &str) -> String {
        let size = head.before.len() + self.out.len() + head.after.len() + MARKER.len() * 3 + 8;
        let mut body = JsonWriter::with_capacity(size);
        splice(&mut body, &head.before, &[head.mark]);
        // With the head's these are three of the four markers that the provider allows.
        splice(&mut body, &self.out.0, &[self.mark_before, self.mark]);
        body.raw(if self.open.is_some() { "]}]" } else { "]" }).raw(&head.after).raw("}");
        body.0
    }
}

impl AnthropicPrefix {
    fn parts(&mut self, parts: &[Part]) {
        for part in parts.iter().filter(|part| !is_blank(part)) {
            self.block(AnthropicRole::User).part(part);
            self.end_user_block();
        }
    }

    fn reply(&mut self, reply: &Reply) {
        // A reply answers a request, whose marker stood where the newest one stands now.
        self.mark_before = self.mark;
        let is_ours = reply.wire == Some(WireKind::Anthropic);
        // The provider refuses a message that ends with thinking, unless it paused there itself.
        let is_something = |block: &Block| match block {
            Block::Text(text) | Block::MarkedText(MarkedText { text, .. }) => {
                !text.trim().is_empty()
            }
            Block::ToolCall(_) => true,
            Block::Reasoning(_) | Block::Opaque(_) => {
                is_ours && reply.finish == FinishReason::Pause
            }
        };
        if !reply.blocks.iter().any(is_something) {
            return;
        }
        for block in &reply.blocks {
            if is_ours { self.own_block(block) } else { self.foreign_block(block) }
        }
    }

    /// Writes a block as the provider sent it.
    fn own_block(&mut self, block: &Block) {
        match block {
            Block::Text(text) => self.text(text),
            Block::MarkedText(MarkedText { text, .. }) if text.trim().is_empty() => {}
            Block::MarkedText(MarkedText { text, mark }) => {
                let out = self.block(AnthropicRole::Assistant).text(text);
                out.raw(",\"citations\":").raw(mark).raw("}");
            }
            // Thinking without its signature is refused, and of no use to the model.
            Block::Reasoning(reasoning) => {
                if let Some(signature) = &reasoning.signature {
                    let out = self.block(AnthropicRole::Assistant);
                    out.raw("{\"type\":\"thinking\",\"thinking\":").string(&reasoning.text);
                    out.raw(",\"signature\":").string(signature).raw("}");
                }
            }
            Block::ToolCall(call) => {
                let own = call.detail.as_ref().and_then(|detail| detail.item.as_ref());
                match own.filter(|item| is_form_of(item, call)) {
                    Some(item) => self.block(AnthropicRole::Assistant).raw(item.text()),
                    None => self.block(AnthropicRole::Assistant).tool_use(call),
                };
            }
            Block::Opaque(json) => {
                self.block(AnthropicRole::Assistant).raw(json.text());
            }
        }
    }

    /// Writes a block of another provider: what only that one understands is left out, and its
    /// thinking becomes text.
    fn foreign_block(&mut self, block: &Block) {
        match block {
            Block::Text(text) | Block::MarkedText(MarkedText { text, .. }) => self.text(text),
            Block::Reasoning(reasoning) => self.text(&reasoning.text),
            Block::ToolCall(call) => {
                self.block(AnthropicRole::Assistant).tool_use(call);
            }
            Block::Opaque(_) => {}
        }
    }

    /// Writes a text of the model. The provider refuses blank ones.
    fn text(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.block(AnthropicRole::Assistant).text(text).raw("}");
        }
    }

    /// Opens a message of `role` if none is open, and separates the next block from the last.
    fn block(&mut self, role: AnthropicRole) -> &mut JsonWriter {
        if self.open == Some(role) {
            self.out.raw(",");
        } else {
            self.out.raw(if self.open.is_some() { "]}," } else { "" });
            self.out.raw(match role {
                AnthropicRole::User => "{\"role\":\"user\",\"content\":[",
                AnthropicRole::Assistant => "{\"role\":\"assistant\",\"content\":[",
            });
            self.open = Some(role);
        }
        &mut self.out
    }

    fn end_user_block(&mut self) {
        // The marker is a field of the block, so it goes in front of the closing brace.
        self.mark = Some(self.out.len());
        self.out.raw("}");
    }
}

/// Copies `text` with a marker at each of `marks`, which are in order.
fn splice(body: &mut JsonWriter, text: &str, marks: &[Option<usize>]) {
    let mut done = 0;
    let mut last = None;
    for &mark in marks.iter().flatten() {
        // Both marks may be the same position, and a block carries one marker.
        if last != Some(mark) {
            body.raw(text.get(done..mark).unwrap_or_default()).raw(MARKER);
        }
        done = mark;
        last = Some(mark);
    }
    body.raw(text.get(done..).unwrap_or_default());
}
