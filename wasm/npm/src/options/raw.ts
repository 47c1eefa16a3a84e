// Checks the options and turns them into what the binding takes: JSON. What only the driver can
// tell (a key that is missing) it checks.

import { endpointOf } from "../binding/providers.js";
import { messageOf } from "../errors.js";
import { platform } from "../platform/platform.js";
import type { RegisteredProgram } from "../programs/registry.js";
import type { AgentOptions, ForkOptions } from "./agent.js";
import type { ConfigOptions } from "./config.js";
import { givenJson } from "./given.js";
import { checkHooks, hookPolicy } from "./hooks.js";
import { checkKey } from "./key.js";
import { checkConfigOptions, nested, optionsPatch, subagentsOf } from "./patch.js";
import { CONFIG, OPTIONS } from "./table.js";
import { checkTool, rawTool } from "./tool.js";
import { bad, checkFunction, checkKeys, checkTexts, count, isObject, text } from "./values.js";

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

/** What the binding takes, made of checked options. */
export function rawOptions(
  options: AgentOptions,
  programs: readonly RegisteredProgram[],
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
    // Of a recording the lines tell what it answers.
    log: options.log === true || options.onLine !== undefined || replay !== undefined,
  };
}

/** What the binding takes for a bare session's configuration. */
export function rawConfig(options: ConfigOptions): RawOptions {
  checkKeys(options, Object.keys(CONFIG));
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

/** A program as the binding takes it. */
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
