//! The encoder of requests. A turn is written once; a body is a copy of what was written.

use super::super::{
    head::RequestHead,
    ids::sendable_name,
    lenient::JsonDocument,
    protocol::WirePrefix,
    writer::{JsonWriter, ObjectFields, arguments_object},
};
use alloc::{format, string::String, vec::Vec};
use innerloop_json::{IntoList, Map};
use innerloop_types::{
    config::{ModelConfig, ToolChoice},
    message::{Part, Reply, ToolCall, ToolResult, VisibleTurn, joined_text},
    tool::ToolSpec,
};

/// Encodes model, limits, options, tools and system prompt, up to the first turn. Fields of the
/// configuration's `options` come last and override; its object `options` is merged into ours.
pub(crate) fn head(model: &ModelConfig, system: &str, tools: &[&ToolSpec]) -> RequestHead {
    let mut fields = ObjectFields::default();
    fields.set("model").string(&model.name);
    fields.set("stream").bool(model.stream);
    // The server would otherwise drop the oldest messages without a word.
    fields.set("truncate").bool(false);
    if let Some(effort) = &model.reasoning_effort {
        push_think(fields.set("think"), effort);
    }
    let mut options = ObjectFields::default();
    // The server's own default depends on its memory and may be far below the model's window.
    options.set("num_ctx").number(model.context_window.into());
    options.set("num_predict").number(model.max_output_tokens.into());
    let given = JsonDocument::kept(model.options.get("options"));
    for (name, value) in given.root().entries() {
        options.set(&name).raw(value.json());
    }
    options.write(fields.set("options"));
    push_tools(&mut fields, tools, &model.tool_choice);
    for (name, value) in &model.options {
        let is_ours = name == "messages" || (name == "options" && given.root().is_object());
        if !is_ours {
            fields.set(name).raw(value.text());
        }
    }
    let mut out = JsonWriter::new();
    fields.write_open(&mut out);
    out.raw(",\"messages\":[");
    if !system.trim().is_empty() {
        out.raw("{\"role\":\"system\",\"content\":").string(system).raw("}");
    }
    RequestHead { before: out.0, mark: None, after: String::from("}") }
}

/// Writes the setting for thinking. The server's own names are true, false, and the levels, which
/// are all that gpt-oss reads; other levels become the nearest.
fn push_think(out: &mut JsonWriter, effort: &str) {
    match effort {
        "none" | "off" | "false" => out.bool(false),
        "on" | "true" => out.bool(true),
        "minimal" => out.string("low"),
        "xhigh" | "ultra" => out.string("max"),
        level => out.string(level),
    };
}

/// Writes the tools that may be called. The protocol has no tool choice: what must not be called is
/// not shown.
fn push_tools(fields: &mut ObjectFields, tools: &[&ToolSpec], choice: &ToolChoice) {
    let mut shown = tools.to_vec();
    shown.retain(|tool| match choice {
        ToolChoice::Auto | ToolChoice::Required => true,
        ToolChoice::None => false,
        ToolChoice::Tool(name) => *name == tool.name,
    });
    if shown.is_empty() {
        return;
    }
    let out = fields.set("tools").raw("[");
    for (index, tool) in shown.into_iter().enumerate() {
        out.raw(if index == 0 { "" } else { "," }).raw("{\"type\":\"function\",\"function\":{");
        out.named(&tool.name, &tool.description);
        out.raw(",\"parameters\":").raw(tool.parameters.text()).raw("}}");
    }
    out.raw("]");
}

/// The messages written so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OllamaPrefix {
    out: JsonWriter,
    /// The tools that the last calls name, by the calls' ids.
    called: Map<String>,
}

impl WirePrefix for OllamaPrefix {
    fn new(_: &ModelConfig) -> Self {
        Self::default()
    }

    fn push(&mut self, said: &VisibleTurn<'_>) {
        match said {
            VisibleTurn::User(parts) | VisibleTurn::Steering(parts) => self.user(parts),
            // Templates move a later system message to the front, which would change what the
            // model has in its cache.
            VisibleTurn::System(text) => {
                self.user(&[Part::text(format!("<system>\n{text}\n</system>"))]);
            }
            VisibleTurn::ToolResults(results) => {
                for result in results.iter() {
                    self.tool_result(result);
                }
            }
            VisibleTurn::Assistant(reply) => self.reply(reply),
        }
    }

    fn body(&self, head: &RequestHead, _cache_key: &str) -> String {
        let size = head.before.len() + self.out.len() + head.after.len() + 2;
        let mut body = JsonWriter::with_capacity(size);
        // The system prompt may stand before the first turn.
        let is_first = self.out.len() == 0 || head.before.ends_with('[');
        body.raw(&head.before).raw(if is_first { "" } else { "," }).raw(&self.out.0);
        body.raw("]").raw(&head.after);
        body.0
    }
}

impl OllamaPrefix {
    fn user(&mut self, parts: &[Part]) {
        let has_image = parts.iter().any(|part| part.as_text().is_none());
        if has_image || !joined_text(parts).trim().is_empty() {
            self.open("user").content(parts).raw("}");
        }
    }

    fn tool_result(&mut self, result: &ToolResult) {
        let name = self.called.get(&result.call_id).cloned();
        let out = self.open("tool");
        if let Some(name) = name {
            out.raw(",\"tool_name\":").string(&name);
        }
        out.raw(",\"tool_call_id\":").string(&result.call_id);
        out.content(&result.parts).raw("}");
    }

    fn reply(&mut self, reply: &Reply) {
        let (text, thinking) = (reply.text(), reply.reasoning());
        let calls: Vec<&ToolCall> = reply.tool_calls().into_list();
        // Thinking alone makes no message: the model would be asked to continue it.
        if calls.is_empty() && text.trim().is_empty() {
            return;
        }
        let named = |call: &&ToolCall| (call.id.clone(), sendable_name(&call.name));
        self.called.clear();
        self.called.extend(calls.iter().map(named));
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
    fn open(&mut self, role: &str) -> &mut JsonWriter {
        self.out.raw(if self.out.len() == 0 { "" } else { "," });
        self.out.raw("{\"role\":").string(role)
    }
}

impl JsonWriter {
    /// Writes the text of `parts`, and the images.
    fn content(&mut self, parts: &[Part]) -> &mut Self {
        self.raw(",\"content\":").string(&joined_text(parts));
        let mut next = ",\"images\":[";
        for part in parts {
            if let Part::Image { data, .. } = part {
                self.raw(core::mem::replace(&mut next, ",")).string(data);
            }
        }
        self.raw(if next == "," { "]" } else { "" })
    }
}
