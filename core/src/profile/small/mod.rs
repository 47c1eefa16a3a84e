//! Small and local models: few tools, examples in the prompt, calls in text where the endpoint
//! has none of its own. There is only the specification's vocabulary.

use super::seed;
use crate::types::tool::ToolSpec;
use alloc::vec::Vec;

/// The base instructions, with examples.
pub(super) const BASE_PROMPT: &str = include_str!("prompt.md");

/// How many tools are shown at most: with more, small models choose badly (seed 004).
const MOST_TOOLS: usize = 5;

/// The specification's tools for this family, the most wanted first.
pub(super) fn seed_tools(default_ms: u64) -> Vec<ToolSpec> {
    let names =
        ["read_file", "write_file", "edit_file", "list_dir", "shell", "run_program", "grep"];
    seed::tools(&names, default_ms)
}

/// As many tools as small models can choose from.
pub(super) fn retain_few(tools: &mut Vec<ToolSpec>) {
    tools.truncate(MOST_TOOLS);
}
