// What the module's memory holds of a user's file system, kept like that: files that have changed
// outside are read again, files are written outside. Who does which of it when is `copy.ts`.

import { isSame } from "../bytes.js";
import { messageOf } from "../errors.js";
import { isBytes } from "../platform/kinds.js";
import {
  type Changed,
  type FileSystem,
  type FileSystemEntry,
  type FileSystemStat,
  failure,
} from "./filesystem.js";
import { foldersOf, isWithin, joined, type Place } from "./places.js";

/** Where it is held. */
export interface Memory {
  read(path: string): Uint8Array | undefined;
  /** Writes a file, or removes it; nobody is told. */
  put(path: string, bytes: Uint8Array | undefined): void;
  tell(change: Changed): void;
}

/** Why a file system did not do what it was to. */
export type Failure = Error & { code: string };

type FileStat = Extract<FileSystemStat, { type: "file" }>;

/** What may be held together and of one file: as programs write, and as tools read. */
const MOST_BYTES = 256 * 2 ** 20;
const MOST_OF_ONE = 64 * 2 ** 20;
const MOST_FILES = 100_000;
/** The longest path that tools can name, if its letters are of the longest. */
const LONGEST_PATH = 1_000;
/** How much is asked for at once. */
const AT_ONCE = 16;
const TIMEOUT_MS = 30_000;

/** Files that are kept elsewhere, as they were when they were last looked at. */
export class Mirror {
  readonly #system: FileSystem;
  readonly #memory: Memory;
  /** Of each file here what was outside when it was read. */
  readonly #known = new Map<string, FileStat>();
  /** What is outside and could not be read. */
  readonly #held = new Map<string, Failure>();
  #bytes = 0;

  constructor(system: FileSystem, memory: Memory) {
    this.#system = system;
    this.#memory = memory;
  }

  has(path: string): boolean {
    return this.#known.has(path);
  }

  /**
   * Makes what is here what is outside at a place.
   *
   * @throws Failure where that is not known, or where it is too much.
   */
  async refresh({ path, isDeep }: Place): Promise<void> {
    const found = path === "" ? ({ type: "folder" } as const) : await this.#stat(path);
    const there = new Map<string, FileStat>();
    for (const held of [...this.#held.keys()]) if (isWithin(held, path)) this.#held.delete(held);
    if (found?.type === "file") there.set(path, found);
    // Of a folder that is asked for as a file nothing more needs to be known.
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
   * Writes a file outside, or removes it there; what is here is up to the caller. Nothing that has
   * changed outside is lost.
   *
   * @throws Failure where the file system refuses.
   */
  async put(path: string, bytes: Uint8Array | undefined): Promise<void> {
    await this.#check(path);
    await this.#ask((system) => (bytes ? system.write(path, bytes) : system.remove(path)));
    // What is there now nobody has seen yet.
    this.#note(path, bytes && { type: "file", size: bytes.length });
  }

  /**
   * Moves a file outside.
   *
   * @throws Failure where the file system refuses.
   */
  async move(from: string, to: string): Promise<void> {
    for (const path of [from, to]) await this.#check(path);
    const size = this.#known.get(from)?.size ?? 0;
    await this.#ask((system) => system.rename(from, to));
    this.#note(from, undefined);
    this.#note(to, { type: "file", size });
  }

  /** Takes back what was changed here and not outside. */
  async takeBack(paths: readonly string[]): Promise<void> {
    // What was made last may stand where something was removed before.
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

  /** Forgets all: nothing is here any more. */
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

  // Finds all files below a folder, level by level.
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
      // What tools cannot name they do not see.
      const isLong = (name: string): boolean => joined(folder, name).length > LONGEST_PATH;
      return entries.filter(({ name }) => !/^\.{0,2}$|[/\\\0]/.test(name) && !isLong(name));
    } catch (error) {
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

  // Nothing is read where all of it were too much.
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
    // A file that stood above is none any more.
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

  // Asks the file system, which may throw, return anything, or never answer.
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

/** What a file system has thrown, with a code. */
export function failureOf(thrown: unknown): Failure {
  const code: unknown = (thrown as Partial<Failure> | null | undefined)?.code;
  return failure(typeof code === "string" && /^E\w+$/.test(code) ? code : "EIO", messageOf(thrown));
}

/** What it has thrown, in words; some begin with the code already. */
export function told(thrown: unknown): string {
  const { code, message } = failureOf(thrown);
  return message.startsWith(code) ? message : `${code}: ${message}`;
}

function isAbsence(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes((error as Failure).code);
}

/** Whether it did not answer: nothing more is asked of it then. */
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

// Does it to each, some at a time, until one fails; rejects when nothing is under way any more.
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
