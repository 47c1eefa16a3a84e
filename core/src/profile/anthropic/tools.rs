//! The tools' schemas, and the translation of their calls.

use super::super::Translated;
use crate::{
    nouns::{
        action::{Action, GrepMode, Numbering},
        config::Facts,
        tool::ToolSpec,
    },
    words::json::Json,
};
use alloc::{format, string::String, vec::Vec};
use serde::Deserialize;

/// How many lines `read_file` reads if it is not told.
const READ_LIMIT: u64 = 2_000;

/// The tools; `run_program` only where there is a program to run.
pub(in super::super) fn tools(facts: &Facts) -> Vec<ToolSpec> {
    let mut tools: Vec<ToolSpec> = FILE_TOOLS.iter().map(Fixed::spec).collect();
    if !facts.programs.is_empty() {
        tools.push(RUN_PROGRAM.spec());
    }
    tools
}

/// A tool whose text is part of the program.
struct Fixed {
    name: &'static str,
    description: &'static str,
    parameters: &'static str,
    read_only: bool,
}

impl Fixed {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.name.into(),
            description: self.description.into(),
            // The texts below are JSON: a test reads each of them.
            parameters: Json::parse(self.parameters).unwrap_or_default(),
            read_only: self.read_only,
        }
    }
}

const FILE_TOOLS: [Fixed; 6] = [
    Fixed {
        name: "read_file",
        description: "Read a file. Returns numbered lines; images come back as images. Reads up \
                      to 2000 lines from the start unless told otherwise.",
        parameters: r#"{"type":"object","properties":{"file_path":{"type":"string","description":"Path of the file"},"offset":{"type":"integer","minimum":1,"description":"Line to start from, counted from 1"},"limit":{"type":"integer","minimum":1,"description":"Most lines to read"}},"required":["file_path"],"additionalProperties":false}"#,
        read_only: true,
    },
    Fixed {
        name: "write_file",
        description: "Write a whole file, creating it and the folders above it if needed. To \
                      change a part of a file use edit_file.",
        parameters: r#"{"type":"object","properties":{"file_path":{"type":"string","description":"Path of the file"},"content":{"type":"string","description":"The file's whole new content"}},"required":["file_path","content"],"additionalProperties":false}"#,
        read_only: false,
    },
    Fixed {
        name: "edit_file",
        description: "Replace text in a file. old_string must be the file's exact text and occur \
                      only once, unless replace_all is true.",
        parameters: r#"{"type":"object","properties":{"file_path":{"type":"string","description":"Path of the file"},"old_string":{"type":"string","description":"Exact text to find, with enough context to be unique"},"new_string":{"type":"string","description":"Text to put in its place"},"replace_all":{"type":"boolean","description":"Replace every occurrence; false if absent"}},"required":["file_path","old_string","new_string"],"additionalProperties":false}"#,
        read_only: false,
    },
    Fixed {
        name: "list_dir",
        description: "List a folder. Folders end with a slash.",
        parameters: r#"{"type":"object","properties":{"path":{"type":"string","description":"The folder; the workspace if absent"},"depth":{"type":"integer","minimum":1,"maximum":10,"description":"How many levels to list; 1 if absent"}},"additionalProperties":false}"#,
        read_only: true,
    },
    Fixed {
        name: "glob",
        description: "Find files by a path pattern such as **/*.ts, newest first.",
        parameters: r#"{"type":"object","properties":{"pattern":{"type":"string","description":"The pattern"},"path":{"type":"string","description":"The folder to search; the workspace if absent"}},"required":["pattern"],"additionalProperties":false}"#,
        read_only: true,
    },
    Fixed {
        name: "grep",
        description: "Search file contents by a regular expression. Ignored and binary files are \
                      skipped.",
        parameters: r#"{"type":"object","properties":{"pattern":{"type":"string","description":"The regular expression"},"path":{"type":"string","description":"A file or folder; the workspace if absent"},"glob_filter":{"type":"string","description":"Only files that match this pattern, such as *.py"},"case_insensitive":{"type":"boolean","description":"Ignore case; false if absent"},"output_mode":{"type":"string","enum":["content","files_with_matches","count"],"description":"Matching lines (if absent), paths only, or counts"},"max_results":{"type":"integer","minimum":1,"maximum":10000,"description":"Most results; 100 if absent"}},"required":["pattern"],"additionalProperties":false}"#,
        read_only: true,
    },
];

const RUN_PROGRAM: Fixed = Fixed {
    name: "run_program",
    description: "Run one of the programs listed in the environment over the workspace, in a \
                  sandbox without network. Returns its output and, unless it is 0, its exit \
                  code. There is no shell: arguments are passed as they are.",
    parameters: r#"{"type":"object","properties":{"program":{"type":"string","description":"The program's name"},"args":{"type":"array","items":{"type":"string"},"description":"Its arguments"},"stdin":{"type":"string","description":"What it reads from standard input"},"timeout_ms":{"type":"integer","minimum":1,"description":"Time limit in milliseconds; 120000 if absent, at most 600000"}},"required":["program"],"additionalProperties":false}"#,
    read_only: false,
};

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
            Action::Write { path, content }
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
