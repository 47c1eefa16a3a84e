// Calls into the binding. Every call goes through `guarded`, which turns what it throws into an
// error of the package and retires an instance that trapped.

import { AgentError, type AgentErrorCode, RejectedError } from "../errors.js";
import type { ConfigError, Input, Reason } from "../json/protocol.js";
import { asWritten } from "../options/names.js";
import { isError } from "../platform/kinds.js";
import { retire } from "./instance.js";

/** An object that the binding throws for a misuse; it is no `Error`, which a trap is. */
interface Misuse {
  code: AgentErrorCode;
  message: string;
  /** The field that does not fit: a `ConfigError` as JSON. */
  fault?: string;
  /** `{ input, reason }` as JSON. */
  rejected?: string;
}

/**
 * Runs `call` of the binding; what it throws becomes an {@link AgentError}. With `options` given,
 * the message names options as the user wrote them, and fields of `config` as the session has them.
 */
export function guarded<T>(call: () => T, options?: { config?: unknown }): T {
  try {
    return call();
  } catch (thrown) {
    if (thrown instanceof AgentError) throw thrown;
    const error = errorOf(thrown);
    // A trap, or an exception that passed through the module's frames, leaves its memory in the
    // middle of a change: nothing new may be made in that instance.
    if (error.code === "internal") retire();
    const { fault } = thrown as Partial<Misuse>;
    if (options === undefined || fault === undefined) throw error;
    const said = asWritten(JSON.parse(fault) as ConfigError, options.config);
    throw new AgentError(error.code, said);
  }
}

function errorOf(thrown: unknown): AgentError {
  const { code, message, rejected } = thrown as Partial<Misuse>;
  if (isError(thrown) || code === undefined) {
    return new AgentError("internal", String(thrown));
  }
  if (rejected === undefined) return new AgentError(code, message ?? code);
  const { input, reason } = JSON.parse(rejected) as { input: Input; reason: Reason };
  return new RejectedError(message ?? code, input, reason);
}

/** Returns what `does` returns, and `undefined` if it throws. */
export function attempt<T>(does: () => T): T | undefined {
  try {
    return does();
  } catch {
    return undefined;
  }
}
