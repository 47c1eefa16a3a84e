//! Turns to the bytes of a request. A turn is written once; a body is a copy of what was written
//! with cache markers spliced in (DESIGN rule 10).

use super::super::{
    Head,
    writer::{Writer, arguments_object, sendable_name},
};
use crate::nouns::{
    config::ModelConfig,
    message::{Block, Finish, MarkedText, Part, Reply, ToolCall, ToolResult, TurnKind},
    tool::ToolSpec,
};
use alloc::vec::Vec;

/// Asks the provider to keep all up to the block that carries it.
const MARKER: &[u8] = br#","cache_control":{"type":"ephemeral"}"#;

/// Model, limits, system prompt and tools. The tools stand before the system prompt for the
/// provider, so that one marker covers both.
pub(in super::super) fn head<'a>(
    model: &ModelConfig,
    system: &str,
    tools: impl Iterator<Item = &'a ToolSpec>,
) -> Head {
    let mut out = Writer::default();
    out.raw("{\"model\":").string(&model.name).raw(",\"max_tokens\":");
    out.number(u64::from(model.max_output_tokens)).raw(",\"stream\":true");
    if let Some(effort) = &model.reasoning_effort {
        out.raw(",\"output_config\":{\"effort\":").string(effort).raw("}");
    }
    let mut tools = tools.peekable();
    if tools.peek().is_some() {
        out.raw(",\"tools\":[");
        for (index, tool) in tools.enumerate() {
            out.raw(if index == 0 { "" } else { "," }).raw("{\"name\":").string(&tool.name);
            out.raw(",\"description\":").string(&tool.description);
            out.raw(",\"input_schema\":").raw(tool.parameters.text()).raw("}");
        }
        out.raw("]");
    }
    let mut mark = None;
    if !system.trim().is_empty() {
        out.raw(",\"system\":[{\"type\":\"text\",\"text\":").string(system);
        mark = Some(out.len());
        out.raw("}]");
    }
    out.raw(",\"messages\":[");
    Head { before: out.0, mark, after: Vec::new() }
}

/// The messages written so far. The last one is left open, so that a further turn of the same
/// role can join it: the provider merges them anyway, and wants tool results first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prefix {
    out: Writer,
    open: Option<Role>,
    /// Where the last block of the user's side takes a marker.
    mark: Option<usize>,
    /// Where it stood in the request before: the provider finds its cache entry there.
    mark_before: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    User,
    Assistant,
}

impl Prefix {
    /// No messages yet.
    pub const fn new(_model: &ModelConfig) -> Self {
        Self { out: Writer::new(), open: None, mark: None, mark_before: None }
    }

    /// Appends a turn. Blocks that the provider would refuse (blank text) are left out.
    pub fn push(&mut self, turn: &TurnKind) {
        match turn {
            TurnKind::User(parts) | TurnKind::Steering(parts) => self.parts(parts),
            TurnKind::System(text) => {
                self.parts(&[Part::text(alloc::format!("<system>\n{text}\n</system>"))]);
            }
            TurnKind::ToolResults(results) => {
                for result in results {
                    self.block(Role::User).tool_result(result);
                    self.end_user_block();
                }
            }
            TurnKind::Assistant(reply) => self.reply(reply),
        }
    }

    /// The whole body: head, messages, and at most three markers.
    pub fn body(&self, head: &Head, _cache_key: &str) -> Vec<u8> {
        let markers = MARKER.len() * 3;
        let mut body = Vec::with_capacity(head.before.len() + self.out.len() + markers + 8);
        splice(&mut body, &head.before, &[head.mark]);
        splice(&mut body, &self.out.0, &[self.mark_before, self.mark]);
        body.extend_from_slice(if self.open.is_some() { b"]}]" } else { b"]" });
        body.extend_from_slice(&head.after);
        body.push(b'}');
        body
    }

    fn parts(&mut self, parts: &[Part]) {
        for part in parts.iter().filter(|part| !is_blank(part)) {
            self.block(Role::User).part(part);
            self.end_user_block();
        }
    }

    fn reply(&mut self, reply: &Reply) {
        self.mark_before = self.mark;
        // The provider refuses a message that ends with thinking, unless it paused there itself.
        let is_something = |block: &Block| match block {
            Block::Text(text) | Block::MarkedText(MarkedText { text, .. }) => {
                !text.trim().is_empty()
            }
            Block::ToolCall(_) => true,
            Block::Reasoning(_) | Block::Opaque(_) => reply.finish == Finish::Pause,
        };
        if !reply.blocks.iter().any(is_something) {
            return;
        }
        for block in &reply.blocks {
            match block {
                Block::Text(text) | Block::MarkedText(MarkedText { text, .. })
                    if text.trim().is_empty() => {}
                Block::Text(text) | Block::MarkedText(MarkedText { text, .. }) => {
                    self.block(Role::Assistant).text(text).raw("}");
                }
                // Thinking without its signature is refused, and of no use to the model.
                Block::Reasoning(reasoning) => {
                    if let Some(signature) = &reasoning.signature {
                        let out = self.block(Role::Assistant);
                        out.raw("{\"type\":\"thinking\",\"thinking\":").string(&reasoning.text);
                        out.raw(",\"signature\":").string(signature).raw("}");
                    }
                }
                Block::ToolCall(call) => {
                    self.block(Role::Assistant).tool_use(call);
                }
                Block::Opaque(json) => {
                    self.block(Role::Assistant).raw(json.text());
                }
            }
        }
    }

    /// Opens a message of `role` if none is open, and separates the next block from the last.
    fn block(&mut self, role: Role) -> &mut Writer {
        if self.open == Some(role) {
            self.out.raw(",");
        } else {
            self.out.raw(if self.open.is_some() { "]}," } else { "" });
            self.out.raw(match role {
                Role::User => "{\"role\":\"user\",\"content\":[",
                Role::Assistant => "{\"role\":\"assistant\",\"content\":[",
            });
            self.open = Some(role);
        }
        &mut self.out
    }

    fn end_user_block(&mut self) {
        self.mark = Some(self.out.len());
        self.out.raw("}");
    }
}

fn is_blank(part: &Part) -> bool {
    part.as_text().is_some_and(|text| text.trim().is_empty())
}

/// Copies `bytes` with a marker at each of `marks`, which are in order.
fn splice(body: &mut Vec<u8>, bytes: &[u8], marks: &[Option<usize>]) {
    let mut done = 0;
    let mut last = None;
    for &mark in marks.iter().flatten() {
        if last != Some(mark) {
            body.extend_from_slice(bytes.get(done..mark).unwrap_or_default());
            body.extend_from_slice(MARKER);
        }
        done = mark;
        last = Some(mark);
    }
    body.extend_from_slice(bytes.get(done..).unwrap_or_default());
}

impl Writer {
    /// A text block without its closing brace.
    fn text(&mut self, text: &str) -> &mut Self {
        self.raw("{\"type\":\"text\",\"text\":").string(text)
    }

    /// A part without its closing brace.
    fn part(&mut self, part: &Part) {
        match part {
            Part::Text { text } => {
                self.text(text);
            }
            Part::Image { media_type, data } => {
                self.raw("{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":");
                self.string(media_type).raw(",\"data\":").string(data).raw("}");
            }
        }
    }

    /// A tool's result without its closing brace.
    fn tool_result(&mut self, result: &ToolResult) {
        self.raw("{\"type\":\"tool_result\",\"tool_use_id\":").string(&result.call_id);
        if result.is_error {
            self.raw(",\"is_error\":true");
        }
        self.raw(",\"content\":");
        if let [Part::Text { text }] = result.parts.as_slice() {
            self.string(text);
            return;
        }
        self.raw("[");
        for (index, part) in result.parts.iter().filter(|part| !is_blank(part)).enumerate() {
            self.raw(if index == 0 { "" } else { "," });
            self.part(part);
            self.raw("}");
        }
        self.raw("]");
    }

    /// A call.
    fn tool_use(&mut self, call: &ToolCall) {
        self.raw("{\"type\":\"tool_use\",\"id\":").string(&call.id);
        self.raw(",\"name\":").string(&sendable_name(&call.name)).raw(",\"input\":");
        self.raw(arguments_object(call)).raw("}");
    }
}
