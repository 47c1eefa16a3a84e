// `innerloop/files/durable`: the storage of a Durable Object as a file system. It imports nothing
// else of the package. A file is a record under its path, and pieces under the record's version.

import {
  type FileSystem,
  type FileSystemEntry,
  type FileSystemStat,
  failure,
  stepsOf,
} from "./workspace/filesystem.js";

/** The part of a Durable Object's storage, `ctx.storage`, that is used here. */
export interface DurableStorage {
  get<T = unknown>(key: string): Promise<T | undefined>;
  list<T = unknown>(options: { prefix: string; limit?: number }): Promise<Map<string, T>>;
  transaction<T>(does: (storage: DurableTransaction) => Promise<T>): Promise<T>;
}

/** The same within a transaction. */
export interface DurableTransaction {
  get<T = unknown>(key: string): Promise<T | undefined>;
  put<T>(key: string, value: T): Promise<void>;
  delete(key: string): Promise<boolean>;
  list<T = unknown>(options: { prefix: string; limit?: number }): Promise<Map<string, T>>;
}

/** The options of {@link durableFiles}. */
export interface DurableFilesOptions {
  /** The prefix of all keys; `files/` if left out. */
  prefix?: string | undefined;
}

/** The record of a file beside its pieces. */
interface Kept {
  size: number;
  version: string;
  pieces: number;
}

// Durable Objects allow 128 KiB for a value with its encoding, and 2 KiB for a key.
const PIECE = 120 * 2 ** 10;
const MOST_OF_KEY = 2 ** 11;

/**
 * Returns the storage of a Durable Object as a file system for an agent. Each change is a
 * transaction, so that a file has its old or its new content, never part of both.
 *
 * ```js
 * const agent = await Agent.create({ provider, apiKey, files: durableFiles(ctx.storage) });
 * ```
 */
export function durableFiles(
  storage: DurableStorage,
  { prefix = "files/" }: DurableFilesOptions = {},
): FileSystem {
  return new DurableFiles(storage, prefix);
}

class DurableFiles implements FileSystem {
  constructor(
    readonly storage: DurableStorage,
    readonly prefix: string,
  ) {}

  read(path: string): Promise<Uint8Array> {
    return this.storage.transaction(async (storage) => {
      const { size, version, pieces } = await this.#file(storage, path);
      const bytes = new Uint8Array(size);
      for (let piece = 0; piece < pieces; piece += 1) {
        const part = await storage.get<Uint8Array>(this.#piece(version, piece));
        if (part === undefined) throw failure("EIO", `a piece of ${path} is missing`);
        bytes.set(part, piece * PIECE);
      }
      return bytes;
    });
  }

  write(path: string, content: Uint8Array): Promise<void> {
    return this.#change(async (storage) => {
      const key = this.#key(path);
      const isFolder = path === "" || (await this.#isFolder(storage, path));
      if (isFolder) throw failure("EISDIR", `${path} is a folder`);
      await this.#checkAbove(storage, path);
      await this.#drop(storage, await storage.get<Kept>(key));
      // The version is in the pieces' keys, so that a rename moves the record alone.
      const version = crypto.randomUUID();
      const pieces = Math.ceil(content.length / PIECE);
      for (let piece = 0; piece < pieces; piece += 1) {
        const part = content.slice(piece * PIECE, (piece + 1) * PIECE);
        await storage.put(this.#piece(version, piece), part);
      }
      await storage.put<Kept>(key, { size: content.length, version, pieces });
    });
  }

  async stat(path: string): Promise<FileSystemStat> {
    if (path === "") return { type: "folder" };
    const found = await this.storage.get<Kept>(this.#key(path));
    if (found !== undefined) return statOf(found);
    if (await this.#isFolder(this.storage, path)) return { type: "folder" };
    throw failure("ENOENT", `there is no ${path}`);
  }

  async list(path: string): Promise<FileSystemEntry[]> {
    const above = path === "" ? "" : `${path}/`;
    const prefix = this.#key(above);
    const found = await this.storage.list<Kept>({ prefix });
    // Folders exist only as parts of paths: one without files is the same as none.
    if (found.size === 0 && path !== "") {
      const { type } = await this.stat(path);
      if (type === "file") throw failure("ENOTDIR", `${path} is a file`);
    }
    const entries = new Map<string, FileSystemEntry>();
    for (const [key, kept] of found) {
      const [name = "", ...below] = key.slice(prefix.length).split("/");
      const stat: FileSystemStat = below.length > 0 ? { type: "folder" } : statOf(kept);
      entries.set(name, { name, ...stat });
    }
    return [...entries.values()];
  }

  remove(path: string): Promise<void> {
    return this.#change(async (storage) => {
      await this.#drop(storage, await this.#file(storage, path));
      await storage.delete(this.#key(path));
    });
  }

  rename(from: string, to: string): Promise<void> {
    return this.#change(async (storage) => {
      const kept = await this.#file(storage, from);
      const isThere = (await storage.get(this.#key(to))) ?? (await this.#isFolder(storage, to));
      if (isThere) throw failure("EEXIST", `${to} is there already`);
      await this.#checkAbove(storage, to);
      await storage.put(this.#key(to), kept);
      await storage.delete(this.#key(from));
    });
  }

  async #change(change: (storage: DurableTransaction) => Promise<void>): Promise<void> {
    try {
      await this.storage.transaction(change);
    } catch (error) {
      const { code, message } = error as { code?: unknown; message?: string };
      // The storage has no code for being full, only a message.
      const isFull = typeof code !== "string" && /full|quota|exceed|limit/i.test(message ?? "");
      throw isFull ? failure("ENOSPC", message ?? "no space is left") : error;
    }
  }

  async #file(storage: Pick<DurableTransaction, "get" | "list">, path: string): Promise<Kept> {
    const kept = await storage.get<Kept>(this.#key(path));
    if (kept !== undefined) return kept;
    const isFolder = path === "" || (await this.#isFolder(storage, path));
    if (isFolder) throw failure("EISDIR", `${path} is a folder`);
    throw failure("ENOENT", `there is no ${path}`);
  }

  async #isFolder(storage: Pick<DurableTransaction, "list">, path: string): Promise<boolean> {
    return (await storage.list({ prefix: `${this.#key(path)}/`, limit: 1 })).size > 0;
  }

  // Throws if a file stands where the path needs a folder.
  async #checkAbove(storage: Pick<DurableTransaction, "get">, path: string): Promise<void> {
    const steps = stepsOf(path);
    for (let count = 1; count < steps.length; count += 1) {
      const above = steps.slice(0, count).join("/");
      if (await storage.get(this.#key(above))) throw failure("ENOTDIR", `${above} is a file`);
    }
  }

  async #drop(storage: Pick<DurableTransaction, "delete">, kept: Kept | undefined): Promise<void> {
    if (kept === undefined) return;
    for (let piece = 0; piece < kept.pieces; piece += 1) {
      await storage.delete(this.#piece(kept.version, piece));
    }
  }

  #key(path: string): string {
    stepsOf(path.replace(/\/$/, ""));
    const key = `${this.prefix}at/${path}`;
    if (new TextEncoder().encode(key).length < MOST_OF_KEY) return key;
    throw failure("ENAMETOOLONG", "the path is too long");
  }

  #piece(version: string, piece: number): string {
    return `${this.prefix}of/${version}/${piece}`;
  }
}

function statOf({ size, version }: Kept): FileSystemStat {
  return { type: "file", size, version };
}
