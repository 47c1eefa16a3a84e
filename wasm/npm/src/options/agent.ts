// What an agent is created with beside its configuration, how a fork of it differs, and what can be
// changed while it lives; and how a bare session is opened.

import type { AgentEvent } from "../json/events.js";
import type { HttpResponse, ResponseLike, Signal } from "../platform/globals.js";
import type { Programs, WasiTool } from "../programs/sources.js";
import type { FileSystem } from "../workspace/filesystem.js";
import type { Approve, AskUser, Hooks } from "./asked.js";
import type { ConfigOptions } from "./config.js";
import type { ApiKey } from "./key.js";
import type { ProviderName } from "./provider.js";
import type { Tool, WebFetch } from "./tool.js";

/** What an agent is created with. */
// biome-ignore lint/suspicious/noExplicitAny: any schema has a place in it.
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

/**
 * Takes a line of a log. `first` begins a log, in place of what was written before: the agent's
 * first, and another one should the package itself break. The lines between the first and a
 * `snapshot` may be dropped.
 */
export type OnLine = (line: string, kind: "first" | "input" | "snapshot") => void;

/**
 * What a restored agent is given: the options with which one is created. What they say of the
 * configuration is in force, and what they leave out stays as in the snapshot.
 */
// biome-ignore lint/suspicious/noExplicitAny: any schema has a place in it.
export type RestoreOptions<Schema = any> = AgentOptions<Schema>;

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

/**
 * What can be changed while an agent lives, in force from the next model call. What is not
 * described here is as in the options.
 */
export interface Changes
  extends Pick<
      ConfigOptions,
      | "vocabulary"
      | "instructions"
      | "builtins"
      | "toolChoice"
      | "limits"
      | "budget"
      | "loops"
      | "compaction"
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
   * Another provider. What was said stays; what belongs to the one before is dropped, unless it is
   * given with it: `model`, `apiKey`, `baseUrl`, `headers`, `query`, `betas`, `providerOptions`.
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
}

/** How a bare session is opened. */
export interface OpenOptions {
  /** The wall time, in milliseconds since 1970; now if left out. */
  wall?: number | undefined;
  /** Whether each step comes with its line of the log. */
  log?: boolean | undefined;
}
