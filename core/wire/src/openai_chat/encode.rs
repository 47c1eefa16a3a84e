//! The part of a request that stays the same from request to request: model, limits, switches,
//! tools, system prompt.

use super::super::{head::RequestHead, writer::JsonWriter};
use alloc::string::String;
use innerloop_types::{
    config::ModelConfig,
    model::{MaxTokensField, SystemRole, ThinkingFormat, ToolChoice},
    tool::ToolSpec,
};

/// The text behind the messages, in front of the cache's key.
pub(super) const CACHE_KEY: &str = ",\"prompt_cache_key\":";

/// Encodes model, limits, switches, tools and system prompt.
pub(crate) fn head(model: &ModelConfig, system: &str, tools: &[&ToolSpec]) -> RequestHead {
    let mut fields = BodyFields { model, out: JsonWriter::new() };
    fields.limits();
    fields.effort();
    fields.tools(tools);
    fields.options();
    let out = &mut fields.out;
    out.raw(if out.len() == 0 { "{" } else { "," }).raw("\"messages\":[");
    if !system.trim().is_empty() {
        let role = role_of_system(model.compat.system_role);
        out.raw("{\"role\":\"").raw(role).raw("\",\"content\":").string(system).raw("}");
    }
    // The key is the session's, and the head may be shared by many: the body adds it.
    let has_key = model.compat.prompt_cache_key && !model.options.contains_key("prompt_cache_key");
    let after = if has_key { String::from(CACHE_KEY) } else { String::new() };
    RequestHead { before: fields.out.0, mark: None, after }
}

/// Returns the name of the system prompt's role.
pub(super) const fn role_of_system(role: SystemRole) -> &'static str {
    match role {
        SystemRole::System => "system",
        SystemRole::Developer => "developer",
    }
}

/// The body's fields while they are written.
struct BodyFields<'a> {
    model: &'a ModelConfig,
    out: JsonWriter,
}

impl BodyFields<'_> {
    /// Begins a field, unless the host's options have it: of a name that stands twice in an object,
    /// RFC 8259 leaves open which value counts.
    fn field(&mut self, name: &str) -> Option<&mut JsonWriter> {
        if self.model.options.contains_key(name) {
            return None;
        }
        Some(self.named(name))
    }

    fn named(&mut self, name: &str) -> &mut JsonWriter {
        let separator = if self.out.len() == 0 { "{" } else { "," };
        self.out.raw(separator).string(name).raw(":")
    }

    fn limits(&mut self) {
        let model = self.model;
        if let Some(out) = self.field("model") {
            out.string(&model.name);
        }
        let name = match model.compat.max_tokens_field {
            MaxTokensField::MaxTokens => "max_tokens",
            MaxTokensField::MaxCompletionTokens => "max_completion_tokens",
        };
        if let Some(out) = self.field(name) {
            out.number(u64::from(model.max_output_tokens));
        }
        if let Some(out) = self.field("stream") {
            out.bool(model.stream);
        }
        if model.stream
            && model.compat.usage_in_stream
            && let Some(out) = self.field("stream_options")
        {
            out.raw("{\"include_usage\":true}");
        }
        if model.compat.store
            && let Some(out) = self.field("store")
        {
            out.bool(false);
        }
    }

    fn effort(&mut self) {
        let model = self.model;
        let Some(effort) = &model.reasoning_effort else { return };
        let thinks = !matches!(effort.as_str(), "none" | "off" | "disabled");
        let on = if thinks { "true" } else { "false" };
        match model.compat.thinking {
            ThinkingFormat::None => {}
            ThinkingFormat::ReasoningEffort => {
                if let Some(out) = self.field("reasoning_effort") {
                    out.string(effort);
                }
            }
            ThinkingFormat::Openrouter => {
                if let Some(out) = self.field("reasoning") {
                    out.raw("{\"effort\":").string(effort).raw("}");
                }
            }
            ThinkingFormat::Zai => {
                if let Some(out) = self.field("thinking") {
                    let kind = if thinks { "enabled" } else { "disabled" };
                    out.raw("{\"type\":\"").raw(kind).raw("\"}");
                }
            }
            ThinkingFormat::Qwen => {
                if let Some(out) = self.field("enable_thinking") {
                    out.raw(on);
                }
            }
            ThinkingFormat::QwenChatTemplate => {
                if let Some(out) = self.field("chat_template_kwargs") {
                    out.raw("{\"enable_thinking\":").raw(on).raw("}");
                }
            }
        }
    }

    fn tools(&mut self, tools: &[&ToolSpec]) {
        if tools.is_empty() {
            return;
        }
        let model = self.model;
        let custom = model.compat.custom_tools;
        if let Some(out) = self.field("tools") {
            for (index, tool) in tools.iter().enumerate() {
                out.raw(if index == 0 { "[" } else { "," });
                push_tool(out, tool, custom);
            }
            out.raw("]");
        }
        if model.compat.tool_choice
            && model.tool_choice != ToolChoice::Auto
            && let Some(out) = self.field("tool_choice")
        {
            push_choice(out, &model.tool_choice, tools, custom);
        }
        if let Some(parallel) = model.parallel_tool_calls
            && model.compat.parallel_tool_calls
            && let Some(out) = self.field("parallel_tool_calls")
        {
            out.bool(parallel);
        }
    }

    /// Writes the host's own fields as they are. The messages are not the host's.
    fn options(&mut self) {
        let model = self.model;
        for (name, value) in model.options.iter().filter(|(name, _)| *name != "messages") {
            self.named(name).raw(value.text());
        }
    }
}

/// Writes a tool's definition.
fn push_tool(out: &mut JsonWriter, tool: &ToolSpec, custom: bool) {
    if let Some(freeform) = tool.freeform.as_ref().filter(|_| custom) {
        out.raw("{\"type\":\"custom\",\"custom\":{").named(&tool.name, &freeform.description);
        out.raw(",\"format\":{\"type\":\"grammar\",\"grammar\":{\"syntax\":\"lark\"");
        out.raw(",\"definition\":").string(&freeform.grammar).raw("}}}}");
    } else {
        out.raw("{\"type\":\"function\",\"function\":{").named(&tool.name, &tool.description);
        out.raw(",\"parameters\":").raw(tool.parameters.text()).raw("}}");
    }
}

/// Writes which tool the model may, must or must not call.
fn push_choice(out: &mut JsonWriter, choice: &ToolChoice, tools: &[&ToolSpec], custom: bool) {
    match choice {
        ToolChoice::Auto => out.raw("\"auto\""),
        ToolChoice::None => out.raw("\"none\""),
        ToolChoice::Required => out.raw("\"required\""),
        ToolChoice::Tool(name) => {
            let is_freeform = |tool: &&&ToolSpec| tool.freeform.is_some() && tool.name == *name;
            let kind = if custom && tools.iter().any(|tool| is_freeform(&tool)) {
                "custom"
            } else {
                "function"
            };
            out.raw("{\"type\":\"").raw(kind).raw("\",\"").raw(kind);
            out.raw("\":{\"name\":").string(name).raw("}}")
        }
    };
}
