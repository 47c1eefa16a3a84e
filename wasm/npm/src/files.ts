// The workspace, in memory.

import { AgentError, guarded } from "./errors.js";
import type { RawAgent } from "./innerloop_wasm.js";

/**
 * The files an agent works on, in memory. Paths are relative to the workspace and use `/`; a
 * leading `/` means the workspace itself. What you change here the agent's next tool call sees.
 */
export class Files implements Iterable<[string, Uint8Array]> {
  readonly #raw: RawAgent;

  /** @internal An agent has its own. */
  constructor(raw: RawAgent) {
    this.#raw = raw;
  }

  /** A file's bytes, or `undefined` if there is no such file. */
  read(path: string): Uint8Array | undefined {
    return guarded(() => this.#raw.readFile(textOf(path)));
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
    guarded(() => this.#raw.writeFile(textOf(path), bytes));
  }

  /** Removes a file; whether there was one. */
  remove(path: string): boolean {
    return guarded(() => this.#raw.removeFile(textOf(path)));
  }

  /** Whether there is such a file. */
  has(path: string): boolean {
    return this.read(path) !== undefined;
  }

  /** The paths of all files, sorted. */
  list(): string[] {
    return guarded(() => this.#raw.listFiles());
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
}

function textOf(path: unknown): string {
  if (typeof path === "string") return path;
  throw new AgentError("bad_path", "a path must be a text");
}
