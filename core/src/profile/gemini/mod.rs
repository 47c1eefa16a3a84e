//! Gemini models (Spec §3.6; TOOL-VOCABULARIES §3). Safety settings and grounding are fields of
//! the request: `ModelConfig::options`. Searching and fetching the web are not offered: nothing
//! here carries them out.

mod native;

pub(super) use native::{present, tools as native_tools, translate};

use super::seed;
use crate::types::tool::ToolSpec;
use alloc::vec::Vec;

/// The base instructions.
pub(super) const BASE_PROMPT: &str = include_str!("prompt.md");

/// The specification's tools for this family.
pub(super) fn seed_tools(default_ms: u64) -> Vec<ToolSpec> {
    let names = [
        "read_file",
        "read_many_files",
        "write_file",
        "edit_file",
        "shell",
        "grep",
        "glob",
        "list_dir",
        "run_program",
    ];
    seed::tools(&names, default_ms)
}
