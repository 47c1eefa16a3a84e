// The interface of a user's file system and the form of its errors. The ready ones
// (`files.node.ts`, `files.opfs.ts`, `files.durable.ts`) import this and nothing else of the
// package.

import type { Facts } from "../json/config.js";
import type { Patch } from "../json/shapes.js";

/** The kind of a path in a file system, and the size and version of a file. */
export type FileSystemStat =
  | {
      type: "file";
      /** In bytes. */
      size: number;
      /**
       * A value that changes with the content: a time of change, a counter, a digest. A file
       * without one is read again each time that a tool may use it.
       */
      version?: string | number | undefined;
    }
  | { type: "folder" };

/** An entry of a folder. */
export type FileSystemEntry = FileSystemStat & { name: string };

/**
 * A file system of your own: on a disk, in a database, on a server. Paths begin at its root, which
 * is the empty path; they use `/`, and no step of them is empty, `.` or `..`.
 *
 * A method that fails rejects with an error that has a POSIX `code`: `ENOENT`, `EEXIST`, `EISDIR`,
 * `ENOTDIR`, `EACCES`, `ENOSPC` and the like. The model reads the code and the message.
 */
export interface FileSystem {
  /** Returns the whole content of a file. */
  read(path: string): Promise<Uint8Array>;
  /** Replaces the content of a file, whole or not at all; makes the folders above it. */
  write(path: string, content: Uint8Array): Promise<void>;
  /** Returns what is at a path; `ENOENT` if there is nothing. */
  stat(path: string): Promise<FileSystemStat>;
  /** Returns the entries of a folder, without those that the agent must not see. */
  list(path: string): Promise<readonly FileSystemEntry[]>;
  /** Removes a file. */
  remove(path: string): Promise<void>;
  /** Moves a file to a path where nothing is; `EEXIST` if something is. */
  rename(from: string, to: string): Promise<void>;
  /**
   * Returns what is known of the place: platform, state of git. The prompt states it; the option
   * `facts` comes before it. Left out, or if it fails, nothing is stated.
   */
  facts?(): Promise<SystemFacts>;
  /** The milliseconds after which a method counts as failed; 30 seconds if left out. */
  readonly timeoutMs?: number | undefined;
}

/** The facts about the place of a file system. */
export type SystemFacts = Patch<Omit<Facts, "programs">>;

/** A change of a file. */
export interface Changed {
  /** Its path in the workspace. */
  path: string;
  kind: "created" | "modified" | "deleted";
}

const METHODS = ["read", "write", "stat", "list", "remove", "rename"] as const;

/** Returns whether a value is a file system, and not files by path, as `Files` are. */
export function isFileSystem(given: object): given is FileSystem {
  const methods = given as Partial<Record<(typeof METHODS)[number], unknown>>;
  const hasAll = METHODS.every((name) => typeof methods[name] === "function");
  return hasAll && !(Symbol.iterator in given);
}

/** Returns an error as file systems throw it. */
export function failure(code: string, message: string): Error & { code: string } {
  return Object.assign(new Error(message), { code });
}

/**
 * Returns the steps of a path.
 *
 * @throws `EINVAL` for a path with an empty step, `.` or `..`, so that none leads out of the root.
 */
export function stepsOf(path: string): string[] {
  if (path === "") return [];
  const steps = path.split("/");
  const isOdd = (step: string): boolean => /^\.{0,2}$|\0/.test(step);
  if (steps.some(isOdd)) throw failure("EINVAL", `${JSON.stringify(path)} is no path here`);
  return steps;
}
