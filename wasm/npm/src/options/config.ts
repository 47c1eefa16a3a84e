// The options of which a session's configuration is made, and what options of their own they have.

import type {
  Facts,
  Fullness,
  LimitAction,
  LoopPolicy,
  Preset,
  SessionConfig,
} from "../json/config.js";
import type { FoldKind } from "../json/history.js";
import type { Patch } from "../json/shapes.js";
import type { ProviderName } from "./provider.js";
import type { ToJsonSchema } from "./schema.js";

/** Which model, and how its session behaves. */
// biome-ignore lint/suspicious/noExplicitAny: any schema has a place in it.
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

/** What a run may spend, that of the agents included that it starts. */
export interface Budget extends Spending {
  /** What all runs together may spend. */
  session?: Spending | undefined;
}

/** What may be spent; what is left out has no limit. */
export interface Spending {
  /** US dollars; needs a model whose price is known. */
  costUsd?: number | undefined;
  /** Tokens, in and out. */
  tokens?: number | undefined;
  /** Milliseconds of runs. */
  ms?: number | undefined;
}

/** When calls repeat themselves, and what is done about it. */
export interface Loops {
  /** Whether they are looked for. */
  detect?: boolean | undefined;
  /** How many of the newest calls must follow one pattern. */
  window?: number | undefined;
  /** The longest cycle of calls that counts as a pattern. */
  maxPeriod?: number | undefined;
  /** How many rounds in a row with the same calls are too many; 0 for never. */
  sameArgs?: number | undefined;
  /** How many rounds in a row that call the same tools are too many; 0 for never. */
  sameName?: number | undefined;
  /** After how many more such rounds the ladder's next step follows; 0 for as many as before. */
  againAfter?: number | undefined;
  /** Whether only calls that failed count. */
  onlyIfFailed?: boolean | undefined;
  /** Tools whose calls do not count. */
  ignoreTools?: readonly string[] | undefined;
  /** Whether times, UUIDs and the like in arguments count as all the same. */
  maskVolatile?: boolean | undefined;
  /** What is done the first time, the second time and so on. */
  ladder?: LoopPolicy["ladder"] | undefined;
}

/** When the conversation is made shorter, and how. */
export interface Compaction {
  /** How full the context window must be. */
  at?: Fullness | undefined;
  /** How full it is to be afterwards; two thirds of that if left out. */
  to?: Fullness | undefined;
  /** What is done; a summary if left out. */
  step?: FoldKind | undefined;
  /** Another model of the provider that sums up. */
  model?: string | undefined;
  /** What a summary is to look at. */
  instructions?: string | undefined;
}

/** The form of the final answer. */
// biome-ignore lint/suspicious/noExplicitAny: any schema has a place in it.
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

/** Agents that an agent may start. */
export interface Subagents {
  /** How deep they may be nested; 1 if left out: they start none themselves. */
  depth?: number | undefined;
  /** How many may be open at once; 16 if left out. */
  open?: number | undefined;
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
