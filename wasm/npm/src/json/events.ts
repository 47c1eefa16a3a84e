// Things to know, as the session's log has them. Made of the core's types, whose words these are:
// see CONTRIBUTING.md#generated-files.

import type { SessionLimits } from "./config.js";
import type { AgentState, ErrorKind, Outcome, Part, RunEnd, SessionUsage } from "./data.js";
import type { FoldKind, ModelOrigin, Why } from "./history.js";

/** What every event has. */
export interface Stamp {
  /** Counted from 1 over the whole session, without gaps. */
  seq: number;
  /** The session time of the event, in milliseconds since the session was opened. */
  at: number;
  /**
   * The time of the event in milliseconds since 1970, derived from the host's wall clock when the
   * session was opened or restored.
   */
  wall: number;
  /** The id of its session. */
  session: string;
  /**
   * The effect (a request, a tool's run, a question) whose answer led to it; absent if a command or
   * the time did.
   */
  effect?: number;
  /** The agent that the event belongs to; the session's own agent is 0. */
  agent: number;
}

/** The session is open. */
export interface SessionStart extends Stamp {
  type: "session_start";
  /** The name of the model. */
  model: string;
  /** The host's name for the endpoint that serves it. */
  provider: string;
  /** The model family whose tools and prompt are used. */
  profile: "openai" | "anthropic" | "gemini" | "small";
  /** The vocabulary under which the family's tools are shown. */
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

/** The user's input: a run begins, or a further input of the same run. */
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
  /** The number of the model's replies in the run. */
  replies: number;
  /** The number of tool calls in the run. */
  tool_calls: number;
  /** The number of rounds of tool calls in the run. */
  rounds: number;
}

/** The model began to write text. */
export interface AssistantTextStart extends Stamp {
  type: "assistant_text_start";
}

/** More of the model's text. */
export interface AssistantTextDelta extends Stamp {
  type: "assistant_text_delta";
  /** The new piece of text. */
  text: string;
}

/** More of the model's thinking. */
export interface AssistantReasoningDelta extends Stamp {
  type: "assistant_reasoning_delta";
  /** The new piece of thinking. */
  text: string;
}

/** A reply is complete. This event comes once for each reply, with or without text. */
export interface AssistantTextEnd extends Stamp {
  type: "assistant_text_end";
  /** The whole text of the reply. */
  text: string;
  /** The whole thinking, if there was any. */
  reasoning?: string;
  /** The tokens that the reply used, if the provider reported them. */
  usage?: SessionUsage;
  /** The cost of these tokens in nano-dollars (10⁻⁹ US dollars), if the model's price is known. */
  cost_nano_usd?: number;
  /**
   * The time from the request to the first piece of the reply, in milliseconds; absent if the reply
   * was not streamed, or was cut off.
   */
  ttft_ms?: number;
  /**
   * The time from the request to the end of the reply, in milliseconds; absent if it was cut off.
   */
  ms?: number;
}

/** The current reply's output so far is void: the model is called again. */
export interface TextReset extends Stamp {
  type: "text_reset";
}

/** A request for the next reply is sent to the model. */
export interface RequestStart extends Stamp {
  type: "request_start";
  /** The number of the try, counted from 1. */
  attempt: number;
  /** The model that it goes to. */
  model: string;
}

/** The host holds the request back, since others are ahead of it. */
export interface Queued extends Stamp {
  type: "queued";
  /** The number of requests ahead of it. */
  ahead: number;
}

/**
 * The model writes a tool call: the call begins, or more of its arguments arrived. Nothing is
 * carried out before the reply is complete; `text_reset` voids it.
 */
export interface ToolCallDelta extends Stamp {
  type: "tool_call_delta";
  /** The number that distinguishes the calls of a reply. */
  index: number;
  /**
   * The model's id for the call. `tool_call_start` has another one if this one is empty or not
   * unique.
   */
  call_id: string;
  /** The tool's name, as far as it has arrived. */
  name: string;
  /** The new piece of the arguments' JSON text; empty when the call begins. */
  text: string;
}

/** A tool call began. */
export interface ToolCallStart extends Stamp {
  type: "tool_call_start";
  /** The id of the call. */
  call_id: string;
  /** The name of the tool. */
  name: string;
  /** The arguments' JSON text, as the model wrote it. */
  arguments: string;
}

/** More output of a running tool. */
export interface ToolCallOutputDelta extends Stamp {
  type: "tool_call_output_delta";
  /** The id of the call. */
  call_id: string;
  /** The new piece of output. */
  text: string;
}

/** A tool call is over. */
export interface ToolCallEnd extends Stamp {
  type: "tool_call_end";
  /** The id of the call. */
  call_id: string;
  /** The name of the tool. */
  name: string;
  /** The full, untruncated outcome. */
  outcome: Outcome;
}

/** An output of which the model has read only a part is kept for `read_result`. */
export interface ResultKept extends Stamp {
  type: "result_kept";
  /** The id under which it is kept. */
  id: string;
  /** The id of the call. */
  call_id: string;
  /** The name of the tool. */
  name: string;
  /** The number of its characters. */
  chars: number;
  /** The whole text, for the driver that keeps it; the driver's hosts get an empty text. */
  text?: string;
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
  /** The limit: `max_turns` or `max_tool_rounds_per_input`. */
  limit: "max_turns" | "max_tool_rounds_per_input";
  /** The value of the limit. */
  value: number;
}

/** The budget is used up, which ends the run; the model may still be asked for a summary. */
export interface BudgetLimit extends Stamp {
  type: "budget_limit";
  /** The limit's path below `limits`, for example `run.tokens`. */
  which:
    | "run.cost_nano_usd"
    | "run.tokens"
    | "run.ms"
    | "session.cost_nano_usd"
    | "session.tokens"
    | "session.ms";
  /** The amount used. */
  used: number;
  /** The value of the limit. */
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

/** A reply had a fault; the model has been told, and is called again. */
export interface Corrected extends Stamp {
  type: "corrected";
  /** The fault. */
  fault: ReplyFault;
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
  /** The folder of the workspace that it works in, relative to the root; empty for the root. */
  folder?: string;
  /** The name in `agents` by which it was started, if it has one. */
  name?: string;
}

/** An agent is over. */
export interface AgentEnded extends Stamp {
  type: "agent_ended";
  /** True if its last run succeeded. */
  success: boolean;
  /** Its last text. */
  output: string;
}

/** The model has written or changed its plan. */
export interface PlanUpdate extends Stamp {
  type: "plan";
  /** The whole plan, in order. */
  items: PlanItem[];
}

/** The run's final answer in the required form. */
export interface FinalAnswer extends Stamp {
  type: "final_answer";
  /** The answer; it fits the schema. */
  value: unknown;
}

/** A failed model call is tried again. */
export interface Retry extends Stamp {
  type: "retry";
  /** The number of the next try, counted from 2. */
  attempt: number;
  /** The delay before it, in milliseconds. */
  delay_ms: number;
  /** The text that says what went wrong. */
  message: string;
}

/** A model was chosen for an input, in a session that has several. */
export interface Routed extends Stamp {
  type: "routed";
  /** The model. */
  to: ModelOrigin;
  /** The kind of the task, if the input shows one and models are chosen by it. */
  task?: string;
}

/** A model has failed, and another one takes over at once. */
export interface Rerouted extends Stamp {
  type: "rerouted";
  /** The model that has failed. */
  failed: ModelOrigin;
  /** The one that takes over. */
  to: ModelOrigin;
  /** The text that says what went wrong. */
  message: string;
}

/** The model's view of an earlier time is restored. Files do not change. */
export interface Rewound extends Stamp {
  type: "rewound";
  /** The kind of rewind that the host asked for. */
  why: Why;
  /** The number of turns in the log at that time. */
  to: number;
  /** The number of steps that can be undone from here. */
  undo_left: number;
  /** The number of steps that can be redone. */
  redo_left: number;
}

/**
 * Turns are about to be folded by a model or the host's hook; `compacted` or `compaction_failed`
 * follows.
 */
export interface CompactionStarted extends Stamp {
  type: "compaction_started";
  /** The way in which the turns are to be folded. */
  kind: FoldKind;
  /** The reason why they are to be folded. */
  why: FoldReason;
  /** The approximate number of tokens of the conversation. */
  tokens: number;
}

/** The model reads less of the conversation from now on. The history keeps all of it. */
export interface Compacted extends Stamp {
  type: "compacted";
  /** The way in which the turns were folded. */
  kind: FoldKind;
  /** The reason why they were folded. */
  why: FoldReason;
  /** The number of turns that are left out. */
  turns: number;
  /** The approximate number of tokens of the conversation before. */
  before: number;
  /** The approximate number of tokens of the conversation from now on. */
  after: number;
  /** The text that replaces the turns that are left out. */
  text?: string;
  /** The tokens that the summary has used, if the provider reported them. */
  usage?: SessionUsage;
  /** The cost of these tokens in nano-dollars (10⁻⁹ US dollars), if the model's price is known. */
  cost_nano_usd?: number;
}

/** The conversation could not be shortened and does not change. */
export interface CompactionFailed extends Stamp {
  type: "compaction_failed";
  /** The way in which it was to be shortened. */
  kind: FoldKind;
  /** The reason why it was to be shortened. */
  why: FoldReason;
  /** The reason why it was not shortened. */
  message: string;
  /** The tokens that a summary has used nevertheless, if the provider reported them. */
  usage?: SessionUsage;
  /** The cost of these tokens in nano-dollars (10⁻⁹ US dollars), if the model's price is known. */
  cost_nano_usd?: number;
}

/** The prefix of earlier requests that the provider has cached no longer matches. */
export interface PrefixRebased extends Stamp {
  type: "prefix_rebased";
  /** The reason why it no longer matches. */
  reason: string;
}

/** Something to be aware of; the run goes on. */
export interface Warning extends Stamp {
  type: "warning";
  /** The text of the warning. */
  message: string;
}

/** A permanent failure. */
export interface Failure extends Stamp {
  type: "error";
  /** The kind of failure. */
  kind: ErrorKind;
  /** The text that describes the failure, and what to do. */
  message: string;
}

/** One event for the host. Told apart by `type`. */
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
  | ResultKept
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
  | Routed
  | Rerouted
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
  /** The host requested it. */
  | "asked";

/** A step of the model's plan. */
export interface PlanItem {
  /** The task of the step. */
  text: string;
  /** The status of the step. */
  status: "pending" | "in_progress" | "completed" | "cancelled" | "blocked";
}

/** The fault of a reply that is corrected. */
export type ReplyFault =
  /** The reply announces an action, and does nothing. */
  | "promised"
  /** The reply is short, without a complete sentence. */
  | "too_short"
  /** The reply asks whether to begin. */
  | "asked_instead"
  /** The reply is long, and no tool was called yet. */
  | "wrote_only"
  /** The reply claims a change, and no tool was called yet. */
  | "claimed"
  /** The reply invents a tool's result. */
  | "fake_result"
  /** The reply writes a call as text. */
  | "named_tool"
  /** The reply greets the user instead of answering. */
  | "greeting"
  /** The reply repeats one passage over and over. */
  | "echo"
  /** The reply edits a file again on which earlier edits have failed. */
  | "patch_spiral";
