// The synchronisation of the module's memory with a user's file system: files that have changed
// outside are read again, and changes are written outside. `copy.ts` decides when.

import { isSame } from "../bytes.js";
import { messageOf } from "../errors.js";
import { isBytes } from "../platform/kinds.js";
import {
  type Changed,
  type FileSystem,
  type FileSystemEntry,
  type FileSystemStat,
  failure,
  type SystemFacts,
} from "./filesystem.js";
import { foldersOf, isWithin, joined, type Place } from "./places.js";

/** The memory that holds the files. */
export interface Memory {
  read(path: string): Uint8Array | undefined;
  /** Writes a file, or removes it; nobody is told. */
  put(path: string, bytes: Uint8Array | undefined): void;
  tell(change: Changed): void;
}

/** The error of a file system. */
export type Failure = Error & { code: string };

type FileStat = Extract<FileSystemStat, { type: "file" }>;

// The most bytes of all files, as much as programs may write, and of one, as much as tools read.
const MOST_BYTES = 256 * 2 ** 20;
const MOST_OF_ONE = 64 * 2 ** 20;
const MOST_FILES = 100_000;
/** The longest path, so that tools can name it even if each character takes the most bytes. */
const LONGEST_PATH = 1_000;
/** The number of requests to the file system at the same time. */
const AT_ONCE = 16;
const TIMEOUT_MS = 30_000;

/** The files of a file system, as they were when they were last read. */
export class Mirror {
  readonly #system: FileSystem;
  readonly #memory: Memory;
  /** The stat of each file here, as it was outside when the file was read. */
  readonly #known = new Map<string, FileStat>();
  /** Paths that are outside and could not be read: nothing may be written over them. */
  readonly #held = new Map<string, Failure>();
  #bytes = 0;

  constructor(system: FileSystem, memory: Memory) {
    this.#system = system;
    this.#memory = memory;
  }

  /** Returns the facts about the place; none if the file system does not know or tell them. */
  facts(): Promise<SystemFacts | undefined> {
    return this.#ask(async (system) => system.facts?.()).catch(() => undefined);
  }

  has(path: string): boolean {
    return this.#known.has(path);
  }

  /**
   * Brings the memory to the state outside at a place.
   *
   * @throws Failure if that state cannot be read, or is too large.
   */
  async refresh({ path, isDeep }: Place): Promise<void> {
    const found = path === "" ? ({ type: "folder" } as const) : await this.#stat(path);
    const there = new Map<string, FileStat>();
    for (const held of [...this.#held.keys()]) if (isWithin(held, path)) this.#held.delete(held);
    if (found?.type === "file") there.set(path, found);
    // A folder where a tool expects a file needs no reading: the tool itself will refuse it.
    else if (found !== undefined && !isDeep && !this.#known.has(path)) return;
    else if (found !== undefined) await this.#walk(path, there);
    for (const known of [...this.#known.keys()]) {
      if (isWithin(known, path) && !there.has(known)) this.#forget(known);
    }
    this.#checkRoom(there);
    await inParallel(there, ([file, stat]) => this.#read(file, stat));
    const held = this.#held.get(path);
    if (held !== undefined) throw held;
  }

  /**
   * Writes a file outside, or removes it there; the memory is up to the caller. A file that has
   * changed outside since it was read is not overwritten.
   *
   * @throws Failure if the file system refuses, `ESTALE` if the file has changed.
   */
  async put(path: string, bytes: Uint8Array | undefined): Promise<void> {
    await this.#check(path);
    await this.#ask((system) => (bytes ? system.write(path, bytes) : system.remove(path)));
    // Without a version, which only the next look at the file tells: it is read again then.
    this.#note(path, bytes && { type: "file", size: bytes.length });
  }

  /**
   * Moves a file outside.
   *
   * @throws Failure if the file system refuses.
   */
  async move(from: string, to: string): Promise<void> {
    for (const path of [from, to]) await this.#check(path);
    const size = this.#known.get(from)?.size ?? 0;
    await this.#ask((system) => system.rename(from, to));
    this.#note(from, undefined);
    this.#note(to, { type: "file", size });
  }

  /** Undoes changes that were made here and not outside. */
  async takeBack(paths: readonly string[]): Promise<void> {
    // Backwards: a file that was created last may stand where one was removed before.
    for (const path of [...paths].reverse()) {
      this.#note(path, undefined);
      this.#memory.put(path, undefined);
    }
    for (const path of paths) {
      await this.refresh({ path, isDeep: false }).catch((error: unknown) => {
        this.#held.set(path, failureOf(error));
      });
    }
  }

  /** Forgets all files, since the memory has none of them any more. */
  forget(): void {
    this.#known.clear();
    this.#bytes = 0;
  }

  async #check(path: string): Promise<void> {
    const held = this.#held.get(path);
    if (held !== undefined) throw held;
    const [found, known] = [await this.#stat(path), this.#known.get(path)];
    if (found?.type === "folder") throw failure("EISDIR", "it is a folder");
    if (found === undefined ? known === undefined : known && isLike(found, known)) return;
    throw failure("ESTALE", "it has changed since it was read");
  }

  // Finds all files below a folder, level by level, so that folders are listed in parallel.
  async #walk(top: string, there: Map<string, FileStat>): Promise<void> {
    for (let level = [top], count = 0; level.length > 0; ) {
      const below: string[] = [];
      await inParallel(level, async (folder) => {
        for (const { name, ...stat } of await this.#list(folder, folder === top)) {
          const path = joined(folder, name);
          if (stat.type === "folder") below.push(path);
          else there.set(path, stat);
          if ((count += 1) <= MOST_FILES) continue;
          throw failure("EFBIG", `there are more than ${MOST_FILES} files`);
        }
      });
      level = below;
    }
  }

  async #list(folder: string, isTop: boolean): Promise<FileSystemEntry[]> {
    try {
      const entries: unknown = await this.#ask((system) => system.list(folder));
      if (!Array.isArray(entries) || !entries.every(isEntry)) {
        throw failure("EIO", "`list` returned no list of entries");
      }
      // Entries that tools cannot name are left out.
      const isLong = (name: string): boolean => joined(folder, name).length > LONGEST_PATH;
      return entries.filter(({ name }) => !/^\.{0,2}$|[/\\\0]/.test(name) && !isLong(name));
    } catch (error) {
      // One folder below that cannot be read must not hide all others.
      if (isTop || isLate(error)) throw error;
      if (!isAbsence(error)) this.#held.set(folder, failureOf(error));
      return [];
    }
  }

  async #read(path: string, stat: FileStat): Promise<void> {
    const known = this.#known.get(path);
    if (known?.version !== undefined && isLike(known, stat)) return;
    let bytes: unknown;
    try {
      if (stat.size > MOST_OF_ONE) throw failure("EFBIG", "it is larger than 64 MiB");
      bytes = await this.#ask((system) => system.read(path));
      if (!isBytes(bytes)) throw failure("EIO", "`read` returned no Uint8Array");
    } catch (error) {
      if (isLate(error)) throw error;
      if (!isAbsence(error)) this.#held.set(path, failureOf(error));
      return this.#forget(path);
    }
    this.#take(path, bytes, stat);
  }

  // Throws before anything is read if all of it would be too much.
  #checkRoom(there: ReadonlyMap<string, FileStat>): void {
    let bytes = this.#bytes;
    for (const [path, { size }] of there) {
      if (size <= MOST_OF_ONE) bytes += size - (this.#known.get(path)?.size ?? 0);
    }
    if (bytes <= MOST_BYTES) return;
    throw failure("EFBIG", "the files have more than 256 MiB together");
  }

  #take(path: string, bytes: Uint8Array, stat: FileStat): void {
    const before = this.#memory.read(path);
    this.#note(path, { ...stat, size: bytes.length });
    if (before !== undefined && isSame(before, bytes)) return;
    // A file that stood where this one needs a folder is gone outside.
    for (const above of foldersOf(path)) this.#forget(above);
    this.#memory.put(path, bytes);
    this.#memory.tell({ path, kind: before === undefined ? "created" : "modified" });
  }

  #forget(path: string): void {
    if (!this.#known.has(path)) return;
    this.#note(path, undefined);
    this.#memory.put(path, undefined);
    this.#memory.tell({ path, kind: "deleted" });
  }

  #note(path: string, stat: FileStat | undefined): void {
    this.#bytes += (stat?.size ?? 0) - (this.#known.get(path)?.size ?? 0);
    if (stat === undefined) this.#known.delete(path);
    else this.#known.set(path, stat);
  }

  async #stat(path: string): Promise<FileSystemStat | undefined> {
    try {
      const found: unknown = await this.#ask((system) => system.stat(path));
      if (!isStat(found)) throw failure("EIO", "`stat` returned neither a file nor a folder");
      return found;
    } catch (error) {
      if (isAbsence(error)) return undefined;
      throw error;
    }
  }

  // Calls the file system of the user, which may throw, return anything, or never answer: without
  // the timer, one call that hangs would block every tool.
  #ask<T>(what: (system: FileSystem) => Promise<T>): Promise<T> {
    const { timeoutMs = TIMEOUT_MS } = this.#system;
    return new Promise((resolve, reject) => {
      const late = failure("ETIMEDOUT", `the file system did not answer in ${timeoutMs} ms`);
      const timer = setTimeout(reject, timeoutMs, late);
      Promise.resolve(this.#system)
        .then(what)
        .then(resolve, (error: unknown) => reject(failureOf(error)))
        .finally(() => clearTimeout(timer));
    });
  }
}

/** Returns what a file system has thrown as an error with a code. */
export function failureOf(thrown: unknown): Failure {
  const code: unknown = (thrown as Partial<Failure> | null | undefined)?.code;
  return failure(typeof code === "string" && /^E\w+$/.test(code) ? code : "EIO", messageOf(thrown));
}

/** Returns an error's text with its code; some texts begin with the code already. */
export function told(thrown: unknown): string {
  const { code, message } = failureOf(thrown);
  return message.startsWith(code) ? message : `${code}: ${message}`;
}

function isAbsence(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes((error as Failure).code);
}

/** Returns whether the file system did not answer in time. */
export function isLate(error: unknown): boolean {
  return (error as Failure).code === "ETIMEDOUT";
}

function isStat(value: unknown): value is FileSystemStat {
  const { type, size } = (value ?? {}) as Partial<FileStat>;
  return (type as string) === "folder" || (type === "file" && Number.isFinite(size));
}

function isEntry(value: unknown): value is FileSystemEntry {
  return isStat(value) && typeof (value as Partial<FileSystemEntry>).name === "string";
}

function isLike(one: FileSystemStat, other: FileStat): boolean {
  return one.type === "file" && one.size === other.size && one.version === other.version;
}

// Calls `each` for all items, some at a time, until one fails. It rejects only when nothing is
// under way any more: what comes next must not meet a request of before.
async function inParallel<T>(all: Iterable<T>, each: (item: T) => Promise<void>): Promise<void> {
  let rest = [...all];
  const some = async (): Promise<void> => {
    for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
      await each(next).catch((error: unknown) => {
        rest = [];
        throw error;
      });
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, some));
  const broken = ends.find((end) => end.status === "rejected");
  if (broken !== undefined) throw broken.reason;
}
