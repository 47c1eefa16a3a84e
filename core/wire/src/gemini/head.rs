//! The part of a request that stays the same from turn to turn: system prompt, tools, limits,
//! thinking, and the host's own options, which are put over them.

use super::{
    super::{
        head::Head,
        lenient::Document,
        writer::{Fields, Writer},
    },
    encode::function_name,
    family::{Family, Thinking, is_vertex},
    merge::{Arrays, push_merged},
    schema,
};
use alloc::{format, string::String};
use innerloop_types::{
    model::{ModelConfig, ToolChoice},
    tool::ToolSpec,
};

/// System prompt, tools and settings.
pub(crate) fn head(model: &ModelConfig, system: &str, tools: &[&ToolSpec]) -> Head {
    let mut fields = Fields::default();
    if !system.trim().is_empty() {
        fields.set("systemInstruction").raw("{\"parts\":[{\"text\":").string(system).raw("}]}");
    }
    if !tools.is_empty() {
        push_declarations(fields.set("tools"), model, tools);
        push_tool_config(&mut fields, model);
    }
    push_generation_config(fields.set("generationConfig"), model);
    for (name, theirs) in &model.options {
        let arrays = if name == "tools" { Arrays::Append } else { Arrays::Replace };
        let mut merged = Writer::new();
        let (ours, theirs) = (fields.get(name), Document::of(theirs.text()));
        push_merged(&mut merged, ours.root(), theirs.root(), arrays);
        fields.set(name).raw(&merged.0);
    }
    let mut out = Writer::new();
    fields.write_open(&mut out);
    out.raw(",\"contents\":[");
    Head { before: out.0, mark: None, after: String::new() }
}

fn push_declarations(out: &mut Writer, model: &ModelConfig, tools: &[&ToolSpec]) {
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

fn push_tool_config(fields: &mut Fields, model: &ModelConfig) {
    const OWN_TOOLS: &str = "\"includeServerSideToolInvocations\":true";
    let (mode, only) = match &model.tool_choice {
        // AUTO is what the provider does if nothing is said; beside its own tools it takes none.
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

/// Whether the host asks for tools that the provider runs itself, which models that can have them
/// beside ours must be told to show. Vertex AI does not know the word.
fn has_own_tools(model: &ModelConfig) -> bool {
    let takes_both = Family::of(&model.name) == Family::Level && !is_vertex(&model.name);
    takes_both && model.options.contains_key("tools")
}

fn push_generation_config(out: &mut Writer, model: &ModelConfig) {
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
            out.raw(&format!("{budget}}}"));
        }
        Some(Thinking::Level(level)) => {
            out.raw(",\"thinkingConfig\":{\"includeThoughts\":true,\"thinkingLevel\":");
            out.string(&level).raw("}");
        }
    }
    out.raw("}");
}

/// Whether the host's options say how much to think: budget and level exclude each other.
fn sets_thinking(model: &ModelConfig) -> bool {
    let config = Document::kept(model.options.get("generationConfig"));
    let thinking = config.root().field("thinkingConfig");
    !thinking.first_of("thinkingBudget|thinkingLevel").is_null()
}
