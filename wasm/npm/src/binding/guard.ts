// Calls of the binding: what they throw becomes an error of the package.

import { AgentError, type AgentErrorCode, RejectedError } from "../errors.js";
import type { ConfigError, Input, Reason } from "../json/protocol.js";
import { asWritten } from "../options/names.js";
import { isError } from "../platform/kinds.js";
import { retire } from "./instance.js";

/** What the binding throws. */
interface Misuse {
  code: AgentErrorCode;
  message: string;
  /** What does not fit, a `ConfigError` as JSON. */
  fault?: string;
  /** `{ input, reason }` as JSON. */
  rejected?: string;
}

/**
 * Runs `call` of the binding; what it throws becomes an {@link AgentError}. Where the call has
 * options, its message names them as the user has written them, beside a `config`.
 */
export function guarded<T>(call: () => T, options?: { config?: unknown }): T {
  try {
    return call();
  } catch (thrown) {
    if (thrown instanceof AgentError) throw thrown;
    const error = errorOf(thrown);
    // A trap, or what was thrown through the module: the instance is not to be trusted any more.
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

/** What `does` returns; `undefined` where it throws. */
export function attempt<T>(does: () => T): T | undefined {
  try {
    return does();
  } catch {
    return undefined;
  }
}
