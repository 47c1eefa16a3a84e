/**
 * Why a call was refused. Each is a mistake of the caller; what fails in the world is an event
 * and a result with a status instead.
 *
 * - `unknown_provider`: no such provider; the message names those there are.
 * - `missing_key`: neither `apiKey`, `fetch` nor `replay` was given.
 * - `bad_option`: an option's value does not fit; the message names the option.
 * - `bad_program`: a program is not a WebAssembly module, or could not be loaded.
 * - `bad_path`: a path leads out of the workspace, or names a folder where a file is needed.
 * - `bad_snapshot`: the bytes are not a snapshot of this version.
 * - `replay_unreadable`: the recording cannot be read; the message says where.
 * - `busy`: a run is under way; use `steer` or `followUp`, or interrupt it first.
 * - `closed`: the agent is closed.
 * - `unsupported`: this platform or version does not offer it.
 * - `internal`: a fault of our own.
 */
export type AgentErrorCode =
  | "unknown_provider"
  | "missing_key"
  | "bad_option"
  | "bad_program"
  | "bad_path"
  | "bad_snapshot"
  | "replay_unreadable"
  | "busy"
  | "closed"
  | "unsupported"
  | "internal";

/** A misuse of the interface. */
export class AgentError extends Error {
  override readonly name = "AgentError";
  /** Why, for programs. */
  readonly code: AgentErrorCode;

  constructor(code: AgentErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** Runs `call` of the binding; what it throws, `{code, message}`, becomes an {@link AgentError}. */
export function guarded<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    const { code, message } = error as Partial<AgentError>;
    if (error instanceof Error || code === undefined) {
      throw error instanceof AgentError ? error : new AgentError("internal", String(error));
    }
    throw new AgentError(code, message ?? code);
  }
}
