// The files of a session in JavaScript, and a journal of the content before each change. The
// journal tells what has changed since a checkpoint, and takes files back to any point.

import { same } from "../shared/bytes.js";
import type { FileDifference, FileInfo } from "../shared/messages.js";
import type { Change } from "../storage/database.js";

/** Changes that were undone, with the files' contents after them. */
export interface TakenBack {
  journal: Change[];
  after: [string, Uint8Array | undefined][];
}

/** The files of a session. Contents are never changed in place. */
export class Workspace {
  readonly #files: Map<string, Uint8Array>;
  readonly #journal: Change[];
  /** The contents of changed files at the beginning. */
  readonly #origin = new Map<string, Uint8Array | undefined>();

  constructor(files: Iterable<[string, Uint8Array]> = [], journal: Change[] = []) {
    this.#files = new Map(files);
    this.#journal = journal;
    for (const change of journal) this.#noteOrigin(change);
  }

  /** The files, by path. */
  get files(): ReadonlyMap<string, Uint8Array> {
    return this.#files;
  }

  /** The changes, oldest first. */
  get journal(): readonly Change[] {
    return this.#journal;
  }

  /** Writes or removes a file, and returns whether that changed anything. */
  set(path: string, content: Uint8Array | undefined, at: number | undefined): boolean {
    const before = this.#files.get(path);
    if (same(before, content)) return false;
    this.#put(path, content);
    if (at !== undefined) {
      const change: Change = before === undefined ? { at, path } : { at, path, before };
      this.#journal.push(change);
      this.#noteOrigin(change);
    }
    return true;
  }

  /** Returns the facts about a file; `undefined` if it does not exist. */
  info(path: string): FileInfo | undefined {
    const content = this.#files.get(path);
    if (content === undefined) return undefined;
    const info: FileInfo = { path, size: content.length };
    if (!this.#origin.has(path)) return info;
    const origin = this.#origin.get(path);
    if (same(origin, content)) return info;
    return { ...info, badge: origin === undefined ? "new" : "changed" };
  }

  /** Returns the facts about all files. */
  infos(): FileInfo[] {
    return [...this.#files.keys()].flatMap((path) => this.info(path) ?? []);
  }

  /** Returns the files that differ from when the journal had `length` changes. */
  differences(length: number): FileDifference[] {
    const found: FileDifference[] = [];
    for (const [path, before] of this.#before(length)) {
      const after = this.#files.get(path);
      if (!same(before, after)) found.push({ path, before, after });
    }
    return found.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** Returns the files as they were after `told` entries. */
  asOf(told: number): Map<string, Uint8Array> {
    const files = new Map(this.#files);
    const length = this.#journal.findIndex(({ at }) => at > told);
    if (length < 0) return files;
    for (const [path, before] of this.#before(length)) {
      if (before === undefined) files.delete(path);
      else files.set(path, before);
    }
    return files;
  }

  /** Undoes the changes from number `length` on, and returns them. */
  rewind(length: number): TakenBack {
    const before = this.#before(length);
    const after = [...before.keys()].map((path): [string, Uint8Array | undefined] => {
      return [path, this.#files.get(path)];
    });
    for (const [path, content] of before) this.#put(path, content);
    const journal = this.#journal.splice(length);
    this.#origin.clear();
    for (const change of this.#journal) this.#noteOrigin(change);
    return { journal, after };
  }

  /** Redoes changes that were undone; nothing else may have changed since. */
  putBack({ journal, after }: TakenBack): void {
    for (const [path, content] of after) this.#put(path, content);
    for (const change of journal) {
      this.#journal.push(change);
      this.#noteOrigin(change);
    }
  }

  #put(path: string, content: Uint8Array | undefined): void {
    if (content === undefined) this.#files.delete(path);
    else this.#files.set(path, content);
  }

  #before(length: number): Map<string, Uint8Array | undefined> {
    const before = new Map<string, Uint8Array | undefined>();
    // Backwards, so that the oldest change of a file is the one that counts.
    for (let at = this.#journal.length - 1; at >= length; at -= 1) {
      const change = this.#journal[at];
      if (change !== undefined) before.set(change.path, change.before);
    }
    return before;
  }

  #noteOrigin({ path, before }: Change): void {
    if (!this.#origin.has(path)) this.#origin.set(path, before);
  }
}
