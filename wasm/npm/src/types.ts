// What an agent is created with and what it hands out, in camelCase. Events and the data in them
// have the shapes of the session's log (snake_case); they stand in files of their own.

import type { Approve, AskUser, Hooks } from "./options/asked.js";
import type { Budget } from "./options/budget.js";
import type { Compaction } from "./options/compaction.js";
import type {
  Facts,
  LimitAction,
  LoopPolicy,
  Patch,
  Preset,
  SessionConfig,
} from "./json/config.js";
import type { AgentState, ErrorKind, Finish, Fold, LeftOut, Part, RunEnd, Why } from "./json/data.js";
import type { AgentEvent } from "./json/events.js";
import type { FileSystem } from "./workspace/filesystem.js";
import type { HttpResponse, ResponseLike, Signal } from "./platform/globals.js";
import type { ArgumentsOf, ToJsonSchema } from "./options/schema.js";
import type { Programs, WasiTool } from "./programs/sources.js";

export type * from "./options/asked.js";
export type * from "./options/budget.js";
export type * from "./options/changing.js";
export type * from "./options/compaction.js";
export type * from "./json/config.js";
export type * from "./json/data.js";
export type * from "./json/events.js";
export type { Changed, FileSystem, FileSystemEntry, FileSystemStat } from "./workspace/filesystem.js";
export type * from "./platform/globals.js";
export type * from "./json/protocol.js";
export type {
  AnswerOf,
  ArgumentsOf,
  StandardIssue,
  StandardResult,
  StandardSchema,
  ToJsonSchema,
} from "./options/schema.js";
export type * from "./programs/sources.js";
export type { RunOptions, TurnOptions } from "./options/turn.js";

/** Which model, and how its session behaves. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export interface ConfigOptions<Schema = any> {
  /** Who serves the model. May be left out with `replay`. */
  provider?: ProviderName | undefined;
  /** The model's name, as the provider knows it; the provider's default, where it has one. */
  model?: string | undefined;
  /**
   * Under which names the model is shown its tools: those that its family was trained on
   * (`native`, the default), or those of the coding agent loop specification (`seed`).
   */
  vocabulary?: "native" | "seed" | undefined;
  /**
   * What is known of models: windows, limits, prices. JSON text or object, in place of the
   * catalogue that comes along.
   */
  models?: string | object | undefined;
  /**
   * What stands where nothing else is said: `modern` (what people expect, the default), `seed001`
   * (the coding agent loop specification), `ollama` (small local models), `ironclaw` (approval of
   * changes), `gnoma` (few and long retries, a limit is an error).
   */
  preset?: Preset | undefined;
  /** Instructions to the model, after everything else in the system prompt. */
  instructions?: string | undefined;
  /**
   * What the system prompt begins with, in place of the package's own words on how to work on code;
   * an empty text for nothing.
   */
  systemPrompt?: string | undefined;
  /**
   * Which of the package's own tools there are; all if left out. With `"none"` and a `systemPrompt`
   * the agent has nothing to do with code: it has your `tools`, and is not told of a workspace.
   */
  builtins?: Builtins | undefined;
  /** How much chance there is in what the model says; not every model takes one. */
  temperature?: number | undefined;
  /** Whether the model must, may or must not call tools, or which one it must; it may by itself. */
  toolChoice?: ToolChoice | undefined;
  /** When to stop. */
  limits?: Limits | undefined;
  /** What may be spent; then `limits.action` says what follows (status `budget`). */
  budget?: Budget | undefined;
  /** When calls repeat themselves, and what is done about it. */
  loops?: Loops | undefined;
  /**
   * When the conversation is made shorter, so that it fits the model: as the preset has it if left
   * out (`modern`: summed up at 90 per cent of the window), `false` for never. `config.compaction`
   * has all there is to say.
   */
  compaction?: false | Compaction | undefined;
  /** The form of the final answer: {@link RunResult.answer} is then a value of this schema. */
  answer?: AnswerForm<Schema> | undefined;
  /** Agents that the agent may start, `{}` for one level of them; none if left out. */
  subagents?: false | Subagents | undefined;
  /**
   * What the model is told of the place, beyond what the package knows: the day, and the
   * instruction files at the top of `files` (`AGENTS.md`, and `CLAUDE.md` and the like for their
   * families). The state of version control, say, or the model's `knowledge_cutoff`. A list of
   * `project_docs` takes the place of those files, `[]` leaves them out. Such files of folders
   * below are `nested_docs`: the model is shown one when a call first comes into its folder.
   */
  facts?: Patch<Omit<Facts, "programs">> | undefined;
  /** Most tokens that one reply may have; what the model can, up to 32,000, if left out. */
  maxOutputTokens?: number | undefined;
  /** Most tokens of a whole call; what the model can, if left out. */
  contextWindow?: number | undefined;
  /** `low`, `medium`, `high`, or what else the provider knows. */
  reasoningEffort?: string | undefined;
  /** Features in beta that Anthropic is asked for by a header, `context-1m-2025-08-07` say. */
  betas?: string[] | undefined;
  /**
   * Fields of each request as the provider's protocol has them, over those of the package: `user`,
   * `metadata`, `safetySettings`; `tools: [{ google_search: {} }]` for Gemini's grounding.
   */
  providerOptions?: Record<string, unknown> | undefined;
  /** When a failed model call is tried again. */
  retry?: RetryPolicy | undefined;
  /** How long a tool may take. */
  timeouts?: Timeouts | undefined;
  /** The session's id; a new UUID if left out. */
  id?: string | undefined;
  /**
   * Anything else of the session's configuration, over all that the options say: objects are
   * merged, `null` takes a value back to its default. A field that does not fit is named.
   */
  config?: Patch<SessionConfig> | undefined;
}

/** What an agent is created with. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export interface AgentOptions<Schema = any> extends ConfigOptions<Schema> {
  /**
   * The provider's key; local servers need none. A function is asked with each request, for keys
   * that are short-lived. It stays in the driver: no event, error, log or snapshot holds it, and
   * where it comes in it is masked.
   */
  apiKey?: ApiKey | undefined;
  /** Sends the requests in place of the platform's `fetch`: to a proxy that adds the key, say. */
  fetch?: FetchFunction | undefined;
  /** Another origin (and path prefix) than the provider's own. Redirects are never followed. */
  baseUrl?: string | undefined;
  /** Further headers of each request, over those of the package. They are not masked. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Parameters behind the address of each request, such as Azure's `api-version`. */
  query?: Readonly<Record<string, string>> | undefined;
  /** Recorded model traffic to answer from, instead of a model: the text, or text and pace. */
  replay?: string | Replay | undefined;
  /**
   * The workspace: path to content, with paths that are relative and use `/`. Or the `files` of
   * another agent, which both then share; or a file system of your own.
   */
  files?: FilesInput | FileSystem | undefined;
  /** Your own tools. Among equal names the last wins, and it wins over a built-in one. */
  tools?: readonly (Tool | WasiTool)[] | undefined;
  /**
   * Programs (WASI preview 1) that the agent may run over the workspace, by name. With one named
   * `bash`, such as the package `innerloop-shell`, the model has a tool for command lines.
   */
  programs?: Programs | undefined;
  /**
   * Says whether a call may run. Calls that may change something are then asked about;
   * `config: { approval: { ask } }` says otherwise: `programs` lets changes of files pass,
   * `everything` asks about reading, too.
   */
  approve?: Approve | undefined;
  /** Answers the model's questions, for which it then has the tool `ask_user`. */
  ask?: AskUser | undefined;
  /**
   * Reads pages of the web for the model, which then has a tool for it. What may be read is up to
   * this function; what it returns is as a tool's result.
   */
  webFetch?: WebFetch | undefined;
  /** Functions that stand in the loop, where they may deny or replace what comes by. */
  hooks?: Hooks | undefined;
  /** Whether the session's log is kept for {@link Agent.log}. */
  log?: boolean | undefined;
  /**
   * Takes each line of the session's log, with its line feed, before anything is done that follows
   * from it: write it down at once, and the session outlives a crash. It is not waited for.
   */
  onLine?: OnLine | undefined;
  /** Sees every event from the very first, as `subscribe` does from then on. */
  onEvent?: ((event: AgentEvent) => void) | undefined;
}

/**
 * Which of the package's own tools there are, by the names under which the model is shown them:
 * all that something can carry out, those that change nothing and run nothing, none, some, or all
 * but some.
 */
export type Builtins =
  | "all"
  | "read-only"
  | "none"
  | readonly string[]
  | { except: readonly string[] };

/** Whether the model must, may or must not call tools, or which one it must. */
export type ToolChoice = "auto" | "none" | "required" | { tool: string };

/** A key, or who makes one for each request; what that throws fails the run. */
export type ApiKey = string | (() => string | Promise<string>);

/** Agents that an agent may start. */
export interface Subagents {
  /** How deep they may be nested; 1 if left out: they start none themselves. */
  depth?: number | undefined;
  /** How many may be open at once; 16 if left out. */
  open?: number | undefined;
}

/** The form of the final answer. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export interface AnswerForm<Schema = any> {
  /**
   * A JSON Schema, `type: "object"`, or a schema of zod, valibot, arktype or another library with
   * Standard Schema: then the answer is what it makes of the model's words, and a run fails whose
   * answer it refuses.
   */
  schema: Schema;
  /** Turns `schema` into JSON Schema, where it cannot say itself so; see {@link Tool}. */
  toJsonSchema?: ToJsonSchema | undefined;
  /** How often a run that ends with text is asked for the answer again; 2 if left out. */
  retries?: number | undefined;
}

/** When calls repeat themselves, and what is done about it. */
export interface Loops {
  /** Whether they are looked for. */
  detect?: boolean | undefined;
  /** How many of the newest calls must follow one pattern. */
  window?: number | undefined;
  /** The longest cycle of calls that counts as a pattern. */
  maxPeriod?: number | undefined;
  /** How many calls in a row of one tool with the same arguments are too many; 0 for never. */
  sameArgs?: number | undefined;
  /** How many calls in a row of one tool are too many; 0 for never. */
  sameName?: number | undefined;
  /** Whether only calls that failed count. */
  onlyIfFailed?: boolean | undefined;
  /** Tools whose calls do not count. */
  ignoreTools?: readonly string[] | undefined;
  /** Whether times, UUIDs and the like in arguments count as all the same. */
  maskVolatile?: boolean | undefined;
  /** What is done the first time, the second time and so on. */
  ladder?: LoopPolicy["ladder"] | undefined;
}

/**
 * Takes a line of a log. `first` begins a log, in place of what was written before: the agent's
 * first, and another one should the package itself break. The lines between the first and a
 * `snapshot` may be dropped.
 */
export type OnLine = (line: string, kind: "first" | "input" | "snapshot") => void;

/** How a fork differs from its agent. */
export interface ForkOptions {
  /** How many turns of the history it has heard; all if left out. */
  turns?: number | undefined;
  /** Its session's id; a new UUID if left out. */
  id?: string | undefined;
  /** Its workspace; a copy in memory of the agent's if left out. */
  files?: FilesInput | undefined;
  /** Sees its events from the very first. */
  onEvent?: ((event: AgentEvent) => void) | undefined;
  /** Takes the lines of its log. */
  onLine?: OnLine | undefined;
}

/** How a bare session is opened. */
export interface OpenOptions {
  /** The wall time, in milliseconds since 1970; now if left out. */
  wall?: number | undefined;
  /** Whether each step comes with its line of the log. */
  log?: boolean | undefined;
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
  | "moonshot"
  | "zai"
  | "dashscope"
  | "cerebras"
  | "azure"
  | "openai-compatible"
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

/**
 * What a restored agent is given: the options with which one is created. What they say of the
 * configuration is in force, and what they leave out stays as in the snapshot.
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type RestoreOptions<Schema = any> = AgentOptions<Schema>;

/** What a function that takes the place of `fetch` is told beside the address. */
export interface FetchInit {
  method: "POST";
  headers: Record<string, string>;
  body: string;
  signal: Signal;
  redirect: "manual";
  /**
   * Says that the request waits and how many go first, or, without a number, that it goes out now.
   * Until then nobody takes the model for one that has gone quiet.
   */
  held(ahead?: number): void;
}

/** The part of `fetch` that an agent uses. */
export type FetchFunction = (url: string, init: FetchInit) => Promise<HttpResponse | ResponseLike>;

/** Recorded model traffic. */
export interface Replay {
  /** The recording's text. */
  traffic: string;
  /** A pause before each piece of a streamed reply, so that people can watch; 0 if left out. */
  paceMs?: number | undefined;
}

/** Files by path. */
export type FilesInput =
  Readonly<Record<string, string | Uint8Array>> | Iterable<readonly [string, string | Uint8Array]>;

/** When to stop; 0, like leaving it out, means never. */
export interface Limits {
  /** Most user and assistant turns of the whole session. */
  maxTurns?: number | undefined;
  /** Most rounds of tool calls for one input. */
  maxToolRounds?: number | undefined;
  /**
   * What follows when one is reached: the run ends (`idle`, the default), the model says without
   * tools what it has found (`summarize`), the run ends with all that was said in it (`partial`)
   * or as failed (`error`).
   */
  action?: LimitAction | undefined;
}

/** When a failed model call is tried again. */
export interface RetryPolicy {
  /** How often; 0 switches retries off. */
  maxRetries?: number | undefined;
  /** The first delay, doubled with each try. */
  baseMs?: number | undefined;
  /** The longest delay of our own. */
  maxMs?: number | undefined;
  /** How much of a delay of our own may be left out, by chance: 25 if nothing is said. */
  jitterPercent?: number | undefined;
  /** The longest delay that a provider may ask for; a longer one ends the run. */
  maxRetryAfterMs?: number | undefined;
  /** After how long without a byte a model call counts as broken. */
  idleMs?: number | undefined;
}

/** How long a tool may take. */
export interface Timeouts {
  /** Where the call names no limit. */
  defaultMs?: number | undefined;
  /** No call gets more. */
  maxMs?: number | undefined;
}

/** A tool of your own, in JavaScript; `tool` infers the type of its arguments. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export interface Tool<Parameters = any> {
  /** A unique name. */
  name: string;
  /** What it does and when to use it: the model reads this. */
  description: string;
  /**
   * The arguments: a JSON Schema, `type: "object"`, or a schema of zod, valibot, arktype or another
   * library with Standard Schema. No arguments if left out.
   */
  parameters?: Parameters | undefined;
  /**
   * Turns `parameters` into JSON Schema, where they are another library's schema that cannot say
   * itself so: `z.toJSONSchema`, `zodToJsonSchema`, `toJsonSchema` of valibot.
   */
  toJsonSchema?: ToJsonSchema | undefined;
  /** Whether it changes nothing, so that it may run beside others. */
  readOnly?: boolean | undefined;
  /** Its arguments that name files or folders, a text or a list each; see {@link TurnOptions}. */
  paths?: readonly string[] | undefined;
  /** After how long a run is stopped; without it, as {@link Timeouts} says. */
  timeoutMs?: number | undefined;
  /**
   * Runs the tool; the arguments fit the schema. A text is the result as it is; a
   * {@link ToolReply} says more, as do a `Blob`, a part or a list of them, and what a tool of the
   * Model Context Protocol returns. Nothing is "done"; anything else is given to the model as
   * JSON, a `Map` and a `Set` as well; a `Response` is its body. Of a generator each piece is
   * progress, as by {@link ToolContext.output}, and what it returns is the result. An error that it
   * throws or returns becomes an error result for the model, and the run goes on.
   */
  execute(args: ArgumentsOf<Parameters>, context: ToolContext): unknown;
}

/** Reads the pages at `urls`; `prompt` says in words what the model wants of them. */
export type WebFetch = (
  asked: { urls: string[]; prompt?: string },
  context: ToolContext,
) => unknown;

/** What a tool may return to say more than a text. */
export interface ToolReply {
  /** What the model reads. It may be absent where there are `parts`. */
  text?: string | undefined;
  /** What the model is shown behind the text: further text, pictures, files. */
  parts?: Part[] | undefined;
  /** Whether it is a failure. */
  isError?: boolean | undefined;
  /** What your user interface gets, as JSON, in `tool_call_end`; the model does not read it. */
  details?: unknown | undefined;
}

/** What a tool is told beside its arguments. */
export interface ToolContext {
  /** The call's id. */
  callId: string;
  /** The folder of the workspace that the calling agent works in; empty for the root. */
  folder: string;
  /** Fires when the run is interrupted or the tool's time is up. */
  signal: Signal;
  /** Shows output while the tool runs, as `tool_call_output_delta` events. */
  output(text: string): void;
}

/** How a run ended, and with what. */
export interface RunResult<Answer = unknown> {
  /**
   * `completed`: the model was done. `limit`: a limit of turns or rounds. `incomplete`: the last
   * reply was cut, `refused`: the model or its provider refused, `failed`: the call failed; `error`
   * says why.
   */
  status: RunEnd;
  /** What the model said last. */
  text: string;
  /** Tokens of the run, with those that agents which it has started used meanwhile. */
  usage: Usage;
  /** What they cost in US dollars, as far as the prices are known. */
  costUsd?: number;
  /** Model replies of the run. */
  replies: number;
  /** Tool calls of the run. */
  toolCalls: number;
  /** The final answer in the form that the option `answer` asks for, as its schema means it. */
  answer?: Answer;
  /** Why the run is `failed`, `incomplete` or `refused`. */
  error?: RunError;
}

/**
 * What ended a run. Nothing is thrown for it: `Run.result` has it beside the status. Of a
 * recorded failure it is the same as it was then.
 */
export interface RunError {
  /** The kind of failure. */
  kind: ErrorKind;
  /** What, and what to do. */
  message: string;
  /** Whether the same may go well later: the provider was busy, the connection broke. */
  retryable: boolean;
  /** The HTTP status of the provider's response, where there was one, be it recorded. */
  status?: number;
  /** The provider's id of the request, where a header tells one: its support asks for it. */
  requestId?: string;
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
  /** It does nothing but sum up, as {@link Agent.compact} asked: no run is under way. */
  compacting?: true;
  /** User and assistant turns so far. */
  turns: number;
  toolCalls: number;
  /** Tokens of the agent, and of all that it has started. */
  usage: Usage;
  /** What they cost in US dollars, as far as the prices are known. */
  costUsd?: number;
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
  | (SeenTurn & { at: Date })
  /** Earlier turns are shown shorter from here on. */
  | { type: "folded"; at: Date; fold: Fold }
  /** Parts that the provider refuses are told in words from here on, or are seen again. */
  | ({ type: "left_out"; at: Date } & LeftOut)
  /** The model sees again what it saw when there were `to` turns. */
  | { type: "rewound"; at: Date; to: number; why: Why };

/** A turn as the model sees it, told apart by `type`. */
export type SeenTurn =
  /** The user's input. */
  | { type: "user"; parts: Part[] }
  /** The model's reply. */
  | {
      type: "assistant";
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
  | { type: "tool_results"; results: ToolResult[] }
  /** A word to the model, given as the system. */
  | { type: "system"; text: string }
  /** What else the model reads as the user's: a message put in between rounds of tools. */
  | { type: "steering"; parts: Part[] };

/** What became of the files that undone steps had changed. */
export interface UndoneFiles {
  /** These are as they were before. */
  restored: string[];
  /** These stay as they are, and why. */
  kept: { path: string; why: string }[];
}

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
