//! The part of a request that stays the same from turn to turn: model, system prompt, tools.

use super::super::{head::Head, writer::Writer};
use crate::{
    base::json::{Json, Object},
    types::{
        config::{ModelConfig, ThinkingFormat, ToolChoice},
        tool::{Freeform, ToolSpec},
    },
};
use alloc::{format, string::String, vec::Vec};

/// All fields but the input and the cache key. Fields of the configuration's `options` override
/// ours; the tools among them, such as a web search of the provider's, come behind ours.
pub(in super::super) fn head<'a>(
    model: &ModelConfig,
    system: &str,
    tools: impl Iterator<Item = &'a ToolSpec>,
) -> Head {
    let compat = &model.compat;
    let mut fields = Object::default();
    fields.set("model", json(|out| out.string(&model.name)));
    if !system.trim().is_empty() {
        fields.set("instructions", json(|out| out.string(system)));
    }
    fields.set("stream", json(|out| out.raw(truth(model.stream))));
    fields.set("max_output_tokens", json(|out| out.number(model.max_output_tokens.into())));
    if compat.store {
        // What is not stored must come back with each request, thinking included.
        fields.set("store", json(|out| out.raw("false")));
        fields.set("include", json(|out| out.raw("[\"reasoning.encrypted_content\"]")));
    }
    if let Some(effort) = &model.reasoning_effort
        && compat.thinking != ThinkingFormat::None
    {
        let reasoning =
            json(|out| out.raw("{\"effort\":").string(effort).raw(",\"summary\":\"auto\"}"));
        fields.set("reasoning", reasoning);
    }
    let tools: Vec<&ToolSpec> = tools.collect();
    let given = model.options.get("tools").map_or("", elements);
    if !tools.is_empty() || !given.is_empty() {
        fields.set("tools", definitions(&tools, given, model));
    }
    if !tools.is_empty() && compat.tool_choice && model.tool_choice != ToolChoice::Auto {
        fields.set("tool_choice", choice(&tools, model));
    }
    if let Some(parallel) = model.parallel_tool_calls
        && compat.parallel_tool_calls
    {
        fields.set("parallel_tool_calls", json(|out| out.raw(truth(parallel))));
    }
    for (name, value) in &model.options {
        if !matches!(name.as_str(), "input" | "tools") {
            fields.set(name, value.clone());
        }
    }
    let mut before = Vec::from(fields.to_json().text());
    before.pop();
    before.extend_from_slice(b",\"input\":[");
    Head { before, mark: None, after: Vec::from("}") }
}

const fn truth(is_so: bool) -> &'static str {
    if is_so { "true" } else { "false" }
}

fn json(write: impl FnOnce(&mut Writer) -> &mut Writer) -> Json {
    let mut out = Writer::new();
    write(&mut out);
    String::from_utf8(out.0).ok().and_then(|text| Json::parse(text).ok()).unwrap_or_default()
}

/// What stands between the brackets of an array.
fn elements(array: &Json) -> &str {
    let inner = array.text().trim().strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    inner.unwrap_or_default().trim()
}

fn definitions(tools: &[&ToolSpec], given: &str, model: &ModelConfig) -> Json {
    json(|out| {
        out.raw("[");
        for (index, tool) in tools.iter().enumerate() {
            out.raw(if index == 0 { "" } else { "," });
            match freeform(tool, model) {
                Some(freeform) => custom(out, tool, freeform),
                None => function(out, tool, model),
            };
        }
        out.raw(if tools.is_empty() || given.is_empty() { "" } else { "," }).raw(given).raw("]")
    })
}

/// How the tool is called with free text, if this model's endpoint can.
fn freeform<'a>(tool: &'a ToolSpec, model: &ModelConfig) -> Option<&'a Freeform> {
    tool.freeform.as_ref().filter(|_| model.compat.custom_tools)
}

fn custom<'o>(out: &'o mut Writer, tool: &ToolSpec, freeform: &Freeform) -> &'o mut Writer {
    out.raw("{\"type\":\"custom\",\"name\":").string(&tool.name);
    out.raw(",\"description\":").string(&freeform.description);
    out.raw(",\"format\":{\"type\":\"grammar\",\"syntax\":\"lark\",\"definition\":");
    out.string(&freeform.grammar).raw("}}")
}

/// A function's definition. The provider's default is strict, which refuses optional properties.
fn function<'o>(out: &'o mut Writer, tool: &ToolSpec, model: &ModelConfig) -> &'o mut Writer {
    out.raw("{\"type\":\"function\",\"name\":").string(&tool.name);
    out.raw(",\"description\":").string(&tool.description);
    out.raw(",\"parameters\":").raw(tool.parameters.text());
    out.raw(if model.compat.strict_tools { ",\"strict\":false}" } else { "}" })
}

fn choice(tools: &[&ToolSpec], model: &ModelConfig) -> Json {
    let name = match &model.tool_choice {
        ToolChoice::Auto => return json(|out| out.raw("\"auto\"")),
        ToolChoice::None => return json(|out| out.raw("\"none\"")),
        ToolChoice::Required => return json(|out| out.raw("\"required\"")),
        ToolChoice::Tool(name) => name,
    };
    let tool = tools.iter().find(|tool| tool.name == *name);
    let is_custom = tool.is_some_and(|tool| freeform(tool, model).is_some());
    let kind = if is_custom { "custom" } else { "function" };
    json(|out| out.raw(&format!("{{\"type\":\"{kind}\",\"name\":")).string(name).raw("}"))
}
