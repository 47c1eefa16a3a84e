//! The part of a request that stays the same from turn to turn: model, system prompt, tools.

use super::super::{
    head::RequestHead,
    writer::{JsonWriter, ObjectFields},
};
use alloc::string::String;
use innerloop_types::{
    config::{ModelConfig, ThinkingFormat, ToolChoice},
    json::Json,
    tool::{FreeformSpec, ToolSpec},
};

/// Encodes all fields but the input and the cache key. Fields of the configuration's `options`
/// override ours; the tools among them, such as a web search of the provider's, come behind ours.
pub(crate) fn head(model: &ModelConfig, system: &str, tools: &[&ToolSpec]) -> RequestHead {
    let compat = &model.compat;
    let mut fields = ObjectFields::default();
    fields.set("model").string(&model.name);
    if !system.trim().is_empty() {
        fields.set("instructions").string(system);
    }
    fields.set("stream").bool(model.stream);
    fields.set("max_output_tokens").number(model.max_output_tokens.into());
    if compat.store {
        // What is not stored must come back with each request, thinking included, which is sealed
        // for that.
        fields.set("store").bool(false);
        fields.set("include").raw("[\"reasoning.encrypted_content\"]");
    }
    if let Some(effort) = &model.reasoning_effort
        && compat.thinking != ThinkingFormat::None
    {
        let out = fields.set("reasoning").raw("{\"effort\":").string(effort);
        out.raw(",\"summary\":\"auto\"}");
    }
    let given = model.options.get("tools").map_or("", elements);
    if !tools.is_empty() || !given.is_empty() {
        push_tools(fields.set("tools"), tools, given, model);
    }
    if !tools.is_empty() && compat.tool_choice && model.tool_choice != ToolChoice::Auto {
        push_choice(fields.set("tool_choice"), tools, model);
    }
    if let Some(parallel) = model.parallel_tool_calls
        && compat.parallel_tool_calls
    {
        fields.set("parallel_tool_calls").bool(parallel);
    }
    for (name, value) in &model.options {
        if !matches!(name, "input" | "tools") {
            fields.set(name).raw(value.text());
        }
    }
    let mut before = JsonWriter::new();
    fields.write_open(&mut before);
    before.raw(",\"input\":[");
    RequestHead { before: before.0, mark: None, after: String::from("}") }
}

/// Returns the text between the brackets of an array.
fn elements(array: &Json) -> &str {
    let inner = array.text().trim().strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    inner.unwrap_or_default().trim()
}

fn push_tools(out: &mut JsonWriter, tools: &[&ToolSpec], given: &str, model: &ModelConfig) {
    out.raw("[");
    for (index, tool) in tools.iter().enumerate() {
        out.raw(if index == 0 { "" } else { "," });
        match freeform(tool, model) {
            Some(freeform) => push_custom(out, tool, freeform),
            None => push_function(out, tool, model),
        }
    }
    out.raw(if tools.is_empty() || given.is_empty() { "" } else { "," }).raw(given).raw("]");
}

/// Returns the tool's form for free text, if this model's endpoint takes custom tools.
fn freeform<'a>(tool: &'a ToolSpec, model: &ModelConfig) -> Option<&'a FreeformSpec> {
    tool.freeform.as_ref().filter(|_| model.compat.custom_tools)
}

fn push_custom(out: &mut JsonWriter, tool: &ToolSpec, freeform: &FreeformSpec) {
    out.raw("{\"type\":\"custom\",").named(&tool.name, &freeform.description);
    out.raw(",\"format\":{\"type\":\"grammar\",\"syntax\":\"lark\",\"definition\":");
    out.string(&freeform.grammar).raw("}}");
}

/// Writes a function's definition. The provider's default is strict, which refuses optional
/// properties.
fn push_function(out: &mut JsonWriter, tool: &ToolSpec, model: &ModelConfig) {
    out.raw("{\"type\":\"function\",").named(&tool.name, &tool.description);
    out.raw(",\"parameters\":").raw(tool.parameters.text());
    out.raw(if model.compat.strict_tools { ",\"strict\":false}" } else { "}" });
}

fn push_choice(out: &mut JsonWriter, tools: &[&ToolSpec], model: &ModelConfig) {
    match &model.tool_choice {
        ToolChoice::Auto => out.string("auto"),
        ToolChoice::None => out.string("none"),
        ToolChoice::Required => out.string("required"),
        ToolChoice::Tool(name) => {
            let tool = tools.iter().find(|tool| tool.name == *name);
            let is_custom = tool.is_some_and(|tool| freeform(tool, model).is_some());
            out.raw("{\"type\":").string(if is_custom { "custom" } else { "function" });
            out.raw(",\"name\":").string(name).raw("}")
        }
    };
}
