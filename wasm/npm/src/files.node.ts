// `innerloop/files/node`: a folder of the machine as a file system, in Node, Deno and Bun. Nothing
// outside of it can be reached: no step of a path may be a link. On Linux each folder on the way is
// opened through the descriptor of the one above, so that a link put in its place meanwhile leads
// nowhere; on other systems that race remains. Of the package it imports only what reads the facts
// about a repository.

import { randomUUID } from "node:crypto";
import { type BigIntStats, constants } from "node:fs";
import { lstat, mkdir, open, readdir, realpath, rename, unlink } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { Address } from "./platform/globals.js";
import { factsOf } from "./repository/facts.js";
import {
  type FileSystem,
  type FileSystemEntry,
  type FileSystemStat,
  failure,
  type SystemFacts,
  stepsOf,
} from "./workspace/filesystem.js";

/** The options of {@link nodeFiles}. */
export interface NodeFilesOptions {
  /**
   * Returns whether a file or folder is hidden, with all that is in it: it is neither read nor
   * written. If left out, folders named `node_modules` are. Those of version control, such as
   * `.git`, always are.
   */
  ignore?: ((path: string) => boolean) | undefined;
}

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_DIRECTORY } = constants;
/** The folder in which Linux lists a process's open descriptors. */
const DESCRIPTORS = "/proc/self/fd";
// Links are refused by the system, even if one was put in place after the check. `O_NONBLOCK`,
// since opening a pipe that nobody writes to would wait for ever. Windows has neither.
const NO_LINK = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
/** Folders of version control: hooks written there would run with the user's next command. */
const VERSION_SYSTEMS: ReadonlySet<string> = new Set([
  ".bzr",
  ".git",
  ".hg",
  ".jj",
  ".pijul",
  ".sl",
  ".svn",
  "_darcs",
]);
/** The names of files that are being written. */
const UNFINISHED = /^\.innerloop-[\w-]+\.tmp$/;

/** Messages of errors that tell nothing about the machine. */
const WORDS: Readonly<Record<string, string>> = {
  ENOENT: "no such file or folder",
  EEXIST: "it is there already",
  EISDIR: "it is a folder",
  ENOTDIR: "it is not a folder",
  ENOTEMPTY: "the folder is not empty",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the disk is read-only",
  ENOSPC: "no space is left",
  EDQUOT: "no space is left",
  ELOOP: "links are not followed",
  ENAMETOOLONG: "the name is too long",
};

/**
 * Returns a folder of the machine as a file system for an agent.
 *
 * ```js
 * const agent = await Agent.create({ provider, apiKey, files: nodeFiles("./project") });
 * ```
 */
export function nodeFiles(folder: string | Address, options: NodeFilesOptions = {}): FileSystem {
  const { ignore = (path) => path.split("/").includes("node_modules") } = options;
  const path = typeof folder === "string" ? folder : fileURLToPath(folder.href);
  return new NodeFiles(resolve(path), ignore);
}

/** An open folder; its entries are reached through `at`, whatever becomes of its path. */
interface Opened {
  at: string;
  close(): Promise<void>;
}

class NodeFiles implements FileSystem {
  #root: Promise<string> | undefined;
  #hasDescriptors = false;

  constructor(
    readonly folder: string,
    readonly ignore: (path: string) => boolean,
  ) {}

  read(path: string): Promise<Uint8Array> {
    return this.#at(path, async (place) => {
      await fileAt(place);
      const file = await open(place, O_RDONLY | NO_LINK);
      try {
        // Checked again on the open file: the entry may have been replaced since.
        checkFile(await file.stat({ bigint: true }));
        return await file.readFile();
      } finally {
        await file.close();
      }
    });
  }

  write(path: string, content: Uint8Array): Promise<void> {
    const write = async (place: string): Promise<void> => {
      const before = await fileAt(place).catch(absent);
      // Written beside the file, synced and renamed over it: after a crash either content is whole.
      const unfinished = join(dirname(place), `.innerloop-${randomUUID()}.tmp`);
      const file = await open(unfinished, O_WRONLY | O_CREAT | O_EXCL | NO_LINK);
      try {
        try {
          await file.writeFile(content);
          await file.sync();
          if (before) await file.chmod(Number(before.mode) & 0o7777);
        } finally {
          await file.close();
        }
        await rename(unfinished, place);
      } catch (error) {
        await unlink(unfinished).catch(() => {});
        throw error;
      }
    };
    return this.#at(path, write, true);
  }

  async stat(path: string): Promise<FileSystemStat> {
    if (path === "") return { type: "folder" };
    return this.#at(path, async (place) => statOf(await lstat(place, { bigint: true })));
  }

  list(path: string): Promise<FileSystemEntry[]> {
    return this.#does(path, async (steps) => {
      const { at, close } = await this.#enter(steps, false);
      try {
        const names = (await readdir(at)).filter((name) => !this.#isLeftOut(within(path, name)));
        const entries = await Promise.all(names.map((name) => entryOf(at, name)));
        return entries.filter((entry) => entry !== undefined);
      } finally {
        await close();
      }
    });
  }

  remove(path: string): Promise<void> {
    return this.#at(path, async (place) => {
      await fileAt(place);
      await unlink(place);
    });
  }

  facts(): Promise<SystemFacts> {
    return factsOf(this.folder);
  }

  rename(from: string, to: string): Promise<void> {
    const move = (source: string) => async (target: string) => {
      await fileAt(source);
      if (await lstat(target).catch(absent)) throw failure("EEXIST", "");
      await rename(source, target);
    };
    return this.#at(from, (source) => this.#at(to, move(source), true));
  }

  // Calls `does` with an entry's place in its opened folder; `isMade` creates missing folders.
  #at<T>(path: string, does: (place: string) => Promise<T>, isMade = false): Promise<T> {
    return this.#does(path, async (steps) => {
      const name = steps.at(-1);
      if (name === undefined) throw failure("EISDIR", "");
      const { at, close } = await this.#enter(steps.slice(0, -1), isMade);
      try {
        return await does(join(at, name));
      } finally {
        await close();
      }
    });
  }

  async #does<T>(path: string, does: (steps: string[]) => Promise<T>): Promise<T> {
    try {
      const steps = stepsOf(path);
      // On Windows a step could otherwise hold a separator, a drive or a stream of a file.
      const isForeign = (step: string): boolean => sep === "\\" && /[\\:]/.test(step);
      if (steps.some(isForeign)) throw failure("EINVAL", "it is no path here");
      if (this.#isLeftOut(path)) throw failure("EACCES", "it is left out of the workspace");
      return await does(steps);
    } catch (error) {
      throw inWords(error);
    }
  }

  #isLeftOut(path: string): boolean {
    const steps = path.split("/");
    const isOwn = (step: string): boolean =>
      // Lower case, since file systems that ignore case open `.GIT` as `.git`.
      VERSION_SYSTEMS.has(step.toLowerCase()) || UNFINISHED.test(step);
    if (steps.some(isOwn)) return true;
    return steps.some((_, at) => this.ignore(steps.slice(0, at + 1).join("/")));
  }

  // Opens a folder step by step, each through the one above.
  async #enter(steps: readonly string[], isMade: boolean): Promise<Opened> {
    // A root that could not be found is looked for again: it may be created later.
    this.#root ??= this.#found();
    this.#root.catch(() => (this.#root = undefined));
    let opened = await this.#open(await this.#root);
    for (const step of steps) {
      const above = opened;
      const place = join(above.at, step);
      try {
        if (isMade) await mkdir(place).catch(there);
        opened = await this.#open(place);
      } finally {
        await above.close();
      }
    }
    return opened;
  }

  // The real path of the root, which may itself be a link: the user has named it. Whether Linux's
  // descriptors can be used is found out by trying, since some sandboxes have no `/proc`.
  async #found(): Promise<string> {
    const root = await realpath(this.folder);
    const folder = await open(root, O_RDONLY).catch(() => undefined);
    this.#hasDescriptors = await lstat(`${DESCRIPTORS}/${folder?.fd}/.`).then(
      () => true,
      () => false,
    );
    await folder?.close();
    return root;
  }

  async #open(place: string): Promise<Opened> {
    const found = await lstat(place, { bigint: true });
    if (statOf(found).type === "file") throw failure("ENOTDIR", "");
    if (!this.#hasDescriptors) return { at: place, close: async () => {} };
    const folder = await open(place, O_RDONLY | O_DIRECTORY | NO_LINK);
    return { at: `${DESCRIPTORS}/${folder.fd}`, close: () => folder.close() };
  }
}

function within(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}

async function entryOf(folder: string, name: string): Promise<FileSystemEntry | undefined> {
  try {
    return { name, ...statOf(await lstat(join(folder, name), { bigint: true })) };
  } catch {
    // Removed meanwhile, a link, or neither file nor folder: the agent does not see it.
    return undefined;
  }
}

async function fileAt(place: string): Promise<BigIntStats> {
  return checkFile(await lstat(place, { bigint: true }));
}

function checkFile(found: BigIntStats): BigIntStats {
  if (statOf(found).type === "folder") throw failure("EISDIR", "");
  return found;
}

function statOf(found: BigIntStats): FileSystemStat {
  if (found.isDirectory()) return { type: "folder" };
  if (found.isSymbolicLink()) throw failure("ELOOP", "");
  if (!found.isFile()) throw failure("EACCES", "it is neither a file nor a folder");
  const { size, mtimeNs, ctimeNs, ino } = found;
  return { type: "file", size: Number(size), version: `${mtimeNs}-${ctimeNs}-${ino}` };
}

function absent(error: unknown): undefined {
  if ((error as { code?: unknown }).code !== "ENOENT") throw error;
}

function there(error: unknown): void {
  if ((error as { code?: unknown }).code !== "EEXIST") throw error;
}

function inWords(error: unknown): Error {
  const { code, message } = error as { code?: unknown; message: string };
  if (typeof code !== "string") return error as Error;
  // Node's messages hold paths of the machine, which the model must not read.
  const isOwn = !("syscall" in (error as object)) && message !== "";
  return failure(code, isOwn ? message : (WORDS[code] ?? "it failed"));
}
