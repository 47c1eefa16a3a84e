//! The tools that Claude models know from Claude Code: names, parameters and the form of results
//! are aligned with it, the texts are our own (`docs/decisions.md#profiles`).

use super::super::{
    args::ToolArguments,
    call::{CanonicalCall, InnerCall, PlanCall},
    plan_tool,
    row::{
        ArgumentReader, FinishedRun, MATCHES, PATHS, TimeoutNote, ToolParameters::Fixed,
        ToolPolicy, ToolRequirement, ToolRow, WRITTEN,
    },
    seed::{self, GREP_MODES, READ_LIMIT},
    shell,
};
use alloc::{format, string::String};
use innerloop_types::{
    action::{Action, GrepMode, GrepQuery, LineNumbering, NoticePosition},
    config::EnvironmentFacts,
    event::PlanStatus,
};

/// The tools, in the order in which they are shown.
pub(super) static TABLE: &[&ToolRow] =
    &[&READ, &WRITE, &EDIT, &BASH, &GREP, &GLOB, &RUN_PROGRAM, &WEB_FETCH];

/// The maximum number of files that `Glob` names.
// This limit and the next one are named in the descriptions of the tools.
const GLOB_LIMIT: u32 = 100;
/// The number of results that `Grep` gives unless the call sets another number.
const GREP_LIMIT: u32 = 250;

// Numbers are `number`, not whole ones, in this vocabulary, as the models were trained; `3.0` is
// read as 3.
static READ: ToolRow = ToolRow {
    name: "Read",
    description: "Read a file of the workspace. Lines come numbered, a tab behind the number; \
                  images come back as images. Without offset and limit the first 2000 lines are \
                  read.",
    parameters: Fixed(
        "file_path: text The file; a path that begins with / begins at the workspace\n\
         offset?: number Line to start from, counted from 1; for files too long to read at once\n\
         limit?: number Most lines to read",
    ),
    read: ArgumentReader::Action(read),
    tell: None,
    policy: ToolPolicy::SHOWS,
};

static WRITE: ToolRow = ToolRow {
    name: "Write",
    description: "Write a whole file; folders above it are made as needed. Replaces what is \
                  there. For changes to a file that exists, Edit is the better tool.",
    parameters: Fixed(
        "file_path: text The file; a path that begins with / begins at the workspace\n\
         content: text Everything the file is to hold",
    ),
    read: ArgumentReader::Action(seed::write_file),
    tell: None,
    policy: ToolPolicy { output: WRITTEN, writes_files: true, ..ToolPolicy::CHANGES },
};

static EDIT: ToolRow = ToolRow {
    name: "Edit",
    description: "Replace a text in a file by another. old_string is matched exactly, \
                  indentation included, without the line numbers that Read shows, and must occur \
                  once unless replace_all is set.",
    parameters: Fixed(
        "file_path: text The file; a path that begins with / begins at the workspace\n\
         old_string: text The text to replace\n\
         new_string: text The text to put in its place; it must differ\n\
         replace_all?=false: boolean Replace every occurrence",
    ),
    read: ArgumentReader::Action(edit),
    tell: None,
    policy: ToolPolicy::CHANGES,
};

static BASH: ToolRow = ToolRow {
    name: "Bash",
    description: "Run a command in a shell, in the workspace. Returns what it prints. To read, \
                  write, edit or search files, prefer the tools made for that.",
    parameters: Fixed(
        "command: text The command\n\
         timeout?: number Time limit in milliseconds; {default_ms} if absent, at most 600000\n\
         description?: text What the command does, in five to ten words",
    ),
    read: ArgumentReader::Run(bash),
    tell: Some(tell_exit),
    policy: ToolPolicy {
        needs: Some(ToolRequirement::Shell),
        timeout: TimeoutNote::Parameter("timeout"),
        ..ToolPolicy::RUNS
    },
};

static GREP: ToolRow = ToolRow {
    name: "Grep",
    description: "Search file contents by a regular expression. Files that .gitignore names and \
                  binary files are skipped. By default it names the files that match; set \
                  output_mode to content for the lines themselves.",
    parameters: Fixed(
        "pattern: text The regular expression\n\
         path?: text A file or folder; the workspace if absent\n\
         glob?: text Only files that match this pattern, such as *.js or *.{ts,tsx}\n\
         output_mode?: content|files_with_matches|count Lines, paths or counts; files_with_matches \
         if absent\n\
         -B?: number Lines to show before each match, with output_mode content\n\
         -A?: number Lines to show after each match, with output_mode content\n\
         -C?: number The same as context\n\
         context?: number Lines to show before and after each match, with output_mode content\n\
         -n?: boolean Show line numbers, with output_mode content; true if absent\n\
         -i?: boolean Ignore case\n\
         -o?: boolean Show only what matches of each line, with output_mode content\n\
         type?: text Only files of this type: js, py, rust, go, java and so on\n\
         head_limit?: number Most results; 250 if absent, 0 for all\n\
         offset?: number How many of the first results to pass over; 0 if absent\n\
         multiline?: boolean Let matches span lines, and . match line ends; false if absent",
    ),
    read: ArgumentReader::Action(grep),
    tell: None,
    policy: ToolPolicy { output: MATCHES, ..ToolPolicy::READS },
};

static GLOB: ToolRow = ToolRow {
    name: "Glob",
    description: "Find files by a path pattern such as **/*.ts, the most recently changed first, \
                  100 at most.",
    parameters: Fixed(
        "pattern: text The pattern\n\
         path?: text The folder to search; leave it out for the workspace",
    ),
    read: ArgumentReader::Action(glob),
    tell: None,
    policy: ToolPolicy { output: PATHS, ..ToolPolicy::READS },
};

static WEB_FETCH: ToolRow = ToolRow {
    name: "WebFetch",
    parameters: Fixed("url: nonempty The page's address\nprompt: text What is wanted of it"),
    ..seed::WEB_FETCH
};

/// The tool for programs beside the shell, with results in this family's form.
static RUN_PROGRAM: ToolRow = ToolRow { tell: Some(tell_exit), ..seed::RUN_PROGRAM };

// `activeForm` is asked for since the models were trained to write it; nothing reads it.
pub(super) static TODO_WRITE: ToolRow = ToolRow {
    name: "TodoWrite",
    description: "Keep the list of what the task still needs, for work of three steps or more. \
                  Each call replaces the whole list. Mark a step in_progress before you begin it \
                  and completed as soon as it is done.",
    parameters: Fixed(
        "todos: {}[] The whole list\n\
         - content: nonempty The step, as an order: Run the tests\n\
         - status: pending|in_progress|completed\n\
         - activeForm: nonempty The step while it is under way: Running the tests",
    ),
    read: ArgumentReader::Inner(todo_write),
    tell: None,
    policy: ToolPolicy::READS,
};

fn read(args: &mut ToolArguments<'_>) -> Action {
    Action::Read {
        path: args.text("file_path"),
        offset: args.count("offset"),
        limit: Some(args.count("limit").unwrap_or(READ_LIMIT)),
        numbering: LineNumbering::Tab,
        line_chars: None,
        notice: NoticePosition::Below,
    }
}

fn edit(args: &mut ToolArguments<'_>) -> Action {
    seed::edit(args, "replace_all")
}

fn bash(args: &mut ToolArguments<'_>, facts: &EnvironmentFacts) -> Result<CanonicalCall, String> {
    let timeout_ms = args.count("timeout");
    shell::run(args, None, timeout_ms, facts)
}

fn grep(args: &mut ToolArguments<'_>) -> Action {
    let around = args.count_u32("-C");
    let around = args.count_u32("context").or(around).unwrap_or(0);
    let most = match args.count_u32("head_limit").unwrap_or(GREP_LIMIT) {
        // The description says that 0 means all.
        0 => u32::MAX,
        most => most,
    };
    Action::Grep(GrepQuery {
        pattern: args.text("pattern"),
        path: args.optional_text("path"),
        glob: args.optional_text("glob"),
        file_type: args.optional_text("type"),
        mode: args.choice("output_mode", GREP_MODES).unwrap_or(GrepMode::FilesWithMatches),
        before: args.count_u32("-B").unwrap_or(around),
        after: args.count_u32("-A").unwrap_or(around),
        offset: args.count_u32("offset").unwrap_or(0),
        max_results: Some(most),
        ignore_case: args.flag("-i"),
        multiline: args.flag("multiline"),
        only_matching: args.flag("-o"),
        unnumbered: !args.optional_flag("-n").unwrap_or(true),
        ..GrepQuery::default()
    })
}

fn glob(args: &mut ToolArguments<'_>) -> Action {
    seed::find(args, Some(GLOB_LIMIT))
}

fn todo_write(args: &mut ToolArguments<'_>) -> InnerCall {
    let items = plan_tool::items(args, "todos", "content");
    let done = items.iter().filter(|item| item.status == PlanStatus::Completed).count();
    let reply = format!("The list is kept: {done} of {} done. Go on with the next.", items.len());
    InnerCall::Plan(PlanCall { items, reply })
}

/// Returns the exit code and the output of a command; `None` if the code is 0.
fn tell_exit(run: &FinishedRun<'_>) -> Option<String> {
    let exit = run.outcome.exit.filter(|exit| *exit != 0)?;
    Some(format!("Exit code {exit}\n{}", run.outcome.joined_text()))
}
