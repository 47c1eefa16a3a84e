// The configuration of a session, as its log has it (snake_case). Made of the core's types, whose
// words these are: see CONTRIBUTING.md#generated-files.

import type { ModelConfig, Price, RoutingPolicy } from "./model.js";
import type { ApprovalPolicy, CompactionPolicy, LoopPolicy } from "./policies.js";
import type { OneOf } from "./shapes.js";

/**
 * Everything that a session needs to know from the start. The default is the specification's; `id`,
 * `endpoint` and `model` have no default and must be set.
 */
export interface SessionConfig {
  /** The session's id. A fork always gets a new one. */
  id: string;
  /** The model and its endpoint. */
  model: ModelConfig;
  /**
   * The prices of further models that the session may use, by name: for summaries, and for agents
   * that it starts. A cost limit needs them.
   */
  prices: Record<string, Price>;
  /** The limits at which to stop. */
  limits: SessionLimits;
  /** The limits on the size of a response. */
  response: {
    /** Bytes of its body. */
    max_bytes: number;
    /** Bytes of it held in memory: its content, and an event until it is complete. */
    max_kept_bytes: number;
    /**
     * Parts of its reply: texts, thinking, calls, fields that arrive one by one, and every twenty
     * names and values in the arguments of a call.
     */
    max_items: number;
    /** Calls of tools, including those in its text. */
    max_calls: number;
  };
  /** The rules for retrying a failed model call. */
  retry: {
    /** The maximum number of retries of one model call; 0 switches retries off. */
    max_retries: number;
    /** The first delay, in milliseconds. */
    base_ms: number;
    /** The longest delay of our own, in milliseconds. */
    max_ms: number;
    /**
     * The part of a delay of our own that may be left out, in percent, so that many sessions do not
     * retry at once; 0 for exact delays.
     */
    jitter_percent: number;
    /** The longest delay that a provider may ask for; a longer one ends the run. */
    max_retry_after_ms: number;
    /** The time without a byte after which a model call counts as broken, in milliseconds. */
    idle_ms: number;
    /**
     * True if a call that breaks after text or a part of a tool call has arrived is retried. No
     * tool has started then, and `text_reset` voids the shown text.
     */
    mid_stream: boolean;
    /**
     * True if a call that can never succeed, such as one whose key or model is refused, closes the
     * session. Otherwise its run fails, and the session can go on once the cause is fixed.
     */
    refusal_closes: boolean;
  };
  /** Time limits of tool runs. */
  timeouts: {
    /**
     * The limit of a run whose call sets none. If this has its default value, the profile's own
     * limit applies.
     */
    default_command_ms: number;
    /** The longest limit that a run can have. */
    max_command_ms: number;
    /** The time that a cancelled effect may take to answer before it counts as lost. */
    grace_ms: number;
  };
  /**
   * The maximum number of characters that the model reads of a tool's output, by tool; other tools
   * have default limits.
   */
  tool_output_limits: Record<string, number>;
  /**
   * The maximum number of lines that the model reads of a tool's output, by tool; other tools have
   * default limits.
   */
  tool_line_limits: Record<string, number>;
  /**
   * The maximum part of the context window for one tool's output, in percent, but never less than
   * 1,000 characters. It lowers the limits above, for models with small windows.
   */
  tool_output_percent: number | null;
  /**
   * The maximum part of the unused context window for one tool's output, in percent, but never less
   * than 1,000 characters.
   */
  tool_output_share_of_rest: number | null;
  /** The facts about the agent's environment that the system prompt states. */
  facts: Facts;
  /**
   * The text that begins the system prompt, in place of the family's base instructions; an empty
   * text for nothing.
   */
  base_prompt: string | null;
  /** Instructions of the user, appended last to the system prompt. */
  instructions: string | null;
  /** The choice of the profile's tools. */
  builtin_tools: BuiltinTools;
  /** Tools of the host, in addition to the profile's; one of the same name replaces it. */
  tools: ToolSpec[];
  /** The tools that a request shows. */
  tools_shown: "all" | "staged" | { deferred: number };
  /** The rules for outputs that are kept whole; none are kept if absent. */
  results: {
    /**
     * The maximum number of characters of a cut output that the model reads at first; 0 for as many
     * as without this policy.
     */
    preview_chars: number;
  } | null;
  /**
   * The modes in which tools' calls run, by tool. By default, calls that only read run beside
   * others, and calls that change something run alone.
   */
  exec_modes: Record<string, "parallel" | "serial">;
  /** The way in which tokens are estimated. */
  estimator: "chars" | "code_and_prose" | "words" | "bytes";
  /** The rules for shortening the conversation. */
  compaction: CompactionPolicy;
  /** The rules for calls that repeat themselves. */
  loops: LoopPolicy;
  /** The calls that a person must approve first. */
  approval: ApprovalPolicy;
  /** The points at which the host's hooks run, and the rules for them. */
  hooks: {
    /** The points at which the host's hooks run. */
    points: HookPoint[];
    /** True if a failing hook counts as a denial; otherwise the run goes on. */
    fail_closed: boolean;
    /**
     * The number of times for one input that the hook before the end may send the model back to
     * work; a further denial ends the run as unverified.
     */
    max_denials: number;
    /** The rules for the hook after a tool. */
    after_tool: {
      /** The result that the model reads if the hook denies. */
      denial: DeniedResult;
    };
  };
  /** The rules about reading files before they are changed. */
  guard: {
    /**
     * True if an existing file must have been read, or written, in this session before it is
     * changed.
     */
    read_before_write: boolean;
  };
  /** The limits on agents that an agent may start. */
  subagents: {
    /** The maximum nesting depth of agents; 0 allows none. */
    max_depth: number;
    /** The maximum number of agents that may be open at once, at all depths together. */
    max_open: number;
    /**
     * The time limit of the agents of one `spawn_agents`, in milliseconds; agents that still work
     * then are ended. 0 means no limit.
     */
    batch_ms: number;
    /**
     * True if an input that asks for several agents is followed by a note on how to share the work
     * among them.
     */
    coordinate: boolean;
  };
  /** The agents that can be started by name, by that name. */
  agents: Record<string, AgentDefinition>;
  /** The use that is made of the skills in `facts`. */
  skills: "catalogue" | "selected" | "off";
  /** The rules for repairing replies that end too early. */
  repair: {
    /** The number of times in a run that a text cut by the output limit is continued. */
    continue_on_length: number;
    /**
     * True if a reply that the output limit has cut within a call is requested again with twice the
     * limit, which then holds until the next input.
     */
    grow_output: boolean;
    /** The number of times in a run that a reply without text and calls is requested again. */
    retry_on_empty: number;
    /** True if arguments of the wrong type are converted if their meaning is clear. */
    coerce_arguments: boolean;
  };
  /** The faults of replies that are corrected, and how often. */
  corrections: {
    /** The number of times that a run corrects each fault, by the fault's name; 0 for never. */
    faults: {
      /** Replies that announce an action, and do nothing. */
      promised?: number;
      /** Replies of less than 100 characters without a complete sentence. */
      too_short?: number;
      /**
       * Replies that ask whether to begin. They do not count if the model may ask the user
       * (`ask_user`).
       */
      asked_instead?: number;
      /** First replies of more than 300 characters from a model that has called no tool yet. */
      wrote_only?: number;
      /** Replies that claim a change of files, from a model that has called no tool yet. */
      claimed?: number;
      /** Replies that invent a tool's result. They are cut off there, even beyond the number. */
      fake_result?: number;
      /** Replies after a call that write another one as text, in a form that is not parsed. */
      named_tool?: number;
      /** Replies after a call that greet the user instead of answering. */
      greeting?: number;
      /**
       * Replies that repeat one passage over and over. They are ended at once, even beyond the
       * number.
       */
      echo?: number;
      /**
       * Edits of one file that fail four times in a row. With any number but 0, each file is
       * reported once.
       */
      patch_spiral?: number;
    };
    /**
     * The number of corrections of a run for replies after a call: `fake_result`, `named_tool` and
     * `greeting` together.
     */
    max_after_calls: number;
    /** The number of corrections of a run, whatever the faults. */
    max_per_run: number;
  };
  /** The models besides `model`, and when they are used. */
  routing: RoutingPolicy;
  /** The limit on steps that can be undone. */
  undo: {
    /** The maximum number of steps that can be undone in a row; 0 for all. */
    max_steps: number;
  };
  /** The form of the final answer, if one is required. */
  answer: {
    /** A JSON Schema whose root is an object. */
    schema: Record<string, unknown>;
    /** The number of times that the answer is requested again if a run ends with text. */
    retries: number;
  } | null;
  /** True if the model may ask the user, through the tool `ask_user`. */
  ask_user: boolean;
  /** True if the host carries out `fetch`, so that the model has a tool for it. */
  web_fetch: boolean;
}

/** An agent that can be started by name. */
export interface AgentDefinition {
  /** The sentence by which a model chooses it. */
  description: string;
  /**
   * The text that begins its system prompt, in place of the family's base instructions; empty for
   * those.
   */
  prompt: string;
  /**
   * Its model, at the session's endpoint. If absent, it is the model that the call names, or the
   * session's.
   */
  model: string | null;
  /** The names of its tools, among those of the session; all of them if absent. */
  tools: string[] | null;
  /** The maximum number of turns; 0 means no limit. */
  max_turns: number;
}

/**
 * The choice of the profile's own tools, by their names in its vocabulary. The tools that ask the
 * user or give the final answer have switches of their own.
 */
export type BuiltinTools =
  /** All tools that this session can carry out. */
  | "all"
  /** Only the tools that change nothing and run nothing. */
  | "read_only"
  /** None of the profile's tools. */
  | "none"
  | OneOf<{
      /** The tools with these names. */
      only: string[];
      /** All tools except those with these names. */
      except: string[];
    }>;

/** The result of a call that a hook has denied after it has run. */
export type DeniedResult =
  /** The model reads the reason instead of the output. */
  | "withhold"
  /** The model reads the output, as if the hook had allowed it. */
  | "keep";

/**
 * The facts about the agent's environment that the system prompt states. Facts that are empty or
 * absent are left out.
 */
export interface Facts {
  /** The workspace, as the tools see it. */
  working_directory: string;
  /** `linux`, `darwin`, `windows`, `wasm`. */
  platform: string;
  /** The version of the operating system. */
  os_version: string;
  /** The current date as `YYYY-MM-DD`. */
  date: string;
  /** The state of version control, if the workspace is under it. */
  git: {
    /** The name of the current branch. */
    branch: string;
    /** The number of modified files, if the host knows it. */
    modified: number | null;
    /** The number of untracked files, if the host knows it. */
    untracked: number | null;
    /** Subjects of the newest commits, newest first. */
    recent_commits: string[];
  } | null;
  /** True if the workspace is known to be in no repository of git. */
  no_git: boolean;
  /** The model's knowledge cutoff. */
  knowledge_cutoff: string;
  /** Programs that `run_program` can run. Without any, the tool is not offered. */
  programs: {
    /** The name under which it runs. */
    name: string;
    /** A sentence that describes it and its usage. */
    description: string;
  }[];
  /** Instruction files of the project, root first. */
  project_docs: {
    /** Its path as seen from the workspace. */
    path: string;
    /** The text of the file. */
    text: string;
    /** True if it is left out where a group reads along, as `MEMORY.md` always is. */
    private?: boolean;
  }[];
  /**
   * Instruction files of folders below the workspace's top, in any order. An agent reads those on
   * the way to its folder and in it.
   */
  nested_docs: {
    /** Its path as seen from the workspace. */
    path: string;
    /** The text of the file. */
    text: string;
    /** True if it is left out where a group reads along, as `MEMORY.md` always is. */
    private?: boolean;
  }[];
  /** Skills that the model can use. Of those with equal names the first counts. */
  skills?: {
    /** Its name, which `/name` and `$name` in an input call for. */
    name: string;
    /** The sentence by which the model tells that a task needs it. */
    description: string;
    /**
     * The path of its `SKILL.md`, as the tools see it. If it begins with `~/`, no tool can read the
     * file, and the model gets `body` in place of it. If it is empty, it is such a path.
     */
    path: string;
    /**
     * The instructions, without the front matter. Needed where no tool can read the file, and where
     * skills are selected.
     */
    body?: string;
    /** The words of an input that speak for it. */
    keywords?: string[];
    /** The words of an input that rule it out. */
    exclude?: string[];
    /** Words for the area that it belongs to, which speak less strongly for it. */
    tags?: string[];
    /**
     * The number of tokens that it counts for where skills are selected; a quarter of its bytes if
     * that is more.
     */
    max_tokens?: number;
  }[];
  /** The people who read what the agent says. */
  audience?: "private" | "group";
  /**
   * The place that answers are delivered to by the host, such as a channel; the model is told to
   * send none of them by a tool.
   */
  reply_route?: string;
}

/** The point in the loop at which a hook runs. */
export type HookPoint =
  /** When the user submits an input. Replaceable by another text. */
  | "submit"
  /** Before a model call. A replacement is a text that the model reads as a system message. */
  | "before_model"
  /** Before a tool runs. Replaceable by other arguments, which are checked again. */
  | "before_tool"
  /** After a tool has run. Replaceable by another text for the model. */
  | "after_tool"
  /**
   * After a round of calls, before the model reads the results. A replacement is a text that it
   * reads after them, as a steering message; a denial ends the run.
   */
  | "after_iteration"
  /**
   * Before the run ends. The model reads the reason of a denial, and the run goes on, as often as
   * `max_denials` allows.
   */
  | "before_stop"
  /**
   * Before the result of the session's own agent is reported, at the end of a run that was not
   * interrupted, denied or failed. Replaceable by another result, which does not change the
   * history; a denial withholds the result.
   */
  | "outbound"
  /**
   * Before the oldest turns are archived or summarised. Replaceable by a text that stands in their
   * place; a denial leaves the conversation unchanged.
   */
  | "compact";

/** The limits at which to stop; 0 means no limit. */
export interface SessionLimits {
  /** The maximum number of user and assistant turns in the whole session. */
  max_turns: number;
  /** The maximum number of rounds of tool calls for one input of the user. */
  max_tool_rounds_per_input: number;
  /** The maximum spending of a run, including the agents that it started. */
  run?: Spend;
  /** The maximum spending of all runs of the session together. */
  session?: Spend;
  /** The reaction when one of these limits is reached. */
  action: LimitAction;
}

/** The reaction when a limit is reached. */
export type LimitAction =
  /** The run ends, and the agent is idle. */
  | "idle"
  /** The model summarises its findings without tools, and the run ends. */
  | "summarize"
  /** The run ends with all of the model's texts in it. */
  | "partial"
  /** The run ends as failed. */
  | "error";

/** An amount of money, tokens and time; as a limit, 0 means no limit. */
export interface Spend {
  /** Nano-dollars (10⁻⁹ US dollars). */
  cost_nano_usd: number;
  /** Tokens, in and out. */
  tokens: number;
  /** Milliseconds of runs, including the time spent waiting for people, tools and providers. */
  ms: number;
}

/** A tool as the model sees it. */
export interface ToolSpec {
  /** A unique name; among equal names the latest registration wins. */
  name: string;
  /** The description of the tool and of its purpose. */
  description: string;
  /** A JSON Schema whose root is an object. */
  parameters: Record<string, unknown>;
  /** True if it only reads, so that it may run beside others. */
  read_only: boolean;
  /**
   * The time limit of a run, in milliseconds, at most `timeouts.max_command_ms`; if absent, the
   * default limit of commands.
   */
  timeout_ms?: number;
  /**
   * The names of the arguments that are files or folders of the workspace, each one text or a list
   * of texts; an input's `paths` is checked against them. An argument that a call omits stands for
   * the agent's own folder.
   */
  paths?: string[];
  /** The form of a call with free text instead of JSON, for protocols that support it. */
  freeform?: {
    /** The grammar of the text, in Lark's syntax. */
    grammar: string;
    /** The property of the schema that the text is the value of. */
    property: string;
    /** The description that replaces the tool's for the model. */
    description: string;
  };
}

/** A configuration by name. */
export type Preset =
  /** The defaults of the Coding Agent Loop Specification. */
  | "seed001"
  /**
   * The settings that users of codex, Claude Code or pi expect: the tools that the model was
   * trained on, files that must be read before they are changed, arguments that are converted to
   * fit their schema, sessions that survive a refused request, and at most 200 rounds for an input;
   * calls that still repeat after two warnings end the run.
   */
  | "modern"
  /**
   * Small local models: 25 rounds, then a summary; loops stop early; outputs take less than a third
   * of the window.
   */
  | "ollama"
  /** Approval of changes, 50 rounds, and only failing calls count as a loop. */
  | "ironclaw"
  /** Few retries with long delays, none in mid-stream; reaching a limit is an error. */
  | "gnoma"
  /**
   * A member of a council, who gives a position on a question by reasoning alone, without any tool.
   */
  | "council_member"
  /** A member of a council who weighs the positions of the others, also without tools. */
  | "council_discusser"
  /** A member of a council who reviews its outcome, also without tools. */
  | "council_reviewer";
