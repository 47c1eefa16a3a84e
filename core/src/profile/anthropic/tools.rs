//! The tools' schemas, and the translation of their calls.

use super::super::translated::Translated;
use crate::nouns::{
    action::{Action, GrepMode, Numbering},
    config::Facts,
    tool::ToolSpec,
};
use alloc::{format, string::String, vec::Vec};
use serde::Deserialize;

/// How many lines `read_file` reads if it is not told.
const READ_LIMIT: u64 = 2_000;

/// The schemas, as they go to the model.
const TOOLS: &str = include_str!("tools.json");

/// The tools; `run_program` only where there is a program to run.
pub(in super::super) fn tools(facts: &Facts) -> Vec<ToolSpec> {
    // The text is part of the program, and the tests read it.
    let mut tools: Vec<ToolSpec> = serde_json::from_str(TOOLS).unwrap_or_default();
    tools.retain(|tool| tool.name != "run_program" || !facts.programs.is_empty());
    tools
}

#[derive(Deserialize)]
struct Read {
    file_path: String,
    offset: Option<u64>,
    limit: Option<u64>,
}

#[derive(Deserialize)]
struct Write {
    file_path: String,
    content: String,
}

#[derive(Deserialize)]
struct Edit {
    file_path: String,
    old_string: String,
    new_string: String,
    #[serde(default)]
    replace_all: bool,
}

#[derive(Deserialize)]
struct List {
    path: Option<String>,
    depth: Option<u32>,
}

#[derive(Deserialize)]
struct Glob {
    pattern: String,
    path: Option<String>,
}

#[derive(Deserialize)]
struct Grep {
    pattern: String,
    path: Option<String>,
    glob_filter: Option<String>,
    #[serde(default)]
    case_insensitive: bool,
    #[serde(default)]
    output_mode: GrepMode,
    max_results: Option<u32>,
}

#[derive(Deserialize)]
struct RunProgram {
    program: String,
    #[serde(default)]
    args: Vec<String>,
    stdin: Option<String>,
    timeout_ms: Option<u64>,
}

/// A call in canonical form.
pub(in super::super) fn translate(name: &str, arguments: &str) -> Result<Translated, String> {
    fn read<'a, T: Deserialize<'a>>(name: &str, arguments: &'a str) -> Result<T, String> {
        serde_json::from_str(arguments)
            .map_err(|error| format!("Invalid arguments for tool: {name}: {error}"))
    }
    let mut timeout = None;
    let action = match name {
        "read_file" => {
            let Read { file_path: path, offset, limit } = read(name, arguments)?;
            let limit = Some(limit.unwrap_or(READ_LIMIT));
            Action::Read { path, offset, limit, numbering: Numbering::Pipe }
        }
        "write_file" => {
            let Write { file_path: path, content } = read(name, arguments)?;
            Action::Write { path, content, only_new: false }
        }
        "edit_file" => {
            let call: Edit = read(name, arguments)?;
            Action::Edit {
                path: call.file_path,
                old: call.old_string,
                new: call.new_string,
                all: call.replace_all,
            }
        }
        "list_dir" => {
            let List { path, depth } = read(name, arguments)?;
            Action::List { path, depth: depth.unwrap_or(1) }
        }
        "glob" => {
            let Glob { pattern, path } = read(name, arguments)?;
            Action::Glob { pattern, path }
        }
        "grep" => {
            let call: Grep = read(name, arguments)?;
            Action::Grep {
                pattern: call.pattern,
                path: call.path,
                glob: call.glob_filter,
                ignore_case: call.case_insensitive,
                mode: call.output_mode,
                max_results: call.max_results.unwrap_or(100),
            }
        }
        "run_program" => {
            let RunProgram { program, args, stdin, timeout_ms } = read(name, arguments)?;
            timeout = timeout_ms;
            Action::RunProgram { program, args, stdin }
        }
        _ => return Err(format!("Unknown tool: {name}")),
    };
    Ok(Translated { action, timeout_ms: timeout })
}
