// The types of the options that make up a session's configuration. Their names and fields are in
// `table.ts`, their conversion is in `patch.ts`.

import type { Facts, LimitAction, Preset, SessionConfig } from "../json/config.js";
import type { ReplyFault } from "../json/events.js";
import type { FoldKind } from "../json/history.js";
import type { TaskKind } from "../json/model.js";
import type { Fullness, LoopPolicy } from "../json/policies.js";
import type { Patch } from "../json/shapes.js";
import type { ProviderName } from "./provider.js";
import type { ToJsonSchema } from "./schema.js";

/** The options that make up a session's configuration: the model, and the session's behaviour. */
// biome-ignore lint/suspicious/noExplicitAny: any schema has a place in it.
export interface ConfigOptions<Schema = any> {
  /** The provider that serves the model. May be left out with `replay`. */
  provider?: ProviderName | undefined;
  /** The model's name, as the provider knows it; the provider's default, where it has one. */
  model?: string | undefined;
  /**
   * Models that take over, in this order, where one is overloaded, has had too many requests,
   * refuses its key or cannot be reached: at once, and without an end of the run.
   */
  fallbacks?: readonly Fallback[] | undefined;
  /**
   * The names under which the model is shown its tools: those that its family was trained on
   * (`native`, the default), or those of the coding agent loop specification (`seed`).
   */
  vocabulary?: "native" | "seed" | undefined;
  /**
   * A catalogue of models with windows, limits and prices, as JSON text or object. It replaces the
   * built-in one.
   */
  models?: string | object | undefined;
  /**
   * The defaults of all other options: `modern` (what people expect, the default), `seed001`
   * (the coding agent loop specification), `ollama` (small local models, the default of the
   * provider of that name), `ironclaw` (approval of changes), `gnoma` (few and long retries, a
   * limit is an error), and for deliberation without any tool `council_member`,
   * `council_discusser`, `council_reviewer`.
   */
  preset?: Preset | undefined;
  /** Instructions to the model, at the end of the system prompt. */
  instructions?: string | undefined;
  /**
   * The beginning of the system prompt, instead of the package's own on how to work on code; an
   * empty text for none.
   */
  systemPrompt?: string | undefined;
  /**
   * The package's own tools that the model has; all if left out. With `"none"` and a `systemPrompt`
   * the agent has nothing to do with code: it has your `tools`, and hears of no workspace.
   */
  builtins?: Builtins | undefined;
  /**
   * The tools that a request shows: all, so many, or in stages; 30 if left out. Beyond the number
   * your `tools` are only named, and the model finds them by a tool `tool_search`; the package's
   * own are always shown. With `"staged"`, for small models, the model chooses a kind of tools first.
   */
  toolsShown?: ToolsShown | undefined;
  /**
   * Keeps outputs of tools whole of which the model reads only a part, so that it can read on by a
   * tool `read_result`; `{}` for the defaults. They are kept in memory, up to 64 MiB, and not over
   * a restore. None are if left out.
   */
  results?: false | KeptResults | undefined;
  /** The sampling temperature; not every model takes one. */
  temperature?: number | undefined;
  /** The choice of tools: the model must, may or must not call one; by default it may. */
  toolChoice?: ToolChoice | undefined;
  /** The limits at which a run stops. */
  limits?: Limits | undefined;
  /** The most that may be spent; `limits.action` says what follows then (status `budget`). */
  budget?: Budget | undefined;
  /** The detection of calls that repeat themselves, and the reaction to it. */
  loops?: Loops | undefined;
  /**
   * The point at which the conversation is made shorter, so that it fits the model; `false` for
   * never. If left out, as in the preset (`modern`: a summary at 90 per cent of the window).
   * `config.compaction` has all settings.
   */
  compaction?: false | Compaction | undefined;
  /**
   * The faults of replies that are corrected, and how often; `false` for none. If left out, as in
   * the preset (`modern`: claims of changes that no tool made, made-up results, echoes, edits that
   * fail again and again).
   */
  corrections?: false | Corrections | undefined;
  /** The form of the final answer: {@link RunResult.answer} is then a value of this schema. */
  answer?: AnswerForm<Schema> | undefined;
  /**
   * The agents that the agent may start, `{}` for one level of them; none if left out, unless
   * `agents` names some.
   */
  subagents?: false | Subagents | undefined;
  /**
   * Agents that can be started by name, each with a prompt, a model and tools of its own. The model
   * chooses by their descriptions.
   */
  agents?: Readonly<Record<string, NamedAgent>> | undefined;
  /**
   * Skills beside those in `files` (`.agents/skills/NAME/SKILL.md`, also below `.claude`), which
   * come before these if names are equal; `false` for none at all. The model is shown a list and
   * reads the skill that fits its task; `/name` or `$name` in an input names one.
   */
  skills?: false | readonly Skill[] | undefined;
  /**
   * Facts for the model, such as the state of version control or its `knowledge_cutoff`. The
   * package itself adds the day and the instruction files at the top of `files` (`AGENTS.md`, and
   * `CLAUDE.md` and the like for their families). A list of `project_docs` replaces those files,
   * `[]` leaves them out. Such files in folders below are `nested_docs`: the model is shown one
   * when a call first enters its folder.
   */
  facts?: Patch<Omit<Facts, "programs">> | undefined;
  /** The most tokens of one reply; if left out, the model's most, up to 32,000. */
  maxOutputTokens?: number | undefined;
  /** The most tokens of a whole call; if left out, the model's most. */
  contextWindow?: number | undefined;
  /** The effort of reasoning: `low`, `medium`, `high`, or another word of the provider's. */
  reasoningEffort?: string | undefined;
  /** Anthropic's features in beta, asked for by a header, such as `context-1m-2025-08-07`. */
  betas?: string[] | undefined;
  /**
   * Further fields of each request in the provider's protocol, which win over the package's:
   * `user`, `metadata`, `safetySettings`; `tools: [{ google_search: {} }]` for Gemini's grounding.
   */
  providerOptions?: Record<string, unknown> | undefined;
  /** The retries of failed model calls. */
  retry?: RetryPolicy | undefined;
  /** The time limits of tools. */
  timeouts?: Timeouts | undefined;
  /** The session's id; a new UUID if left out. */
  id?: string | undefined;
  /**
   * A patch of the session's configuration, which wins over all options: objects are merged, and
   * `null` sets a value back to its default. A field that does not fit is named in the error.
   */
  config?: Patch<SessionConfig> | undefined;
}

/**
 * The package's own tools that the model has, by the names under which it is shown them: all for
 * which the host has what they need, those that change and run nothing, none, some, or all but
 * some.
 */
export type Builtins =
  | "all"
  | "read-only"
  | "none"
  | readonly string[]
  | { except: readonly string[] };

/** The tools that a request shows. */
export type ToolsShown = SessionConfig["tools_shown"];

/** The way in which outputs are kept. */
export interface KeptResults {
  /**
   * The most characters that the model reads at first of an output that is cut; 2,000 if left out,
   * 0 for as many as without this.
   */
  previewChars?: number | undefined;
}

/** The choice of tools: the model may, must not or must call one, or must call this one. */
export type ToolChoice = "auto" | "none" | "required" | { tool: string };

/** The limits at which a run stops; 0, like leaving it out, means no limit. */
export interface Limits {
  /** The most user and assistant turns of the whole session. */
  maxTurns?: number | undefined;
  /** The most rounds of tool calls for one input. */
  maxToolRounds?: number | undefined;
  /**
   * The reaction to a limit: the run ends (`idle`, the default), the model sums up without tools
   * what it has found (`summarize`), the run ends with all of its texts (`partial`) or as failed
   * (`error`).
   */
  action?: LimitAction | undefined;
}

/** The most that a run may spend, agents that it starts included. */
export interface Budget extends Spending {
  /** The most that all runs together may spend. */
  session?: Spending | undefined;
}

/** The most that may be spent; a field that is left out has no limit. */
export interface Spending {
  /** US dollars; needs a model whose price is known. */
  costUsd?: number | undefined;
  /** Tokens, in and out. */
  tokens?: number | undefined;
  /** Milliseconds of runs. */
  ms?: number | undefined;
}

/** The detection of calls that repeat themselves, and the reaction to it. */
export interface Loops {
  /** True to look for repetition. */
  detect?: boolean | undefined;
  /** The number of newest calls that must follow one pattern. */
  window?: number | undefined;
  /** The longest cycle of calls that counts as a pattern. */
  maxPeriod?: number | undefined;
  /** The number of rounds in a row with the same calls that is too many; 0 for none. */
  sameArgs?: number | undefined;
  /** The number of rounds in a row with calls of the same tools that is too many; 0 for none. */
  sameName?: number | undefined;
  /** The number of further such rounds before the ladder's next step; 0 for as many as before. */
  againAfter?: number | undefined;
  /** True if only failed calls count. */
  onlyIfFailed?: boolean | undefined;
  /** Tools whose calls do not count. */
  ignoreTools?: readonly string[] | undefined;
  /** True if arguments that differ only in times, UUIDs and the like count as the same. */
  maskVolatile?: boolean | undefined;
  /** The reactions to the first repetition, the second and so on. */
  ladder?: LoopPolicy["ladder"] | undefined;
}

/** The point at which the conversation is made shorter, and the way. */
export interface Compaction {
  /** The fullness of the context window at which it happens. */
  at?: Fullness | undefined;
  /** The fullness to reach; two thirds of `at` if left out. */
  to?: Fullness | undefined;
  /** The kind of fold; a summary if left out. */
  step?: FoldKind | undefined;
  /** Another model of the provider that writes the summary. */
  model?: string | undefined;
  /** Instructions on what a summary must keep. */
  instructions?: string | undefined;
}

/**
 * The faults of replies that are corrected: the model is told what is wrong, the event `corrected`
 * tells the same, and the model is asked again. Over its number a fault stands as it is.
 */
export interface Corrections {
  /**
   * The number of times that a run corrects each fault, `{ greeting: 2, echo: 0 }`; 0 for never.
   * What is left out stays as in the preset.
   */
  faults?: { [Fault in ReplyFault]?: number } | undefined;
  /** The number for `fake_result`, `named_tool` and `greeting` together; 2 if left out. */
  maxAfterCalls?: number | undefined;
  /** The number of corrections of a run, whatever the faults; 8 if left out. */
  maxPerRun?: number | undefined;
}

/** The form of the final answer. */
// biome-ignore lint/suspicious/noExplicitAny: any schema has a place in it.
export interface AnswerForm<Schema = any> {
  /**
   * A JSON Schema, `type: "object"`, or a schema of zod, valibot, arktype or another library with
   * Standard Schema. Such a schema also validates and converts the answer; if it refuses the
   * answer, the run fails.
   */
  schema: Schema;
  /** Converts `schema` into JSON Schema if its library cannot do that itself; see {@link Tool}. */
  toJsonSchema?: ToJsonSchema | undefined;
  /** The number of times that a run which ends with text is asked again; 2 if left out. */
  retries?: number | undefined;
}

/** A model that takes over where another one fails. */
export interface Fallback {
  /** The provider that serves it. */
  provider: ProviderName;
  /** The model's name, as the provider knows it; the provider's default, where it has one. */
  model?: string | undefined;
  /**
   * The provider's key, which goes to no other one. Left out for the provider of the agent's own
   * model, whose key then serves both.
   */
  apiKey?: string | undefined;
  /** Another origin (and path prefix) than the provider's own. */
  baseUrl?: string | undefined;
  /** True if it writes the summaries. It takes over only where no other model is left. */
  cheap?: boolean | undefined;
  /** The kinds of tasks, told by the words of an input, for which it goes before the others. */
  tasks?: readonly TaskKind[] | undefined;
}

/** The agents that an agent may start. */
export interface Subagents {
  /** The depth to which they may be nested; 1 if left out: they start none themselves. */
  depth?: number | undefined;
  /** The number of them that may be open at once; 16 if left out. */
  open?: number | undefined;
  /**
   * The milliseconds that those have which one call of `spawn_agents` starts; 5 minutes if left
   * out, 0 for no limit.
   */
  batchMs?: number | undefined;
  /**
   * True if an input that asks for several agents brings the model a note on how to share the work
   * out among them.
   */
  coordinate?: boolean | undefined;
}

/** An agent that can be started by name. */
export interface NamedAgent {
  /** The sentence by which the model chooses it. */
  description?: string | undefined;
  /** The beginning of its system prompt; that of the session's agent if left out. */
  prompt?: string | undefined;
  /** Its model, of the same provider; the one that the call names, or the agent's, if left out. */
  model?: string | undefined;
  /** The names of its tools, among the agent's own; all of them if left out. */
  tools?: readonly string[] | undefined;
  /** The most turns that it may take; 0, like leaving it out, means no limit. */
  maxTurns?: number | undefined;
}

/** Instructions for one kind of task, which the model reads when a task needs them. */
export interface Skill {
  /** Its name, which `/name` and `$name` in an input call for. */
  name: string;
  /** The sentence by which the model tells that a task needs it. */
  description: string;
  /** The instructions, in Markdown. */
  body: string;
  /** The path under which the model reads it; one of the package's if left out. */
  path?: string | undefined;
  /** With `config: { skills: "selected" }`: the words of an input that select it. */
  keywords?: readonly string[] | undefined;
  /** The words of an input that rule it out. */
  exclude?: readonly string[] | undefined;
  /** Words for its area, which count less than keywords. */
  tags?: readonly string[] | undefined;
  /** The tokens that it counts for, if they are more than a quarter of its bytes. */
  maxTokens?: number | undefined;
}

/** The retries of failed model calls. */
export interface RetryPolicy {
  /** The most retries of one call; 0 switches them off. */
  maxRetries?: number | undefined;
  /** The first delay, doubled with each try. */
  baseMs?: number | undefined;
  /** The longest delay, unless the provider asks for one. */
  maxMs?: number | undefined;
  /** The part of a delay that may be left out at random, in per cent; 25 if left out. */
  jitterPercent?: number | undefined;
  /** The longest delay that a provider may ask for; a longer one ends the run. */
  maxRetryAfterMs?: number | undefined;
  /** The time without a byte after which a model call counts as broken. */
  idleMs?: number | undefined;
}

/** The time limits of tools. */
export interface Timeouts {
  /** The limit of a call that names none. */
  defaultMs?: number | undefined;
  /** The most that a call may ask for. */
  maxMs?: number | undefined;
}
