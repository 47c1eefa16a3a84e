// The ways to make the binding's side of an agent: new, from a snapshot or log, or as a fork. Each
// is a function, since `life.ts` calls it again in a fresh instance if the module breaks.

import type { Binding, RawAgent, RawFiles } from "../binding/instance.js";
import { AgentError } from "../errors.js";
import type { SessionStatus } from "../json/data.js";
import type { AgentOptions, RestoreOptions } from "../options/agent.js";
import { restorePatch } from "../options/changes.js";
import { checkOptions, newId } from "../options/raw.js";
import { isBytes } from "../platform/kinds.js";
import { init } from "../platform/platform.js";
import { loadPrograms, type RegisteredProgram } from "../programs/registry.js";
import { type Files, workspaceOf } from "../workspace/files.js";
import { configOf } from "./state.js";

/** Makes the binding's side of an agent, in an instance that has its files already. */
export type Make = (
  of: Binding,
  options: string,
  files: RawFiles,
  functions: object,
  id: string,
) => RawAgent;

/** The options, files and programs that an agent begins with. */
export interface Prepared {
  options: AgentOptions;
  files: Files;
  programs: readonly RegisteredProgram[];
}

/** Checks the options, loads programs and module, and opens the workspace. */
export async function prepared(options: AgentOptions): Promise<Prepared> {
  checkOptions(options);
  const [programs] = await Promise.all([loadPrograms(options.programs), init()]);
  return { options, programs, files: await workspaceOf(options.files) };
}

/** Makes a new side. */
export const made: Make = (of, options, files, functions, id) => {
  return new of.RawAgent(options, id, files, functions);
};

/** Returns a function that makes a side from a snapshot or log, unchanged. */
export function madeAgain(saved: Uint8Array | string): Make {
  return (of, options, files, functions) => {
    return typeof saved === "string"
      ? of.RawAgent.resume(saved, options, files, functions)
      : of.RawAgent.restore(saved, options, files, functions);
  };
}

/**
 * Returns a function that makes a side from a snapshot or log and calls `change` with the patch
 * that brings the user's options in force.
 */
export function restored(
  saved: Uint8Array | string,
  { options, programs }: Prepared,
  change: (patch: string) => void,
): Make {
  if (!isBytes(saved) && typeof saved !== "string") {
    const message = "give the bytes that `snapshot()` returned, or the text of a log";
    throw new AgentError("bad_snapshot", message);
  }
  const { id, ...others } = options;
  return (of, raw, files, functions) => {
    const found = madeAgain(saved)(of, raw, files, functions, "");
    try {
      const { state } = JSON.parse(found.status(0)) as SessionStatus;
      const isOver = state === "closed";
      const given: RestoreOptions = isOver ? others : options;
      change(restorePatch(given, programs, configOf(found), state === "processing"));
      if (!isOver) return found;
      // A closed session takes no input any more: a fork of it goes on.
      const next = found.fork(undefined, id ?? newId(), raw, files, functions);
      found.free();
      return next;
    } catch (error) {
      // Nobody else holds it yet who could free it.
      found.free();
      throw error;
    }
  };
}

/**
 * Returns a function that makes a fork of a side, or of its first `turns` turns. `rawIn` finds the
 * side if it lives in the same instance; otherwise the fork is made from its snapshot.
 */
export function forked(
  turns: number | undefined,
  id: string,
  rawIn: (of: Binding) => RawAgent | undefined,
  snapshot: () => Uint8Array,
): Make {
  return (of, raw, files, functions) => {
    const present = rawIn(of);
    if (present !== undefined) return present.fork(turns, id, raw, files, functions);
    const again = of.RawAgent.restore(snapshot(), raw, files, functions);
    try {
      return again.fork(turns, id, raw, files, functions);
    } finally {
      again.free();
    }
  };
}
