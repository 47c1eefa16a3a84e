//! The tools that Gemini models know from gemini-cli: names and parameters are aligned with it, the
//! texts are our own (`docs/decisions.md#profiles`). The form of results is in `tell`.

use super::super::{
    args::ToolArguments,
    call::{CanonicalCall, InnerCall, PlanCall},
    plan_tool,
    row::{
        ArgumentReader, MATCHES, PATHS, TimeoutNote, ToolParameters::Fixed, ToolPolicy,
        ToolRequirement, ToolRow, WRITTEN,
    },
    seed::{self, READ_LIMIT},
    shell,
};
use super::tell;
use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
};
use innerloop_json::IntoList;
use innerloop_types::{
    action::{
        Action, GrepLayout, GrepMode, GrepQuery, HiddenFiles, LineNumbering, ListStyle,
        NoticePosition,
    },
    config::EnvironmentFacts,
};

/// The tools, in the order in which they are shown.
pub(super) static TABLE: &[&ToolRow] = &[
    &READ_FILE,
    &WRITE_FILE,
    &REPLACE,
    &RUN_SHELL_COMMAND,
    &GREP_SEARCH,
    &GLOB,
    &LIST_DIRECTORY,
    &READ_MANY_FILES,
    &RUN_PROGRAM,
    &WEB_FETCH,
];

/// The number of characters that `read_file` shows of a line.
const LINE_CHARS: u32 = 2_000;
/// The patterns that `read_many_files` leaves out by default.
// Patterns of paths instead of `.gitignore` alone: a workspace need not be a repository, and lock
// files are tracked.
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

static WEB_FETCH: ToolRow = ToolRow {
    description: "Read pages of the web and return their text, up to 20 at once.",
    parameters: Fixed(
        "prompt: nonempty The pages' addresses, each beginning with http:// or https://, and what \
         is wanted of them",
    ),
    read: ArgumentReader::Action(web_fetch),
    ..seed::WEB_FETCH
};

/// Reads the addresses out of the prompt, where this family's tool has them.
fn web_fetch(args: &mut ToolArguments<'_>) -> Action {
    let prompt = args.text("prompt");
    let is_url = |word: &&str| word.starts_with("http://") || word.starts_with("https://");
    let words = prompt.split(|c: char| c.is_whitespace() || "\"'`<>()[]{}".contains(c));
    // A sentence's punctuation is no part of an address that ends it.
    let urls = words.map(|word| word.trim_end_matches(['.', ',', ';', ':', '!', '?']));
    // Twenty at most, as the description says.
    let urls = urls.filter(is_url).take(20).map(String::from).into_list();
    Action::Fetch { urls, prompt: Some(prompt) }
}

static READ_FILE: ToolRow = ToolRow {
    name: "read_file",
    description: "Read a text file or an image. Long files come in part, with a note on how to \
                  read on: give start_line and end_line to choose the lines.",
    parameters: Fixed(
        "file_path: text The file\n\
         start_line?: 1.. The first line to read, counted from 1\n\
         end_line?: 1.. The last line to read, which is included",
    ),
    read: ArgumentReader::Action(read_file),
    tell: None,
    policy: ToolPolicy::SHOWS,
};

static WRITE_FILE: ToolRow = ToolRow {
    name: "write_file",
    description: "Write a whole file, creating it and the folders above it if needed. Give the \
                  complete content, never a placeholder for what stays.",
    parameters: Fixed(
        "file_path: text The file\n\
         content: text Everything the file is to hold",
    ),
    read: ArgumentReader::Action(seed::write_file),
    tell: Some(tell::written),
    policy: ToolPolicy { output: WRITTEN, writes_files: true, ..ToolPolicy::CHANGES },
};

static REPLACE: ToolRow = ToolRow {
    name: "replace",
    description: "Replace a text in a file. old_string must be the file's exact text with enough \
                  lines around it to occur only once, unless allow_multiple is set. An empty \
                  old_string creates the file.",
    parameters: Fixed(
        "file_path: text The file\n\
         instruction: text What the change is for, in a sentence that makes sense on its own\n\
         old_string: text The text to replace, white space included\n\
         new_string: text The text to put in its place\n\
         allow_multiple?: boolean Replace every occurrence; false if absent",
    ),
    read: ArgumentReader::Action(replace),
    tell: Some(tell::edited),
    policy: ToolPolicy::CHANGES,
};

static RUN_SHELL_COMMAND: ToolRow = ToolRow {
    name: "run_shell_command",
    description: "Run a command in a shell, in the workspace. Returns its output, what went \
                  wrong, and its exit code unless it is 0.",
    parameters: Fixed(
        "command: text The command\n\
         description?: text What the command does, in a sentence, for whoever watches\n\
         dir_path?: text The folder to run it in; the workspace if absent",
    ),
    read: ArgumentReader::Run(run_shell_command),
    tell: Some(tell::command),
    policy: ToolPolicy {
        needs: Some(ToolRequirement::Shell),
        default_ms: Some(300_000),
        // The tool has no parameter for the time, so that the note must not advise one; five
        // minutes stand in for it.
        timeout: TimeoutNote::Plain,
        ..ToolPolicy::RUNS
    },
};

static GREP_SEARCH: ToolRow = ToolRow {
    name: "grep_search",
    description: "Search file contents by a regular expression. Returns the lines with their \
                  numbers, by file. Case is ignored unless case_sensitive is set.",
    parameters: Fixed(
        "pattern: text The regular expression, or a plain text with fixed_strings\n\
         dir_path?: text A file or folder; the workspace if absent\n\
         include_pattern?: text Only files that match this path pattern, such as *.ts or src/**\n\
         exclude_pattern?: text A regular expression; lines that match it, too, are left out\n\
         names_only?: boolean Return only the paths of the files that match\n\
         case_sensitive?: boolean Tell capital letters from small ones; false if absent\n\
         fixed_strings?: boolean Take the pattern as plain text; false if absent\n\
         context?: 0.. Lines to show around each match\n\
         after?: 0.. Lines to show after each match\n\
         before?: 0.. Lines to show before each match\n\
         no_ignore?: boolean Search files that .gitignore names, too; false if absent\n\
         max_matches_per_file?: 1.. Most matches of one file\n\
         total_max_matches?: 1.. Most matches in all; 100 if absent",
    ),
    read: ArgumentReader::Action(grep_search),
    tell: Some(tell::matches),
    policy: ToolPolicy { output: MATCHES, ..ToolPolicy::READS },
};

static GLOB: ToolRow = ToolRow {
    name: "glob",
    description: "Find files by a path pattern such as src/**/*.ts, newest first.",
    parameters: Fixed(
        "pattern: text The pattern\n\
         dir_path?: text The folder to search; the workspace if absent\n\
         case_sensitive?: boolean Tell capital letters from small ones; false if absent\n\
         respect_git_ignore?: boolean Pass over files that .gitignore names; true if absent",
    ),
    read: ArgumentReader::Action(glob),
    tell: Some(tell::files),
    policy: ToolPolicy { output: PATHS, ..ToolPolicy::READS },
};

static LIST_DIRECTORY: ToolRow = ToolRow {
    name: "list_directory",
    description: "List the files and folders directly in a folder.",
    parameters: Fixed(
        "dir_path: text The folder\n\
         ignore?: text[] Patterns of entries to leave out\n\
         file_filtering_options?: {} What is passed over\n\
         - respect_git_ignore?: boolean Pass over what .gitignore names; true if absent",
    ),
    read: ArgumentReader::Action(list_directory),
    tell: Some(tell::folder),
    policy: ToolPolicy { output: PATHS, ..ToolPolicy::READS },
};

static READ_MANY_FILES: ToolRow = ToolRow {
    name: "read_many_files",
    description: "Read several text files at once, one after the other, each under a line with \
                  its path. For an overview of a part of the project.",
    parameters: Fixed(
        "include: nonempty[1..] Files, folders or path patterns such as src/**/*.ts\n\
         exclude?=[]: nonempty[] Path patterns to leave out\n\
         recursive?=true: boolean Of a folder, read what stands deeper, too\n\
         useDefaultExcludes?=true: boolean Leave out what is rarely meant: dependencies, build \
         output, version control\n\
         file_filtering_options?: {} What is passed over\n\
         - respect_git_ignore?: boolean Pass over what .gitignore names; true if absent",
    ),
    read: ArgumentReader::Action(read_many_files),
    tell: None,
    policy: ToolPolicy::SHOWS,
};

static RUN_PROGRAM: ToolRow = ToolRow { tell: Some(tell::command), ..seed::RUN_PROGRAM };

pub(super) static WRITE_TODOS: ToolRow = ToolRow {
    name: "write_todos",
    description: "Keep the list of what a larger task still needs. Each call replaces the whole \
                  list. At most one step should be in_progress.",
    parameters: Fixed(
        "todos: {}[] The whole list\n\
         - description: text The step\n\
         - status: pending|in_progress|completed|cancelled|blocked How far it is",
    ),
    read: ArgumentReader::Inner(write_todos),
    tell: None,
    policy: ToolPolicy::READS,
};

fn read_file(args: &mut ToolArguments<'_>) -> Action {
    let first = args.count("start_line").unwrap_or(1).max(1);
    let limit = match args.count("end_line") {
        Some(last) if last < first => {
            // A range that ends before it begins is a mistake of the model's; an empty result would
            // look like an empty file.
            args.reject(&format!("end_line {last} stands before start_line {first}"));
            0
        }
        Some(last) => last - first + 1,
        None => READ_LIMIT,
    };
    Action::Read {
        path: args.text("file_path"),
        offset: Some(first),
        limit: Some(limit),
        numbering: LineNumbering::None,
        line_chars: Some(LINE_CHARS),
        notice: NoticePosition::Above,
    }
}

fn replace(args: &mut ToolArguments<'_>) -> Action {
    seed::edit(args, "allow_multiple")
}

fn run_shell_command(
    args: &mut ToolArguments<'_>,
    facts: &EnvironmentFacts,
) -> Result<CanonicalCall, String> {
    let folder = args.optional_text("dir_path");
    shell::run(args, folder.as_deref(), None, facts)
}

fn grep_search(args: &mut ToolArguments<'_>) -> Action {
    let around = args.count_u32("context").unwrap_or(0);
    Action::Grep(GrepQuery {
        pattern: args.text("pattern"),
        path: args.optional_text("dir_path"),
        glob: args.optional_text("include_pattern"),
        unless: args.optional_text("exclude_pattern"),
        mode: match args.flag("names_only") {
            true => GrepMode::FilesWithMatches,
            false => GrepMode::Content,
        },
        layout: GrepLayout::ByFile,
        before: args.count_u32("before").unwrap_or(around),
        after: args.count_u32("after").unwrap_or(around),
        max_results: args.count_u32("total_max_matches"),
        max_per_file: args.count_u32("max_matches_per_file"),
        hidden: if args.flag("no_ignore") { HiddenFiles::Nothing } else { HiddenFiles::Ignored },
        ignore_case: !args.flag("case_sensitive"),
        literal: args.flag("fixed_strings"),
        ..GrepQuery::default()
    })
}

fn glob(args: &mut ToolArguments<'_>) -> Action {
    Action::Glob {
        pattern: args.text("pattern"),
        path: args.optional_text("dir_path"),
        ignore_case: !args.flag("case_sensitive"),
        max_results: None,
        hidden: hidden(args.optional_flag("respect_git_ignore")),
    }
}

fn list_directory(args: &mut ToolArguments<'_>) -> Action {
    Action::List {
        path: Some(args.text("dir_path")),
        depth: 1,
        ignore: args.texts("ignore"),
        hidden: filtering(args),
        style: ListStyle::Tag,
    }
}

fn read_many_files(args: &mut ToolArguments<'_>) -> Action {
    let mut exclude = args.texts("exclude");
    if args.optional_flag("useDefaultExcludes").unwrap_or(true) {
        // In addition to the model's own patterns, not in place of them.
        exclude.extend(DEFAULT_EXCLUDES.map(str::to_owned));
    }
    Action::ReadMany {
        include: args.texts("include"),
        exclude,
        flat: !args.optional_flag("recursive").unwrap_or(true),
        hidden: filtering(args),
    }
}

fn filtering(args: &mut ToolArguments<'_>) -> HiddenFiles {
    let read = |options: &mut ToolArguments<'_>| options.optional_flag("respect_git_ignore");
    hidden(args.object("file_filtering_options", read))
}

fn hidden(respect_git_ignore: Option<bool>) -> HiddenFiles {
    if respect_git_ignore.unwrap_or(true) { HiddenFiles::Ignored } else { HiddenFiles::Nothing }
}

fn write_todos(args: &mut ToolArguments<'_>) -> InnerCall {
    let items = plan_tool::items(args, "todos", "description");
    let mut reply = if items.is_empty() {
        "Successfully cleared the todo list.".to_string()
    } else {
        "Successfully updated the todo list. The current list is now:".to_string()
    };
    for (number, item) in (1..).zip(&items) {
        reply.push_str(&format!("\n{number}. [{}] {}", item.status.name(), item.text));
    }
    InnerCall::Plan(PlanCall { items, reply })
}
