// The class `Files`: the public face of a workspace. Where its files are is the matter of
// `room.ts`.

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

/** The kind of a path, and a file's size in bytes. */
export type FileStat = { type: "file"; size: number } | { type: "folder" };

// A private field is closed to other files of the package; this map opens it to them, and only
// them.
const rooms = new WeakMap<Files, Room>();

/**
 * @internal Returns the room of files; throws `bad_option` for those of another copy of the
 * package.
 */
export function roomOf(files: Files): Room {
  const room = rooms.get(files);
  if (room === undefined) throw new AgentError("bad_option", "these files are of another package");
  return room;
}

/** @internal Returns the files of the option `files`, opened if they are a file system. */
export async function workspaceOf(given: AgentOptions["files"] = {}): Promise<Files> {
  return isFileSystem(given) ? Files.open(given) : filesOf(given);
}

/** @internal Returns the same `Files` if it is given one, else new ones in memory. */
export function filesOf(given: FilesInput): Files {
  return rooms.has(given as Files) ? (given as Files) : new Files(given);
}

/**
 * The files that an agent works on, in memory. Paths are relative to the workspace and use `/`; a
 * leading `/` means the workspace itself. The agent's next tool call sees what you change here.
 * Agents that are given the same `Files` share them. You can construct one after `init()` or the
 * first session. {@link Files.open} makes a working copy of a file system, which is read-only here.
 *
 * ```js
 * await init();
 * const files = new Files({ "sum.js": "export const sum = (a, b) => a - b;" });
 * const agent = await Agent.create({ provider: "anthropic", apiKey, files });
 * ```
 */
export class Files implements Iterable<[string, Uint8Array]> {
  readonly #room = new Room();

  constructor(files: FilesInput = []) {
    rooms.set(this, this.#room);
    for (const [path, content] of entriesOf(files)) this.write(path, content);
  }

  /**
   * Makes a working copy of a file system, such as `nodeFiles` returns for a folder.
   *
   * ```js
   * const files = await Files.open(nodeFiles("./project"));
   * ```
   *
   * @throws AgentError `bad_option` if it cannot be read; its `cause` is what was thrown.
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
   * Reads the changes of the file system of which this is a copy; tools do that by themselves.
   * Rejects with the file system's error.
   */
  async refresh(): Promise<void> {
    await this.#room.copy?.refresh("", () => {});
  }

  /** Returns a file's bytes, or `undefined` if there is no such file. */
  read(path: string): Uint8Array | undefined {
    return this.#room.read(textOf(path));
  }

  /** Returns a file's text, or `undefined` if there is no such file. */
  readText(path: string): string | undefined {
    const bytes = this.read(path);
    return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
  }

  /**
   * Writes a file, with the folders above it.
   *
   * @throws AgentError `bad_path` for a path that leads out or names a folder, `unsupported` for a
   *   copy of a file system.
   */
  write(path: string, content: string | Uint8Array): void {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    if (!isBytes(bytes)) {
      throw new AgentError("bad_option", `the content of \`${path}\` must be text or bytes`);
    }
    const at = textOf(path);
    this.#change(at, () => this.#room.raw.write(at, bytes));
  }

  /** Removes a file, and returns whether there was one. */
  remove(path: string): boolean {
    const at = textOf(path);
    return this.#change(at, () => this.#room.raw.remove(at));
  }

  /**
   * Moves a file, or a folder with all that is in it. A file at the target is replaced.
   *
   * @throws AgentError `bad_path` if there is nothing to move, the target is no valid path, or a
   *   folder would go into itself or onto something.
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

  /** Returns what is at a path, or `undefined`. An empty path is the workspace. */
  stat(path: string): FileStat | undefined {
    const at = cleaned(textOf(path));
    const found = this.list().find((path) => isWithin(path, at));
    if (found === at) return { type: "file", size: this.read(at)?.length ?? 0 };
    return found !== undefined || at === "" ? { type: "folder" } : undefined;
  }

  /**
   * Calls `listener` after each change of a file, by you or by the agent, and returns a function
   * that ends that.
   *
   * ```js
   * const stop = agent.files.watch(({ path, kind }) => console.log(kind, path));
   * ```
   */
  watch(listener: (change: Changed) => void): () => void {
    if (typeof listener !== "function") {
      throw new AgentError("bad_option", "`listener` must be a function");
    }
    const room = this.#room;
    room.listeners = added(room.listeners, listener);
    return () => void (room.listeners = removed(room.listeners, listener));
  }

  /** Returns all files as an object for the option `files`: texts if they are UTF-8, else bytes. */
  export(): Record<string, string | Uint8Array>;
  /** Returns all files as a zip archive. */
  export(format: "zip"): Promise<Uint8Array>;
  export(format?: "zip"): Record<string, string | Uint8Array> | Promise<Uint8Array> {
    if (format === "zip") return import("./zip.js").then(({ zipped }) => zipped(this));
    if (format === undefined) return Object.fromEntries([...this].map(shown));
    throw new AgentError("bad_option", 'give "zip", or nothing for a plain object');
  }

  /**
   * Writes all files of an object, a list of pairs, or a zip archive, and returns their paths.
   * Other files stay.
   *
   * @throws AgentError `bad_path` for a path that leads out of the workspace or does not fit the
   *   others, `bad_option` for bytes that are no archive. Then nothing is written.
   */
  async import(given: FilesInput | Uint8Array | ArrayBuffer): Promise<string[]> {
    const archive = ArrayBuffer.isView(given) || given instanceof ArrayBuffer;
    const entries = archive ? await unpacked(bytesOf(given)) : entriesOf(given as FilesInput);
    // Tried on a copy first, so that an import is written as a whole or not at all.
    const tried = new Files(this);
    for (const [path, content] of entries) tried.write(path, content);
    const paths = entries.map(([path]) => cleaned(path));
    const { copy } = this.#room;
    if (copy === undefined) for (const [path, content] of entries) this.write(path, content);
    else await copy.write(paths.map((path) => [path, tried.read(path) ?? new Uint8Array()]));
    roomOf(tried).leave(false);
    return paths;
  }

  /** Returns whether there is a file of that path. */
  has(path: string): boolean {
    return this.read(path) !== undefined;
  }

  /** Returns the paths of all files, sorted. */
  list(): string[] {
    return guarded(() => this.#room.raw.list());
  }

  /** The number of files. */
  get size(): number {
    return this.list().length;
  }

  /** Iterates over all files, sorted by path. */
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
   * Carries out an action of a built-in tool: the `builtin` job of a `Session`'s effect `run_tool`,
   * in its `folder`.
   *
   * @throws AgentError `bad_option` for an invalid action, `unsupported` for `run_program` and
   *   `shell`, which need an agent.
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
