// Checks the options and turns them into what the binding takes: JSON. What only the driver can
// tell (a key that is missing, a field of the configuration that does not fit) it checks.

import type { Spending } from "./budget.js";
import { AgentError } from "../errors.js";
import { givenJson } from "../json/encode.js";
import { checkKey } from "./key.js";
import { isModule } from "../platform/kinds.js";
import { NESTED } from "./names.js";
import { HOOK_POINTS } from "../agent/people.js";
import { platform } from "../platform/platform.js";
import type { RegisteredProgram } from "../programs/registry.js";
import { endpointOf } from "../binding/providers.js";
import { answerSchemaOf, parametersOf } from "./schema.js";
import type {
  AgentOptions,
  AnswerForm,
  BuiltinTools,
  Builtins,
  ConfigOptions,
  ForkOptions,
  Fullness,
  HookName,
  Hooks,
  Part,
  Subagents,
  Tool,
  ToolChoice,
  WasiTool,
} from "../types.js";
import { messageOf } from "../agent/work.js";

/** The options of which a session's configuration is made. */
const CONFIG_KEYS: readonly string[] = [
  "provider",
  "model",
  "models",
  "preset",
  "id",
  "vocabulary",
  "instructions",
  "systemPrompt",
  "builtins",
  "temperature",
  "toolChoice",
  "limits",
  "budget",
  "loops",
  "compaction",
  "answer",
  "subagents",
  "facts",
  "maxOutputTokens",
  "contextWindow",
  "reasoningEffort",
  "betas",
  "providerOptions",
  "retry",
  "timeouts",
  "config",
] satisfies (keyof ConfigOptions)[];
const AGENT_KEYS: readonly string[] = [
  ...CONFIG_KEYS,
  ...([
    "apiKey",
    "fetch",
    "baseUrl",
    "headers",
    "query",
    "replay",
    "files",
    "tools",
    "programs",
    "approve",
    "ask",
    "webFetch",
    "hooks",
    "log",
    "onLine",
    "onEvent",
  ] satisfies (keyof Omit<AgentOptions, keyof ConfigOptions>)[]),
];

// The fields of tools: of all, of those in JavaScript, of WASI modules.
const TOOL_FIELDS = [
  "name",
  "description",
  "parameters",
  "readOnly",
  "paths",
  "timeoutMs",
] satisfies (keyof Tool & keyof WasiTool)[];
const FUNCTION_FIELDS = ["toJsonSchema", "execute"] satisfies (keyof Tool)[];
const MODULE_FIELDS = ["module", "args", "limits"] satisfies (keyof WasiTool)[];

// What of these is no whole number.
const OTHERS = new Set([
  "limits.action",
  "loops.detect",
  "loops.onlyIfFailed",
  "loops.ignoreTools",
  "loops.maskVolatile",
  "loops.ladder",
  "answer.schema",
  "answer.toJsonSchema",
  "replay.traffic",
]);

/** A patch of the configuration, as far as its fields are known here. */
export type ConfigPatch = { model: object } & Record<string, unknown>;

/** What the binding takes, as JSON, beside functions and files. */
export interface RawOptions {
  id: string;
  provider?: string;
  model?: string;
  models?: string;
  preset?: string;
  /** Patches of the configuration, one over the other. */
  patches: object[];
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
  const { apiKey, fetch, baseUrl, log, replay, onEvent, onLine, approve, ask, webFetch } = options;
  if (typeof replay !== "string") nested("replay", replay);
  checkKey(apiKey);
  text("baseUrl", baseUrl);
  checkTexts("headers", options.headers);
  checkTexts("query", options.query);
  const functions = { fetch, onEvent, onLine, approve, ask, webFetch };
  for (const [name, value] of Object.entries(functions)) {
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

/** Checks that there are no other options than these. */
export function checkKeys(options: unknown, known: readonly string[]): void {
  if (typeof options !== "object" || options === null) throw bad("give an object of options");
  for (const key of Object.keys(options)) {
    if (!known.includes(key)) throw bad(`there is no option \`${key}\``);
  }
}

/** Checks the options of a configuration, as far as nothing is loaded for it. */
export function checkConfigOptions(options: ConfigOptions): void {
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
  if (config !== undefined && !isObject(config)) {
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

/** Checks the options of a fork. */
export function checkFork(options: ForkOptions): void {
  checkKeys(options, ["turns", "id", "files", "onEvent", "onLine"] satisfies (keyof ForkOptions)[]);
  count("turns", options.turns);
}

/** What the binding takes, made of checked options. */
export function rawOptions(options: AgentOptions, programs: readonly RegisteredProgram[]): RawOptions {
  const { replay, apiKey, baseUrl, approve, ask, webFetch, hooks = {} } = options;
  checkHeaders(options.headers, options.provider);
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
    programs: programs.map(rawProgram),
    base_url: baseUrl,
    key: typeof apiKey === "string" ? apiKey : "",
    sends: options.fetch !== undefined || typeof apiKey === "function",
    page: platform().page,
    replay: rawReplay(replay),
    approve: approve !== undefined,
    answer: ask !== undefined,
    hooks: points,
    // Of a recording the lines tell what it answers.
    log: options.log === true || options.onLine !== undefined || replay !== undefined,
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
  // Others none is started, unless that is asked for: each costs what nobody has seen coming.
  const subagents = subagentsOf(options.subagents ?? false);
  const patches: object[] = [{ ...optionsPatch(options), subagents, ...more }];
  if (config !== undefined) patches.push(config);
  return {
    id: text("id", id) ?? newId(),
    provider,
    model,
    models: isObject(models) ? givenJson(models, undefined, "models.") : text("models", models),
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

/** The options as a patch of the configuration; JSON drops what is left out, as `undefined`. */
export function optionsPatch(options: ConfigOptions): ConfigPatch {
  return {
    model: {
      vocabulary: options.vocabulary,
      max_output_tokens: count("maxOutputTokens", options.maxOutputTokens),
      context_window: count("contextWindow", options.contextWindow),
      reasoning_effort: text("reasoningEffort", options.reasoningEffort),
      betas: options.betas,
      tool_choice: choiceOf(options.toolChoice),
      options: providerOptionsOf(options),
    },
    limits: limitsOf(options),
    retry: nested("retry", options.retry),
    timeouts: nested("timeouts", options.timeouts),
    loops: nested("loops", options.loops),
    compaction: compactionOf(options.compaction),
    answer: answerOf(options.answer),
    subagents: options.subagents === undefined ? undefined : subagentsOf(options.subagents),
    facts: options.facts,
    instructions: text("instructions", options.instructions),
    base_prompt: text("systemPrompt", options.systemPrompt),
    builtin_tools: builtinsOf(options.builtins),
  };
}

/** Checks what the endpoint is told beside the protocol. */
export function checkTexts(name: string, value: unknown): void {
  if (value === undefined) return;
  if (!isObject(value) || !Object.values(value).every((text) => typeof text === "string")) {
    throw bad(`\`${name}\` must be an object of texts`);
  }
}

// The key has a place of its own, where it is masked.
function checkHeaders(headers: AgentOptions["headers"], provider: string | undefined): void {
  // Node loads all of its `fetch` for the first `Headers`.
  if (headers === undefined) return;
  try {
    new Headers(headers);
  } catch (error) {
    throw bad(`\`headers\`: ${messageOf(error)}`);
  }
  const { header } = endpointOf(provider)?.auth ?? {};
  const name = Object.keys(headers).find((name) => name.toLowerCase() === header);
  if (name !== undefined) throw bad(`\`headers.${name}\` is the key's: give it as \`apiKey\``);
}

function builtinsOf(builtins: Builtins | undefined): BuiltinTools | undefined {
  if (builtins === undefined || builtins === "all" || builtins === "none") return builtins;
  if (builtins === "read-only") return "read_only";
  if (areTexts(builtins)) return { only: [...builtins] };
  const { except, ...unknown } = isObject(builtins) ? (builtins as { except: unknown }) : {};
  if (areTexts(except) && Object.keys(unknown).length === 0) return { except };
  const known = '"all", "read-only", "none", a list of names, or `{ except: [names] }`';
  throw bad(`\`builtins\` must be ${known}`);
}

/** A choice of tools, checked. */
export function choiceOf(choice: ToolChoice | undefined): ToolChoice | undefined {
  if (choice === undefined || ["auto", "none", "required"].includes(choice as string)) return choice;
  if (isObject(choice) && Object.keys(choice).join() === "tool") {
    if (typeof choice.tool === "string") return choice;
  }
  throw bad('`toolChoice` must be "auto", "none", "required", or `{ tool: name }`');
}

function answerOf(answer: AnswerForm | undefined): object | undefined {
  const raw = nested("answer", answer);
  if (raw === undefined || answer === undefined) return undefined;
  if (answer.toJsonSchema !== undefined) checkFunction("answer.toJsonSchema", answer.toJsonSchema);
  return { ...raw, schema: answerSchemaOf(answer), to_json_schema: undefined };
}

function limitsOf({ limits, budget }: ConfigOptions): object | undefined {
  const own = nested("limits", limits);
  if (budget === undefined) return own;
  const { session, ...run } = isObject(budget) ? budget : { session: budget };
  const all = session === undefined ? undefined : spendOf("budget.session", session);
  return { ...own, run: spendOf("budget", run), session: all };
}

function spendOf(name: string, spending: Spending): object {
  const known = "costUsd, tokens, ms";
  if (!isObject(spending)) throw bad(`\`${name}\` must be an object with ${known}`);
  const { costUsd, tokens, ms, ...unknown } = spending;
  const [key] = Object.keys(unknown);
  if (key !== undefined) throw bad(`there is no option \`${name}.${key}\`; there is ${known}`);
  if (costUsd !== undefined && !(costUsd > 0)) {
    throw bad(`\`${name}.costUsd\` must be a number of US dollars above 0`);
  }
  return {
    cost_nano_usd: costUsd === undefined ? undefined : Math.round(costUsd * 1e9),
    tokens: count(`${name}.tokens`, tokens),
    ms: count(`${name}.ms`, ms),
  };
}

// `false` is never, an object says from when on; what it leaves out is as the preset has it.
function compactionOf(compaction: ConfigOptions["compaction"]): object | undefined {
  if (compaction === undefined) return undefined;
  if (compaction === false) return { auto: [], on_overflow: "warn" };
  const known = "at, to, step, model, instructions";
  if (!isObject(compaction)) throw bad(`\`compaction\` must be false, or an object with ${known}`);
  const { at, to, step, model, instructions, ...unknown } = compaction;
  const [key] = Object.keys(unknown);
  if (key !== undefined) throw bad(`there is no option \`compaction.${key}\`; there is ${known}`);
  if (at === undefined && (to !== undefined || step !== undefined)) {
    throw bad("`compaction.at` is missing: how full the window must be, `{ percent: 75 }` say");
  }
  const tier = at && { from: at, to: to ?? below(at), step: step ?? "summary" };
  return {
    ...(tier && { auto: [tier], on_overflow: "compact_retry_once" }),
    summary: {
      model: text("compaction.model", model),
      instructions: text("compaction.instructions", instructions),
    },
  };
}

// Two thirds of what is used, three times what is left.
function below({ percent, used, left }: Fullness): Fullness {
  const part = (of: number): number => Math.floor((of * 2) / 3);
  return {
    ...(percent !== undefined && { percent: part(percent) }),
    ...(used !== undefined && { used: part(used) }),
    ...(left !== undefined && { left: left * 3 }),
  };
}

function subagentsOf(subagents: false | Subagents): object | undefined {
  if (subagents === false) return { max_depth: 0 };
  const { depth = 1, ...others } = subagents ?? {};
  if (isObject(subagents)) return nested("subagents", { depth, ...others });
  throw bad("`subagents` must be false, or an object with depth, open");
}

function providerOptionsOf(options: ConfigOptions): unknown {
  const { temperature, provider, providerOptions } = options;
  const own = temperatureOf(temperature, provider);
  if (own === undefined) return providerOptions;
  return isObject(providerOptions) ? merged(own, providerOptions) : (providerOptions ?? own);
}

// Each protocol has its own place for it.
function temperatureOf(temperature: unknown, provider: string | undefined): object | undefined {
  if (temperature === undefined) return undefined;
  const isNumber = typeof temperature === "number" && temperature >= 0 && temperature < Infinity;
  if (!isNumber && temperature !== null) throw bad("`temperature` must be a number, 0 or more");
  switch (endpointOf(provider)?.wire) {
    case "gemini":
      return { generationConfig: { temperature } };
    case "ollama":
      return { options: { temperature } };
    default:
      return { temperature };
  }
}

/** A patch with another one over it. */
export function merged(patch: object, over: object): object {
  const result: Record<string, unknown> = { ...patch };
  for (const [name, value] of Object.entries(over)) {
    const old = result[name];
    result[name] = isObject(old) && isObject(value) ? merged(old, value) : value;
  }
  return result;
}

/** Whether a value is a list of texts. */
export function areTexts(list: unknown): list is string[] {
  return Array.isArray(list) && list.every((text) => typeof text === "string");
}

/** Whether a value is an object with fields. */
export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The hooks that there are. */
export function hookNames(hooks: Hooks): HookName[] {
  const names = Object.keys(HOOK_POINTS) as HookName[];
  return names.filter((name) => hooks[name] !== undefined);
}

/** What the user says, as JSON. */
export function rawParts(input: string | readonly Part[]): string {
  if (typeof input === "string") return givenJson([{ type: "text", text: input }]);
  if (Array.isArray(input)) return givenJson(input);
  throw bad("say a text, or a list of parts");
}

/** The error for an option that does not fit. */
export function bad(message: string): AgentError {
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

/** A text, or nothing. */
export function text(name: string, value: unknown): string | undefined {
  if (value === undefined || typeof value === "string") return value;
  throw bad(`\`${name}\` must be a text`);
}

function count(name: string, value: unknown): number | undefined {
  return value === undefined ? undefined : wholeNumber(name, value);
}

/** The number, if it is one that counts. */
export function wholeNumber(name: string, value: unknown): number {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw bad(`\`${name}\` must be a whole number, 0 or more`);
}

/** Checks a tool of the user. */
export function checkTool(tool: Tool | WasiTool): void {
  if (typeof tool?.name !== "string" || !/^[A-Za-z0-9_-]{1,64}$/.test(tool.name)) {
    throw bad("a tool's `name` must be 1 to 64 letters, digits, `_` or `-`");
  }
  if (typeof tool.description !== "string") throw bad(`\`${tool.name}\` needs a \`description\``);
  checkFields(tool);
  if (!["boolean", "undefined"].includes(typeof tool.readOnly)) {
    throw bad(`\`${tool.name}\`: its \`readOnly\` must be true or false`);
  }
  if (tool.paths !== undefined && !areTexts(tool.paths)) {
    throw bad(`\`${tool.name}\`: its \`paths\` must be a list of its arguments' names`);
  }
  if (tool.timeoutMs === 0) throw bad(`\`${tool.name}\`: its \`timeoutMs\` must be 1 or more`);
  if ("module" in tool) checkModule(tool);
  else checkExecutable(tool);
}

// A tool's fields. What is not understood is refused: ignored, it would seem to be in force. Those
// of an object of a class are its own.
function checkFields(tool: Tool | WasiTool): void {
  const prototype = Object.getPrototypeOf(tool) as object | null;
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) return;
  const known: string[] = [...TOOL_FIELDS, ...("module" in tool ? MODULE_FIELDS : FUNCTION_FIELDS)];
  const unknown = Object.keys(tool).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw bad(`\`${tool.name}\`: a tool has no field \`${unknown}\`; it has ${known.join(", ")}`);
}

function checkExecutable(tool: Tool): void {
  if (typeof tool.execute !== "function") {
    throw bad(`\`${tool.name}\` needs a function \`execute\`, or a \`module\``);
  }
  if (tool.toJsonSchema !== undefined) {
    checkFunction(`${tool.name}.toJsonSchema`, tool.toJsonSchema);
  }
  parametersOf(tool);
}

function checkModule({ name, module, args = [], limits = {} }: WasiTool): void {
  if (!isModule(module)) {
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

/** A program as the binding takes it. */
export function rawProgram({ name, description }: RegisteredProgram): object {
  return { name, description };
}

/** A tool as the binding takes it. */
export function rawTool(tool: Tool | WasiTool): object {
  const { name, description, readOnly: read_only = false, paths, timeoutMs } = tool;
  const timeout_ms = count(`${name}.timeoutMs`, timeoutMs);
  return { name, description, parameters: parametersOf(tool), read_only, paths, timeout_ms };
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
  // Pages that came without encryption have no such function.
  if (typeof crypto.randomUUID === "function") return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
