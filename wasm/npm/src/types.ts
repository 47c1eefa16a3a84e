// What an agent is created with and what it hands out, in camelCase. Events and the data in them
// have the shapes of the session's log (snake_case); they stand in files of their own.

import type {
  ApprovalRule,
  BuiltinTools,
  Facts,
  LimitAction,
  LoopPolicy,
  Patch,
  Preset,
  SessionConfig,
} from "./config.js";
import type { AgentState, ErrorKind, Finish, Part, RunEnd } from "./data.js";
import type { AgentEvent } from "./events.js";
import type { Programs, WasiTool } from "./sources.js";

export type * from "./config.js";
export type * from "./data.js";
export type * from "./events.js";
export type * from "./protocol.js";
export type * from "./sources.js";

/** Which model, and how its session behaves. */
export interface ConfigOptions {
  /** Who serves the model. May be left out with `replay`. */
  provider?: ProviderName;
  /** The model's name, as the provider knows it; the provider's default, where it has one. */
  model?: string;
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
  /**
   * What stands where nothing else is said: `modern` (what people expect, the default), `seed001`
   * (the coding agent loop specification), `ollama` (small local models), `ironclaw` (approval of
   * changes), `gnoma` (few and long retries, a limit is an error).
   */
  preset?: Preset;
  /** Instructions to the model, after everything else in the system prompt. */
  instructions?: string;
  /**
   * What the system prompt begins with, in place of the package's own words on how to work on code;
   * an empty text for nothing.
   */
  basePrompt?: string;
  /**
   * Which of the package's own tools there are; all if left out. With `"none"` and a `basePrompt`
   * the agent has nothing to do with code: it has your `tools`, and is not told of a workspace.
   */
  builtinTools?: BuiltinTools;
  /** When to stop. */
  limits?: Limits;
  /** When calls repeat themselves, and what is done about it. */
  loops?: Loops;
  /** The form of the final answer: {@link RunResult.answer} is then a value of this schema. */
  answer?: AnswerForm;
  /** Agents that the agent may start. */
  subagents?: Subagents;
  /**
   * What the model is told of the place, beyond what the package knows: the day, and the
   * instruction files at the top of `files` (`AGENTS.md`, and `CLAUDE.md` and the like for their
   * families). The state of version control, say, or the model's `knowledge_cutoff`. A list of
   * `project_docs` takes the place of those files, `[]` leaves them out. Such files of folders
   * below are `nested_docs`, which subagents in those folders read.
   */
  facts?: Patch<Omit<Facts, "programs">>;
  /** Most tokens that one reply may have; what the model can, up to 32,000, if left out. */
  maxOutputTokens?: number;
  /** Most tokens of a whole call; what the model can, if left out. */
  contextWindow?: number;
  /** `low`, `medium`, `high`, or what else the provider knows. */
  reasoningEffort?: string;
  /** Features in beta that Anthropic is asked for by a header, `context-1m-2025-08-07` say. */
  betas?: string[];
  /**
   * Fields of each request as the provider's protocol has them, over those of the package: `user`,
   * `metadata`, `safetySettings`; `tools: [{ google_search: {} }]` for Gemini's grounding.
   */
  providerOptions?: Record<string, unknown>;
  /** When a failed model call is tried again. */
  retry?: RetryPolicy;
  /** How long a tool may take. */
  timeouts?: Timeouts;
  /** The session's id; a new UUID if left out. */
  id?: string;
  /**
   * Anything else of the session's configuration, over all that the options say: objects are
   * merged, `null` takes a value back to its default. A field that does not fit is named.
   */
  config?: Patch<SessionConfig>;
}

/** What an agent is created with. */
export interface AgentOptions extends ConfigOptions {
  /**
   * The provider's key; local servers need none. It stays in the driver: no event, error, log or
   * snapshot holds it, and where it comes in it is masked.
   */
  apiKey?: string;
  /** Sends the requests in place of the platform's `fetch`: to a proxy that adds the key, say. */
  fetch?: FetchFunction;
  /** Another origin (and path prefix) than the provider's own. Redirects are never followed. */
  baseUrl?: string;
  /** Recorded model traffic to answer from, instead of a model: the text, or text and pace. */
  replay?: string | Replay;
  /** The workspace: path to content. Paths are relative and use `/`. */
  files?: FilesInput;
  /** Your own tools. Among equal names the last wins, and it wins over a built-in one. */
  tools?: readonly (Tool | WasiTool)[];
  /**
   * Programs (WASI preview 1) that the agent may run over the workspace, by name. With one named
   * `bash`, such as the package `innerloop-shell`, the model has a tool for command lines.
   */
  programs?: Programs;
  /**
   * Says whether a call may run. Calls that may change something are then asked about;
   * `config: { approval: { ask } }` says otherwise: `programs` lets changes of files pass,
   * `everything` asks about reading, too.
   */
  approve?: Approve;
  /** Answers the model's questions, for which it then has the tool `ask_user`. */
  ask?: AskUser;
  /**
   * Reads pages of the web for the model, which then has a tool for it. What may be read is up to
   * this function; what it returns is as a tool's result.
   */
  webFetch?: WebFetch;
  /** Functions that stand in the loop, where they may deny or replace what comes by. */
  hooks?: Hooks;
  /** Whether the session's log is kept for {@link Agent.log}. */
  log?: boolean;
  /** Sees every event from the very first, as `subscribe` does from then on. */
  onEvent?: (event: AgentEvent) => void;
}

/** A call that wants to run. */
export interface ApprovalRequest {
  callId: string;
  /** The tool. */
  name: string;
  /** The arguments; they fit the tool's schema. */
  arguments: unknown;
  /** The folder of the workspace in which the arguments' paths begin; empty for the root. */
  folder: string;
}

/**
 * What may become of a call. `true`: it may run; `"always"`: so may every later one of its tool;
 * `rule`: so may those that it names; `arguments`: it may run with these instead. `false` or
 * `deny`: it may not, and the model reads why. `"abort"`: the run is to stop.
 */
export type Approval =
  | boolean
  | "always"
  | "abort"
  | { deny: string }
  | { arguments: object }
  | { rule: ApprovalRule };

/** A question, of the model or of a tool server. */
export interface Question {
  text: string;
  /** What the answer must look like, if anything is said about it. */
  schema?: unknown;
}

/** What a function that is asked is told besides. */
export interface AskContext {
  /** Which agent asks; the session's own is 0. */
  agent: number;
  /** Fires when the question is no longer needed: the run was stopped, say. */
  signal: AbortSignal;
}

/** Says whether a call may run. What it throws denies the call. */
export type Approve = (
  call: ApprovalRequest,
  context: AskContext,
) => Approval | Promise<Approval>;

/** Answers a question. What it throws tells the model that there is no answer. */
export type AskUser = (question: Question, context: AskContext) => string | Promise<string>;

/** A call as hooks see it: before it runs, and then with what came of it. */
export interface HookedCall {
  callId: string;
  name: string;
  /** The arguments' JSON text. */
  arguments: string;
  /** The folder of the workspace in which the arguments' paths begin; empty for the root. */
  folder: string;
  /** What the model will read, after the call. */
  text?: string;
  /** Whether it failed, after the call. */
  isError?: boolean;
}

/** What a hook may return: nothing or `true` to go on, `false` or `deny` not to. */
export type HookResult<T> = void | boolean | { deny: string } | { replace: T };

/** A function that stands in the loop. */
export type Hook<Said, Replacement> = (
  said: Said,
  context: AskContext,
) => HookResult<Replacement> | Promise<HookResult<Replacement>>;

/** Functions that stand in the loop. */
export interface Hooks {
  /** The user has said something; another text may take its place. */
  submit?: Hook<string, string>;
  /** A model call is next; a text may be said to the model, as the system. */
  beforeModel?: Hook<string, string>;
  /** A tool is to run; other arguments may take the place of its own. */
  beforeTool?: Hook<HookedCall, object>;
  /** A tool has run; another text may take the place of what the model reads. */
  afterTool?: Hook<HookedCall, string>;
  /** The run is to end with this text; a denial's reason is said to the model, which goes on. */
  beforeStop?: Hook<string, string>;
  /** Whether a hook that throws counts as a denial; else the run goes on. */
  failClosed?: boolean;
}

/** The names of the hooks, as the configuration has them. */
export type HookName = Exclude<keyof Hooks, "failClosed">;

/** Agents that an agent may start. */
export interface Subagents {
  /** How deep they may be nested; 0 offers none. */
  maxDepth?: number;
  /** How many may be open at once. */
  maxOpen?: number;
}

/** The form of the final answer. */
export interface AnswerForm {
  /** A JSON Schema, `type: "object"`. */
  schema: object;
  /** How often a run that ends with text is asked for the answer again; 2 if left out. */
  retries?: number;
}

/** When calls repeat themselves, and what is done about it. */
export interface Loops {
  /** Whether they are looked for. */
  detect?: boolean;
  /** How many of the newest calls must follow one pattern. */
  window?: number;
  /** The longest cycle of calls that counts as a pattern. */
  maxPeriod?: number;
  /** How many calls in a row of one tool with the same arguments are too many; 0 for never. */
  sameArgs?: number;
  /** How many calls in a row of one tool are too many; 0 for never. */
  sameName?: number;
  /** Whether only calls that failed count. */
  onlyIfFailed?: boolean;
  /** Tools whose calls do not count. */
  ignoreTools?: readonly string[];
  /** Whether times, UUIDs and the like in arguments count as all the same. */
  maskVolatile?: boolean;
  /** What is done the first time, the second time and so on. */
  ladder?: LoopPolicy["ladder"];
}

/** How a fork differs from its agent. */
export interface ForkOptions {
  /** How many turns of the history it has heard; all if left out. */
  turns?: number;
  /** Its session's id; a new UUID if left out. */
  id?: string;
  /** Its workspace; a copy of the agent's if left out. */
  files?: FilesInput;
  /** Sees its events from the very first. */
  onEvent?: (event: AgentEvent) => void;
}

/** How a bare session is opened. */
export interface OpenOptions {
  /** The wall time, in milliseconds since 1970; now if left out. */
  wall?: number;
  /** Whether each step comes with its line of the log. */
  log?: boolean;
}

/** What a log comes to. */
export interface Replayed {
  /** All events, from the very first. */
  events: AgentEvent[];
  /** What was said. */
  history: Turn[];
  /** Where the agent stood at the end. */
  status: Status;
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
  /** The header that carries the key, and what stands in front of it. */
  auth: { header: string; prefix: string };
}

/** What a restored agent is given: all that a snapshot does not hold. */
export type RestoreOptions = Omit<
  AgentOptions,
  | "model"
  | "instructions"
  | "limits"
  | "maxOutputTokens"
  | "contextWindow"
  | "betas"
  | "providerOptions"
  | "vocabulary"
  | "models"
  | "reasoningEffort"
  | "retry"
  | "timeouts"
  | "id"
  | "preset"
  | "config"
  | "loops"
  | "answer"
  | "subagents"
  | "facts"
  | "basePrompt"
  | "builtinTools"
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
  /**
   * What follows when one is reached: the run ends (`idle`, the default), the model says without
   * tools what it has found (`summarize`), the run ends with all that was said in it (`partial`)
   * or as failed (`error`).
   */
  action?: LimitAction;
}

/** When a failed model call is tried again. */
export interface RetryPolicy {
  /** How often; 0 switches retries off. */
  maxRetries?: number;
  /** The first delay, doubled with each try. */
  baseMs?: number;
  /** The longest delay of our own. */
  maxMs?: number;
  /** How much of a delay of our own may be left out, by chance: 25 if nothing is said. */
  jitterPercent?: number;
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

/** A tool of your own, in JavaScript. */
export interface Tool {
  /** A unique name. */
  name: string;
  /** What it does and when to use it: the model reads this. */
  description: string;
  /** A JSON Schema of the arguments, `type: "object"`. No arguments if left out. */
  parameters?: object;
  /** Whether it changes nothing, so that it may run beside others. */
  readOnly?: boolean;
  /** After how long a run is stopped; without it, as {@link Timeouts} says. */
  timeoutMs?: number;
  /**
   * Runs the tool; the arguments fit the schema. A text is the result as it is; a
   * {@link ToolReply} says more; anything else is given to the model as JSON. What it throws
   * becomes an error result for the model, and the run goes on.
   */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  execute(args: any, context: ToolContext): unknown;
}

/** Reads the pages at `urls`; `prompt` says in words what the model wants of them. */
export type WebFetch = (
  asked: { urls: string[]; prompt?: string },
  context: ToolContext,
) => unknown;

/** What a tool may return to say more than a text. */
export interface ToolReply {
  /** What the model reads. It may be absent where there are `parts`. */
  text?: string;
  /** What the model is shown behind the text: further text, pictures, files. */
  parts?: Part[];
  /** Whether it is a failure. */
  isError?: boolean;
  /** What your user interface gets, as JSON, in `tool_call_end`; the model does not read it. */
  details?: unknown;
}

/** What a tool is told beside its arguments. */
export interface ToolContext {
  /** The call's id. */
  callId: string;
  /** The folder of the workspace that the calling agent works in; empty for the root. */
  folder: string;
  /** Fires when the run is interrupted or the tool's time is up. */
  signal: AbortSignal;
  /** Shows output while the tool runs, as `tool_call_output_delta` events. */
  output(text: string): void;
}

/** How a run ended, and with what. */
export interface RunResult {
  /** `completed`: the model was done. `limit`: a limit of turns or rounds. */
  status: RunEnd;
  /** What the model said last. */
  text: string;
  /** Tokens of the run. */
  usage: Usage;
  /** What they cost, in nano-dollars (1e-9 US dollars), as far as the prices are known. */
  costNanoUsd?: number;
  /** Model replies of the run. */
  replies: number;
  /** Tool calls of the run. */
  toolCalls: number;
  /** The final answer in the form that the option `answer` asks for. */
  answer?: unknown;
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
  /** User and assistant turns so far. */
  turns: number;
  toolCalls: number;
  usage: Usage;
  /** What they cost, in nano-dollars (1e-9 US dollars), as far as the prices are known. */
  costNanoUsd?: number;
}

/** Tokens of one reply or of many. */
export interface Usage {
  /** All input tokens, cached ones included. */
  inputTotal: number;
  /** All output tokens, reasoning included. */
  outputTotal: number;
  cacheRead: number;
  cacheWrite: number;
  reasoning: number;
}

/** One entry of an agent's history, told apart by `type`. */
export type Turn =
  /** The user's input. */
  | { type: "user"; at: Date; parts: Part[] }
  /** The model's reply. */
  | {
      type: "assistant";
      at: Date;
      text: string;
      reasoning: string;
      toolCalls: ToolCall[];
      finish: Finish;
      usage?: Usage;
      /** The model that answered, where the provider said so. */
      model?: string;
      responseId?: string;
    }
  /** The answers to the calls of the reply before, in call order, as the model reads them. */
  | { type: "tool_results"; at: Date; results: ToolResult[] }
  /** A word to the model, given as the system. */
  | { type: "system"; at: Date; text: string }
  /** A message put in between rounds of tools. */
  | { type: "steering"; at: Date; parts: Part[] };

/** A call of a tool, as the model made it. */
export interface ToolCall {
  callId: string;
  name: string;
  /** The arguments' JSON text, as the model wrote it: it may be invalid. */
  arguments: string;
}

/** The answer to one call. */
export interface ToolResult {
  callId: string;
  parts: Part[];
  isError: boolean;
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
  /** Another beginning of the system prompt; `null` goes back to the package's own. */
  basePrompt?: string | null;
  /** Other ones of the package's own tools. Yours are changed by {@link Agent.tools}. */
  builtinTools?: BuiltinTools;
  /** Other times. */
  timeouts?: Timeouts;
  /**
   * Anything else of the configuration, over all of these: approvals, project documents, the
   * provider's options. Objects are merged, `null` takes a value back to its default.
   */
  config?: Patch<SessionConfig>;
}

