//! Turns to the bytes of a request. A turn is written once; a body is a copy of what was written
//! (DESIGN rule 10).

use super::super::{
    head::Head,
    ids::sendable_name,
    writer::{Writer, arguments_object},
};
use crate::{
    base::json::{Json, Object, push_string},
    types::{
        config::{ModelConfig, ToolChoice},
        message::{Part, Reply, ToolCall, ToolResult, TurnKind, joined_text},
        tool::ToolSpec,
    },
};
use alloc::{collections::BTreeMap, format, string::String, vec::Vec};

/// What a model that takes no images reads in place of one.
const NO_IMAGE: &str = "[an image is left out: this model takes none]";

/// Model, limits, options, tools and system prompt, up to the first turn. Fields of the
/// configuration's `options` come last and override; its object `options` is merged into ours.
pub(in super::super) fn head<'a>(
    model: &ModelConfig,
    system: &str,
    tools: impl Iterator<Item = &'a ToolSpec>,
) -> Head {
    let mut fields = Object::default();
    fields.set("model", string(&model.name));
    fields.set("stream", literal(if model.stream { "true" } else { "false" }));
    // The server would otherwise drop the oldest messages without a word.
    fields.set("truncate", literal("false"));
    if let Some(effort) = &model.reasoning_effort {
        fields.set("think", think(effort));
    }
    let mut options = Object::default();
    options.set("num_ctx", literal(&format!("{}", model.context_window)));
    options.set("num_predict", literal(&format!("{}", model.max_output_tokens)));
    fields.set("options", options.to_json());
    if let Some(tools) = definitions(tools, &model.tool_choice) {
        fields.set("tools", tools);
    }
    for (name, value) in model.options.iter().filter(|(name, _)| *name != "messages") {
        match serde_json::from_str::<Object>(value.text()) {
            Ok(given) if name == "options" => {
                for (name, value) in given.0 {
                    options.set(&name, value);
                }
                fields.set(name, options.to_json());
            }
            _ => fields.set(name, value.clone()),
        }
    }
    let mut out = Writer(fields.to_json().text().into());
    out.0.pop();
    out.raw(",\"messages\":[");
    if !system.trim().is_empty() {
        out.raw("{\"role\":\"system\",\"content\":").string(system).raw("}");
    }
    Head { before: out.0, mark: None, after: Vec::from("}") }
}

/// Whether and how much to think. The server's own names are true, false, and the levels, which
/// are all that gpt-oss reads; others' levels go to the nearest (`ollama:openai/openai.go`).
fn think(effort: &str) -> Json {
    match effort {
        "none" | "off" | "false" => literal("false"),
        "on" | "true" => literal("true"),
        "minimal" => string("low"),
        "xhigh" | "ultra" => string("max"),
        level => string(level),
    }
}

/// The tools that may be called. The protocol has no tool choice: what must not be called is not
/// shown.
fn definitions<'a>(tools: impl Iterator<Item = &'a ToolSpec>, choice: &ToolChoice) -> Option<Json> {
    let shown = tools.filter(|tool| match choice {
        ToolChoice::Auto | ToolChoice::Required => true,
        ToolChoice::None => false,
        ToolChoice::Tool(name) => *name == tool.name,
    });
    let mut out = Writer::new();
    for tool in shown {
        out.raw(if out.len() == 0 { "[" } else { "," });
        out.raw("{\"type\":\"function\",\"function\":{\"name\":").string(&tool.name);
        out.raw(",\"description\":").string(&tool.description);
        out.raw(",\"parameters\":").raw(tool.parameters.text()).raw("}}");
    }
    if out.len() == 0 {
        return None;
    }
    out.raw("]");
    String::from_utf8(out.0).ok().and_then(|text| Json::parse(text).ok())
}

fn literal(text: &str) -> Json {
    Json::parse(text).unwrap_or_default()
}

fn string(text: &str) -> Json {
    let mut out = Vec::new();
    push_string(&mut out, text);
    literal(&String::from_utf8(out).unwrap_or_default())
}

/// The messages written so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prefix {
    out: Writer,
    /// The tools that the last calls name, by the calls' ids.
    called: BTreeMap<String, String>,
    takes_images: bool,
}

impl Prefix {
    /// No messages yet.
    pub fn new(model: &ModelConfig) -> Self {
        Self { takes_images: model.compat.images, ..Self::default() }
    }

    /// Appends a turn. A message without anything in it is left out.
    pub fn push(&mut self, turn: &TurnKind) {
        match turn {
            TurnKind::User(parts) | TurnKind::Steering(parts) => self.user(parts),
            // Templates move a later system message to the front, which would change what the
            // model has in its cache.
            TurnKind::System(text) => {
                self.user(&[Part::text(format!("<system>\n{text}\n</system>"))]);
            }
            TurnKind::ToolResults(results) => {
                for result in results {
                    self.tool_result(result);
                }
            }
            TurnKind::Assistant(reply) => self.reply(reply),
        }
    }

    /// The whole body.
    pub fn body(&self, head: &Head, _cache_key: &str) -> Vec<u8> {
        let size = head.before.len() + self.out.len() + head.after.len() + 2;
        let mut body = Vec::with_capacity(size);
        body.extend_from_slice(&head.before);
        // The system prompt may stand before the first turn.
        if self.out.len() > 0 && !body.ends_with(b"[") {
            body.push(b',');
        }
        body.extend_from_slice(&self.out.0);
        body.push(b']');
        body.extend_from_slice(&head.after);
        body
    }

    fn user(&mut self, parts: &[Part]) {
        let has_image = parts.iter().any(|part| part.as_text().is_none());
        if has_image || !joined_text(parts).trim().is_empty() {
            let images = self.takes_images;
            self.open("user").content("", parts, images).raw("}");
        }
    }

    fn tool_result(&mut self, result: &ToolResult) {
        let (name, images) = (self.called.get(&result.call_id).cloned(), self.takes_images);
        let out = self.open("tool");
        if let Some(name) = name {
            out.raw(",\"tool_name\":").string(&name);
        }
        out.raw(",\"tool_call_id\":").string(&result.call_id);
        // The protocol has no mark for a result that is an error.
        let before = if result.is_error { "Error: " } else { "" };
        out.content(before, &result.parts, images).raw("}");
    }

    fn reply(&mut self, reply: &Reply) {
        let (text, thinking) = (reply.text(), reply.reasoning());
        let calls: Vec<&ToolCall> = reply.tool_calls().collect();
        // Thinking alone is no message: the model would be asked to go on with it.
        if calls.is_empty() && text.trim().is_empty() {
            return;
        }
        let named = |call: &&ToolCall| (call.id.clone(), sendable_name(&call.name));
        self.called = calls.iter().map(named).collect();
        let out = self.open("assistant");
        out.raw(",\"content\":").string(&text);
        if !thinking.is_empty() {
            out.raw(",\"thinking\":").string(&thinking);
        }
        for (index, call) in calls.iter().enumerate() {
            out.raw(if index == 0 { ",\"tool_calls\":[" } else { "," });
            out.raw("{\"id\":").string(&call.id).raw(",\"function\":{\"name\":");
            out.string(&sendable_name(&call.name)).raw(",\"arguments\":");
            out.raw(arguments_object(call)).raw("}}");
        }
        out.raw(if calls.is_empty() { "}" } else { "]}" });
    }

    /// Begins a message of `role`, separated from the one before.
    fn open(&mut self, role: &str) -> &mut Writer {
        self.out.raw(if self.out.len() == 0 { "" } else { "," });
        self.out.raw("{\"role\":").string(role)
    }
}

impl Writer {
    /// The text of `parts` with `before` in front of it, and the images where they are taken.
    fn content(&mut self, before: &str, parts: &[Part], takes_images: bool) -> &mut Self {
        let images = parts.iter().filter_map(|part| match part {
            Part::Text { .. } => None,
            Part::Image { data, .. } => Some(data),
        });
        let images: Vec<&String> = images.collect();
        let mut text = format!("{before}{}", joined_text(parts));
        if !images.is_empty() && !takes_images {
            text.push_str(if text.is_empty() { "" } else { "\n" });
            text.push_str(NO_IMAGE);
        }
        self.raw(",\"content\":").string(&text);
        if !images.is_empty() && takes_images {
            for (index, image) in images.into_iter().enumerate() {
                self.raw(if index == 0 { ",\"images\":[" } else { "," }).string(image);
            }
            self.raw("]");
        }
        self
    }
}
