// The workspace, in memory.

import type { Action, Outcome } from "./data.js";
import { AgentError, guarded } from "./errors.js";
import { RawFiles } from "./innerloop_wasm.js";
import type { FilesInput } from "./types.js";

/** A file of the workspace: its path and its content. */
type FileEntry = readonly [string, string | Uint8Array];

const raws = new WeakMap<Files, RawFiles>();

/** @internal What the binding takes for a workspace. */
export function rawOf(files: Files): RawFiles {
  const raw = raws.get(files);
  if (raw === undefined) throw new AgentError("bad_option", "these files are of another package");
  return raw;
}

/**
 * The files an agent works on, in memory. Paths are relative to the workspace and use `/`; a
 * leading `/` means the workspace itself. What you change here the agent's next tool call sees.
 * One of your own, for a `Session`, is made after `init()` or the first session.
 */
export class Files implements Iterable<[string, Uint8Array]> {
  readonly #raw = new RawFiles();

  constructor(files: FilesInput = []) {
    raws.set(this, this.#raw);
    for (const [path, content] of entriesOf(files)) this.write(path, content);
  }

  /** A file's bytes, or `undefined` if there is no such file. */
  read(path: string): Uint8Array | undefined {
    return guarded(() => this.#raw.read(textOf(path)));
  }

  /** A file's text, or `undefined` if there is no such file. */
  readText(path: string): string | undefined {
    const bytes = this.read(path);
    return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
  }

  /** Writes a file, with the folders above it. */
  write(path: string, content: string | Uint8Array): void {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    if (!(bytes instanceof Uint8Array)) {
      throw new AgentError("bad_option", `the content of \`${path}\` must be text or bytes`);
    }
    guarded(() => this.#raw.write(textOf(path), bytes));
  }

  /** Removes a file; whether there was one. */
  remove(path: string): boolean {
    return guarded(() => this.#raw.remove(textOf(path)));
  }

  /** Whether there is such a file. */
  has(path: string): boolean {
    return this.read(path) !== undefined;
  }

  /** The paths of all files, sorted. */
  list(): string[] {
    return guarded(() => this.#raw.list());
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
    const json = JSON.stringify(action) ?? "null";
    return JSON.parse(guarded(() => this.#raw.perform(json, folder))) as Outcome;
  }
}

function entriesOf(files: FilesInput): FileEntry[] {
  const entries: unknown[] = [...(Symbol.iterator in files ? files : Object.entries(files))];
  return entries.map((entry) => {
    if (!Array.isArray(entry) || typeof entry[0] !== "string") {
      const message = "`files` must be an object of paths, or a list of pairs: path and content";
      throw new AgentError("bad_option", message);
    }
    const [path, content] = entry as [string, unknown];
    if (typeof content === "string" || content instanceof Uint8Array) return [path, content];
    throw new AgentError("bad_option", `the content of \`${path}\` must be text or bytes`);
  });
}

function textOf(path: unknown): string {
  if (typeof path === "string") return path;
  throw new AgentError("bad_path", "a path must be a text");
}
