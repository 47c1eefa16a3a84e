// Checks the options and turns them into what the binding takes: JSON. What only the driver can
// tell (a key that is missing, a field of the configuration that does not fit) it checks.

import { AgentError } from "./errors.js";
import { HOOK_POINTS } from "./people.js";
import { platform } from "./platform.js";
import type { RegisteredProgram } from "./programs.js";
import type {
  AgentOptions,
  AnswerForm,
  Changes,
  ConfigOptions,
  HookName,
  Hooks,
  Limits,
  Loops,
  Part,
  Replay,
  RestoreOptions,
  RetryPolicy,
  Subagents,
  Timeouts,
  Tool,
  WasiTool,
} from "./types.js";

// The options that a snapshot holds. The first can be changed in a restored agent, the second as
// parts of the configuration.
const CHANGEABLE = [
  "model",
  "instructions",
  "limits",
  "reasoningEffort",
  "basePrompt",
  "builtinTools",
  "timeouts",
  "config",
] as const satisfies (keyof ConfigOptions)[];
const PATCHABLE = [
  "maxOutputTokens",
  "contextWindow",
  "betas",
  "providerOptions",
  "vocabulary",
  "retry",
  "loops",
  "answer",
  "subagents",
  "facts",
] as const satisfies (keyof ConfigOptions)[];
const FIXED = ["models", "id", "preset"] as const satisfies (keyof ConfigOptions)[];

const HELD: readonly string[] = [...CHANGEABLE, ...PATCHABLE, ...FIXED];
const CONFIG_KEYS: readonly string[] = ["provider", ...HELD];
const AGENT_KEYS: readonly string[] = [
  ...CONFIG_KEYS,
  ...([
    "apiKey",
    "fetch",
    "baseUrl",
    "replay",
    "files",
    "tools",
    "programs",
    "approve",
    "ask",
    "webFetch",
    "hooks",
    "log",
    "onEvent",
  ] satisfies (keyof Omit<AgentOptions, keyof ConfigOptions>)[]),
];

// The options that have options of their own: their names, and those of the configuration.
const NESTED = {
  limits: {
    maxTurns: "max_turns",
    maxToolRounds: "max_tool_rounds_per_input",
    action: "action",
  } satisfies Names<Limits>,
  retry: {
    maxRetries: "max_retries",
    baseMs: "base_ms",
    maxMs: "max_ms",
    jitterPercent: "jitter_percent",
    maxRetryAfterMs: "max_retry_after_ms",
    idleMs: "idle_ms",
  } satisfies Names<RetryPolicy>,
  timeouts: {
    defaultMs: "default_command_ms",
    maxMs: "max_command_ms",
  } satisfies Names<Timeouts>,
  loops: {
    detect: "detect",
    window: "window",
    maxPeriod: "max_period",
    sameArgs: "same_args",
    sameName: "same_name",
    onlyIfFailed: "only_if_failed",
    ignoreTools: "ignore_tools",
    maskVolatile: "mask_volatile",
    ladder: "ladder",
  } satisfies Names<Loops>,
  answer: { schema: "schema", retries: "retries" } satisfies Names<AnswerForm>,
  subagents: { maxDepth: "max_depth", maxOpen: "max_open" } satisfies Names<Subagents>,
  replay: { traffic: "traffic", paceMs: "pace_ms" } satisfies Names<Replay>,
};
type Names<T> = Record<keyof T, string>;

// What of these is no whole number.
const OTHERS = new Set([
  "limits.action",
  "loops.detect",
  "loops.onlyIfFailed",
  "loops.ignoreTools",
  "loops.maskVolatile",
  "loops.ladder",
  "answer.schema",
  "replay.traffic",
]);

/** What the binding takes, as JSON, beside functions and files. */
export interface RawOptions {
  id: string;
  provider?: string;
  model?: string;
  models?: string;
  preset?: string;
  /** Patches of the configuration, each as JSON text. */
  patches: string[];
  tools: object[];
  programs: object[];
  date: string;
  base_url?: string;
  key: string;
  sends: boolean;
  page: boolean;
  replay?: object;
  approve: boolean;
  answer: boolean;
  hooks: string[];
  log: boolean;
}

/** Checks what can be checked without loading anything. */
export function checkOptions(options: AgentOptions): void {
  checkKeys(options, AGENT_KEYS);
  checkConfigOptions(options);
  const { apiKey, fetch, baseUrl, log, replay, onEvent, approve, ask, webFetch } = options;
  if (typeof replay !== "string") nested("replay", replay);
  if (apiKey !== undefined && typeof apiKey !== "string") throw bad("`apiKey` must be a text");
  text("baseUrl", baseUrl);
  for (const [name, value] of Object.entries({ fetch, onEvent, approve, ask, webFetch })) {
    if (value !== undefined) checkFunction(name, value);
  }
  if (log !== undefined && typeof log !== "boolean") throw bad("`log` must be true or false");
  checkHooks(options.hooks);
  const { tools = [], files = {}, programs = {} } = options;
  if (!Array.isArray(tools)) throw bad("`tools` must be a list of tools");
  for (const tool of tools) checkTool(tool);
  for (const [name, value] of Object.entries({ files, programs })) {
    if (typeof value !== "object" || value === null) throw bad(`\`${name}\` must be an object`);
  }
}

function checkKeys(options: unknown, known: readonly string[]): void {
  if (typeof options !== "object" || options === null) throw bad("give an object of options");
  for (const key of Object.keys(options)) {
    if (!known.includes(key)) throw bad(`there is no option \`${key}\``);
  }
}

function checkConfigOptions(options: ConfigOptions): void {
  const { provider, model, vocabulary = "native", facts, config } = options;
  if (provider !== undefined && typeof provider !== "string") {
    throw new AgentError("unknown_provider", "`provider` must be a provider's name");
  }
  if (model !== undefined && (typeof model !== "string" || model === "")) {
    throw bad("`model` must be a model's name, as the provider knows it");
  }
  if (vocabulary !== "native" && vocabulary !== "seed") {
    throw bad('`vocabulary` must be "native" or "seed"');
  }
  if (facts !== undefined && (typeof facts !== "object" || facts === null)) {
    throw bad("`facts` must be an object: what is to be told of the place");
  }
  if (config !== undefined && (typeof config !== "object" || config === null)) {
    throw bad("`config` must be an object: a patch of the session's configuration");
  }
}

/** Checks a function that is to be called. */
export function checkFunction(name: string, value: unknown): void {
  if (typeof value !== "function") throw bad(`\`${name}\` must be a function`);
}

function checkHooks(hooks: Hooks | undefined): void {
  if (hooks === undefined) return;
  if (typeof hooks !== "object" || hooks === null) throw bad("`hooks` must be an object");
  for (const [name, value] of Object.entries(hooks)) {
    if (name === "failClosed") {
      if (typeof value !== "boolean") throw bad("`hooks.failClosed` must be true or false");
    } else if (!(name in HOOK_POINTS)) {
      const known = Object.keys(HOOK_POINTS).join(", ");
      throw bad(`there is no hook \`${name}\`; there is ${known}`);
    } else if (value !== undefined) {
      checkFunction(`hooks.${name}`, value);
    }
  }
}

/** The signal among the options of a run, if there is one. */
export function signalOf(options: { signal?: AbortSignal }): AbortSignal | undefined {
  if (typeof options !== "object" || options === null) {
    throw bad("the options of `run` must be an object, such as `{ signal }`");
  }
  const { signal, ...unknown } = options;
  const [key] = Object.keys(unknown);
  if (key !== undefined) throw bad(`\`run\` has no option \`${key}\`; there is \`signal\``);
  if (signal === undefined) return undefined;
  // Not `instanceof`: a signal may be of another frame, or made by a library.
  const { aborted, addEventListener } = (signal as Partial<AbortSignal> | null) ?? {};
  if (typeof aborted === "boolean" && typeof addEventListener === "function") return signal;
  throw bad("`signal` must be an AbortSignal");
}

/** Checks the options of a restored agent: what a snapshot holds is not given again. */
export function checkRestore(options: RestoreOptions): AgentOptions {
  if (typeof options !== "object" || options === null) {
    throw bad("give an object of options, after the snapshot");
  }
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  for (const [key] of given) {
    if (!HELD.includes(key)) continue;
    const held = `\`${key}\` is as in the snapshot: leave it out`;
    if ((FIXED as readonly string[]).includes(key)) throw bad(`${held}; it cannot be changed`);
    const where = (CHANGEABLE as readonly string[]).includes(key) ? "" : ", as part of `config`";
    throw bad(`${held}, and change it afterwards with \`configure\`${where}`);
  }
  const complete = Object.fromEntries(given) as AgentOptions;
  checkOptions(complete);
  return complete;
}

/** A change of the configuration as the binding takes it. */
export function rawPatch(changes: Changes): string {
  if (typeof changes !== "object" || changes === null) throw bad("give an object of changes");
  const { model, reasoningEffort, instructions, config = {}, ...others } = changes;
  const { limits, basePrompt, builtinTools, timeouts, ...unknown } = others;
  const [key] = Object.keys(unknown);
  if (key !== undefined) throw bad(`there is no option \`${key}\` that can be changed`);
  if (!isObject(config)) throw bad("`config` must be an object");
  const options = {
    model: { name: text("model", model), reasoning_effort: reasoningEffort },
    limits: nested("limits", limits),
    timeouts: nested("timeouts", timeouts),
    instructions: text("instructions", instructions),
    base_prompt: basePrompt === null ? null : text("basePrompt", basePrompt),
    builtin_tools: builtinTools,
  };
  return JSON.stringify(merged(JSON.parse(JSON.stringify(options)) as object, config));
}

/** A change of the user's tools as the binding takes it. */
export function toolsPatch(tools: Iterable<Tool | WasiTool>): string {
  return JSON.stringify({ tools: Array.from(tools, rawTool) });
}

/** What the binding takes, made of checked options. */
export function rawOptions(options: AgentOptions, programs: readonly RegisteredProgram[]): RawOptions {
  const { replay, apiKey = "", baseUrl, approve, ask, webFetch, hooks = {}, log = false } = options;
  const points = hookNames(hooks).map((name) => HOOK_POINTS[name]);
  const raw = configOptions(options, {
    approval: approve && { ask: "changes" },
    ask_user: ask && true,
    web_fetch: webFetch && true,
    hooks: { points, fail_closed: hooks.failClosed },
  });
  return {
    ...raw,
    tools: (options.tools ?? []).map(rawTool),
    programs: programs.map(({ name, description }) => ({ name, description })),
    base_url: baseUrl,
    key: apiKey,
    sends: options.fetch !== undefined,
    page: platform().page,
    replay: rawReplay(replay),
    approve: approve !== undefined,
    answer: ask !== undefined,
    hooks: points,
    log,
  };
}

/** What the binding takes for a bare session's configuration. */
export function rawConfig(options: ConfigOptions): RawOptions {
  checkKeys(options, CONFIG_KEYS);
  checkConfigOptions(options);
  return configOptions(options, {});
}

// What both take; `more` is a patch below the user's own.
function configOptions(options: ConfigOptions, more: object): RawOptions {
  const { provider, model, models, preset, id, config } = options;
  const patches = [JSON.stringify({ ...optionsPatch(options), ...more })];
  if (config !== undefined) patches.push(JSON.stringify(config));
  return {
    id: text("id", id) ?? newId(),
    provider,
    model,
    models: typeof models === "object" ? JSON.stringify(models) : text("models", models),
    preset: text("preset", preset),
    patches,
    tools: [],
    programs: [],
    date: new Date().toISOString().slice(0, 10),
    key: "",
    sends: false,
    page: false,
    approve: false,
    answer: false,
    hooks: [],
    log: false,
  };
}

// The options as a patch of the configuration; what is left out is `undefined`, which JSON drops.
function optionsPatch(options: ConfigOptions): object {
  return {
    model: {
      vocabulary: options.vocabulary,
      max_output_tokens: count("maxOutputTokens", options.maxOutputTokens),
      context_window: count("contextWindow", options.contextWindow),
      reasoning_effort: text("reasoningEffort", options.reasoningEffort),
      betas: options.betas,
      options: options.providerOptions,
    },
    limits: nested("limits", options.limits),
    retry: nested("retry", options.retry),
    timeouts: nested("timeouts", options.timeouts),
    loops: nested("loops", options.loops),
    answer: nested("answer", options.answer),
    subagents: nested("subagents", options.subagents),
    facts: options.facts,
    instructions: text("instructions", options.instructions),
    base_prompt: text("basePrompt", options.basePrompt),
    builtin_tools: options.builtinTools,
  };
}

// A patch with another one over it.
function merged(patch: object, over: object): object {
  const result: Record<string, unknown> = { ...patch };
  for (const [name, value] of Object.entries(over)) {
    const old = result[name];
    result[name] = isObject(old) && isObject(value) ? merged(old, value) : value;
  }
  return result;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function hookNames(hooks: Hooks): HookName[] {
  const names = Object.keys(HOOK_POINTS) as HookName[];
  return names.filter((name) => hooks[name] !== undefined);
}

/** What the user says, as JSON. */
export function rawParts(input: string | readonly Part[]): string {
  if (typeof input === "string") return JSON.stringify([{ type: "text", text: input }]);
  if (Array.isArray(input)) return JSON.stringify(input);
  throw bad("say a text, or a list of parts");
}

function bad(message: string): AgentError {
  return new AgentError("bad_option", message);
}

// An option of options as the configuration names it. One that is not understood is refused:
// ignored, it would seem to be in force.
function nested(name: keyof typeof NESTED, value: object | undefined): object | undefined {
  if (value === undefined) return undefined;
  const names: Readonly<Record<string, string>> = NESTED[name];
  const known = Object.keys(names).join(", ");
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    const kind = name === "replay" ? "the recording's text, or an object" : "an object";
    throw bad(`\`${name}\` must be ${kind} with ${known}`);
  }
  const entries = Object.entries(value).map(([key, value]) => {
    const full = `${name}.${key}`;
    const field = Object.hasOwn(names, key) ? names[key] : undefined;
    if (field === undefined) throw bad(`there is no option \`${full}\`; there is ${known}`);
    return [field, OTHERS.has(full) ? value : count(full, value)] as const;
  });
  return Object.fromEntries(entries);
}

function text(name: string, value: unknown): string | undefined {
  if (value === undefined || typeof value === "string") return value;
  throw bad(`\`${name}\` must be a text`);
}

function count(name: string, value: unknown): number | undefined {
  if (value === undefined) return undefined;
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw bad(`\`${name}\` must be a whole number, 0 or more`);
}

/** Checks a tool of the user. */
export function checkTool(tool: Tool | WasiTool): void {
  if (typeof tool?.name !== "string" || !/^[A-Za-z0-9_-]{1,64}$/.test(tool.name)) {
    throw bad("a tool's `name` must be 1 to 64 letters, digits, `_` or `-`");
  }
  if (typeof tool.description !== "string") throw bad(`\`${tool.name}\` needs a \`description\``);
  if ("module" in tool) checkModule(tool);
  else if (typeof tool.execute !== "function") {
    throw bad(`\`${tool.name}\` needs a function \`execute\`, or a \`module\``);
  }
}

function checkModule({ name, module, args = [], limits = {} }: WasiTool): void {
  if (!(module instanceof WebAssembly.Module)) {
    throw bad(`\`${name}\`: its \`module\` must be a WebAssembly.Module; \`wasiTool\` makes one`);
  }
  if (!Array.isArray(args) || !args.every((arg) => typeof arg === "string")) {
    throw bad(`\`${name}\`: its \`args\` must be a list of texts`);
  }
  const { outputMib, diskMib } = limits;
  count(`${name}.limits.outputMib`, outputMib);
  count(`${name}.limits.diskMib`, diskMib);
  if (platform().startWorker === undefined) {
    throw new AgentError("unsupported", `\`${name}\` runs in a worker, and this platform has none`);
  }
}

function rawTool(tool: Tool | WasiTool): object {
  const parameters = tool.parameters ?? { type: "object", properties: {} };
  const { name, description, readOnly = false, timeoutMs } = tool;
  const timeout_ms = count("timeoutMs", timeoutMs);
  return { name, description, parameters, read_only: readOnly, timeout_ms };
}

function rawReplay(replay: AgentOptions["replay"]): object | undefined {
  if (replay === undefined) return undefined;
  const { traffic, paceMs = 0 } = typeof replay === "string" ? { traffic: replay } : replay;
  if (typeof traffic !== "string") throw bad("`replay` must be the recording's text");
  return nested("replay", { traffic: traffic.replace(ORIGIN, ""), paceMs });
}

/**
 * The first line of a recording, which may say with what it was made. The options say that here.
 * Its line feed stays, so that the lines after it have their numbers.
 */
const ORIGIN = /^\{"recording":1,[^\n]*/;

/** A random UUID. `crypto.randomUUID` is missing on pages that are served without TLS. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
