// The workspace, in memory.

import { guarded } from "../binding/guard.js";
import { bytesOf } from "../bytes.js";
import { AgentError, messageOf } from "../errors.js";
import type { Action } from "../json/action.js";
import type { Outcome } from "../json/data.js";
import { added, removed } from "../listeners.js";
import type { AgentOptions, FilesInput } from "../options/agent.js";
import { givenJson } from "../options/given.js";
import { TextDecoder, TextEncoder } from "../platform/coders.js";
import { isBytes } from "../platform/kinds.js";
import { init } from "../platform/platform.js";
import { type Changed, type FileSystem, isFileSystem } from "./filesystem.js";
import { told } from "./mirror.js";
import { badPath, cleaned, isWithin } from "./places.js";
import { Room } from "./room.js";

/** A file of the workspace: its path and its content. */
type FileEntry = readonly [string, string | Uint8Array];

/** What is at a path; of a file how many bytes it has. */
export type FileStat = { type: "file"; size: number } | { type: "folder" };

const rooms = new WeakMap<Files, Room>();

/** @internal Where these files are. */
export function roomOf(files: Files): Room {
  const room = rooms.get(files);
  if (room === undefined) throw new AgentError("bad_option", "these files are of another package");
  return room;
}

/** @internal What an agent works on: what it is given, where that can be worked on by several. */
export async function workspaceOf(given: AgentOptions["files"] = {}): Promise<Files> {
  return isFileSystem(given) ? Files.open(given) : filesOf(given);
}

/** @internal The same of what is there already. */
export function filesOf(given: FilesInput): Files {
  return rooms.has(given as Files) ? (given as Files) : new Files(given);
}

/**
 * The files an agent works on, in memory. Paths are relative to the workspace and use `/`; a
 * leading `/` means the workspace itself. What you change here the agent's next tool call sees.
 * Agents that are given the same `Files` share them. One of your own is made after `init()` or the
 * first session; of a file system of your own {@link Files.open} makes a working copy, which is
 * only read here.
 */
export class Files implements Iterable<[string, Uint8Array]> {
  readonly #room = new Room();

  constructor(files: FilesInput = []) {
    rooms.set(this, this.#room);
    for (const [path, content] of entriesOf(files)) this.write(path, content);
  }

  /**
   * A working copy of a file system, such as `nodeFiles` makes of a folder.
   *
   * @throws AgentError `bad_option` where it cannot be read; its `cause` is what was thrown.
   */
  static async open(system: FileSystem): Promise<Files> {
    if (!isFileSystem(system ?? {})) {
      throw new AgentError("bad_option", "give a file system: read, write, stat, list and so on");
    }
    await init();
    const files = new Files();
    try {
      await files.#room.open(system);
    } catch (cause) {
      throw new AgentError("bad_option", `\`files\` cannot be read: ${told(cause)}`, { cause });
    }
    return files;
  }

  /**
   * Reads again what has changed in the file system that this is a copy of; tools do that by
   * themselves. Rejects with the file system's error.
   */
  async refresh(): Promise<void> {
    await this.#room.copy?.refresh("", () => {});
  }

  /** A file's bytes, or `undefined` if there is no such file. */
  read(path: string): Uint8Array | undefined {
    return this.#room.read(textOf(path));
  }

  /** A file's text, or `undefined` if there is no such file. */
  readText(path: string): string | undefined {
    const bytes = this.read(path);
    return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
  }

  /** Writes a file, with the folders above it. */
  write(path: string, content: string | Uint8Array): void {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    if (!isBytes(bytes)) {
      throw new AgentError("bad_option", `the content of \`${path}\` must be text or bytes`);
    }
    const at = textOf(path);
    this.#change(at, () => this.#room.raw.write(at, bytes));
  }

  /** Removes a file; whether there was one. */
  remove(path: string): boolean {
    const at = textOf(path);
    return this.#change(at, () => this.#room.raw.remove(at));
  }

  /**
   * Moves a file, or a folder with all that is in it; a file that stands there is replaced.
   *
   * @throws AgentError `bad_path` where there is nothing to move, where it cannot go there, or
   *   where a folder would go into itself or to where something stands.
   */
  rename(from: string, to: string): void {
    const [source, target] = [cleaned(textOf(from)), cleaned(textOf(to))];
    const paths = this.list().filter((path) => isWithin(path, source));
    if (paths.length === 0) throw badPath(`there is no \`${from}\``);
    if (source === target) return;
    const isFolder = !paths.includes(source);
    if (isFolder && isWithin(target, source)) throw badPath(`\`${from}\` cannot go into itself`);
    if (isFolder && this.stat(target) !== undefined) throw badPath(`\`${to}\` is there already`);
    for (const path of paths) {
      this.write(target + path.slice(source.length), this.read(path) ?? new Uint8Array());
      this.remove(path);
    }
  }

  /** What is at a path, or `undefined` if there is nothing. An empty path is the workspace. */
  stat(path: string): FileStat | undefined {
    const at = cleaned(textOf(path));
    const found = this.list().find((path) => isWithin(path, at));
    if (found === at) return { type: "file", size: this.read(at)?.length ?? 0 };
    return found !== undefined || at === "" ? { type: "folder" } : undefined;
  }

  /**
   * Calls `listener` when a file has changed, by you or by the agent; the returned function ends
   * that.
   */
  watch(listener: (change: Changed) => void): () => void {
    if (typeof listener !== "function") {
      throw new AgentError("bad_option", "`listener` must be a function");
    }
    const room = this.#room;
    room.listeners = added(room.listeners, listener);
    return () => void (room.listeners = removed(room.listeners, listener));
  }

  /** All files as a plain object, text where they are text, as the option `files` takes them. */
  export(): Record<string, string | Uint8Array>;
  /** All files as a zip archive. */
  export(format: "zip"): Promise<Uint8Array>;
  export(format?: "zip"): Record<string, string | Uint8Array> | Promise<Uint8Array> {
    if (format === "zip") return import("./zip.js").then(({ zipped }) => zipped(this));
    if (format === undefined) return Object.fromEntries([...this].map(shown));
    throw new AgentError("bad_option", 'give "zip", or nothing for a plain object');
  }

  /**
   * Writes all files of a plain object, a list of pairs, or a zip archive; those that are there
   * stay, unless they have the same paths. Returns the paths.
   *
   * @throws AgentError `bad_path` for a path that leads out of the workspace or does not fit the
   *   others, `bad_option` for what is no archive. Then nothing is written.
   */
  async import(given: FilesInput | Uint8Array | ArrayBuffer): Promise<string[]> {
    const archive = ArrayBuffer.isView(given) || given instanceof ArrayBuffer;
    const entries = archive ? await unpacked(bytesOf(given)) : entriesOf(given as FilesInput);
    // Whether all of them fit is seen beside what is there.
    const tried = new Files(this);
    for (const [path, content] of entries) tried.write(path, content);
    const paths = entries.map(([path]) => cleaned(path));
    const { copy } = this.#room;
    if (copy === undefined) for (const [path, content] of entries) this.write(path, content);
    else await copy.write(paths.map((path) => [path, tried.read(path) ?? new Uint8Array()]));
    roomOf(tried).leave(false);
    return paths;
  }

  /** Whether there is such a file. */
  has(path: string): boolean {
    return this.read(path) !== undefined;
  }

  /** The paths of all files, sorted. */
  list(): string[] {
    return guarded(() => this.#room.raw.list());
  }

  /** How many files there are. */
  get size(): number {
    return this.list().length;
  }

  /** All files, sorted by path. */
  *entries(): IterableIterator<[string, Uint8Array]> {
    for (const path of this.list()) {
      const bytes = this.read(path);
      if (bytes !== undefined) yield [path, bytes];
    }
  }

  [Symbol.iterator](): IterableIterator<[string, Uint8Array]> {
    return this.entries();
  }

  /**
   * Does what a built-in tool does: the `builtin` job of a `Session`'s effect `run_tool`, in its
   * `folder`.
   *
   * @throws AgentError `bad_option` for what is no action, `unsupported` for `run_program` and
   *   `shell`, which only an agent can do.
   */
  perform(action: Action, folder = ""): Outcome {
    this.#checkOwn();
    return this.#room.perform(givenJson(action), folder);
  }

  #change<T>(path: string, change: () => T): T {
    this.#checkOwn();
    return this.#room.change(path, change);
  }

  #checkOwn(): void {
    if (this.#room.copy === undefined) return;
    const message = "these files are a copy of your file system's: write there, or `import` here";
    throw new AgentError("unsupported", message);
  }
}

async function unpacked(archive: Uint8Array): Promise<FileEntry[]> {
  const { unzipped } = await import("./zip.js");
  try {
    return unzipped(archive);
  } catch (error) {
    throw new AgentError("bad_option", `the archive cannot be read: ${messageOf(error)}`);
  }
}

function shown([path, bytes]: [string, Uint8Array]): [string, string | Uint8Array] {
  try {
    return [path, new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)];
  } catch {
    return [path, bytes];
  }
}

function entriesOf(files: FilesInput): FileEntry[] {
  if (isFileSystem(files)) {
    const message = "`files`: of a file system `await Files.open(system)` makes files";
    throw new AgentError("bad_option", message);
  }
  const entries: unknown[] = [...(Symbol.iterator in files ? files : Object.entries(files))];
  return entries.map((entry) => {
    if (!Array.isArray(entry) || typeof entry[0] !== "string") {
      const message = "`files` must be an object of paths, or a list of pairs: path and content";
      throw new AgentError("bad_option", message);
    }
    const [path, content] = entry as [string, unknown];
    if (typeof content === "string" || isBytes(content)) return [path, content];
    throw new AgentError("bad_option", `the content of \`${path}\` must be text or bytes`);
  });
}

function textOf(path: unknown): string {
  if (typeof path === "string") return path;
  throw new AgentError("bad_path", "a path must be a text");
}
