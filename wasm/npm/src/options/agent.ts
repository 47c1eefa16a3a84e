// The types of an agent's options beside its configuration, of its forks and later changes, and of
// the options of a bare session. Checks of their values are in `raw.ts` and `changes.ts`.

import type { AgentEvent } from "../json/events.js";
import type { HttpResponse, ResponseLike, Signal } from "../platform/globals.js";
import type { Programs, WasiTool } from "../programs/sources.js";
import type { FileSystem } from "../workspace/filesystem.js";
import type { Approve, AskUser, Hooks } from "./asked.js";
import type { ConfigOptions, NamedAgent } from "./config.js";
import type { ApiKey } from "./key.js";
import type { ProviderName } from "./provider.js";
import type { Tool, WebFetch } from "./tool.js";

/** The options of {@link Agent.create}. */
// biome-ignore lint/suspicious/noExplicitAny: any schema has a place in it.
export interface AgentOptions<Schema = any> extends ConfigOptions<Schema> {
  /**
   * The provider's key; local servers need none. A function is called for each request, for keys
   * with a short life. The key stays in the driver: no event, error, log or snapshot holds it, and
   * where it appears in a response or a result, it is masked.
   */
  apiKey?: ApiKey | undefined;
  /** Sends the requests instead of the platform's `fetch`, for example to a proxy with the key. */
  fetch?: FetchFunction | undefined;
  /** Another origin (and path prefix) than the provider's own. Redirects are never followed. */
  baseUrl?: string | undefined;
  /** Further headers of each request; they win over the package's and are not masked. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Parameters behind the address of each request, such as Azure's `api-version`. */
  query?: Readonly<Record<string, string>> | undefined;
  /** Recorded model traffic that answers instead of a model: its text, or its text and pace. */
  replay?: string | Replay | undefined;
  /**
   * The workspace: contents by relative paths with `/`; or the `files` of another agent, which both
   * then share; or a file system of your own.
   */
  files?: FilesInput | FileSystem | undefined;
  /** Your own tools. Among equal names the last one wins, also over a built-in tool. */
  tools?: readonly (Tool | WasiTool)[] | undefined;
  /**
   * Programs (WASI preview 1) that the agent may run over the workspace, by name. With one named
   * `bash`, such as the package `innerloop-shell`, the model has a tool for command lines.
   */
  programs?: Programs | undefined;
  /**
   * Decides whether a call may run. If given, it is asked about calls that may change something;
   * `config: { approval: { ask } }` changes that: `programs` lets changes of files pass,
   * `everything` asks about reading, too.
   */
  approve?: Approve | undefined;
  /** Answers the model's questions; if given, the model has the tool `ask_user`. */
  ask?: AskUser | undefined;
  /**
   * Reads pages of the web for the model; if given, the model has a tool for it. The function
   * decides which pages may be read, and returns what a tool may return.
   */
  webFetch?: WebFetch | undefined;
  /** Functions that are called in the loop, and may deny or replace what they are given. */
  hooks?: Hooks | undefined;
  /** True to keep the session's log for {@link Agent.log}. */
  log?: boolean | undefined;
  /**
   * Takes each line of the session's log, with its line feed, before anything that follows from it
   * is done. If you write it down within the call, the session survives a crash; a promise is not
   * awaited.
   */
  onLine?: OnLine | undefined;
  /** Takes every event from the first on, which `subscribe` may miss. */
  onEvent?: ((event: AgentEvent) => void) | undefined;
}

/** Files by path. */
export type FilesInput =
  | Readonly<Record<string, string | Uint8Array>>
  | Iterable<readonly [string, string | Uint8Array]>;

/** Recorded model traffic. */
export interface Replay {
  /** The recording's text. */
  traffic: string;
  /** A pause before each piece of a streamed reply, so that people can watch; 0 if left out. */
  paceMs?: number | undefined;
}

/** The part of `fetch` that an agent uses. */
export type FetchFunction = (url: string, init: FetchInit) => Promise<HttpResponse | ResponseLike>;

/** The request that a function instead of `fetch` gets beside the address. */
export interface FetchInit {
  method: "POST";
  headers: Record<string, string>;
  body: string;
  signal: Signal;
  redirect: "manual";
  /**
   * Tells that the request waits in a queue, with the number of those before it, or, without a
   * number, that it is sent now. The time that it waits does not count as the model's silence.
   */
  held(ahead?: number): void;
}

/**
 * A function that takes the lines of a log. `first` begins a log that replaces all lines before:
 * at the start, and again if a fault of the package ends the session's log. The lines between the
 * first and a `snapshot` may be dropped.
 */
export type OnLine = (line: string, kind: "first" | "input" | "snapshot") => void;

/**
 * The options of {@link Agent.restore}: those of {@link Agent.create}. An option replaces its part
 * of the configuration; what is left out stays as in the snapshot.
 */
// biome-ignore lint/suspicious/noExplicitAny: any schema has a place in it.
export type RestoreOptions<Schema = any> = AgentOptions<Schema>;

/** The options of {@link Agent.fork}. */
export interface ForkOptions {
  /** The number of turns of the history that the fork has; all if left out. */
  turns?: number | undefined;
  /** Its session's id; a new UUID if left out. */
  id?: string | undefined;
  /** Its workspace; a copy in memory of the agent's if left out. */
  files?: FilesInput | undefined;
  /** Takes its events from the first on. */
  onEvent?: ((event: AgentEvent) => void) | undefined;
  /** Takes the lines of its log. */
  onLine?: OnLine | undefined;
}

/**
 * The options of {@link Agent.configure}, in force from the next model call on. Those without a
 * description here are as in {@link AgentOptions}.
 */
export interface Changes
  extends Pick<
      ConfigOptions,
      | "vocabulary"
      | "instructions"
      | "builtins"
      | "toolsShown"
      | "results"
      | "toolChoice"
      | "limits"
      | "budget"
      | "loops"
      | "compaction"
      | "corrections"
      | "firewall"
      | "answer"
      | "subagents"
      | "facts"
      | "maxOutputTokens"
      | "contextWindow"
      | "betas"
      | "providerOptions"
      | "retry"
      | "timeouts"
      | "config"
    >,
    Pick<AgentOptions, "apiKey" | "fetch" | "baseUrl" | "headers" | "query"> {
  /**
   * Another provider. The history stays. What belongs to the provider before is dropped, unless it
   * is given too: `model`, `apiKey`, `baseUrl`, `headers`, `query`, `betas`, `providerOptions`.
   */
  provider?: ProviderName | undefined;
  /** Another model, with its windows and price. */
  model?: string | undefined;
  /** Another effort; `null` goes back to the provider's default. */
  reasoningEffort?: string | null | undefined;
  /** Another beginning of the system prompt; `null` goes back to the package's own. */
  systemPrompt?: string | null | undefined;
  /** Another temperature; `null` goes back to the provider's default. */
  temperature?: number | null | undefined;
  /**
   * Further agents by name, or others of a name; `null` takes a name away. Those that were started
   * stay as they are. `subagents` must allow any.
   */
  agents?: Readonly<Record<string, NamedAgent | null>> | undefined;
}

/** The options of {@link Session.open} and the like. */
export interface OpenOptions {
  /** The wall time, in milliseconds since 1970; now if left out. */
  wall?: number | undefined;
  /** True if each step is to have its line of the log. */
  log?: boolean | undefined;
}
