// The working copy of a user's file system, on which tools work. Before a tool uses files, those
// that have changed outside are read again. Its changes are written outside before anybody reads
// its result, and what cannot be written is undone here. One thing happens at a time.

import { isSame } from "../bytes.js";
import { AgentError } from "../errors.js";
import type { Action } from "../json/action.js";
import type { FileChange, Outcome, ToolErrorKind } from "../json/data.js";
import type { Changes } from "../wasi/tree.js";
import type { FileSystem, SystemFacts } from "./filesystem.js";
import { failureOf, isLate, type Memory, Mirror, told } from "./mirror.js";
import { joined, placesOf } from "./places.js";

/** The kinds of tool errors, by the codes of file systems. */
const KINDS: Readonly<Record<string, ToolErrorKind>> = {
  ENOENT: "not_found",
  EACCES: "permission_denied",
  EPERM: "permission_denied",
  EROFS: "permission_denied",
  ELOOP: "permission_denied",
  EISDIR: "wrong_file_type",
  ENOTDIR: "wrong_file_type",
  EFBIG: "too_large",
  EEXIST: "edit_conflict",
  ESTALE: "edit_conflict",
};

/** The module's memory, on which tools work. */
export interface Workplace extends Memory {
  perform(action: string, folder: string, known: string): Outcome;
}

/** A working copy of a file system. */
export class WorkingCopy {
  readonly #memory: Workplace;
  readonly #mirror: Mirror;
  #last: Promise<unknown> = Promise.resolve();

  constructor(system: FileSystem, memory: Workplace) {
    this.#memory = memory;
    this.#mirror = new Mirror(system, memory);
  }

  /** Returns the facts about the place of the file system. */
  facts(): Promise<SystemFacts | undefined> {
    return this.#mirror.facts();
  }

  /** Reads a folder's changes from outside, and calls `then` before anything else happens. */
  refresh<T>(folder: string, then: () => T): Promise<T> {
    return this.#alone(async () => {
      await this.#mirror.refresh({ path: folder, isDeep: true });
      return then();
    });
  }

  /** Does the same for a program that is to run there; a failure is an error in words. */
  async mount<T>(folder: string, then: () => T): Promise<T> {
    try {
      return await this.refresh(folder, then);
    } catch (error) {
      if (error instanceof AgentError) throw error;
      throw new Error(`the workspace cannot be used: ${told(error)}`);
    }
  }

  /**
   * Carries out an action of a built-in tool. A refusal of the file system is an outcome, too.
   *
   * @throws Error if the signal fires before the action has begun.
   */
  perform(action: string, folder: string, known: string, signal: AbortSignal): Promise<Outcome> {
    return this.#alone(async () => {
      for (const place of placesOf(JSON.parse(action) as Action, folder)) {
        signal.throwIfAborted();
        try {
          await this.#mirror.refresh(place);
        } catch (error) {
          return refused(`${place.path || "the workspace"} cannot be used: ${told(error)}`, error);
        }
      }
      // From here on it is not stopped: a change that is made here must also be written outside.
      signal.throwIfAborted();
      const outcome = this.#memory.perform(action, folder, known);
      return (await this.#saveAll(outcome.changes ?? [])) ?? outcome;
    });
  }

  /**
   * Writes a program's changes of a folder outside, then calls `take` with those that were written
   * and with a text for each that was lost.
   */
  save(
    folder: string,
    left: Changes,
    take: (kept: Changes, lost: string[]) => void,
  ): Promise<void> {
    return this.#alone(async () => {
      const kept: Changes = { written: [], removed: [] };
      const lost: string[] = [];
      let late: unknown;
      const isSaved = async (path: string, bytes?: Uint8Array): Promise<boolean> => {
        const at = joined(folder, path);
        try {
          const before = this.#memory.read(at);
          if (bytes ? before && isSame(before, bytes) : before === undefined) return true;
          // A file system that did not answer is not asked again: each try would wait in vain.
          if (late !== undefined) throw late;
          await this.#mirror.put(at, bytes);
          return true;
        } catch (error) {
          if (isLate(error)) late = error;
          lost.push(lossOf(at, bytes !== undefined, error));
          return false;
        }
      };
      for (const path of left.removed) if (await isSaved(path)) kept.removed.push(path);
      for (const file of left.written) if (await isSaved(...file)) kept.written.push(file);
      take(kept, lost);
    });
  }

  /**
   * Writes files outside and here, in this order.
   *
   * @throws Failure at the first file that cannot be written.
   */
  write(files: Iterable<readonly [string, Uint8Array]>): Promise<void> {
    return this.#alone(async () => {
      for (const [path, bytes] of files) {
        await this.#mirror.refresh({ path, isDeep: false });
        const kind = this.#mirror.has(path) ? "modified" : "created";
        await this.#mirror.put(path, bytes);
        this.#memory.put(path, bytes);
        this.#memory.tell({ path, kind });
      }
    });
  }

  /** Forgets all files; they are read again when they are used. */
  forget(): void {
    this.#mirror.forget();
  }

  /** Waits until nothing is under way. */
  async settled(): Promise<void> {
    await this.#last;
  }

  #alone<T>(task: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(task);
    this.#last = mine.catch(() => {});
    return mine;
  }

  // Writes a tool's changes outside. If one is refused, undoes it and the rest here and returns the
  // outcome: the model must not take for done what the user's files do not show.
  async #saveAll(changes: readonly FileChange[]): Promise<Outcome | undefined> {
    const saved: FileChange[] = [];
    for (const [change, target] of stepsOf(changes)) {
      const { path, kind } = change;
      try {
        if (target !== undefined) await this.#mirror.move(path, target.path);
        else await this.#mirror.put(path, kind === "deleted" ? undefined : this.#bytesOf(path));
      } catch (error) {
        const lost = changes.filter((each) => !saved.includes(each)).map((each) => each.path);
        await this.#mirror.takeBack(lost);
        const also = lost.filter((each) => each !== path);
        const rest = also.length === 0 ? "" : ` Nor was ${also.join(", ")}.`;
        const words = `${lossOf(path, kind !== "deleted", error)}.${rest}`;
        return { ...refused(words, error), ...(saved.length > 0 && { changes: saved }) };
      }
      saved.push(change, ...(target === undefined ? [] : [target]));
    }
    return undefined;
  }

  #bytesOf(path: string): Uint8Array {
    return this.#memory.read(path) ?? new Uint8Array();
  }
}

// The changes in their order. A file that was deleted here and created there with the same content
// is moved, so that the file system sees one rename.
function stepsOf(changes: readonly FileChange[]): [FileChange, FileChange?][] {
  const steps: [FileChange, FileChange?][] = [];
  const moved = new Set<FileChange>();
  for (const change of changes) {
    const { kind, before } = change;
    const target = changes.find((other) => {
      const isNew = other.kind === "created" && !moved.has(other);
      return kind === "deleted" && before !== undefined && isNew && other.after === before;
    });
    if (target !== undefined) moved.add(target);
    steps.push(target === undefined ? [change] : [change, target]);
  }
  return steps.filter(([first]) => !moved.has(first));
}

/** Returns the outcome of a call that a file system has refused. */
export function refused(text: string, error: unknown): Outcome {
  return { parts: [{ type: "text", text }], error: KINDS[failureOf(error).code] ?? "io" };
}

/** Returns the text for a file that was not written. */
function lossOf(path: string, isWritten: boolean, error: unknown): string {
  return `${path} could not be ${isWritten ? "written" : "removed"}: ${told(error)}`;
}
