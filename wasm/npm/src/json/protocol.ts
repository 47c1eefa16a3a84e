// What goes into a session and what follows from it, as JSON. What goes through this door is an
// object with one key, its kind, whose value is `null` if there is nothing to say. Samples of
// every variant, made by the core, are held against these types in both directions.

import type { ApprovalRule, HookPoint, ModelConfig, Patch, SessionConfig } from "./config.js";
import type { Action, Outcome, Part, SessionTurn } from "./data.js";
import type { AgentEvent } from "./events.js";

/** One thing that happened. */
export type Input =
  /** A word to an agent; the session's own is 0. */
  | { command: { agent: number; command: Command } }
  /** News of an HTTP exchange. */
  | { http: { id: number; input: HttpInput } }
  /** News of a tool's run. */
  | { tool: { id: number; input: ToolInput } }
  /** A person's answer. */
  | { answer: { id: number; answer: Answer } }
  /** A hook's reply. */
  | { hook: { id: number; reply: HookReply } }
  /** Nobody knows what became of the effect, for example after a crash. */
  | { lost: { id: number } }
  /** Time has passed: fires every deadline that is due. */
  | { tick: null };

/** A word to an agent. */
export type Command =
  /** The user's input; starts a run. Refused while one is under way. */
  | { submit: { parts: Part[]; options?: InputOptions } }
  /** A message for the model after the current round of tools. */
  | { steer: { parts: Part[] } }
  /** An input for when the current one is done. */
  | { follow_up: { parts: Part[]; options?: InputOptions } }
  /** A change of the configuration, in force from the next model call. */
  | { configure: { patch: Patch<SessionConfig> } }
  /** Takes back the newest steps; a step begins with each input. Refused during a run. */
  | { undo: { steps?: number } }
  /** Puts back steps that were taken back. */
  | { redo: { steps?: number } }
  /** The model sees again what it saw when the log had so many turns. */
  | { restore: { at: number } }
  /** The model sees nothing of what was said so far. Can be undone. */
  | { clear: null }
  /** Takes over what was said elsewhere. */
  | { import: { turns: SessionTurn[] } }
  /** The oldest turns are summed up; refused while a run is under way. */
  | { compact: { instructions: string | null } }
  /** Stops the run; the session stays usable. */
  | { interrupt: null }
  /** Ends the session. */
  | { close: null };

/** What holds for one input only; see `TurnOptions`. */
export interface InputOptions {
  tools?: string[];
  hide?: boolean;
  paths?: string[];
  tool_choice?: ModelConfig["tool_choice"];
  temperature?: number;
}

/** What comes before a response's body. Names are in lower case. */
export interface ResponseHead {
  status: number;
  headers: [string, string][];
  /** The wall time in milliseconds since 1970, 0 if unknown. */
  at: number;
}

/** News of an HTTP exchange: a head, chunks, an end. A failure may come at any time. */
export type HttpInput =
  /** The request waits, and so many go first; `null` when it goes out. */
  | { held: { ahead: number | null } }
  | { head: ResponseHead }
  /** A piece of the body, cut anywhere. */
  | { chunk: Bytes }
  /** The body is whole. Answers the effect. */
  | { end: null }
  /** The exchange broke, was cancelled or was not begun. Answers the effect. */
  | {
      failed: { kind: "network" | "timeout" | "cancelled" | "refused"; message: string };
    };

/** Bytes: as text where they are UTF-8. */
export type Bytes = string | { base64: string };

/** News of a tool's run. */
export type ToolInput =
  /** Output while it runs, for people to watch. */
  | { delta: string }
  /** The run goes on in the background; not offered by this version. */
  | { parked: { handle: string; outcome: Outcome } }
  /** The run is over. Answers the effect. */
  | { done: Outcome };

/** A person's answer. */
export type Answer =
  | { allow: null }
  /** Also every later call of the tool. */
  | { allow_always: null }
  /** Also later calls that the rule names. */
  | { allow_rule: ApprovalRule }
  /** With these arguments, which are checked again. */
  | { allow_edited: unknown }
  /** The reason is for the model to read. */
  | { deny: { reason: string } }
  /** The run is to stop. */
  | { abort: null }
  /** What the person says to a question. */
  | { text: string };

/** A hook's reply. */
export type HookReply =
  | { allow: null }
  /** The reason is for the model to read. */
  | { deny: { reason: string } }
  /** Go on with this in its place. */
  | { replace: unknown }
  /** The hook itself broke. */
  | { failed: { message: string } };

/** An object with one of these fields, and none of the others. */
export type OneOf<T> = {
  [K in keyof T]: { [P in K]: T[P] } & { [P in Exclude<keyof T, K>]?: undefined };
}[keyof T];

/** A thing to do or a thing to know. */
export type Output = OneOf<{ effect: Effect; event: AgentEvent }>;

/**
 * A thing to do. Each but `cancel` is owed exactly one answer under its `id`; together with the
 * session's id that is its idempotency key.
 */
export type Effect = OneOf<{
  /** Send a request; answered by `http` inputs. `purpose` is what it is for. */
  http: {
    id: number;
    agent: number;
    request: HttpRequest;
    purpose: "model" | "summary" | "mcp";
  };
  /** Run a tool; answered by `tool` inputs. */
  run_tool: { id: number; agent: number; run: ToolRun };
  /** Ask a person; answered by `answer`. Deny a question of a kind that you do not know. */
  ask: { id: number; agent: number; ask: Ask };
  /** Run a hook; answered by `hook`. */
  run_hook: { id: number; agent: number; hook: { point: HookPoint; payload: unknown } };
  /** Stop the effect of that id, which still owes its answer; after `grace_ms` it is lost. */
  cancel: { id: number; grace_ms: number };
}>;

/** A request to an endpoint: its origin and key are yours to add. */
export interface HttpRequest {
  /** As in the configuration's `model.endpoint`. */
  endpoint: string;
  /** The path below the endpoint's base URL, with its leading `/`. */
  path: string;
  /** Without any secret. */
  headers: [string, string][];
  /** The body of a POST: JSON text. */
  body: string;
}

/** One run of a tool. */
export interface ToolRun {
  /** The call's id, as the model gave it. */
  call_id: string;
  /** The tool's name, as the model is shown it. */
  name: string;
  /** A built-in tool's action, which `Files.perform` does; or your own tool's arguments. */
  job: OneOf<{ builtin: Action; custom: unknown }>;
  /** The folder of the workspace that the calling agent works in; the root if absent. */
  folder?: string;
  /** After how long to stop it and to answer with what there is, `timed_out` set. */
  /**
   * Where the guard is on, what the model knows of the files that a built-in action names: their
   * digests, an empty text for any content, `null` for what it has not seen.
   */
  known?: (string | null)[];
  timeout_ms: number;
}

/** A question to a person. */
export type Ask = OneOf<{
  /** May this call run? What it finds depends on the calls `after` which it comes, if any. */
  approval: {
    call_id: string;
    name: string;
    arguments: unknown;
    folder?: string;
    after?: string[];
  };
  /** A question of the model. */
  question: { text: string };
  /** A question of a tool server, and what the answer must look like. */
  elicitation: { message: string; schema: unknown };
}>;

/** When to send `{ tick: null }` if nothing else happens. */
export interface Deadline {
  /** In session time. */
  at: number;
  /** What is waited for. */
  reason: "retry" | "model_idle" | "grace" | "wait" | "budget";
}

/** Why an input was refused. */
export type Reason =
  /** A `submit` or `compact` while a run is under way. */
  | { busy: null }
  /** The session is closed. */
  | { closed: null }
  | { unknown_agent: number }
  /** The session never issued such an effect. */
  | { unknown_effect: number }
  /** The answer is of another kind than the effect. */
  | { wrong_kind: number }
  /** A body before its head. */
  | { out_of_order: number }
  /** A message with nothing in it. */
  | { empty: null }
  /** There is nothing to do it to. */
  | { nothing: string }
  /** Why turns cannot be taken over. */
  | { import: string }
  /** The field of the configuration that cannot work, and why. */
  | { config: { field: string; message: string } }
  /** What the session may spend is used up. */
  | { budget: null }
  | { unsupported: string };

/** A refused input and why; the session is as it was. */
export interface Rejected {
  input: Input;
  reason: Reason;
}
