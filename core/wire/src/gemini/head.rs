//! The part of a request that stays the same from turn to turn: system prompt, tools, limits and
//! thinking, with the host's own options merged over them.

use super::{
    super::{
        head::RequestHead,
        lenient::JsonDocument,
        writer::{JsonWriter, ObjectFields},
    },
    encode::function_name,
    family::{GeminiGeneration, GeminiThinking, is_vertex},
    merge::{ArrayMerge, push_merged},
    schema,
};
use alloc::{format, string::String};
use innerloop_types::{
    model::{ModelConfig, ToolChoice},
    tool::ToolSpec,
};

/// Encodes system prompt, tools and settings.
pub(crate) fn head(model: &ModelConfig, system: &str, tools: &[&ToolSpec]) -> RequestHead {
    let mut fields = ObjectFields::default();
    if !system.trim().is_empty() {
        fields.set("systemInstruction").raw("{\"parts\":[{\"text\":").string(system).raw("}]}");
    }
    if !tools.is_empty() {
        push_declarations(fields.set("tools"), model, tools);
        push_tool_config(&mut fields, model);
    }
    push_generation_config(fields.set("generationConfig"), model);
    // The turns are not the host's.
    for (name, theirs) in model.options.iter().filter(|(name, _)| *name != "contents") {
        // The provider's own tools stand beside ours; any other list replaces ours.
        let arrays = if name == "tools" { ArrayMerge::Append } else { ArrayMerge::Replace };
        let mut merged = JsonWriter::new();
        let (ours, theirs) = (fields.get(name), JsonDocument::of(theirs.text()));
        push_merged(&mut merged, ours.root(), theirs.root(), arrays);
        fields.set(name).raw(&merged.0);
    }
    let mut out = JsonWriter::new();
    fields.write_open(&mut out);
    out.raw(",\"contents\":[");
    RequestHead { before: out.0, mark: None, after: String::new() }
}

fn push_declarations(out: &mut JsonWriter, model: &ModelConfig, tools: &[&ToolSpec]) {
    out.raw("[{\"functionDeclarations\":[");
    for (index, tool) in tools.iter().enumerate() {
        out.raw(if index == 0 { "{" } else { ",{" });
        out.named(&function_name(&tool.name), &tool.description);
        if model.compat.json_schema {
            out.raw(",\"parametersJsonSchema\":").raw(tool.parameters.text());
        } else if let Some(parameters) = schema::parameters(&tool.parameters) {
            out.raw(",\"parameters\":").raw(parameters.text());
        }
        out.raw("}");
    }
    out.raw("]}]");
}

fn push_tool_config(fields: &mut ObjectFields, model: &ModelConfig) {
    const OWN_TOOLS: &str = "\"includeServerSideToolInvocations\":true";
    let (mode, only) = match &model.tool_choice {
        // `AUTO` is the default and is not written: beside its own tools the provider does not take
        // it.
        ToolChoice::Auto if has_own_tools(model) => {
            fields.set("toolConfig").raw("{").raw(OWN_TOOLS).raw("}");
            return;
        }
        ToolChoice::Auto => return,
        ToolChoice::None => ("NONE", None),
        ToolChoice::Required => ("ANY", None),
        ToolChoice::Tool(name) => ("ANY", Some(name)),
    };
    let out = fields.set("toolConfig").raw("{\"functionCallingConfig\":{\"mode\":").string(mode);
    if let Some(name) = only {
        out.raw(",\"allowedFunctionNames\":[").string(&function_name(name)).raw("]");
    }
    out.raw("}");
    if has_own_tools(model) {
        out.raw(",").raw(OWN_TOOLS);
    }
    out.raw("}");
}

/// Returns whether the host asks for tools that the provider runs itself. Models that can have them
/// beside ours must be told to show their calls. Vertex AI does not know that field.
fn has_own_tools(model: &ModelConfig) -> bool {
    let takes_both =
        GeminiGeneration::of(&model.name) == GeminiGeneration::Level && !is_vertex(&model.name);
    takes_both && model.options.contains_key("tools")
}

fn push_generation_config(out: &mut JsonWriter, model: &ModelConfig) {
    out.raw("{\"maxOutputTokens\":").number(u64::from(model.max_output_tokens));
    let effort = model.reasoning_effort.as_deref();
    let thinking =
        effort.and_then(|effort| GeminiGeneration::of(&model.name).thinking(&model.name, effort));
    match thinking.filter(|_| !sets_thinking(model)) {
        None => {}
        // Thoughts cannot be asked for where the budget allows none.
        Some(GeminiThinking::Budget(0)) => {
            out.raw(",\"thinkingConfig\":{\"thinkingBudget\":0}");
        }
        Some(GeminiThinking::Budget(budget)) => {
            out.raw(",\"thinkingConfig\":{\"includeThoughts\":true,\"thinkingBudget\":");
            out.raw(&format!("{budget}}}"));
        }
        Some(GeminiThinking::Level(level)) => {
            out.raw(",\"thinkingConfig\":{\"includeThoughts\":true,\"thinkingLevel\":");
            out.string(&level).raw("}");
        }
    }
    out.raw("}");
}

/// Returns whether the host's options say how much to think, since budget and level exclude each
/// other.
fn sets_thinking(model: &ModelConfig) -> bool {
    let config = JsonDocument::kept(model.options.get("generationConfig"));
    let thinking = config.root().field("thinkingConfig");
    !thinking.first_of("thinkingBudget|thinkingLevel").is_null()
}
