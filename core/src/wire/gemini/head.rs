//! The part of a request that stays the same from turn to turn: system prompt, tools, limits,
//! thinking, and the host's own options, which are put over them.

use super::{
    super::{head::Head, writer::Writer},
    encode::function_name,
    family::{Family, Thinking},
    merge::{Arrays, merged},
    schema,
};
use crate::{
    base::json::{Json, Object},
    types::{
        model::{ModelConfig, ToolChoice},
        tool::ToolSpec,
    },
};
use alloc::{string::String, vec::Vec};

/// System prompt, tools and settings.
pub(in super::super) fn head<'a>(
    model: &ModelConfig,
    system: &str,
    tools: impl Iterator<Item = &'a ToolSpec>,
) -> Head {
    let mut fields = Object::default();
    if !system.trim().is_empty() {
        let mut out = Writer::new();
        out.raw("{\"parts\":[{\"text\":").string(system).raw("}]}");
        set(&mut fields, "systemInstruction", out);
    }
    let mut tools = tools.peekable();
    if tools.peek().is_some() {
        set(&mut fields, "tools", declarations(model, tools));
        if let Some(config) = tool_config(model) {
            set(&mut fields, "toolConfig", config);
        }
    }
    set(&mut fields, "generationConfig", generation_config(model));
    for (name, theirs) in &model.options {
        let arrays = if name == "tools" { Arrays::Append } else { Arrays::Replace };
        let merged = match fields.field(name) {
            Some(ours) => merged(ours, theirs, arrays),
            None => theirs.clone(),
        };
        fields.set(name, merged);
    }
    let mut out = Writer::new();
    out.raw("{");
    for (name, value) in &fields.0 {
        out.string(name).raw(":").raw(value.text()).raw(",");
    }
    out.raw("\"contents\":[");
    Head { before: out.0, mark: None, after: Vec::new() }
}

fn set(fields: &mut Object, name: &str, value: Writer) {
    let text = String::from_utf8(value.0).unwrap_or_default();
    if let Ok(json) = Json::parse(text) {
        fields.set(name, json);
    }
}

fn declarations<'a>(model: &ModelConfig, tools: impl Iterator<Item = &'a ToolSpec>) -> Writer {
    let mut out = Writer::new();
    out.raw("[{\"functionDeclarations\":[");
    for (index, tool) in tools.enumerate() {
        out.raw(if index == 0 { "{\"name\":" } else { ",{\"name\":" });
        out.string(&function_name(&tool.name));
        out.raw(",\"description\":").string(&tool.description);
        if model.compat.json_schema {
            out.raw(",\"parametersJsonSchema\":").raw(tool.parameters.text());
        } else if let Some(parameters) = schema::parameters(&tool.parameters) {
            out.raw(",\"parameters\":").raw(parameters.text());
        }
        out.raw("}");
    }
    out.raw("]}]");
    out
}

fn tool_config(model: &ModelConfig) -> Option<Writer> {
    let calling = |mode: &str| {
        let mut out = Writer::new();
        out.raw("{\"functionCallingConfig\":{\"mode\":").string(mode);
        out
    };
    let mut out = match &model.tool_choice {
        // AUTO is what the provider does if nothing is said; beside its own tools it takes none.
        ToolChoice::Auto if has_own_tools(model) => {
            let mut out = Writer::new();
            out.raw("{\"includeServerSideToolInvocations\":true}");
            return Some(out);
        }
        ToolChoice::Auto => return None,
        ToolChoice::None => calling("NONE"),
        ToolChoice::Required => calling("ANY"),
        ToolChoice::Tool(name) => {
            let mut out = calling("ANY");
            out.raw(",\"allowedFunctionNames\":[").string(&function_name(name)).raw("]");
            out
        }
    };
    out.raw("}");
    if has_own_tools(model) {
        out.raw(",\"includeServerSideToolInvocations\":true");
    }
    out.raw("}");
    Some(out)
}

/// Whether the host asks for tools that the provider runs itself, which models that can have them
/// beside ours must be told to show. Vertex AI does not know the word.
fn has_own_tools(model: &ModelConfig) -> bool {
    let takes_both = Family::of(&model.name) == Family::Level && !super::is_vertex(&model.name);
    takes_both && model.options.contains_key("tools")
}

fn generation_config(model: &ModelConfig) -> Writer {
    let mut out = Writer::new();
    out.raw("{\"maxOutputTokens\":").number(u64::from(model.max_output_tokens));
    let effort = model.reasoning_effort.as_deref();
    let thinking = effort.and_then(|effort| Family::of(&model.name).thinking(&model.name, effort));
    match thinking.filter(|_| !sets_thinking(model)) {
        None => {}
        // Thoughts cannot be asked for where there are none.
        Some(Thinking::Budget(0)) => {
            out.raw(",\"thinkingConfig\":{\"thinkingBudget\":0}");
        }
        Some(Thinking::Budget(budget)) => {
            out.raw(",\"thinkingConfig\":{\"includeThoughts\":true,\"thinkingBudget\":");
            out.raw(&alloc::format!("{budget}}}"));
        }
        Some(Thinking::Level(level)) => {
            out.raw(",\"thinkingConfig\":{\"includeThoughts\":true,\"thinkingLevel\":");
            out.string(&level).raw("}");
        }
    }
    out.raw("}");
    out
}

/// Whether the host's options say how much to think: budget and level exclude each other.
fn sets_thinking(model: &ModelConfig) -> bool {
    let object = |json: &Json| serde_json::from_str::<Object>(json.text()).ok();
    let config = model.options.get("generationConfig").and_then(object);
    let thinking = config.and_then(|config| config.field("thinkingConfig").and_then(object));
    thinking.is_some_and(|thinking| {
        thinking.field("thinkingBudget").is_some() || thinking.field("thinkingLevel").is_some()
    })
}
