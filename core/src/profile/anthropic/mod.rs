//! Claude models: search-and-replace editing (Spec §3.5; TOOL-VOCABULARIES §2). Beta features,
//! such as larger windows, are asked for with `ModelConfig::betas`.

mod native;

pub(super) use native::{present, tools as native_tools, translate};

use super::seed;
use crate::types::tool::ToolSpec;
use alloc::vec::Vec;

/// The base instructions. They name no tool: each vocabulary has its own names.
pub(super) const BASE_PROMPT: &str = include_str!("prompt.md");

/// What this family shows otherwise than the specification's table.
const SEED: &str = include_str!("seed.json");

/// The specification's tools for this family.
pub(super) fn seed_tools(default_ms: u64) -> Vec<ToolSpec> {
    let names = [
        "read_file",
        "write_file",
        "edit_file",
        "list_dir",
        "glob",
        "grep",
        "shell",
        "run_program",
    ];
    let mut tools = seed::tools(&names, default_ms);
    for own in seed::parse(SEED) {
        if let Some(tool) = tools.iter_mut().find(|tool| tool.name == own.name) {
            *tool = own;
        }
    }
    tools
}
