//! The system prompt's layers, later ones taking precedence: base instructions, the environment,
//! the tools, the project's instructions, the user's instructions.

use crate::types::{
    config::{Facts, GitFacts},
    tool::ToolSpec,
};
use alloc::{format, string::String, vec::Vec};

/// Most bytes of project instructions, all files together.
const DOCS_BUDGET: usize = 32 * 1024;

/// Builds the prompt from its layers; those without content are left out.
#[must_use]
pub(crate) fn system_prompt<'a>(
    base: &str,
    facts: &Facts,
    model: &str,
    tools: impl Iterator<Item = &'a ToolSpec>,
    instructions: Option<&str>,
) -> String {
    let layers = [
        String::from(base.trim_end()),
        environment(facts, model),
        tool_list(tools),
        project_docs(facts),
        section("User instructions", instructions.unwrap_or_default()),
    ];
    let layers: Vec<String> = layers.into_iter().filter(|layer| !layer.is_empty()).collect();
    layers.join("\n\n")
}

/// The environment block, with a snapshot of the repository.
fn environment(facts: &Facts, model: &str) -> String {
    let git = facts.git.as_ref();
    let lines = [
        line("Working directory", &facts.working_directory),
        line("Is git repository", if git.is_some() { "true" } else { "false" }),
        line("Git branch", git.map_or("", |git| &git.branch)),
        line("Platform", &facts.platform),
        line("OS version", &facts.os_version),
        line("Today's date", &facts.date),
        line("Model", model),
        line("Knowledge cutoff", &facts.knowledge_cutoff),
        programs(facts),
        git.map(snapshot).unwrap_or_default(),
    ];
    format!("<environment>\n{}</environment>", lines.concat())
}

fn line(name: &str, value: &str) -> String {
    if value.is_empty() { String::new() } else { format!("{name}: {value}\n") }
}

fn programs(facts: &Facts) -> String {
    let mut out = String::new();
    for program in &facts.programs {
        out.push_str(&format!("Program {}: {}\n", program.name, program.description));
    }
    out
}

fn snapshot(git: &GitFacts) -> String {
    let counts = [(git.modified, "modified"), (git.untracked, "untracked")];
    let known = counts.iter().filter_map(|(n, what)| n.map(|n| format!("{n} {what}")));
    let known: Vec<String> = known.collect();
    let mut out = line("Git status at the start", &known.join(", "));
    for subject in git.recent_commits.iter().take(10) {
        out.push_str(&format!("Recent commit: {subject}\n"));
    }
    out
}

/// The tools in a sentence each; their schemas go beside the prompt.
fn tool_list<'a>(tools: impl Iterator<Item = &'a ToolSpec>) -> String {
    let mut out = String::new();
    for tool in tools {
        let first = tool.description.split_inclusive(". ").next().unwrap_or_default();
        out.push_str(&format!("- {}: {}\n", tool.name, first.trim_end()));
    }
    section("Tools", &out)
}

/// The project's instruction files in the order given, cut at the budget with a marker.
fn project_docs(facts: &Facts) -> String {
    let mut out = String::new();
    for doc in &facts.project_docs {
        out.push_str(&format!("--- {} ---\n{}\n", doc.path, doc.text.trim_end()));
    }
    if out.len() > DOCS_BUDGET {
        out.truncate(crate::base::text::prefix(&out, DOCS_BUDGET).len());
        out.push_str("\n[Project instructions truncated at 32KB]\n");
    }
    section("Project instructions", &out)
}

fn section(title: &str, body: &str) -> String {
    let body = body.trim_end();
    if body.is_empty() { String::new() } else { format!("# {title}\n\n{body}") }
}
