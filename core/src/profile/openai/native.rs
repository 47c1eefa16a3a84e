//! The tools that GPT models know from codex: names, parameters and the form of results are aligned
//! with it, the texts are our own (`docs/decisions.md#profiles`).

use super::super::{
    args::ToolArguments,
    call::{CanonicalCall, InnerCall, PlanCall},
    plan_tool,
    row::{
        ArgumentReader, FinishedRun, TimeoutNote,
        ToolParameters::{self, Fixed},
        ToolPolicy, ToolRequirement, ToolRow,
    },
    seed, shell,
};
use alloc::{
    format,
    string::{String, ToString},
};
use innerloop_json::joined;
use innerloop_types::{
    action::{Action, FilePatch},
    config::EnvironmentFacts,
    event::PlanStatus,
};

/// The tools, in the order in which they are shown.
pub(super) static TABLE: &[&ToolRow] = &[
    &SHELL_COMMAND,
    &APPLY_PATCH,
    &VIEW_IMAGE,
    &READ_FILE,
    &LIST_DIR,
    &GLOB,
    &GREP,
    &RUN_PROGRAM,
    &seed::WEB_FETCH,
];

static SHELL_COMMAND: ToolRow = ToolRow {
    name: "shell_command",
    description: "Run a command in a shell, in the workspace, and return what it prints. Set \
                  workdir instead of using cd.",
    parameters: Fixed(
        "command: text The command\n\
         workdir?: text The folder to run it in; the workspace if absent\n\
         timeout_ms?: number Time limit in milliseconds; {default_ms} if absent, at most 600000",
    ),
    read: ArgumentReader::Run(shell_command),
    tell: Some(tell_command),
    policy: ToolPolicy {
        needs: Some(ToolRequirement::Shell),
        // `tell_command` says it in the output, as codex does; a note below would say it twice.
        timeout: TimeoutNote::None,
        ..ToolPolicy::RUNS
    },
};

static APPLY_PATCH: ToolRow = ToolRow {
    name: "apply_patch",
    description: "Change files by a patch. input is the whole patch:\n*** Begin Patch\n*** Add \
                  File: PATH (then every line of the file with + before it)\n*** Delete File: \
                  PATH\n*** Update File: PATH (then, if the file moves, *** Move to: NEW PATH; \
                  then its hunks)\n*** End Patch\nA hunk begins with @@ and, where that helps to \
                  find the place, a line that stands above it, such as a function's head. Of its \
                  lines, those that stay begin with a space, those that go with -, those that \
                  come with +. Show three lines of context around each change. *** End of File \
                  behind a hunk ties it to the end of the file. Paths are relative to the \
                  workspace.",
    // Free text where the endpoint takes it, so that a patch need not be escaped as JSON. The
    // description above, with the grammar in words, is for other endpoints.
    parameters: ToolParameters::Freeform {
        text: "input: text The patch, from *** Begin Patch to *** End Patch",
        grammar: include_str!("patch.lark"),
        description: "Change files by a patch. Write the patch as it is, from *** Begin Patch to \
                      *** End Patch, not wrapped in JSON.",
    },
    read: ArgumentReader::Action(apply_patch),
    tell: Some(tell_patch),
    policy: ToolPolicy::CHANGES,
};

static VIEW_IMAGE: ToolRow = ToolRow {
    name: "view_image",
    description: "Look at an image of the workspace. For images only: text files come back as an \
                  error.",
    parameters: Fixed("path: text The image's file"),
    read: ArgumentReader::Action(view_image),
    tell: None,
    policy: ToolPolicy { needs: Some(ToolRequirement::Images), ..ToolPolicy::READS },
};

static READ_FILE: ToolRow = without_shell(seed::READ_FILE);
static LIST_DIR: ToolRow = without_shell(seed::LIST_DIR);
static GLOB: ToolRow = without_shell(seed::GLOB);
static GREP: ToolRow = without_shell(seed::GREP);
static RUN_PROGRAM: ToolRow = ToolRow { tell: Some(tell_command), ..seed::RUN_PROGRAM };

/// Returns a tool that is shown only without a shell, by which codex reads and searches.
// Beside a shell these would be names that the models were not trained on; without them, on a host
// that has none, the model could not read a file.
const fn without_shell(row: ToolRow) -> ToolRow {
    ToolRow { policy: ToolPolicy { needs: Some(ToolRequirement::NoShell), ..row.policy }, ..row }
}

pub(super) static UPDATE_PLAN: ToolRow = ToolRow {
    name: "update_plan",
    description: "Write down or change the plan of the task. Each call gives the whole plan; at \
                  most one step may be in_progress.",
    parameters: Fixed(
        "explanation?: text Why the plan changes\n\
         plan: {}[] The steps, in order\n\
         - step: text The step\n\
         - status: pending|in_progress|completed How far it is",
    ),
    read: ArgumentReader::Inner(update_plan),
    tell: None,
    policy: ToolPolicy::READS,
};

fn shell_command(
    args: &mut ToolArguments<'_>,
    facts: &EnvironmentFacts,
) -> Result<CanonicalCall, String> {
    let (folder, timeout_ms) = (args.optional_text("workdir"), args.count("timeout_ms"));
    shell::run(args, folder.as_deref(), timeout_ms, facts)
}

fn apply_patch(args: &mut ToolArguments<'_>) -> Action {
    Action::patch(args.text("input"))
}

fn view_image(args: &mut ToolArguments<'_>) -> Action {
    Action::ViewImage { path: args.text("path") }
}

fn update_plan(args: &mut ToolArguments<'_>) -> InnerCall {
    let items = plan_tool::items(args, "plan", "step");
    let under_way = items.iter().filter(|item| item.status == PlanStatus::InProgress).count();
    if under_way > 1 {
        args.reject("at most one step can be in_progress");
    }
    InnerCall::Plan(PlanCall { items, reply: "Plan updated".to_string() })
}

/// Returns the exit code and the output of a command; `None` if it neither exited nor ran out of
/// time.
fn tell_command(run: &FinishedRun<'_>) -> Option<String> {
    let FinishedRun { outcome, timeout_ms, .. } = run;
    if outcome.exit.is_none() && !outcome.timed_out {
        return None;
    }
    let exit = outcome.exit.map(|code| format!("Exit code: {code}\n")).unwrap_or_default();
    let late = match outcome.timed_out {
        true => format!("command timed out after {timeout_ms} milliseconds\n"),
        false => String::new(),
    };
    Some(format!("{exit}Output:\n{late}{}", outcome.joined_text()))
}

/// Returns the files of a patch that was applied: added, then changed, then deleted ones.
fn tell_patch(run: &FinishedRun<'_>) -> Option<String> {
    let patch = run.patch.filter(|_| run.outcome.error.is_none())?;
    // Grouped by kind, as codex lists them, not in the patch's order.
    let mut lines = [String::new(), String::new(), String::new()];
    for file in &patch.files {
        let [added, modified, deleted] = &mut lines;
        let (list, mark, path) = match file {
            FilePatch::Add { path, .. } => (added, 'A', path),
            FilePatch::Delete { path } => (deleted, 'D', path),
            FilePatch::Update { path, move_to, .. } => {
                (modified, 'M', move_to.as_ref().unwrap_or(path))
            }
        };
        list.push_str(&format!("{mark} {path}\n"));
    }
    Some(format!("Success. Updated the following files:\n{}", joined(&lines, "")))
}
