// Everything a user of the package sees: options, events, results. Events, and the data in them,
// have the names and shapes of the session's log (snake_case); options and results are ours.

/** What an agent is created with. */
export interface AgentOptions {
  /** Who serves the model. May be left out with `replay`. */
  provider?: ProviderName;
  /** The model's name, as the provider knows it; the provider's default, where it has one. */
  model?: string;
  /**
   * The provider's key; local servers need none. It stays in the driver: no event, error or
   * snapshot holds it.
   */
  apiKey?: string;
  /** Sends the requests in place of the platform's `fetch`: to a proxy that adds the key, say. */
  fetch?: FetchFunction;
  /** Another origin (and path prefix) than the provider's own. Redirects are never followed. */
  baseUrl?: string;
  /**
   * Under which names the model is shown its tools: those that its family was trained on
   * (`native`, the default), or those of the coding agent loop specification (`seed`).
   */
  vocabulary?: "native" | "seed";
  /**
   * What is known of models: windows, limits, prices. JSON text or object, in place of the
   * catalogue that comes along.
   */
  models?: string | object;
  /** Recorded model traffic to answer from, instead of a model: the text, or text and pace. */
  replay?: string | Replay;
  /** The workspace: path to content. Paths are relative and use `/`. */
  files?: FilesInput;
  /** Your own tools. Among equal names the last wins, and it wins over a built-in one. */
  tools?: readonly Tool[];
  /** Programs (WASI preview 1) that the agent may run over the workspace, by name. */
  programs?: Readonly<Record<string, ProgramSource | Program>>;
  /** Instructions to the model, after everything else in the system prompt. */
  instructions?: string;
  /** When to stop. */
  limits?: Limits;
  /** Most tokens that one reply may have; what the model can, up to 32,000, if left out. */
  maxOutputTokens?: number;
  /** Most tokens of a whole call; what the model can, if left out. */
  contextWindow?: number;
  /** `low`, `medium`, `high`, or what else the provider knows. */
  reasoningEffort?: string;
  /** When a failed model call is tried again. */
  retry?: RetryPolicy;
  /** How long a tool may take. */
  timeouts?: Timeouts;
  /** The session's id; a new UUID if left out. */
  id?: string;
  /** Sees every event from the very first, as `subscribe` does from then on. */
  onEvent?: (event: AgentEvent) => void;
}

/** A provider of models; `providers()` tells what each is. */
export type ProviderName =
  | "anthropic"
  | "openai"
  | "gemini"
  | "openrouter"
  | "deepseek"
  | "mistral"
  | "xai"
  | "groq"
  | "together"
  | "fireworks"
  | "azure"
  | "openai-chat"
  | "gemini-openai"
  | "anthropic-openai"
  | "ollama"
  | "ollama-v1"
  | "llamacpp"
  | "lmstudio"
  | "vllm";

/** What there is to know of a provider. */
export interface ProviderInfo {
  /** What the option `provider` takes. */
  name: ProviderName;
  /** Its name for people. */
  title: string;
  /** Where it is, unless everybody has it at a place of their own. */
  baseUrl?: string;
  /** Whether it needs a key. */
  needsKey: boolean;
  /** The model that is used if none is named. */
  defaultModel?: string;
}

/** What a restored agent is given: all that a snapshot does not hold. */
export type RestoreOptions = Omit<
  AgentOptions,
  | "model"
  | "instructions"
  | "limits"
  | "maxOutputTokens"
  | "contextWindow"
  | "vocabulary"
  | "models"
  | "reasoningEffort"
  | "retry"
  | "timeouts"
  | "id"
>;

/** The part of `fetch` that an agent uses. */
export type FetchFunction = (url: string, init: RequestInit) => Promise<Response>;

/** Recorded model traffic. */
export interface Replay {
  /** The recording's text. */
  traffic: string;
  /** A pause before each piece of a streamed reply, so that people can watch; 0 if left out. */
  paceMs?: number;
}

/** Files by path. */
export type FilesInput =
  Readonly<Record<string, string | Uint8Array>> | Iterable<readonly [string, string | Uint8Array]>;

/** When to stop; 0, like leaving it out, means never. */
export interface Limits {
  /** Most user and assistant turns of the whole session. */
  maxTurns?: number;
  /** Most rounds of tool calls for one input. */
  maxToolRounds?: number;
}

/** When a failed model call is tried again. */
export interface RetryPolicy {
  /** How often; 0 switches retries off. */
  maxRetries?: number;
  /** The first delay, doubled with each try. */
  baseMs?: number;
  /** The longest delay of our own. */
  maxMs?: number;
  /** The longest delay that a provider may ask for; a longer one ends the run. */
  maxRetryAfterMs?: number;
  /** After how long without a byte a model call counts as broken. */
  idleMs?: number;
}

/** How long a tool may take. */
export interface Timeouts {
  /** Where the call names no limit. */
  defaultMs?: number;
  /** No call gets more. */
  maxMs?: number;
}

/** A tool of your own. */
export interface Tool {
  /** A unique name. */
  name: string;
  /** What it does and when to use it: the model reads this. */
  description: string;
  /** A JSON Schema of the arguments, `type: "object"`. No arguments if left out. */
  parameters?: object;
  /** Whether it changes nothing, so that it may run beside others. */
  readOnly?: boolean;
  /**
   * Runs the tool; the arguments fit the schema. A text is the result as it is; of a
   * {@link ToolReply} the text; anything else is given to the model as JSON. What it throws
   * becomes an error result for the model, and the run goes on.
   */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  execute(args: any, context: ToolContext): unknown;
}

/** What a tool may return to say more than a text. */
export interface ToolReply {
  /** What the model reads. */
  text: string;
  /** Whether it is a failure. */
  isError?: boolean;
}

/** What a tool is told beside its arguments. */
export interface ToolContext {
  /** The call's id. */
  callId: string;
  /** Fires when the run is interrupted or the tool's time is up. */
  signal: AbortSignal;
  /** Shows output while the tool runs, as `tool_call_output_delta` events. */
  output(text: string): void;
}

/** Where a program's module comes from. */
export type ProgramSource =
  Uint8Array | ArrayBuffer | URL | Response | Promise<Response> | WebAssembly.Module;

/** A program with a word about it. */
export interface Program {
  /** The module. */
  wasm: ProgramSource;
  /** What it is and how it is called, in a sentence: the model reads this. */
  description?: string;
}

/** How a run ended, and with what. */
export interface RunResult {
  /** `completed`: the model was done. `limit`: a limit of turns or rounds. */
  status: RunEnd;
  /** What the model said last. */
  text: string;
  /** Tokens of the run. */
  usage: Usage;
  /** Model replies of the run. */
  replies: number;
  /** Tool calls of the run. */
  toolCalls: number;
  /** What went wrong, if the run failed. */
  error?: RunError;
}

/** What ended a run. */
export interface RunError {
  /** The kind of failure. */
  kind: ErrorKind;
  /** What, and what to do. */
  message: string;
  /** Of a recording that does not fit. */
  code?: "replay_mismatch" | "replay_exhausted";
  /** Which model call of the recording, counted from 1. */
  call?: number;
  /** What the recording expects the model to have been told. */
  expected?: string;
  /** What it would have been told. */
  found?: string;
}

/** Where an agent stands and what it has used. */
export interface Status {
  state: AgentState;
  turns: number;
  tool_calls: number;
  usage: Usage;
  /** What they cost, in nano-dollars (1e-9 US dollars), as far as the prices are known. */
  cost_nano_usd?: number;
}

/** What can be changed while an agent lives, in force from the next model call. */
export interface Changes {
  /** Another model of the same provider. */
  model?: string;
  /** Another effort; `null` goes back to the provider's default. */
  reasoningEffort?: string | null;
  /** Other limits. */
  limits?: Limits;
  /** Other instructions; an empty text removes them. */
  instructions?: string;
}

export type AgentState = "idle" | "processing" | "awaiting_input" | "closed";
export type RunEnd = "completed" | "limit" | "loop" | "interrupted" | "denied" | "failed";
export type ErrorKind =
  | "authentication"
  | "quota"
  | "rate_limit"
  | "overloaded"
  | "context_overflow"
  | "invalid_request"
  | "content_filter"
  | "refusal"
  | "server"
  | "network"
  | "host"
  | "protocol"
  | "answer"
  | "internal";

/** Tokens of one reply or of many. */
export interface Usage {
  /** All input tokens, cached ones included. */
  input_total: number;
  /** All output tokens, reasoning included. */
  output_total: number;
  cache_read: number;
  cache_write: number;
  reasoning: number;
}

/** A piece of what a user or a tool says. */
export type Part =
  { type: "text"; text: string } | { type: "image"; media_type: string; data: string };

/** What came of a tool's run, whole. */
export interface Outcome {
  parts: Part[];
  error?: ToolErrorKind;
  /** A program's exit code. */
  exit?: number;
  /** How many places were found or changed. */
  count?: number;
  timed_out?: boolean;
  changes?: FileChange[];
  capped_at_source?: boolean;
}

export type ToolErrorKind =
  | "not_found"
  | "permission_denied"
  | "edit_conflict"
  | "invalid_arguments"
  | "unknown_tool"
  | "wrong_file_type"
  | "binary"
  | "too_large"
  | "exit"
  | "timeout"
  | "denied"
  | "interrupted"
  | "limit"
  | "io"
  | "crashed";

/** A file that a tool changed. */
export interface FileChange {
  path: string;
  kind: "created" | "modified" | "deleted";
  /** Its text before; absent if it did not exist, is not text or is larger than 256 KiB. */
  before?: string;
  /** Its text after, with the same exceptions. */
  after?: string;
}

interface Stamp {
  /** Counted from 1 over the whole session, without gaps. */
  seq: number;
  /** Milliseconds since the session opened. */
  at: number;
  /** Whose; the session's own agent is 0. */
  agent: number;
}

/** The session is open. */
export interface SessionStart extends Stamp {
  type: "session_start";
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
  usage: Usage;
  /** What they cost, in nano-dollars (1e-9 US dollars), as far as the prices are known. */
  cost_nano_usd?: number;
  replies: number;
  tool_calls: number;
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
  usage?: Usage;
  /** What they cost, in nano-dollars (1e-9 US dollars), as far as the prices are known. */
  cost_nano_usd?: number;
}
/** What was written of the current reply does not count: the call is tried again. */
export interface TextReset extends Stamp {
  type: "text_reset";
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
  | ToolCallStart
  | ToolCallOutputDelta
  | ToolCallEnd
  | SteeringInjected
  | TurnLimit
  | LoopDetection
  | AgentStarted
  | AgentEnded
  | PlanUpdate
  | FinalAnswer
  | Retry
  | PrefixRebased
  | Warning
  | Failure;
