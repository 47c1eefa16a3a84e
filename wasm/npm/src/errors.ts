// The package's errors, and texts of errors that others throw.

import type { Input, Reason } from "./json/protocol.js";

/**
 * The reason of an {@link AgentError}. Each but `internal` is a mistake of the caller; a failure
 * outside, such as of the network, is an event and a result with a status instead.
 *
 * - `unknown_provider`: there is no such provider; the message names the known ones.
 * - `missing_key`: neither `apiKey`, `fetch` nor `replay` was given.
 * - `bad_option`: an option's value does not fit; the message names the option.
 * - `bad_program`: a program is not a WebAssembly module, or could not be loaded.
 * - `bad_tool`: `wasiTool` was given parts that make no tool; the message names file and field.
 * - `bad_path`: a path leads out of the workspace, or names a folder where a file is needed.
 * - `bad_snapshot`: the bytes are not a snapshot that this version reads.
 * - `bad_log`: the text is not a log that this version reads; the message names the line.
 * - `replay_unreadable`: the recording cannot be read; the message says where.
 * - `busy`: a run is under way; use `steer` or `followUp`, or interrupt it first.
 * - `closed`: the agent is closed.
 * - `holds_secret`: what you send holds a secret, and the option `firewall` refuses it.
 * - `nothing`: there is nothing to undo, to redo, to restore or to clear.
 * - `rejected`: a `Session` refuses an input; the error is a `RejectedError`.
 * - `not_loaded`: the package's WebAssembly could not be loaded; the message says what to do.
 * - `unsupported`: this platform, version or configuration does not offer it.
 * - `internal`: a fault of innerloop itself.
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
  | "holds_secret"
  | "nothing"
  | "rejected"
  | "not_loaded"
  | "unsupported"
  | "internal";

/**
 * The error that the package throws for a misuse of its interface.
 *
 * ```js
 * try {
 *   agent.steer("Skip the tests");
 * } catch (error) {
 *   if (error instanceof AgentError && error.code === "closed") startAnother();
 * }
 * ```
 */
export class AgentError extends Error {
  override readonly name: string = "AgentError";
  /** The reason, for programs. */
  readonly code: AgentErrorCode;

  constructor(code: AgentErrorCode, message: string, options?: { cause: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** The error for an input that a `Session` refuses. The session has not changed. */
export class RejectedError extends AgentError {
  override readonly name = "RejectedError";
  /** The whole input, to be given again later. */
  readonly input: Input;
  /** The reason of the refusal. */
  readonly reason: Reason;

  constructor(message: string, input: Input, reason: Reason) {
    super("rejected", message);
    this.input = input;
    this.reason = reason;
  }
}

/** Returns an error's message, with that of its cause; for other values, a text that shows them. */
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

// A short text for a thrown value without a message.
function shown(thrown: unknown): string {
  if (thrown === undefined || thrown === null) return "it failed without a word";
  try {
    return `it failed with ${(JSON.stringify(thrown) ?? String(thrown)).slice(0, 200)}`;
  } catch {
    return `it failed with a value of type ${typeof thrown}`;
  }
}
