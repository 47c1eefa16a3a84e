// Things to know, as the session's log has them. Samples of every event, made by the core, are
// held against these types in both directions.

import type { SessionConfig } from "./config.js";
import type {
  AgentState,
  ErrorKind,
  FoldKind,
  Outcome,
  Part,
  RunEnd,
  SessionUsage,
  Why,
} from "./data.js";

/** What every event has. */
export interface Stamp {
  /** Counted from 1 over the whole session, without gaps. */
  seq: number;
  /** Milliseconds since the session opened. */
  at: number;
  /** When, in Unix milliseconds, by the wall clock as the session was opened or restored. */
  wall: number;
  /** The session's id. */
  session: string;
  /** Whose; the session's own agent is 0. */
  agent: number;
  /** The effect (a request, a tool's run, a question) whose answer led to it, if one did. */
  effect?: number;
}

/** The session is open. */
export interface SessionStart extends Stamp {
  type: "session_start";
  /** The model's name. */
  model: string;
  /** The name of the endpoint that serves it: the provider's. */
  provider: string;
  /** The model family whose tools and prompt are used. */
  profile: SessionConfig["model"]["profile"];
  /** Under which names the family's tools are shown. */
  vocabulary: SessionConfig["model"]["vocabulary"];
  /** The names of the tools. */
  tools: string[];
  /** How many tokens the model can read and write in one call. */
  context_window: number;
  /** The limits of rounds and turns. */
  limits: SessionConfig["limits"];
}
/** The session is closed. The last event. */
export interface SessionEnd extends Stamp {
  type: "session_end";
  /** Where it stood when it was closed. */
  state: AgentState;
}
/** The user said something; a run, or a further input of it, begins. */
export interface UserInput extends Stamp {
  type: "user_input";
  parts: Part[];
}
/** A run is over and the agent is idle. */
export interface ProcessingEnd extends Stamp {
  type: "processing_end";
  end: RunEnd;
  /** What the model said last. */
  text: string;
  usage: SessionUsage;
  /** What they cost, in nano-dollars (1e-9 US dollars), as far as the prices are known. */
  cost_nano_usd?: number;
  replies: number;
  tool_calls: number;
  /** Rounds of tool calls. */
  rounds: number;
}
/** The model began to write text. */
export interface AssistantTextStart extends Stamp {
  type: "assistant_text_start";
}
/** More of the model's text. */
export interface AssistantTextDelta extends Stamp {
  type: "assistant_text_delta";
  text: string;
}
/** More of the model's thinking. */
export interface AssistantReasoningDelta extends Stamp {
  type: "assistant_reasoning_delta";
  text: string;
}
/** A reply is whole. Comes once for each, with or without text. */
export interface AssistantTextEnd extends Stamp {
  type: "assistant_text_end";
  text: string;
  reasoning?: string;
  usage?: SessionUsage;
  /** What they cost, in nano-dollars (1e-9 US dollars), as far as the prices are known. */
  cost_nano_usd?: number;
}
/** What was written of the current reply does not count: the call is tried again. */
export interface TextReset extends Stamp {
  type: "text_reset";
}
/** A request for the next reply goes to the model. */
export interface RequestStart extends Stamp {
  type: "request_start";
  /** Which try it is, counted from 1. */
  attempt: number;
}
/** Your `fetch` holds a request back: so many others go first. */
export interface Queued extends Stamp {
  type: "queued";
  ahead: number;
}
/**
 * The model writes a tool call: it begins, or more of its arguments came. Nothing is carried out
 * before the reply is whole; `text_reset` takes it back. `PartialArguments` reads what has come so
 * far.
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
  call_id: string;
  name: string;
  /** The arguments' JSON text, as the model wrote it: it may be invalid. */
  arguments: string;
}
/** More output of a running tool. */
export interface ToolCallOutputDelta extends Stamp {
  type: "tool_call_output_delta";
  call_id: string;
  text: string;
}
/** A tool call is over. */
export interface ToolCallEnd extends Stamp {
  type: "tool_call_end";
  call_id: string;
  name: string;
  /** The full, untruncated outcome. */
  outcome: Outcome;
}
/** A steering message entered the history. */
export interface SteeringInjected extends Stamp {
  type: "steering_injected";
  parts: Part[];
}
/** A limit of rounds or turns ended the run. */
export interface TurnLimit extends Stamp {
  type: "turn_limit";
  limit: "max_turns" | "max_tool_rounds_per_input";
  value: number;
}
/** What may be spent is used up, which ends the run; the model may still be asked to sum up. */
export interface BudgetLimit extends Stamp {
  type: "budget_limit";
  /** Which limit: `run` or `session`, a dot, and the field of it. */
  which: `${"run" | "session"}.${"cost_nano_usd" | "tokens" | "ms"}`;
  used: number;
  limit: number;
}
/** The newest calls follow a repeating pattern; the model has been told. */
export interface LoopDetection extends Stamp {
  type: "loop_detection";
  message: string;
  /** How many calls the pattern has. */
  period: number;
}
/** An agent was started; its events carry its own number. */
export interface AgentStarted extends Stamp {
  type: "agent_started";
  /** Who started it. */
  parent: number;
  task: string;
  model: string;
  /** The folder of the workspace that it works in; the root if absent. */
  folder?: string;
}
/** An agent is over. */
export interface AgentEnded extends Stamp {
  type: "agent_ended";
  /** How its last run ended. */
  success: boolean;
  /** What it said last. */
  output: string;
}
/** The model has written down or changed its plan. */
export interface PlanUpdate extends Stamp {
  type: "plan";
  /** The whole plan, in order. */
  items: PlanItem[];
}
/** A step of the model's plan. */
export interface PlanItem {
  text: string;
  status: "pending" | "in_progress" | "completed" | "cancelled" | "blocked";
}
/** The run's final answer in the form that was asked for. */
export interface FinalAnswer extends Stamp {
  type: "final_answer";
  value: unknown;
}
/** A failed model call is tried again. */
export interface Retry extends Stamp {
  type: "retry";
  /** Which try comes next, counted from 2. */
  attempt: number;
  delay_ms: number;
  message: string;
}
/** The model sees again what it saw before. Files are as they were. */
export interface Rewound extends Stamp {
  type: "rewound";
  why: Why;
  /** How many turns the log had when it saw that. */
  to: number;
  /** How many steps can be taken back from here. */
  undo_left: number;
  /** How many can be put back. */
  redo_left: number;
}
/** Why the conversation is made shorter: a tier is reached, it did not fit, the host asked. */
export type FoldReason = "full" | "overflow" | "asked";
/**
 * The conversation is to become shorter, which takes a model or your hook: `compacted` or
 * `compaction_failed` follows.
 */
export interface CompactionStarted extends Stamp {
  type: "compaction_started";
  kind: FoldKind;
  why: FoldReason;
  /** Tokens of the conversation, about. */
  tokens: number;
}
/** The model reads less of the conversation from now on; the history still has all of it. */
export interface Compacted extends Stamp {
  type: "compacted";
  kind: FoldKind;
  why: FoldReason;
  /** How many turns are left out. */
  turns: number;
  /** Tokens of the conversation before, about. */
  before: number;
  /** Tokens of the conversation from now on, about. */
  after: number;
  /** What stands in the place of the turns that are left out. */
  text?: string;
  /** What the summary has used. */
  usage?: SessionUsage;
  /** What that costs, in nano-dollars (1e-9 US dollars), as far as the price is known. */
  cost_nano_usd?: number;
}
/** The conversation stays as it is. */
export interface CompactionFailed extends Stamp {
  type: "compaction_failed";
  kind: FoldKind;
  why: FoldReason;
  message: string;
  /** What a summary has used all the same. */
  usage?: SessionUsage;
  /** What that costs, in nano-dollars (1e-9 US dollars), as far as the price is known. */
  cost_nano_usd?: number;
}
/** The provider's cached prefix of earlier requests no longer fits. */
export interface PrefixRebased extends Stamp {
  type: "prefix_rebased";
  reason: string;
}
/** Something to be aware of; the run goes on. */
export interface Warning extends Stamp {
  type: "warning";
  message: string;
}
/** Something failed for good. */
export interface Failure extends Stamp {
  type: "error";
  kind: ErrorKind;
  message: string;
}

/** One thing to know, told apart by `type`. */
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
  | AgentStarted
  | AgentEnded
  | PlanUpdate
  | FinalAnswer
  | Retry
  | CompactionStarted
  | Compacted
  | CompactionFailed
  | Rewound
  | PrefixRebased
  | Warning
  | Failure;
