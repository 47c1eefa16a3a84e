//! The specification's vocabulary: one table of tools, of which each family shows a part. Their
//! readers serve the native vocabularies, too, where a tool differs in its names alone.

use super::{
    args::ToolArguments,
    call::CanonicalCall,
    row::{
        ArgumentReader, FinishedRun, MATCHES, PATHS, ToolParameters::Fixed, ToolPolicy,
        ToolRequirement, ToolRow, WRITTEN,
    },
    shell,
};
use alloc::{format, string::String, vec::Vec};
use innerloop_types::{
    action::{Action, GrepMode, GrepQuery, HiddenFiles, LineNumbering, ListStyle, NoticePosition},
    config::EnvironmentFacts,
};

/// The whole table. Families decide which tools are shown, and in which order.
pub(super) static TABLE: &[&ToolRow] = &[
    &READ_FILE,
    &READ_MANY_FILES,
    &WRITE_FILE,
    &EDIT_FILE,
    &APPLY_PATCH,
    &LIST_DIR,
    &GLOB,
    &GREP,
    &SHELL,
    &RUN_PROGRAM,
    &WEB_FETCH,
];

/// The number of lines that are read of a file unless the call sets another number.
// The descriptions of the reading tools name this number.
pub(super) const READ_LIMIT: u64 = 2_000;

/// The names that models use for what a search reports.
pub(super) const GREP_MODES: &[(&str, GrepMode)] = &[
    ("content", GrepMode::Content),
    ("files_with_matches", GrepMode::FilesWithMatches),
    ("count", GrepMode::Count),
];

pub(super) static READ_FILE: ToolRow = ToolRow {
    name: "read_file",
    description: "Read a file. Returns numbered lines; images come back as images. Reads up to \
                  2000 lines from the start unless told otherwise.",
    parameters: Fixed(
        "file_path: text Path of the file\n\
         offset?: 1.. Line to start from, counted from 1\n\
         limit?: 1.. Most lines to read",
    ),
    read: ArgumentReader::Action(read_file),
    tell: None,
    policy: ToolPolicy::SHOWS,
};

pub(super) static READ_MANY_FILES: ToolRow = ToolRow {
    name: "read_many_files",
    description: "Read several text files at once. Each comes under a line with its path.",
    parameters: Fixed(
        "paths: text[1..] Files, folders or path patterns such as src/**/*.ts\n\
         exclude?: text[] Path patterns to leave out",
    ),
    read: ArgumentReader::Action(read_many_files),
    tell: None,
    policy: ToolPolicy::SHOWS,
};

pub(super) static WRITE_FILE: ToolRow = ToolRow {
    name: "write_file",
    description: "Write a whole file, creating it and the folders above it if needed. To change \
                  a part of a file, edit it instead.",
    parameters: Fixed(
        "file_path: text Path of the file\n\
         content: text The file's whole new content",
    ),
    read: ArgumentReader::Action(write_file),
    tell: None,
    policy: ToolPolicy { output: WRITTEN, writes_files: true, ..ToolPolicy::CHANGES },
};

pub(super) static EDIT_FILE: ToolRow = ToolRow {
    name: "edit_file",
    description: "Replace text in a file. old_string must be the file's exact text and occur \
                  only once, unless replace_all is true.",
    parameters: Fixed(
        "file_path: text Path of the file\n\
         old_string: text Exact text to find, with enough context to be unique\n\
         new_string: text Text to put in its place\n\
         replace_all?: boolean Replace every occurrence; false if absent",
    ),
    read: ArgumentReader::Action(edit_file),
    tell: None,
    policy: ToolPolicy::CHANGES,
};

pub(super) static APPLY_PATCH: ToolRow = ToolRow {
    name: "apply_patch",
    description: "Change files by a patch: add, delete, update or move any number of files at \
                  once. Returns what was done to which file.",
    parameters: Fixed("patch: text The patch, from *** Begin Patch to *** End Patch"),
    read: ArgumentReader::Action(apply_patch),
    tell: None,
    policy: ToolPolicy::CHANGES,
};

pub(super) static LIST_DIR: ToolRow = ToolRow {
    name: "list_dir",
    description: "List a folder. Folders end with a slash.",
    parameters: Fixed(
        "path?: text The folder; the workspace if absent\n\
         depth?: 1..10 How many levels to list; 1 if absent",
    ),
    read: ArgumentReader::Action(list_dir),
    tell: None,
    policy: ToolPolicy { output: PATHS, ..ToolPolicy::READS },
};

pub(super) static GLOB: ToolRow = ToolRow {
    name: "glob",
    description: "Find files by a path pattern such as **/*.ts, newest first.",
    parameters: Fixed(
        "pattern: text The pattern\n\
         path?: text The folder to search; the workspace if absent",
    ),
    read: ArgumentReader::Action(glob),
    tell: None,
    policy: ToolPolicy { output: PATHS, ..ToolPolicy::READS },
};

pub(super) static GREP: ToolRow = ToolRow {
    name: "grep",
    description: "Search file contents by a regular expression. Returns path, line number and \
                  line. Ignored and binary files are skipped.",
    parameters: Fixed(
        "pattern: text The regular expression\n\
         path?: text A file or folder; the workspace if absent\n\
         glob_filter?: text Only files that match this pattern, such as *.py\n\
         case_insensitive?: boolean Ignore case; false if absent\n\
         max_results?: 1..10000 Most results; 100 if absent",
    ),
    read: ArgumentReader::Action(grep),
    tell: None,
    policy: ToolPolicy { output: MATCHES, ..ToolPolicy::READS },
};

/// The search for models that choose what is reported.
pub(super) static GREP_WITH_MODES: ToolRow = ToolRow {
    name: "grep",
    description: "Search file contents by a regular expression. Ignored and binary files are \
                  skipped.",
    parameters: Fixed(
        "pattern: text The regular expression\n\
         path?: text A file or folder; the workspace if absent\n\
         glob_filter?: text Only files that match this pattern, such as *.py\n\
         case_insensitive?: boolean Ignore case; false if absent\n\
         output_mode?: content|files_with_matches|count Matching lines (if absent), paths only, or \
         counts\n\
         max_results?: 1..10000 Most results; 100 if absent",
    ),
    read: ArgumentReader::Action(grep),
    tell: None,
    policy: ToolPolicy { output: MATCHES, ..ToolPolicy::READS },
};

pub(super) static SHELL: ToolRow = ToolRow {
    name: "shell",
    description: "Run a command in the shell, in the workspace, in a sandbox. Returns what it \
                  prints and, unless it is 0, its exit code.",
    parameters: Fixed(
        "command: text The command\n\
         timeout_ms?: 1.. Time limit in milliseconds; {default_ms} if absent, at most 600000\n\
         description?: text What the command does, in a few words, for whoever watches",
    ),
    read: ArgumentReader::Run(shell),
    tell: Some(tell_exit),
    policy: ToolPolicy { needs: Some(ToolRequirement::Shell), ..ToolPolicy::RUNS },
};

pub(super) static RUN_PROGRAM: ToolRow = ToolRow {
    name: "run_program",
    description: "Run one of the programs listed in the environment over the workspace, in a \
                  sandbox without network. Returns its output and, unless it is 0, its exit \
                  code. This is no shell: arguments are passed as they are.",
    parameters: Fixed(
        "program: text The program's name\n\
         args?: text[] Its arguments\n\
         stdin?: text What it reads from standard input\n\
         timeout_ms?: 1.. Time limit in milliseconds; {default_ms} if absent, at most 600000",
    ),
    read: ArgumentReader::Run(run_program),
    tell: Some(tell_exit),
    policy: ToolPolicy { needs: Some(ToolRequirement::Program), ..ToolPolicy::RUNS },
};

pub(super) static WEB_FETCH: ToolRow = ToolRow {
    name: "web_fetch",
    description: "Read a page of the web and return its text.",
    parameters: Fixed("url: nonempty The page's address\nprompt?: text What is wanted of it"),
    read: ArgumentReader::Action(web_fetch),
    tell: None,
    policy: ToolPolicy { needs: Some(ToolRequirement::Web), ..ToolPolicy::RUNS },
};

fn read_file(args: &mut ToolArguments<'_>) -> Action {
    Action::Read {
        path: args.text("file_path"),
        offset: args.count("offset"),
        limit: Some(args.count("limit").unwrap_or(READ_LIMIT)),
        numbering: LineNumbering::Pipe,
        line_chars: None,
        notice: NoticePosition::Below,
    }
}

pub(super) fn web_fetch(args: &mut ToolArguments<'_>) -> Action {
    Action::Fetch { urls: Vec::from([args.text("url")]), prompt: args.optional_text("prompt") }
}

fn read_many_files(args: &mut ToolArguments<'_>) -> Action {
    Action::ReadMany {
        include: args.texts("paths"),
        exclude: args.texts("exclude"),
        flat: false,
        hidden: HiddenFiles::Ignored,
    }
}

/// Reads a call that writes a file, in every vocabulary.
pub(super) fn write_file(args: &mut ToolArguments<'_>) -> Action {
    Action::write(args.text("file_path"), args.text("content"))
}

fn edit_file(args: &mut ToolArguments<'_>) -> Action {
    edit(args, "replace_all")
}

/// Reads a call that replaces a text, in every vocabulary; `all` is the name of the flag for every
/// occurrence.
pub(super) fn edit(args: &mut ToolArguments<'_>, all: &str) -> Action {
    Action::Edit {
        path: args.text("file_path"),
        old: args.text("old_string"),
        new: args.text("new_string"),
        all: args.flag(all),
        salt: None,
    }
}

fn apply_patch(args: &mut ToolArguments<'_>) -> Action {
    Action::patch(args.text("patch"))
}

fn list_dir(args: &mut ToolArguments<'_>) -> Action {
    Action::List {
        path: args.optional_text("path"),
        depth: args.count_u32("depth").unwrap_or(1),
        ignore: Vec::new(),
        hidden: HiddenFiles::Nothing,
        style: ListStyle::Slash,
    }
}

fn glob(args: &mut ToolArguments<'_>) -> Action {
    find(args, None)
}

/// Reads a call that finds files, `max_results` at most.
pub(super) fn find(args: &mut ToolArguments<'_>, max_results: Option<u32>) -> Action {
    Action::Glob {
        pattern: args.text("pattern"),
        path: args.optional_text("path"),
        ignore_case: false,
        max_results,
        hidden: HiddenFiles::Ignored,
    }
}

// One reader for both searches: a call cannot have arguments that its schema lacks.
fn grep(args: &mut ToolArguments<'_>) -> Action {
    Action::Grep(GrepQuery {
        pattern: args.text("pattern"),
        path: args.optional_text("path"),
        glob: args.optional_text("glob_filter"),
        ignore_case: args.flag("case_insensitive"),
        mode: args.choice("output_mode", GREP_MODES).unwrap_or_default(),
        max_results: args.count_u32("max_results"),
        ..GrepQuery::default()
    })
}

fn shell(args: &mut ToolArguments<'_>, facts: &EnvironmentFacts) -> Result<CanonicalCall, String> {
    let timeout_ms = args.count("timeout_ms");
    shell::run(args, None, timeout_ms, facts)
}

fn run_program(
    args: &mut ToolArguments<'_>,
    _: &EnvironmentFacts,
) -> Result<CanonicalCall, String> {
    let action = Action::RunProgram {
        program: args.non_blank("program", "the program"),
        args: args.texts("args"),
        stdin: args.optional_text("stdin"),
    };
    Ok(CanonicalCall { action, timeout_ms: args.count("timeout_ms") })
}

/// Returns a program's output followed by its exit code; `None` if that is 0.
fn tell_exit(run: &FinishedRun<'_>) -> Option<String> {
    let exit = run.outcome.exit.filter(|exit| *exit != 0)?;
    let mut text = run.outcome.joined_text();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&format!("[Exit code: {exit}]"));
    Some(text)
}
