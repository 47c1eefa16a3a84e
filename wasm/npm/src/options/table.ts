// The table of the options: the fields that each sets, and whether it can be changed. The types are
// in `config.ts` and `agent.ts`; the compiler holds both to the same names. Values are checked
// where they are read.

import type { AgentOptions, Changes, Replay } from "./agent.js";
import type { HookRules } from "./asked.js";
import type {
  AnswerForm,
  ConfigOptions,
  Corrections,
  KeptResults,
  Limits,
  Loops,
  RetryPolicy,
  Skill,
  Subagents,
  Timeouts,
} from "./config.js";

/** The facts about an option. */
export interface Option {
  /** The field of the configuration that it sets, if that has another name. */
  field?: string;
  /** Its own options, if it is an object, with the fields that they set. */
  fields?: Fields;
  /** True if `configure` takes it. */
  changes?: true;
  /** The thing that it belongs to: with another provider or model it is dropped. */
  of?: "provider" | "model";
}

/** Fields by the options that set them. */
export type Fields<Options = Record<string, unknown>> = Readonly<Record<keyof Options, Field>>;

/** A field that takes a whole number, by its name, or one that takes something else. */
export type Field = string | { other: string };

/** Each option, with the mark of those that can be changed. */
type Table<Options> = {
  [Name in keyof Required<Options>]: Option &
    (Name extends keyof Changes ? { changes: true } : { changes?: never });
};

/** The options that make up a session's configuration. */
export const CONFIG = {
  provider: { changes: true },
  model: { field: "model.name", changes: true, of: "provider" },
  fallbacks: {},
  models: {},
  preset: {},
  id: {},
  vocabulary: { field: "model.vocabulary", changes: true },
  instructions: { changes: true },
  systemPrompt: { field: "base_prompt", changes: true },
  builtins: { field: "builtin_tools", changes: true },
  toolsShown: { field: "tools_shown", changes: true },
  results: {
    fields: { previewChars: "preview_chars" } satisfies Fields<KeptResults>,
    changes: true,
  },
  temperature: { changes: true },
  toolChoice: { field: "model.tool_choice", changes: true },
  limits: {
    fields: {
      maxTurns: "max_turns",
      maxToolRounds: "max_tool_rounds_per_input",
      action: { other: "action" },
    } satisfies Fields<Limits>,
    changes: true,
  },
  budget: { changes: true },
  loops: {
    fields: {
      detect: { other: "detect" },
      window: "window",
      maxPeriod: "max_period",
      sameArgs: "same_args",
      sameName: "same_name",
      againAfter: "again_after",
      onlyIfFailed: { other: "only_if_failed" },
      ignoreTools: { other: "ignore_tools" },
      maskVolatile: { other: "mask_volatile" },
      ladder: { other: "ladder" },
    } satisfies Fields<Loops>,
    changes: true,
  },
  compaction: { changes: true },
  corrections: {
    fields: {
      faults: { other: "faults" },
      maxAfterCalls: "max_after_calls",
      maxPerRun: "max_per_run",
    } satisfies Fields<Corrections>,
    changes: true,
  },
  answer: {
    fields: {
      schema: { other: "schema" },
      retries: "retries",
      toJsonSchema: { other: "to_json_schema" },
    } satisfies Fields<AnswerForm>,
    changes: true,
  },
  subagents: {
    fields: {
      depth: "max_depth",
      open: "max_open",
      batchMs: "batch_ms",
      coordinate: { other: "coordinate" },
    } satisfies Fields<Subagents>,
    changes: true,
  },
  agents: { changes: true },
  skills: {
    fields: {
      name: { other: "name" },
      description: { other: "description" },
      body: { other: "body" },
      path: { other: "path" },
      keywords: { other: "keywords" },
      exclude: { other: "exclude" },
      tags: { other: "tags" },
      maxTokens: "max_tokens",
    } satisfies Fields<Skill>,
  },
  facts: { changes: true },
  maxOutputTokens: { field: "model.max_output_tokens", changes: true, of: "model" },
  contextWindow: { field: "model.context_window", changes: true, of: "model" },
  reasoningEffort: { field: "model.reasoning_effort", changes: true },
  betas: { field: "model.betas", changes: true, of: "provider" },
  providerOptions: { field: "model.options", changes: true, of: "provider" },
  retry: {
    fields: {
      maxRetries: "max_retries",
      baseMs: "base_ms",
      maxMs: "max_ms",
      jitterPercent: "jitter_percent",
      maxRetryAfterMs: "max_retry_after_ms",
      idleMs: "idle_ms",
    } satisfies Fields<RetryPolicy>,
    changes: true,
  },
  timeouts: {
    fields: {
      defaultMs: "default_command_ms",
      maxMs: "max_command_ms",
    } satisfies Fields<Timeouts>,
    changes: true,
  },
  config: { changes: true },
} satisfies Table<ConfigOptions>;

/** All options of an agent. */
export const OPTIONS = {
  ...CONFIG,
  apiKey: { changes: true, of: "provider" },
  fetch: { changes: true },
  baseUrl: { changes: true, of: "provider" },
  headers: { changes: true, of: "provider" },
  query: { changes: true, of: "provider" },
  replay: {
    fields: { traffic: { other: "traffic" }, paceMs: "pace_ms" } satisfies Fields<Replay>,
  },
  files: {},
  tools: {},
  programs: {},
  approve: {},
  ask: {},
  webFetch: {},
  hooks: {
    fields: {
      failClosed: { other: "fail_closed" },
      maxDenials: "max_denials",
    } satisfies Fields<HookRules>,
  },
  log: {},
  onLine: {},
  onEvent: {},
} satisfies Table<AgentOptions>;

/** Returns the names of the options for which `holds` is true. */
export function namesOf(holds: (option: Option) => boolean): (keyof AgentOptions)[] {
  const all = Object.entries(OPTIONS) as [keyof AgentOptions, Option][];
  return all.filter(([, option]) => holds(option)).map(([name]) => name);
}
