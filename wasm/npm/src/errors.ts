// What this package throws, and what a thrown error says.

import type { Input, Reason } from "./json/protocol.js";

/**
 * Why a call was refused. Each is a mistake of the caller; what fails in the world is an event
 * and a result with a status instead.
 *
 * - `unknown_provider`: no such provider; the message names those there are.
 * - `missing_key`: neither `apiKey`, `fetch` nor `replay` was given.
 * - `bad_option`: an option's value does not fit; the message names the option.
 * - `bad_program`: a program is not a WebAssembly module, or could not be loaded.
 * - `bad_tool`: what `wasiTool` was given makes no tool; the message names the file and the field.
 * - `bad_path`: a path leads out of the workspace, or names a folder where a file is needed.
 * - `bad_snapshot`: the bytes are not a snapshot that this version reads.
 * - `bad_log`: the text is not a log that this version reads; the message names the line.
 * - `replay_unreadable`: the recording cannot be read; the message says where.
 * - `busy`: a run is under way; use `steer` or `followUp`, or interrupt it first.
 * - `closed`: the agent is closed.
 * - `nothing`: there is nothing to undo, to redo, to restore or to clear.
 * - `rejected`: a `Session` refuses an input; the error is a `RejectedError`.
 * - `not_loaded`: the package's WebAssembly could not be loaded; the message says what to do.
 * - `unsupported`: this platform or version does not offer it.
 * - `internal`: a fault of our own.
 */
export type AgentErrorCode =
  | "unknown_provider"
  | "missing_key"
  | "bad_option"
  | "bad_program"
  | "bad_tool"
  | "bad_path"
  | "bad_snapshot"
  | "bad_log"
  | "replay_unreadable"
  | "busy"
  | "closed"
  | "nothing"
  | "rejected"
  | "not_loaded"
  | "unsupported"
  | "internal";

/** A misuse of the interface. */
export class AgentError extends Error {
  override readonly name: string = "AgentError";
  /** Why, for programs. */
  readonly code: AgentErrorCode;

  constructor(code: AgentErrorCode, message: string, options?: { cause: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** An input that a `Session` refuses. The session is as it was. */
export class RejectedError extends AgentError {
  override readonly name = "RejectedError";
  /** The input, whole. */
  readonly input: Input;
  /** Why it is refused. */
  readonly reason: Reason;

  constructor(message: string, input: Input, reason: Reason) {
    super("rejected", message);
    this.input = input;
    this.reason = reason;
  }
}

/** What an error says, with its cause if it names one; what is no error says itself. */
export function messageOf(error: unknown): string {
  const said = (thrown: unknown): string | undefined => {
    const message = (thrown as Partial<Error> | null | undefined)?.message;
    return typeof message === "string" ? message : undefined;
  };
  const message = said(error);
  if (message === undefined) return typeof error === "string" ? error : shown(error);
  const cause = said((error as Error).cause);
  return cause ? `${message} (${cause})` : message;
}

// What was thrown and has no message, shortly.
function shown(thrown: unknown): string {
  if (thrown === undefined || thrown === null) return "it failed without a word";
  try {
    return `it failed with ${(JSON.stringify(thrown) ?? String(thrown)).slice(0, 200)}`;
  } catch {
    return `it failed with a value of type ${typeof thrown}`;
  }
}
