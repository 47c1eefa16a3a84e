//! GPT models: patches (Spec §3.4; TOOL-VOCABULARIES §1). Effort is `ModelConfig`'s, and goes out
//! as `reasoning.effort` where the protocol has it.

mod native;

pub(super) use native::{present, retain_needed, tools as native_tools, translate};

use super::seed;
use crate::types::tool::ToolSpec;
use alloc::vec::Vec;

/// The base instructions.
pub(super) const BASE_PROMPT: &str = include_str!("prompt.md");

/// The specification's tools for this family.
pub(super) fn seed_tools(default_ms: u64) -> Vec<ToolSpec> {
    let names = ["read_file", "apply_patch", "write_file", "shell", "grep", "glob", "run_program"];
    seed::tools(&names, default_ms)
}
