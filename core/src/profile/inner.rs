//! The tools that no workspace is needed for: other agents, questions, the final answer, further
//! tools, and outputs that are kept. They are the same for every model family, unlike the tools for
//! the plan, and none of them but those for outputs leaves the core.

pub(crate) use super::call::{InnerCall, SpawnCall};

use super::{
    args::ToolArguments,
    row::{
        ArgumentReader, REPORTS,
        ToolParameters::{self, Fixed, Spawning},
        ToolPolicy, ToolRequirement, ToolRow, WHOLE,
    },
};
use crate::rules::truncate::OutputLimit;
use alloc::{vec, vec::Vec};
use innerloop_json::IntoList;
use innerloop_types::tool::ResultQuery;

/// Returns the tools, in the order in which they are shown.
pub(super) fn rows() -> Vec<&'static ToolRow> {
    let mut rows = vec![&SPAWN_AGENT];
    if cfg!(feature = "named-agents") {
        rows.push(&SPAWN_AGENTS);
    }
    rows.extend([&SEND_INPUT, &WAIT, &CLOSE_AGENT, &ASK_USER]);
    if cfg!(feature = "kept-results") {
        rows.extend([&LIST_RESULTS, &READ_RESULT]);
    }
    rows
}

static SPAWN_AGENT: ToolRow = ToolRow {
    name: "spawn_agent",
    description: "Start another agent on a scoped task. It works on the same files with a \
                  conversation of its own, beside you. Returns its id at once; use wait for its \
                  result.",
    parameters: Spawning(
        "task: nonempty What it is to do, with all that it needs to know: it sees nothing of this \
         conversation\n\
         agent?: agents Which of the named agents; one without a name if absent\n\
         working_dir?: text A folder in your working directory for it to work in and to stay in; \
         yours if absent\n\
         model?: text Another model; yours if absent\n\
         max_turns?: 0.. Most turns it may take; 0, like leaving it out, means no limit",
    ),
    read: ArgumentReader::Inner(spawn_agent),
    tell: None,
    policy: ToolPolicy {
        needs: Some(ToolRequirement::Agents),
        output: REPORTS,
        ..ToolPolicy::RUNS
    },
};

static SPAWN_AGENTS: ToolRow = ToolRow {
    name: "spawn_agents",
    description: "Start agents on tasks that do not depend on each other, and wait for all. \
                  Returns their results in that order, long ones shortened.",
    parameters: Spawning(
        "tasks: {}[1..10]\n\
         - task: nonempty What it is to do, with all that it needs to know\n\
         - agent?: agents Which of the named agents; one without a name if absent\n\
         - working_dir?: text A folder in yours to stay in\n\
         max_turns?: 0.. Most turns each may take; 0 means no limit",
    ),
    read: ArgumentReader::Inner(spawn_agents),
    tell: None,
    policy: ToolPolicy {
        needs: Some(ToolRequirement::AgentBatches),
        output: OutputLimit::DEFAULT,
        ..ToolPolicy::RUNS
    },
};

static SEND_INPUT: ToolRow = ToolRow {
    name: "send_input",
    description: "Say something to an agent that you started: at its next step if it works, as a \
                  new task if it is done.",
    parameters: Fixed(
        "agent_id: text Its id\n\
         message: nonempty What to say",
    ),
    read: ArgumentReader::Inner(send_input),
    tell: None,
    policy: ToolPolicy {
        needs: Some(ToolRequirement::Agents),
        output: OutputLimit::DEFAULT,
        ..ToolPolicy::RUNS
    },
};

static WAIT: ToolRow = ToolRow {
    name: "wait",
    description: "Wait until an agent that you started has done its task, and get its result.",
    parameters: Fixed(
        "agent_id?: text Its id\n\
         agent_ids?: text[1..] Several ids instead, to wait for all\n\
         timeout_ms?: 1.. How long to wait at most; without it, as long as it takes",
    ),
    read: ArgumentReader::Inner(wait),
    tell: None,
    policy: ToolPolicy {
        needs: Some(ToolRequirement::Agents),
        output: REPORTS,
        ..ToolPolicy::RUNS
    },
};

static CLOSE_AGENT: ToolRow = ToolRow {
    name: "close_agent",
    description: "End an agent that you started. Returns its last status.",
    parameters: Fixed("agent_id: text Its id"),
    read: ArgumentReader::Inner(close_agent),
    tell: None,
    policy: ToolPolicy {
        needs: Some(ToolRequirement::Agents),
        output: OutputLimit::DEFAULT,
        ..ToolPolicy::RUNS
    },
};

static ASK_USER: ToolRow = ToolRow {
    name: "ask_user",
    description: "Ask the user a question that only they can answer, and wait for the answer.",
    parameters: Fixed("question: nonempty The question"),
    read: ArgumentReader::Inner(ask_user),
    tell: None,
    policy: ToolPolicy { needs: Some(ToolRequirement::User), ..ToolPolicy::READS },
};

static LIST_RESULTS: ToolRow = ToolRow {
    name: "list_results",
    description: "List the outputs of tools that are kept whole, with their ids.",
    parameters: Fixed("tool?: text Only those of this tool"),
    read: ArgumentReader::Inner(list_results),
    tell: None,
    policy: ToolPolicy {
        needs: Some(ToolRequirement::Results),
        output: REPORTS,
        ..ToolPolicy::READS
    },
};

static READ_RESULT: ToolRow = ToolRow {
    name: "read_result",
    description: "Read on in an output that was cut: where one was, its id stands at its end.",
    parameters: Fixed(
        "id: text Its id\n\
         offset?: 0.. Characters to skip; 0 if absent\n\
         limit?: 1.. Most characters to read; 10000 if absent",
    ),
    read: ArgumentReader::Inner(read_result),
    tell: None,
    policy: ToolPolicy {
        needs: Some(ToolRequirement::Results),
        output: WHOLE,
        ..ToolPolicy::READS
    },
};

/// The tool that finds those of which requests show no more than the name. It is added where there
/// are such.
pub(crate) static TOOL_SEARCH: ToolRow = ToolRow {
    name: "tool_search",
    description: "Find further tools, by their names or by words on what they do. Returns up to \
                  five of them with their parameters; call them by name then.",
    parameters: Fixed("query: nonempty Names or words"),
    read: ArgumentReader::Inner(tool_search),
    tell: None,
    policy: ToolPolicy { output: WHOLE, ..ToolPolicy::READS },
};

/// The categories of tools, as models know them.
pub(crate) const CATEGORIES: [&str; 5] = ["read", "write", "search", "run", "meta"];

/// The tool that chooses a category. It is added where tools are shown by categories.
pub(crate) static SELECT_CATEGORY: ToolRow = ToolRow {
    name: "select_category",
    description: "Choose the kind of tools that you need next. You can choose again at any time.",
    parameters: Fixed("category: read|write|search|run|meta The kind"),
    read: ArgumentReader::Inner(select_category),
    tell: None,
    policy: ToolPolicy::READS,
};

pub(crate) static FINAL_ANSWER: ToolRow = ToolRow {
    name: "final_answer",
    description: "Give the final answer of the task, once it is done. Ends the work.",
    parameters: ToolParameters::Answer,
    read: ArgumentReader::Inner(final_answer),
    tell: None,
    policy: ToolPolicy { needs: Some(ToolRequirement::AnswerForm), ..ToolPolicy::READS },
};

fn spawn_agent(args: &mut ToolArguments<'_>) -> InnerCall {
    InnerCall::Spawn(SpawnCall {
        task: args.non_blank("task", "task"),
        working_dir: args.optional_text("working_dir"),
        agent: args.optional_text("agent"),
        model: args.optional_text("model"),
        max_turns: args.count_u32("max_turns"),
    })
}

fn spawn_agents(args: &mut ToolArguments<'_>) -> InnerCall {
    let max_turns = args.count_u32("max_turns");
    // A task has the arguments of `spawn_agent`, without those that its schema leaves out.
    let spawn = |task: &mut ToolArguments<'_>| match spawn_agent(task) {
        InnerCall::Spawn(call) => Some(SpawnCall { max_turns, ..call }),
        _ => None,
    };
    InnerCall::Batch(args.objects("tasks", spawn))
}

fn send_input(args: &mut ToolArguments<'_>) -> InnerCall {
    let agent_id = args.text("agent_id");
    InnerCall::Send { agent_id, message: args.non_blank("message", "message") }
}

fn wait(args: &mut ToolArguments<'_>) -> InnerCall {
    let mut agent_ids: Vec<_> = args.optional_text("agent_id").into_iter().into_list();
    agent_ids.extend(args.texts("agent_ids"));
    if agent_ids.is_empty() {
        args.reject("`agent_id` is required");
    }
    InnerCall::Wait { agent_ids, timeout_ms: args.count("timeout_ms") }
}

fn close_agent(args: &mut ToolArguments<'_>) -> InnerCall {
    InnerCall::Close { agent_id: args.text("agent_id") }
}

fn ask_user(args: &mut ToolArguments<'_>) -> InnerCall {
    InnerCall::Ask { question: args.text("question") }
}

fn list_results(args: &mut ToolArguments<'_>) -> InnerCall {
    InnerCall::Kept(ResultQuery { tool: args.optional_text("tool"), ..ResultQuery::default() })
}

fn read_result(args: &mut ToolArguments<'_>) -> InnerCall {
    InnerCall::Kept(ResultQuery {
        id: Some(args.text("id")),
        tool: None,
        offset: args.count("offset").unwrap_or_default(),
        limit: args.count("limit").unwrap_or_default(),
    })
}

fn tool_search(args: &mut ToolArguments<'_>) -> InnerCall {
    InnerCall::Search { query: args.text("query") }
}

fn select_category(args: &mut ToolArguments<'_>) -> InnerCall {
    InnerCall::Select { category: args.text("category") }
}

fn final_answer(args: &mut ToolArguments<'_>) -> InnerCall {
    // The form is the host's own schema, which has been checked; nothing is left to be read here.
    InnerCall::Answer(args.json())
}
