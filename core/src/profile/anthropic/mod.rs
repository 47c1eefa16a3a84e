//! Claude models: the specification's tools with search-and-replace editing (Spec §3.3, §3.5).

mod tools;

pub(super) use tools::{tools, translate};

use crate::rules::truncate::{Keep, OutputLimit};

/// The base instructions: identity, tools, editing, care, reporting.
pub(super) const BASE_PROMPT: &str = include_str!("prompt.md");

pub(super) fn output_limit(name: &str) -> OutputLimit {
    let (max_chars, max_lines, keep) = match name {
        "read_file" => (50_000, None, Keep::HeadTail),
        "run_program" => (30_000, Some(256), Keep::HeadTail),
        "grep" => (20_000, Some(200), Keep::Head),
        "glob" | "list_dir" => (20_000, Some(500), Keep::Head),
        "edit_file" => (10_000, None, Keep::Tail),
        "write_file" => (1_000, None, Keep::Tail),
        _ => return OutputLimit::DEFAULT,
    };
    OutputLimit { max_chars, max_lines, keep }
}
