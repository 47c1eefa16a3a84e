// Checks the options and turns them into what the binding takes.

import { AgentError } from "./errors.js";
import { docNames } from "./innerloop_wasm.js";
import type { LoadedProgram } from "./programs.js";
import { type Provider, findProvider, modelOf } from "./providers.js";
import { platform } from "./platform.js";
import type {
  AgentOptions,
  Changes,
  FetchFunction,
  FilesInput,
  Limits,
  Part,
  Replay,
  RestoreOptions,
  RetryPolicy,
  Timeouts,
  Tool,
} from "./types.js";

const KEYS = new Set<string>([
  "provider",
  "model",
  "apiKey",
  "fetch",
  "baseUrl",
  "vocabulary",
  "models",
  "replay",
  "files",
  "tools",
  "programs",
  "instructions",
  "limits",
  "maxOutputTokens",
  "contextWindow",
  "reasoningEffort",
  "retry",
  "timeouts",
  "id",
  "onEvent",
] satisfies (keyof AgentOptions)[]);

// The options that have options of their own.
const NESTED = {
  limits: ["maxTurns", "maxToolRounds"] satisfies (keyof Limits)[],
  retry: [
    "maxRetries",
    "baseMs",
    "maxMs",
    "maxRetryAfterMs",
    "idleMs",
  ] satisfies (keyof RetryPolicy)[],
  timeouts: ["defaultMs", "maxMs"] satisfies (keyof Timeouts)[],
  replay: ["traffic", "paceMs"] satisfies (keyof Replay)[],
};

// What a snapshot holds. The first can be changed in a restored agent, the others cannot.
const CHANGEABLE = ["model", "instructions", "limits", "reasoningEffort"];
const FIXED = [
  "maxOutputTokens",
  "contextWindow",
  "vocabulary",
  "models",
  "retry",
  "timeouts",
  "id",
];

/** A file of the workspace: its path and its content. */
export type FileEntry = readonly [string, string | Uint8Array];

/** What the binding takes beside the host's functions. */
export interface RawOptions {
  /** The configuration as JSON text: the module reads the log in the same form. */
  config: string;
  tools: { name: string; description: string; parameters: string; read_only: boolean }[];
  endpoint: {
    id: string;
    base: string;
    key_header: string;
    key_prefix: string;
    key: string;
    headers: string[][];
  };
  replay: { traffic: string; pace_ms: number } | undefined;
}

/** Checks what can be checked without loading anything. */
export function checkOptions(options: AgentOptions): void {
  if (typeof options !== "object" || options === null) throw bad("give an object of options");
  for (const key of Object.keys(options)) {
    if (!KEYS.has(key)) throw bad(`there is no option \`${key}\``);
  }
  checkNested("limits", options.limits);
  checkNested("retry", options.retry);
  checkNested("timeouts", options.timeouts);
  if (typeof options.replay !== "string") checkNested("replay", options.replay);
  const { apiKey, fetch, model, vocabulary = "native", onEvent } = options;
  if (model !== undefined && (typeof model !== "string" || model === "")) {
    throw bad("`model` must be a model's name, as the provider knows it");
  }
  if (vocabulary !== "native" && vocabulary !== "seed") {
    throw bad('`vocabulary` must be "native" or "seed"');
  }
  if (fetch !== undefined && typeof fetch !== "function") throw bad("`fetch` must be a function");
  if (onEvent !== undefined) checkListener("onEvent", onEvent);
  if (apiKey !== undefined && typeof apiKey !== "string") throw bad("`apiKey` must be a text");
  const { tools = [], files = {}, programs = {} } = options;
  if (!Array.isArray(tools)) throw bad("`tools` must be a list of tools");
  for (const tool of tools) checkTool(tool);
  for (const [name, value] of Object.entries({ files, programs })) {
    if (typeof value !== "object" || value === null) throw bad(`\`${name}\` must be an object`);
  }
}

// Checks what only the table of providers tells.
function checkProvider(options: AgentOptions, provider: Provider): void {
  const { replay, apiKey, fetch, model, baseUrl } = options;
  if (replay !== undefined) return;
  if (model === undefined && provider.default_model === null) {
    throw bad("`model` is missing: name the model as the provider knows it");
  }
  if (!apiKey && fetch === undefined && !provider.key_optional) {
    const hint = "give `apiKey`, or `fetch` if a proxy adds the key, or `replay`";
    throw new AgentError("missing_key", `there is no key for the provider: ${hint}`);
  }
  if (baseUrl === undefined && provider.base_url === null) {
    const example = provider.base_url_example ?? "";
    throw bad(`\`baseUrl\` is missing: \`${provider.name}\` is at a place such as ${example}`);
  }
}

/** Checks a function that is to be called with events. */
export function checkListener(name: string, listener: unknown): void {
  if (typeof listener !== "function") throw bad(`\`${name}\` must be a function`);
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

/** The files of the options, each with a path and a content. */
export function filesOf(files: FilesInput = []): FileEntry[] {
  const entries: unknown[] = [...(Symbol.iterator in files ? files : Object.entries(files))];
  return entries.map((entry) => {
    if (!Array.isArray(entry) || typeof entry[0] !== "string") {
      throw bad("`files` must be an object of paths, or a list of pairs: path and content");
    }
    const [path, content] = entry as [string, unknown];
    if (typeof content === "string" || content instanceof Uint8Array) return [path, content];
    throw bad(`the content of \`${path}\` must be text or bytes`);
  });
}

/** Checks the options of a restored agent, and adds a model's name: the snapshot has it. */
export function checkedRestore(options: RestoreOptions): AgentOptions {
  if (typeof options !== "object" || options === null) {
    throw bad("give an object of options, after the snapshot");
  }
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  for (const [key] of given) {
    const held = `\`${key}\` is as in the snapshot: leave it out`;
    if (CHANGEABLE.includes(key)) throw bad(`${held}, and change it afterwards with \`configure\``);
    if (FIXED.includes(key)) throw bad(`${held}; it cannot be changed`);
  }
  const complete = { ...Object.fromEntries(given), model: "as in the snapshot" } as AgentOptions;
  checkOptions(complete);
  return complete;
}

/** A change of the configuration as the binding takes it. */
export function rawPatch(changes: Changes): object {
  if (typeof changes !== "object" || changes === null) throw bad("give an object of changes");
  const { model, reasoningEffort, limits, instructions, ...unknown } = changes;
  const [key] = Object.keys(unknown);
  if (key !== undefined) throw bad(`there is no option \`${key}\` that can be changed`);
  return present({
    model: text("model", model),
    reasoning_effort: reasoningEffort,
    limits: limits === undefined ? undefined : rawLimits(limits),
    instructions: text("instructions", instructions),
  });
}

/** What the binding takes, made of checked options. */
export function rawOptions(
  options: AgentOptions,
  programs: readonly LoadedProgram[],
  files: readonly FileEntry[],
): RawOptions {
  const provider = findProvider(options.provider, options.replay !== undefined);
  checkProvider(options, provider);
  const { replay, apiKey = "" } = options;
  const headers = platform().page ? provider.page_headers : [];
  return {
    config: JSON.stringify(sessionConfig(options, provider, programs, files)),
    tools: (options.tools ?? []).map(rawTool),
    endpoint: {
      id: provider.name,
      base: baseOf(options.baseUrl, provider.base_url ?? "http://localhost"),
      key_header: provider.auth.header,
      key_prefix: provider.auth.prefix,
      key: checkedKey(apiKey),
      headers,
    },
    replay: replay === undefined ? undefined : rawReplay(replay),
  };
}

function sessionConfig(
  options: AgentOptions,
  provider: Provider,
  programs: readonly LoadedProgram[],
  files: readonly FileEntry[],
): object {
  const { limits, retry = {}, timeouts = {} } = options;
  const name = options.model ?? provider.default_model ?? "recorded";
  const model = modelOf(provider, name, options.vocabulary ?? "native", catalogue(options.models));
  return present({
    id: text("id", options.id) ?? newId(),
    model: {
      ...model,
      ...present({
        max_output_tokens: count("maxOutputTokens", options.maxOutputTokens),
        context_window: count("contextWindow", options.contextWindow),
        reasoning_effort: text("reasoningEffort", options.reasoningEffort),
      }),
    },
    limits: rawLimits(limits),
    retry: present({
      max_retries: count("retry.maxRetries", retry.maxRetries),
      base_ms: count("retry.baseMs", retry.baseMs),
      max_ms: count("retry.maxMs", retry.maxMs),
      max_retry_after_ms: count("retry.maxRetryAfterMs", retry.maxRetryAfterMs),
      idle_ms: count("retry.idleMs", retry.idleMs),
    }),
    timeouts: present({
      default_command_ms: count("timeouts.defaultMs", timeouts.defaultMs),
      max_command_ms: count("timeouts.maxMs", timeouts.maxMs),
    }),
    facts: {
      working_directory: "/",
      platform: "wasm",
      date: new Date().toISOString().slice(0, 10),
      programs: programs.map(({ name, description }) => ({ name, description })),
      project_docs: projectDocs(model.profile, files),
    },
    instructions: text("instructions", options.instructions),
  });
}

// The project's instruction files at the workspace's root, those that the model family reads.
function projectDocs(profile: string, files: readonly FileEntry[]): object[] {
  const rooted = files.map(([path, content]) => [path.replace(/^(\.?\/)+/u, ""), content] as const);
  const byPath = new Map(rooted);
  return docNames(profile).flatMap((path) => {
    const content = byPath.get(path);
    if (content === undefined) return [];
    const text = typeof content === "string" ? content : new TextDecoder().decode(content);
    return [{ path, text }];
  });
}

// The limits as the core has them; those left out are none.
function rawLimits(limits: Limits = {}): object {
  checkNested("limits", limits);
  return present({
    max_turns: count("limits.maxTurns", limits.maxTurns),
    max_tool_rounds_per_input: count("limits.maxToolRounds", limits.maxToolRounds),
  });
}

/** What the user says, as parts. */
export function partsOf(input: string | readonly Part[]): readonly Part[] {
  if (typeof input === "string") return [{ type: "text", text: input }];
  if (Array.isArray(input)) return input as readonly Part[];
  throw bad("say a text, or a list of parts");
}

/** The user's `fetch` behind the one signature that the binding calls. */
export function sender(
  fetch: FetchFunction | undefined,
): ((request: Request) => Promise<Response>) | undefined {
  if (fetch === undefined) return undefined;
  return async (request) => {
    const { url, method, signal } = request;
    const headers = Object.fromEntries(request.headers);
    const body = await request.text();
    return fetch(url, { method, headers, body, signal, redirect: "manual" });
  };
}

// A catalogue of models as text.
function catalogue(models: string | object | undefined): string | undefined {
  return typeof models === "object" ? JSON.stringify(models) : text("models", models);
}

// Only what is there: an absent field is the core's default.
function present(fields: Record<string, unknown>): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function bad(message: string): AgentError {
  return new AgentError("bad_option", message);
}

// An option that is not understood is refused: ignored, it would seem to be in force.
function checkNested(name: keyof typeof NESTED, value: unknown): void {
  if (value === undefined) return;
  const known: readonly string[] = NESTED[name];
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    const kind = name === "replay" ? "the recording's text, or an object" : "an object";
    throw bad(`\`${name}\` must be ${kind} with ${known.join(", ")}`);
  }
  const key = Object.keys(value).find((key) => !known.includes(key));
  if (key !== undefined) {
    throw bad(`there is no option \`${name}.${key}\`; there is ${known.join(", ")}`);
  }
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

function checkTool(tool: Tool): void {
  if (typeof tool?.name !== "string" || !/^[A-Za-z0-9_-]{1,64}$/.test(tool.name)) {
    throw bad("a tool's `name` must be 1 to 64 letters, digits, `_` or `-`");
  }
  if (typeof tool.description !== "string") throw bad(`\`${tool.name}\` needs a \`description\``);
  if (typeof tool.execute !== "function")
    throw bad(`\`${tool.name}\` needs a function \`execute\``);
}

function rawTool(tool: Tool): RawOptions["tools"][number] {
  const schema = tool.parameters ?? { type: "object", properties: {} };
  const { name, description, readOnly = false } = tool;
  return { name, description, parameters: JSON.stringify(schema), read_only: readOnly };
}

function rawReplay(replay: NonNullable<AgentOptions["replay"]>): RawOptions["replay"] {
  const { traffic, paceMs = 0 } = typeof replay === "string" ? { traffic: replay } : replay;
  if (typeof traffic !== "string") throw bad("`replay` must be the recording's text");
  return { traffic, pace_ms: count("replay.paceMs", paceMs) ?? 0 };
}

function baseOf(given: string | undefined, standard: string): string {
  if (given === undefined) return standard;
  const url = urlOf(given);
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw bad("`baseUrl` must be an http or https address");
  }
  if (url.username || url.password || url.search || url.hash) {
    throw bad("`baseUrl` must have no user name, query or fragment: give the key as `apiKey`");
  }
  return url.href.replace(/\/+$/, "");
}

function urlOf(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

// A random UUID. `crypto.randomUUID` is missing on pages that are served without TLS.
function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

// A header cannot carry anything else, and the platform's error would show the key.
function checkedKey(key: string): string {
  if (/^[\x21-\x7e]*$/.test(key)) return key;
  throw bad("`apiKey` has characters that no key has: a space or a line break, perhaps");
}
