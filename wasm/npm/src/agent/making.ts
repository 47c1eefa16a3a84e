// How the binding's side of an agent is made: anew, of a snapshot or a log, of another agent.

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

/** What an agent begins with. */
export interface Prepared {
  options: AgentOptions;
  files: Files;
  programs: readonly RegisteredProgram[];
}

/** Checks the options, loads the programs and looks at the files. */
export async function prepared(options: AgentOptions): Promise<Prepared> {
  checkOptions(options);
  const [programs] = await Promise.all([loadPrograms(options.programs), init()]);
  return { options, programs, files: await workspaceOf(options.files) };
}

/** A new one. */
export const made: Make = (of, options, files, functions, id) => {
  return new of.RawAgent(options, id, files, functions);
};

/** The one of a snapshot or a log as it was. */
export function madeAgain(saved: Uint8Array | string): Make {
  return (of, options, files, functions) => {
    return typeof saved === "string"
      ? of.RawAgent.resume(saved, options, files, functions)
      : of.RawAgent.restore(saved, options, files, functions);
  };
}

/** The same as the user wants it: with these options, of which `change` is told as a patch. */
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
      // What has ended stays so; another session goes on from there.
      const next = found.fork(undefined, id ?? newId(), raw, files, functions);
      found.free();
      return next;
    } catch (error) {
      found.free();
      throw error;
    }
  };
}

/**
 * Another one that has heard what the one has that `rawIn` finds in an instance, or the first
 * `turns` turns of it; where there is none, what its snapshot holds.
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
