// The check of an agent's options and their conversion into the JSON that the binding takes. The
// driver checks what it alone knows, such as a missing key.

import { endpointOf } from "../binding/providers.js";
import { messageOf } from "../errors.js";
import { platform } from "../platform/platform.js";
import type { RegisteredProgram } from "../programs/registry.js";
import type { SystemFacts } from "../workspace/filesystem.js";
import type { AgentOptions, ForkOptions } from "./agent.js";
import type { ConfigOptions, Fallback } from "./config.js";
import { givenJson } from "./given.js";
import { checkHooks, hookPolicy } from "./hooks.js";
import { checkKey } from "./key.js";
import { checkConfigOptions, nested, optionsPatch, skillsOf, subagentsOf } from "./patch.js";
import { CONFIG, OPTIONS } from "./table.js";
import { checkTool, rawTool } from "./tool.js";
import { bad, checkFunction, checkKeys, checkTexts, count, isObject, text } from "./values.js";

/** The options as the binding takes them; functions and files go separately. */
export interface RawOptions {
  id: string;
  provider?: string;
  model?: string;
  fallbacks: object[];
  models?: string;
  preset?: string;
  /** Patches of the configuration; later ones win. */
  patches: object[];
  tools: object[];
  programs: object[];
  skills: object[];
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

/** Checks the options as far as it can be done before the module is loaded. */
export function checkOptions(options: AgentOptions): void {
  checkKeys(options, Object.keys(OPTIONS));
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

/** Checks the options of a fork. */
export function checkFork(options: ForkOptions): void {
  checkKeys(options, ["turns", "id", "files", "onEvent", "onLine"] satisfies (keyof ForkOptions)[]);
  count("turns", options.turns);
}

/**
 * Returns checked options as the binding takes them; `found` are facts that come before none of the
 * user's.
 */
export function rawOptions(
  options: AgentOptions,
  programs: readonly RegisteredProgram[],
  found?: SystemFacts,
): RawOptions {
  const { replay, apiKey, baseUrl, approve, ask, webFetch, hooks = {} } = options;
  checkHeaders(options.headers, options.provider);
  const policy = hookPolicy(hooks);
  const raw = configOptions(options, {
    approval: approve && { ask: "changes" },
    ask_user: ask && true,
    web_fetch: webFetch && true,
    hooks: policy,
  });
  return {
    ...raw,
    patches: found === undefined ? raw.patches : [{ facts: found }, ...raw.patches],
    tools: (options.tools ?? []).map(rawTool),
    programs: programs.map(rawProgram),
    base_url: baseUrl,
    key: typeof apiKey === "string" ? apiKey : "",
    sends: options.fetch !== undefined || typeof apiKey === "function",
    page: platform().page,
    replay: rawReplay(replay),
    approve: approve !== undefined,
    answer: ask !== undefined,
    hooks: policy.points,
    // A replay needs the lines, too: only they hold the heads of the recorded responses.
    log: options.log === true || options.onLine !== undefined || replay !== undefined,
  };
}

/** Returns the options of a bare session's configuration as the binding takes them. */
export function rawConfig(options: ConfigOptions): RawOptions {
  checkKeys(options, Object.keys(CONFIG));
  checkConfigOptions(options);
  return configOptions(options, {});
}

// The part that agents and bare sessions share; the user's `config` wins over `more`.
function configOptions(options: ConfigOptions, more: object): RawOptions {
  const { provider, model, fallbacks = [], models, preset, id, config } = options;
  // No agents are started unless the user asks for it, as by naming some: each costs money that
  // nobody expects.
  const wanted = options.agents === undefined ? false : {};
  const subagents = subagentsOf(options.subagents ?? wanted);
  const patches: object[] = [{ ...optionsPatch(options), subagents, ...more }];
  if (config !== undefined) patches.push(config);
  return {
    id: text("id", id) ?? newId(),
    provider,
    model,
    fallbacks: fallbacks.map(rawFallback),
    models: isObject(models) ? givenJson(models, undefined, "models.") : text("models", models),
    preset: text("preset", preset),
    patches,
    tools: [],
    programs: [],
    skills: skillsOf(options.skills),
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

// Refuses headers that cannot be sent, and the one that carries the key: only `apiKey` is masked.
function checkHeaders(headers: AgentOptions["headers"], provider: string | undefined): void {
  // Node loads its whole `fetch` for the first `Headers`, so that none is made without need.
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

// Returns a model that takes over as the binding takes it.
function rawFallback({ baseUrl, apiKey, ...fallback }: Fallback): object {
  return { ...fallback, base_url: baseUrl, key: apiKey };
}

/** Returns a program as the binding takes it. */
export function rawProgram({ name, description }: RegisteredProgram): object {
  return { name, description };
}

function rawReplay(replay: AgentOptions["replay"]): object | undefined {
  if (replay === undefined) return undefined;
  const { traffic, paceMs = 0 } = typeof replay === "string" ? { traffic: replay } : replay;
  if (typeof traffic !== "string") throw bad("`replay` must be the recording's text");
  return nested("replay", { traffic: traffic.replace(ORIGIN, ""), paceMs });
}

/**
 * The first line of a recording, which may name the settings of its making; here the options count
 * instead. Its line feed stays, so that errors name the lines after it by their numbers.
 */
const ORIGIN = /^\{"recording":1,[^\n]*/;

/** Returns a random UUID. */
export function newId(): string {
  // Browsers offer `crypto.randomUUID` only on pages that are served with TLS.
  if (typeof crypto.randomUUID === "function") return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
