//! The tools that Gemini models know from gemini-cli.

use super::super::{
    seed::{self, READ_LIMIT, WriteFile},
    shell,
    translated::{Translated, arguments as read, invalid},
};
use crate::types::{
    action::{
        Action, ChangeKind, Grep, GrepLayout, GrepMode, Hidden, ListStyle, Notice, Numbering,
        Outcome, ToolError,
    },
    config::Facts,
    tool::ToolSpec,
};
use alloc::{borrow::ToOwned, format, string::String, vec::Vec};
use serde::Deserialize;

/// How many characters of a line `read_file` shows.
const LINE_CHARS: u32 = 2_000;
/// How long a command may take: none of the tool's parameters asks for more.
const COMMAND_MS: u64 = 300_000;
/// What `read_many_files` leaves out unless told otherwise.
const DEFAULT_EXCLUDES: [&str; 10] = [
    "**/node_modules/**",
    "**/.git/**",
    "**/.venv/**",
    "**/__pycache__/**",
    "**/target/**",
    "**/dist/**",
    "**/build/**",
    "**/coverage/**",
    "**/*.min.js",
    "**/*.lock",
];

/// The schemas, as they go to the model.
const TOOLS: &str = include_str!("native.json");

pub(in super::super) fn tools(default_ms: u64) -> Vec<ToolSpec> {
    let mut tools = seed::parse(TOOLS);
    tools.extend(seed::tools(&["run_program"], default_ms));
    tools
}

#[derive(Deserialize)]
struct ReadFile {
    file_path: String,
    start_line: Option<u64>,
    end_line: Option<u64>,
}

#[derive(Deserialize)]
struct Replace {
    file_path: String,
    old_string: String,
    new_string: String,
    #[serde(default)]
    allow_multiple: bool,
}

#[derive(Deserialize)]
struct RunShellCommand {
    command: String,
    dir_path: Option<String>,
}

#[derive(Deserialize)]
struct GrepSearch {
    pattern: String,
    dir_path: Option<String>,
    include_pattern: Option<String>,
    exclude_pattern: Option<String>,
    #[serde(default)]
    names_only: bool,
    context: Option<u32>,
    #[serde(default)]
    case_sensitive: bool,
    after: Option<u32>,
    #[serde(default)]
    fixed_strings: bool,
    before: Option<u32>,
    #[serde(default)]
    no_ignore: bool,
    max_matches_per_file: Option<u32>,
    total_max_matches: Option<u32>,
}

#[derive(Deserialize)]
struct Glob {
    pattern: String,
    dir_path: Option<String>,
    #[serde(default)]
    case_sensitive: bool,
    respect_git_ignore: Option<bool>,
}

#[derive(Deserialize)]
struct ListDirectory {
    dir_path: String,
    #[serde(default)]
    ignore: Vec<String>,
    file_filtering_options: Option<Filtering>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReadManyFiles {
    include: Vec<String>,
    #[serde(default)]
    exclude: Vec<String>,
    recursive: Option<bool>,
    use_default_excludes: Option<bool>,
    #[serde(rename = "file_filtering_options")]
    filtering: Option<Filtering>,
}

#[derive(Deserialize)]
struct Filtering {
    respect_git_ignore: Option<bool>,
}

/// A call in canonical form.
pub(in super::super) fn translate(
    facts: &Facts,
    name: &str,
    arguments: &str,
) -> Result<Translated, String> {
    let action = match name {
        "read_file" => read::<ReadFile>(name, arguments)?.action()?,
        "write_file" => read::<WriteFile>(name, arguments)?.into(),
        "replace" => read::<Replace>(name, arguments)?.into(),
        "grep_search" => read::<GrepSearch>(name, arguments)?.into(),
        "glob" => {
            let call: Glob = read(name, arguments)?;
            Action::Glob {
                pattern: call.pattern,
                path: call.dir_path,
                ignore_case: !call.case_sensitive,
                max_results: None,
                hidden: hidden(call.respect_git_ignore),
            }
        }
        "list_directory" => {
            let call: ListDirectory = read(name, arguments)?;
            Action::List {
                path: Some(call.dir_path),
                depth: 1,
                ignore: call.ignore,
                hidden: Filtering::hidden(call.file_filtering_options),
                style: ListStyle::Tag,
            }
        }
        "read_many_files" => read::<ReadManyFiles>(name, arguments)?.into(),
        "run_shell_command" => {
            let RunShellCommand { command, dir_path } = read(name, arguments)?;
            return shell::run(facts, name, &command, dir_path.as_deref(), Some(COMMAND_MS));
        }
        "run_program" => return seed::translate(facts, name, arguments),
        _ => return Err(format!("Unknown tool: {name}")),
    };
    Ok(action.into())
}

impl ReadFile {
    fn action(self) -> Result<Action, String> {
        let first = self.start_line.unwrap_or(1).max(1);
        let limit = match self.end_line {
            Some(last) if last < first => {
                let why = format!("end_line {last} stands before start_line {first}");
                return Err(invalid("read_file", &why));
            }
            Some(last) => last - first + 1,
            None => READ_LIMIT,
        };
        Ok(Action::Read {
            path: self.file_path,
            offset: Some(first),
            limit: Some(limit),
            numbering: Numbering::None,
            line_chars: Some(LINE_CHARS),
            notice: Notice::Above,
        })
    }
}

impl From<Replace> for Action {
    fn from(call: Replace) -> Self {
        Self::Edit {
            path: call.file_path,
            old: call.old_string,
            new: call.new_string,
            all: call.allow_multiple,
        }
    }
}

impl From<GrepSearch> for Action {
    fn from(call: GrepSearch) -> Self {
        let lines = |own: Option<u32>| own.or(call.context).unwrap_or(0);
        Self::Grep(Grep {
            before: lines(call.before),
            after: lines(call.after),
            pattern: call.pattern,
            path: call.dir_path,
            glob: call.include_pattern,
            unless: call.exclude_pattern,
            mode: if call.names_only { GrepMode::FilesWithMatches } else { GrepMode::Content },
            layout: GrepLayout::ByFile,
            max_results: call.total_max_matches,
            max_per_file: call.max_matches_per_file,
            hidden: if call.no_ignore { Hidden::Nothing } else { Hidden::Ignored },
            ignore_case: !call.case_sensitive,
            literal: call.fixed_strings,
            ..Grep::default()
        })
    }
}

impl From<ReadManyFiles> for Action {
    fn from(call: ReadManyFiles) -> Self {
        let mut exclude = call.exclude;
        if call.use_default_excludes.unwrap_or(true) {
            exclude.extend(DEFAULT_EXCLUDES.map(str::to_owned));
        }
        Self::ReadMany {
            include: call.include,
            exclude,
            flat: !call.recursive.unwrap_or(true),
            hidden: Filtering::hidden(call.filtering),
        }
    }
}

impl Filtering {
    fn hidden(given: Option<Self>) -> Hidden {
        hidden(given.and_then(|options| options.respect_git_ignore))
    }
}

fn hidden(respect_git_ignore: Option<bool>) -> Hidden {
    if respect_git_ignore.unwrap_or(true) { Hidden::Ignored } else { Hidden::Nothing }
}

/// What the model reads of an outcome, where that is not what the tool says.
pub(in super::super) fn present(action: &Action, outcome: &Outcome) -> Option<String> {
    let said = outcome.joined_text();
    match action {
        Action::RunProgram { .. } => Some(command(&said, outcome)),
        Action::Write { .. } => written(outcome),
        Action::Edit { path, .. } => edited(path, &said, outcome),
        Action::Grep(grep) if outcome.error.is_none() => Some(searched(grep, &said, outcome)),
        Action::Glob { pattern, path, .. } if outcome.error.is_none() => {
            let count = outcome.count?;
            let files = if count == 1 { "file" } else { "files" };
            let within = path.as_deref().map(|path| format!(" within {path}")).unwrap_or_default();
            Some(match count {
                0 => format!("No files found matching pattern \"{pattern}\"{within}. {said}"),
                _ => format!("Found {count} {files} matching \"{pattern}\"{within}:\n{said}"),
            })
        }
        Action::List { path, .. } if outcome.error.is_none() => {
            let path = path.as_deref().unwrap_or(".");
            Some(match outcome.count {
                Some(0) => format!("Directory {path} is empty."),
                _ => format!("Directory listing for {path}:\n{said}"),
            })
        }
        _ => None,
    }
}

/// What a command printed is marked as nobody's order.
fn command(said: &str, outcome: &Outcome) -> String {
    let said = said.trim_end_matches('\n').replace("</untrusted_context", "<\\/untrusted_context");
    let said = if said.is_empty() { "(empty)" } else { said.as_str() };
    let mut lines = format!("Output: {said}\n");
    let error = match outcome.error {
        Some(ToolError::Timeout) => "Error: the time limit ended the command\n",
        Some(ToolError::Limit) => "Error: a limit of the sandbox ended the command\n",
        _ => "",
    };
    lines.push_str(error);
    if let Some(exit) = outcome.exit.filter(|exit| *exit != 0) {
        lines.push_str(&format!("Exit Code: {exit}\n"));
    }
    format!("<untrusted_context>\n{lines}</untrusted_context>")
}

fn written(outcome: &Outcome) -> Option<String> {
    let change = outcome.changes.first()?;
    Some(match change.kind {
        ChangeKind::Created => {
            format!("Successfully created and wrote to new file: {}.", change.path)
        }
        _ => format!("Successfully overwrote file: {}.", change.path),
    })
}

fn edited(path: &str, said: &str, outcome: &Outcome) -> Option<String> {
    match (outcome.error, outcome.count) {
        (None, Some(count)) => {
            let change = outcome.changes.first()?;
            let plural = if count == 1 { "replacement" } else { "replacements" };
            let rest = said.split_once('\n').map(|(_, rest)| format!("\n{rest}"));
            let rest = rest.unwrap_or_default();
            let path = &change.path;
            Some(format!("Successfully modified file: {path} ({count} {plural}).{rest}"))
        }
        (None, None) => written(outcome),
        (Some(ToolError::EditConflict), Some(0)) => {
            Some(format!("Failed to edit, 0 occurrences found for old_string in {path}. {said}"))
        }
        (Some(ToolError::EditConflict), Some(count)) => Some(format!(
            "Failed to edit, Expected 1 occurrence but found {count} for old_string in {path}. \
             {said}"
        )),
        (Some(ToolError::InvalidArguments), Some(0)) => {
            Some(format!("No changes to apply to {path}. {said}"))
        }
        _ => None,
    }
}

fn searched(grep: &Grep, said: &str, outcome: &Outcome) -> String {
    let count = outcome.count.unwrap_or(0);
    let place = grep.path.as_deref().map(|path| format!(" in path \"{path}\""));
    let filter = grep.glob.as_deref().map(|glob| format!(" (filter: \"{glob}\")"));
    let (place, filter) = (place.unwrap_or_default(), filter.unwrap_or_default());
    let pattern = &grep.pattern;
    if count == 0 {
        return format!("No matches found for pattern \"{pattern}\"{place}{filter}.");
    }
    let what = match (grep.mode, count) {
        (GrepMode::FilesWithMatches, 1) => "file with matches",
        (GrepMode::FilesWithMatches, _) => "files with matches",
        (_, 1) => "match",
        _ => "matches",
    };
    let limited = if outcome.capped_at_source { " (there are more)" } else { "" };
    let rule = if grep.mode == GrepMode::Content { "---\n" } else { "" };
    format!("Found {count} {what} for pattern \"{pattern}\"{place}{filter}{limited}:\n{rule}{said}")
}
