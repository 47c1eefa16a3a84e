// Things to know, as the session's log has them. Made of the core's types, whose words these are:
// see CONTRIBUTING.md#generated-files.

import type { SessionLimits } from "./config.js";
import type { AgentState, ErrorKind, Outcome, Part, RunEnd, SessionUsage } from "./data.js";
import type { FoldKind, Why } from "./history.js";

/** What every event has. */
export interface Stamp {
  /** Counted from 1 over the whole session, without gaps. */
  seq: number;
  /** The session time of the event: milliseconds since the session was opened. */
  at: number;
  /**
   * The time of the event in milliseconds since 1970, by the host's wall clock as it was when the
   * session was opened or restored.
   */
  wall: number;
  /** The id of its session. */
  session: string;
  /**
   * The effect (a request, a tool's run, a question) whose answer led to it; none if a command or
   * the time did.
   */
  effect?: number;
  /** The agent that the event belongs to; the session's own agent is 0. */
  agent: number;
}

/** The session is open. */
export interface SessionStart extends Stamp {
  type: "session_start";
  /** The model's name. */
  model: string;
  /** The host's name for the endpoint that serves it. */
  provider: string;
  /** The model family whose tools and prompt are used. */
  profile: "openai" | "anthropic" | "gemini" | "small";
  /** Under which names the family's tools are shown. */
  vocabulary: "seed" | "native";
  /** The names of the tools. */
  tools: string[];
  /** The number of tokens that the model can read and write in one call. */
  context_window: number;
  /** The limits of rounds, turns and spending. */
  limits: SessionLimits;
}

/** The session is closed. The last event. */
export interface SessionEnd extends Stamp {
  type: "session_end";
  /** The state that it was in when it was closed. */
  state: AgentState;
}

/** The user said something; a run, or a further input of it, begins. */
export interface UserInput extends Stamp {
  type: "user_input";
  /** The content of the user's input. */
  parts: Part[];
}

/** A run is over and the agent is idle. */
export interface ProcessingEnd extends Stamp {
  type: "processing_end";
  /** The way in which it ended. */
  end: RunEnd;
  /** The last text of the model. */
  text: string;
  /** Tokens of the run. */
  usage: SessionUsage;
  /** The cost of these tokens in nano-dollars (10⁻⁹ US dollars), as far as the prices are known. */
  cost_nano_usd?: number;
  /** Model replies of the run. */
  replies: number;
  /** Tool calls of the run. */
  tool_calls: number;
  /** Rounds of tool calls of the run. */
  rounds: number;
}

/** The model began to write text. */
export interface AssistantTextStart extends Stamp {
  type: "assistant_text_start";
}

/** More of the model's text. */
export interface AssistantTextDelta extends Stamp {
  type: "assistant_text_delta";
  /** The new piece. */
  text: string;
}

/** More of the model's thinking. */
export interface AssistantReasoningDelta extends Stamp {
  type: "assistant_reasoning_delta";
  /** The new piece. */
  text: string;
}

/** A reply is whole. Comes once for each, with or without text. */
export interface AssistantTextEnd extends Stamp {
  type: "assistant_text_end";
  /** The whole text. */
  text: string;
  /** The whole thinking, if there was any. */
  reasoning?: string;
  /** The tokens that the reply used, if the provider said so. */
  usage?: SessionUsage;
  /** The cost of these tokens in nano-dollars (10⁻⁹ US dollars), if the model's price is known. */
  cost_nano_usd?: number;
}

/** The output of the current reply so far does not count: the call is tried again. */
export interface TextReset extends Stamp {
  type: "text_reset";
}

/** A request for the next reply goes to the model. */
export interface RequestStart extends Stamp {
  type: "request_start";
  /** Which try it is, counted from 1. */
  attempt: number;
}

/** The host holds the request back: others go first. */
export interface Queued extends Stamp {
  type: "queued";
  /** The number of requests that go first. */
  ahead: number;
}

/**
 * The model writes a tool call: it begins, or more of its arguments came. Nothing is carried out
 * before the reply is whole; `text_reset` takes it back.
 */
export interface ToolCallDelta extends Stamp {
  type: "tool_call_delta";
  /** Tells the calls of a reply apart. */
  index: number;
  /**
   * The call's id as the model has it. `tool_call_start` has another one where that is missing or
   * not the only one.
   */
  call_id: string;
  /** The tool's name, as far as it has come. */
  name: string;
  /** The new piece of the arguments' JSON text; empty where the call begins. */
  text: string;
}

/** A tool call began. */
export interface ToolCallStart extends Stamp {
  type: "tool_call_start";
  /** The call's id. */
  call_id: string;
  /** The tool. */
  name: string;
  /** The arguments' JSON text, as the model wrote it. */
  arguments: string;
}

/** More output of a running tool. */
export interface ToolCallOutputDelta extends Stamp {
  type: "tool_call_output_delta";
  /** The call's id. */
  call_id: string;
  /** The new piece. */
  text: string;
}

/** A tool call is over. */
export interface ToolCallEnd extends Stamp {
  type: "tool_call_end";
  /** The call's id. */
  call_id: string;
  /** The tool. */
  name: string;
  /** The full, untruncated outcome. */
  outcome: Outcome;
}

/** A steering message entered the history. */
export interface SteeringInjected extends Stamp {
  type: "steering_injected";
  /** The content of the message. */
  parts: Part[];
}

/** A limit of rounds or turns ended the run. */
export interface TurnLimit extends Stamp {
  type: "turn_limit";
  /** Which limit: `max_turns` or `max_tool_rounds_per_input`. */
  limit: "max_turns" | "max_tool_rounds_per_input";
  /** Its value. */
  value: number;
}

/** The budget is used up, which ends the run; the model may still be asked to sum up. */
export interface BudgetLimit extends Stamp {
  type: "budget_limit";
  /** Which limit: `run` or `session`, a dot, and the field of it. */
  which:
    | "run.cost_nano_usd"
    | "run.tokens"
    | "run.ms"
    | "session.cost_nano_usd"
    | "session.tokens"
    | "session.ms";
  /** The amount that is used. */
  used: number;
  /** The limit. */
  limit: number;
}

/** The newest calls follow a repeating pattern; the model has been told. */
export interface LoopDetection extends Stamp {
  type: "loop_detection";
  /** The text that the model was told. */
  message: string;
  /** The number of calls in the pattern. */
  period: number;
}

/** A reply had a fault; the model has been told, and is asked again. */
export interface Corrected extends Stamp {
  type: "corrected";
  /** The fault. */
  fault:
    | "promised"
    | "too_short"
    | "asked_instead"
    | "wrote_only"
    | "claimed"
    | "fake_result"
    | "named_tool"
    | "greeting"
    | "echo"
    | "patch_spiral";
  /** The number of times that this fault was corrected in the run, counted from 1. */
  attempt: number;
  /** The text that the model was told. */
  text: string;
}

/** An agent was started. Its events carry its own number. */
export interface AgentStarted extends Stamp {
  type: "agent_started";
  /** The agent that started it. */
  parent: number;
  /** The task that it was given. */
  task: string;
  /** The model that it uses. */
  model: string;
  /** The folder of the workspace that it works in, from the root on, which is empty. */
  folder?: string;
}

/** An agent is over. */
export interface AgentEnded extends Stamp {
  type: "agent_ended";
  /** True if its last run succeeded. */
  success: boolean;
  /** The last text that it said. */
  output: string;
}

/** The model has written down or changed its plan. */
export interface PlanUpdate extends Stamp {
  type: "plan";
  /** The whole plan, in order. */
  items: PlanItem[];
}

/** The run's final answer in the form that was asked for. */
export interface FinalAnswer extends Stamp {
  type: "final_answer";
  /** The answer; it fits the schema. */
  value: unknown;
}

/** A failed model call is tried again. */
export interface Retry extends Stamp {
  type: "retry";
  /** Which try comes next, counted from 2. */
  attempt: number;
  /** After how long, in milliseconds. */
  delay_ms: number;
  /** The text that says what went wrong. */
  message: string;
}

/** The model sees again what it saw before. Files are as they were. */
export interface Rewound extends Stamp {
  type: "rewound";
  /** The kind of rewind that the host asked for. */
  why: Why;
  /** The number of turns that the log had when the model saw that. */
  to: number;
  /** The number of steps that can be undone from here. */
  undo_left: number;
  /** The number of steps that can be redone. */
  redo_left: number;
}

/**
 * Turns are to be folded, which takes a model or the host's hook: `compacted` or
 * `compaction_failed` follows.
 */
export interface CompactionStarted extends Stamp {
  type: "compaction_started";
  /** The way in which the turns are to be folded. */
  kind: FoldKind;
  /** The reason why they are to be folded. */
  why: FoldReason;
  /** Tokens of the conversation, about. */
  tokens: number;
}

/** The model reads less of the conversation from now on. The history still has all of it. */
export interface Compacted extends Stamp {
  type: "compacted";
  /** The way in which the turns were folded. */
  kind: FoldKind;
  /** The reason why they were folded. */
  why: FoldReason;
  /** The number of turns that are left out. */
  turns: number;
  /** Tokens of the conversation before, about. */
  before: number;
  /** Tokens of the conversation from now on, about. */
  after: number;
  /** The text that stands in the place of the turns that are left out. */
  text?: string;
  /** The tokens that the summary has used, if the provider said so. */
  usage?: SessionUsage;
  /** The cost of these tokens in nano-dollars (10⁻⁹ US dollars), if the model's price is known. */
  cost_nano_usd?: number;
}

/** The conversation stays as it is. */
export interface CompactionFailed extends Stamp {
  type: "compaction_failed";
  /** The way in which it was to become shorter. */
  kind: FoldKind;
  /** The reason why it was to become shorter. */
  why: FoldReason;
  /** The reason why it did not become shorter. */
  message: string;
  /** The tokens that a summary has used all the same, if the provider said so. */
  usage?: SessionUsage;
  /** The cost of these tokens in nano-dollars (10⁻⁹ US dollars), if the model's price is known. */
  cost_nano_usd?: number;
}

/** The provider's cached prefix of earlier requests no longer fits. */
export interface PrefixRebased extends Stamp {
  type: "prefix_rebased";
  /** The reason why it no longer fits. */
  reason: string;
}

/** Something to be aware of; the run goes on. */
export interface Warning extends Stamp {
  type: "warning";
  /** The text of the warning. */
  message: string;
}

/** Something failed for good. */
export interface Failure extends Stamp {
  type: "error";
  /** The kind. */
  kind: ErrorKind;
  /** The text that says what failed, and what to do. */
  message: string;
}

/** One thing to know. Told apart by `type`. */
export type AgentEvent =
  | SessionStart
  | SessionEnd
  | UserInput
  | ProcessingEnd
  | AssistantTextStart
  | AssistantTextDelta
  | AssistantReasoningDelta
  | AssistantTextEnd
  | TextReset
  | RequestStart
  | Queued
  | ToolCallDelta
  | ToolCallStart
  | ToolCallOutputDelta
  | ToolCallEnd
  | SteeringInjected
  | TurnLimit
  | BudgetLimit
  | LoopDetection
  | Corrected
  | AgentStarted
  | AgentEnded
  | PlanUpdate
  | FinalAnswer
  | Retry
  | Rewound
  | CompactionStarted
  | Compacted
  | CompactionFailed
  | PrefixRebased
  | Warning
  | Failure;

/** The reason why turns are folded. */
export type FoldReason =
  /** A tier is reached. */
  | "full"
  /** The conversation did not fit the model. */
  | "overflow"
  /** The host asked for it. */
  | "asked";

/** A step of the model's plan. */
export interface PlanItem {
  /** The text that says what is to be done. */
  text: string;
  /** The status of the step. */
  status: "pending" | "in_progress" | "completed" | "cancelled" | "blocked";
}
