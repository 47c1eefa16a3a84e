//! The tools that Claude models know from Claude Code.

use super::super::{
    seed::{self, EditFile, FindFiles, READ_LIMIT, WriteFile},
    shell,
    translated::{Translated, arguments as read, whole},
};
use crate::types::{
    action::{Action, Grep, GrepMode, Notice, Numbering, Outcome},
    config::Facts,
    tool::ToolSpec,
};
use alloc::{format, string::String, vec::Vec};
use serde::Deserialize;

/// How many files `Glob` names at most.
const GLOB_LIMIT: u32 = 100;
/// How many results `Grep` gives if it is not told.
const GREP_LIMIT: u64 = 250;

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
    #[serde(default, deserialize_with = "whole")]
    offset: Option<u64>,
    #[serde(default, deserialize_with = "whole")]
    limit: Option<u64>,
}

#[derive(Deserialize)]
struct Bash {
    command: String,
    #[serde(default, deserialize_with = "whole")]
    timeout: Option<u64>,
}

#[derive(Deserialize)]
struct GrepFiles {
    pattern: String,
    path: Option<String>,
    glob: Option<String>,
    output_mode: Option<GrepMode>,
    #[serde(default, rename = "-B", deserialize_with = "whole")]
    before: Option<u64>,
    #[serde(default, rename = "-A", deserialize_with = "whole")]
    after: Option<u64>,
    #[serde(default, rename = "-C", deserialize_with = "whole")]
    around: Option<u64>,
    #[serde(default, deserialize_with = "whole")]
    context: Option<u64>,
    #[serde(rename = "-n")]
    numbered: Option<bool>,
    #[serde(rename = "type")]
    file_type: Option<String>,
    #[serde(default, rename = "-i")]
    ignore_case: bool,
    #[serde(default, deserialize_with = "whole")]
    head_limit: Option<u64>,
    #[serde(default, rename = "-o")]
    only_matching: bool,
    #[serde(default, deserialize_with = "whole")]
    offset: Option<u64>,
    #[serde(default)]
    multiline: bool,
}

/// A call in canonical form.
pub(in super::super) fn translate(
    facts: &Facts,
    name: &str,
    arguments: &str,
) -> Result<Translated, String> {
    let action = match name {
        "Read" => {
            let ReadFile { file_path: path, offset, limit } = read(name, arguments)?;
            Action::Read {
                path,
                offset,
                limit: Some(limit.unwrap_or(READ_LIMIT)),
                numbering: Numbering::Tab,
                line_chars: None,
                notice: Notice::Below,
            }
        }
        "Write" => read::<WriteFile>(name, arguments)?.into(),
        "Edit" => read::<EditFile>(name, arguments)?.into(),
        "Glob" => read::<FindFiles>(name, arguments)?.action(Some(GLOB_LIMIT)),
        "Grep" => read::<GrepFiles>(name, arguments)?.into(),
        "Bash" => {
            let Bash { command, timeout } = read(name, arguments)?;
            return shell::run(facts, name, &command, None, timeout);
        }
        "run_program" => return seed::translate(facts, name, arguments),
        _ => return Err(format!("Unknown tool: {name}")),
    };
    Ok(action.into())
}

impl From<GrepFiles> for Action {
    fn from(call: GrepFiles) -> Self {
        let around = call.context.or(call.around);
        let lines = |own: Option<u64>| narrow(own.or(around).unwrap_or(0));
        let most = match call.head_limit.unwrap_or(GREP_LIMIT) {
            0 => u32::MAX,
            most => narrow(most),
        };
        Self::Grep(Grep {
            before: lines(call.before),
            after: lines(call.after),
            offset: narrow(call.offset.unwrap_or(0)),
            max_results: Some(most),
            unnumbered: !call.numbered.unwrap_or(true),
            pattern: call.pattern,
            path: call.path,
            glob: call.glob,
            file_type: call.file_type,
            mode: call.output_mode.unwrap_or(GrepMode::FilesWithMatches),
            ignore_case: call.ignore_case,
            multiline: call.multiline,
            only_matching: call.only_matching,
            ..Grep::default()
        })
    }
}

fn narrow(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// What the model reads of a command's run: the exit code first, unless it is 0.
pub(in super::super) fn present(action: &Action, outcome: &Outcome) -> Option<String> {
    let (Action::RunProgram { .. }, Some(exit)) = (action, outcome.exit) else { return None };
    (exit != 0).then(|| format!("Exit code {exit}\n{}", outcome.joined_text()))
}
