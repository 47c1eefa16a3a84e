//! The specification's vocabulary (Spec §3.3 to §3.6): one table of tools that each family shows
//! a part of.

use super::{
    shell,
    translated::{Translated, arguments as read, invalid},
};
use crate::{
    rules::truncate::{Keep, OutputLimit},
    types::{
        action::{Action, Grep, GrepMode, Hidden, ListStyle, Notice, Numbering, Outcome},
        config::Facts,
        tool::ToolSpec,
    },
};
use alloc::{format, string::String, vec::Vec};
use serde::Deserialize;

/// How many lines `read_file` reads if it is not told.
pub(super) const READ_LIMIT: u64 = 2_000;

/// The schemas, as they go to the model.
const TOOLS: &str = include_str!("seed.json");

/// Those of the tools that a family shows, in its order. `default_ms` is its time limit for
/// programs.
pub(super) fn tools(names: &[&str], default_ms: u64) -> Vec<ToolSpec> {
    let known = parse(&TOOLS.replace("{default_ms}", &format!("{default_ms}")));
    let named = |name: &&str| known.iter().find(|tool| tool.name == **name).cloned();
    names.iter().filter_map(named).collect()
}

/// The tools of a table that is a part of the program.
pub(super) fn parse(table: &str) -> Vec<ToolSpec> {
    // The tests read every table and find each of its tools.
    serde_json::from_str(table).unwrap_or_default()
}

#[derive(Deserialize)]
struct ReadFile {
    file_path: String,
    offset: Option<u64>,
    limit: Option<u64>,
}

#[derive(Deserialize)]
struct ReadMany {
    paths: Vec<String>,
    #[serde(default)]
    exclude: Vec<String>,
}

/// A call that writes a file, in every vocabulary.
#[derive(Deserialize)]
pub(super) struct WriteFile {
    file_path: String,
    content: String,
}

/// A call that replaces a text, in the words of the specification and of Claude Code.
#[derive(Deserialize)]
pub(super) struct EditFile {
    file_path: String,
    old_string: String,
    new_string: String,
    #[serde(default)]
    replace_all: bool,
}

#[derive(Deserialize)]
struct ApplyPatch {
    patch: String,
}

#[derive(Deserialize)]
struct ListDir {
    path: Option<String>,
    depth: Option<u32>,
}

/// A call that finds files, in the words of the specification and of Claude Code.
#[derive(Deserialize)]
pub(super) struct FindFiles {
    pattern: String,
    path: Option<String>,
}

#[derive(Deserialize)]
struct GrepFiles {
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
struct Shell {
    command: String,
    timeout_ms: Option<u64>,
}

#[derive(Deserialize)]
struct RunProgram {
    program: String,
    #[serde(default)]
    args: Vec<String>,
    stdin: Option<String>,
    timeout_ms: Option<u64>,
}

impl From<WriteFile> for Action {
    fn from(call: WriteFile) -> Self {
        Self::Write { path: call.file_path, content: call.content, only_new: false }
    }
}

impl From<EditFile> for Action {
    fn from(call: EditFile) -> Self {
        Self::Edit {
            path: call.file_path,
            old: call.old_string,
            new: call.new_string,
            all: call.replace_all,
        }
    }
}

impl FindFiles {
    /// The search, for so many files at most.
    pub(super) fn action(self, max_results: Option<u32>) -> Action {
        let Self { pattern, path } = self;
        let hidden = Hidden::Ignored;
        Action::Glob { pattern, path, ignore_case: false, max_results, hidden }
    }
}

/// A call in canonical form.
pub(super) fn translate(facts: &Facts, name: &str, arguments: &str) -> Result<Translated, String> {
    let action = match name {
        "read_file" => {
            let ReadFile { file_path: path, offset, limit } = read(name, arguments)?;
            Action::Read {
                path,
                offset,
                limit: Some(limit.unwrap_or(READ_LIMIT)),
                numbering: Numbering::Pipe,
                line_chars: None,
                notice: Notice::Below,
            }
        }
        "read_many_files" => {
            let ReadMany { paths: include, exclude } = read(name, arguments)?;
            Action::ReadMany { include, exclude, flat: false, hidden: Hidden::Ignored }
        }
        "write_file" => read::<WriteFile>(name, arguments)?.into(),
        "edit_file" => read::<EditFile>(name, arguments)?.into(),
        "apply_patch" => {
            let ApplyPatch { patch } = read(name, arguments)?;
            Action::Patch { patch, unread: Vec::new() }
        }
        "list_dir" => {
            let ListDir { path, depth } = read(name, arguments)?;
            Action::List {
                path,
                depth: depth.unwrap_or(1),
                ignore: Vec::new(),
                hidden: Hidden::Nothing,
                style: ListStyle::Slash,
            }
        }
        "glob" => read::<FindFiles>(name, arguments)?.action(None),
        "grep" => {
            let call: GrepFiles = read(name, arguments)?;
            Action::Grep(Grep {
                pattern: call.pattern,
                path: call.path,
                glob: call.glob_filter,
                ignore_case: call.case_insensitive,
                mode: call.output_mode,
                max_results: call.max_results,
                ..Grep::default()
            })
        }
        "shell" => {
            let Shell { command, timeout_ms } = read(name, arguments)?;
            return shell::run(facts, name, &command, None, timeout_ms);
        }
        "run_program" => {
            let RunProgram { program, args, stdin, timeout_ms } = read(name, arguments)?;
            if program.trim().is_empty() {
                return Err(invalid(name, "the program is blank"));
            }
            return Ok(Translated {
                action: Action::RunProgram { program, args, stdin },
                timeout_ms,
            });
        }
        _ => return Err(format!("Unknown tool: {name}")),
    };
    Ok(action.into())
}

/// What the model reads of a program's run: its output, and how it ended unless well (Spec §3.3).
pub(super) fn present(action: &Action, outcome: &Outcome) -> Option<String> {
    let (Action::RunProgram { .. }, Some(exit)) = (action, outcome.exit) else { return None };
    if exit == 0 {
        return None;
    }
    let mut text = outcome.joined_text();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&format!("[Exit code: {exit}]"));
    Some(text)
}

/// How much of a tool's output the model reads (Spec §5.2, §5.3; searches keep their beginning,
/// CONFLICTS X4). The tools of the families' own vocabularies count as the specification's that
/// do the same.
pub(super) fn output_limit(name: &str) -> OutputLimit {
    let (max_chars, max_lines, keep) = match name {
        "read_file" | "read_many_files" | "Read" => (50_000, None, Keep::HeadTail),
        "shell" | "run_program" | "Bash" | "shell_command" | "run_shell_command" => {
            (30_000, Some(256), Keep::HeadTail)
        }
        "grep" | "Grep" | "grep_search" => (20_000, Some(200), Keep::Head),
        "glob" | "Glob" | "list_dir" | "list_directory" => (20_000, Some(500), Keep::Head),
        "spawn_agent" | "wait" => (20_000, None, Keep::HeadTail),
        "edit_file" | "apply_patch" | "Edit" | "replace" => (10_000, None, Keep::Tail),
        "write_file" | "Write" => (1_000, None, Keep::Tail),
        _ => return OutputLimit::DEFAULT,
    };
    OutputLimit { max_chars, max_lines, keep }
}
