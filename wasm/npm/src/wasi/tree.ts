// The files of a program's worker: a tree in memory with links and times, which records what has
// changed. No path leads out of it. Programs reach it through `descriptors.ts`.

import { wasi } from "@bjorn3/browser_wasi_shim";

/** The state of a tree beside paths and contents of files, kept from run to run. */
export interface Kept {
  /** Folders without a file in them. */
  folders: string[];
  /** Links and their targets. */
  links: [string, string][];
  /** The times of the last change in nanoseconds, as far as they are known. */
  times: [string, bigint][];
}

/** The changes of files since the last report. */
export interface Changes {
  written: [string, Uint8Array][];
  removed: string[];
}

/** The most links that are followed on the way to one file, as in Linux. */
const MOST_LINKS = 40;

/** The result of an operation, or the number of a WASI error. */
export type Found<T> = T | number;

let numbers = 1n;

abstract class Place {
  readonly number = numbers++;
  /** The folder that it is in; absent for the root and for a removed entry. */
  parent: Folder | undefined;
  name = "";
  abstract readonly type: number;
  modified = 0n;

  get size(): number {
    return 0;
  }
}

/** A file. Its first content is shared with the caller, and copied before it is changed. */
export class PlainFile extends Place {
  readonly type = wasi.FILETYPE_REGULAR_FILE;
  #room: Uint8Array;
  #size: number;
  #isShared = true;

  constructor(content: Uint8Array) {
    super();
    this.#room = content;
    this.#size = content.length;
  }

  override get size(): number {
    return this.#size;
  }

  /** A view of its bytes, which the caller must neither change nor keep. */
  get content(): Uint8Array {
    return this.#room.subarray(0, this.#size);
  }

  write(bytes: Uint8Array, at: number): void {
    const end = at + bytes.length;
    if (this.#isShared || end > this.#room.length) this.#move(Math.max(end, this.#size));
    this.#room.set(bytes, at);
    this.#size = Math.max(this.#size, end);
  }

  resize(size: number): void {
    if (this.#isShared || size > this.#room.length) this.#move(size);
    // Cleared, so that the old bytes do not appear again when the file grows.
    this.#room.fill(0, Math.min(size, this.#size), this.#size);
    this.#size = size;
  }

  #move(least: number): void {
    const grows = least > this.#room.length;
    // Doubled, so that appending piece by piece costs no more than the file's length.
    const room = new Uint8Array(grows ? Math.max(least, 2 * this.#size) : least);
    room.set(this.#room.subarray(0, Math.min(this.#size, room.length)));
    this.#room = room;
    this.#isShared = false;
  }
}

/** A symbolic link. */
export class Link extends Place {
  readonly type = wasi.FILETYPE_SYMBOLIC_LINK;

  constructor(readonly target: string) {
    super();
  }

  override get size(): number {
    return this.target.length;
  }
}

/** A folder. */
export class Folder extends Place {
  readonly type = wasi.FILETYPE_DIRECTORY;
  readonly entries = new Map<string, Node>();

  /** The size that file systems give a folder with few entries. */
  override get size(): number {
    return 4096;
  }
}

/** An entry of the tree. */
export type Node = PlainFile | Link | Folder;

/** A name in a folder, and the entry of that name, if there is one. */
export interface Spot {
  folder: Folder;
  /** Empty for the folder where the path began. */
  name: string;
  node: Node | undefined;
}

/** The tree of files. */
export class Tree {
  readonly root = new Folder();
  /** A folder of the root that lists leave out. */
  hidden: Folder | undefined;
  /** Paths of files that were written or removed, and of those not reported yet. */
  readonly #touched = new Set<string>();
  readonly #untold = new Set<string>();
  readonly #before: ReadonlyMap<string, Uint8Array>;
  readonly #begun: bigint;

  constructor(files: Iterable<[string, Uint8Array]>, kept: Kept, begun: bigint) {
    this.#before = new Map(files);
    this.#begun = begun;
    for (const [path, content] of this.#before) this.#plant(path, new PlainFile(content));
    for (const path of kept.folders) this.#folders(path.split("/"));
    for (const [path, target] of kept.links) this.#plant(path, new Link(target));
    for (const [path, time] of kept.times) {
      const node = this.#at(path);
      if (node !== undefined) node.modified = time;
    }
  }

  /** Leaves the folder of that name out of lists; it can still be opened by its name. */
  hide(name: string): void {
    this.hidden = this.#folders([name]);
  }

  /** Finds a path from a folder on; a link at its end is followed if `follows` is true. */
  find(from: Folder, path: string, follows: boolean): Found<Spot> {
    if (path.startsWith("/")) return wasi.ERRNO_NOTCAPABLE;
    if (path.includes("\0")) return wasi.ERRNO_INVAL;
    let spot: Spot = { folder: from, name: "", node: from };
    const steps = path.split("/");
    const isFolder = path.endsWith("/");
    let links = 0;
    while (steps.length > 0) {
      const step = steps.shift() ?? "";
      if (step === "" || step === ".") continue;
      if (spot.node === undefined) return wasi.ERRNO_NOENT;
      if (!(spot.node instanceof Folder)) return wasi.ERRNO_NOTDIR;
      const folder: Folder = spot.node;
      if (step === "..") {
        if (folder.parent === undefined) return wasi.ERRNO_NOTCAPABLE;
        spot = { folder: folder.parent, name: "", node: folder.parent };
        continue;
      }
      const node = folder.entries.get(step);
      spot = { folder, name: step, node };
      const isLast = steps.every((rest) => rest === "");
      if (!(node instanceof Link) || (isLast && !follows && !isFolder)) continue;
      links += 1;
      if (links > MOST_LINKS) return wasi.ERRNO_LOOP;
      // A link may name a path of the machine that it came from, which means nothing here.
      if (node.target.startsWith("/")) return wasi.ERRNO_PERM;
      steps.unshift(...node.target.split("/"));
      spot = { folder, name: "", node: folder };
    }
    const isWrong = isFolder && spot.node !== undefined && !(spot.node instanceof Folder);
    return isWrong ? wasi.ERRNO_NOTDIR : spot;
  }

  /** Adds an entry where there is none. */
  add({ folder, name }: Spot, node: Node): void {
    node.modified = now();
    put(folder, name, node);
    folder.modified = now();
    if (node instanceof PlainFile) this.touch(node);
  }

  /** Removes an entry. */
  remove({ folder, name, node }: Spot): void {
    if (node === undefined) return;
    // First, while the entries below still have paths.
    this.#touchAll(node);
    folder.entries.delete(name);
    folder.modified = now();
    node.parent = undefined;
  }

  /** Moves an entry to another place, and replaces what is there. */
  move(from: Spot, to: Spot): void {
    const { node } = from;
    if (node === undefined) return;
    if (to.node !== undefined) this.remove(to);
    this.remove(from);
    put(to.folder, to.name, node);
    to.folder.modified = now();
    this.#touchAll(node);
  }

  /** Returns whether a link in that folder to that target stays within the tree at each step. */
  holds(folder: Folder, target: string): boolean {
    if (target === "" || target.startsWith("/")) return false;
    let depth = this.#pathOf(folder)?.split("/").filter(Boolean).length ?? 0;
    for (const step of target.split("/")) {
      if (step === "..") depth -= 1;
      else if (step !== "" && step !== ".") depth += 1;
      if (depth < 0) return false;
    }
    return true;
  }

  /** Notes that a file has changed. */
  touch(file: PlainFile): void {
    file.modified = now();
    this.#note(file);
  }

  /** The bytes of changes not reported yet. */
  get untold(): number {
    let bytes = 0;
    for (const path of this.#untold) bytes += path.length + (this.#fileAt(path)?.size ?? 0);
    return bytes;
  }

  /** Returns the changes not reported yet. */
  news(): Changes {
    return this.#changes(this.#untold);
  }

  /** Returns all changes. */
  changes(): Changes {
    return this.#changes(this.#touched);
  }

  /** Returns the state to be kept beside the files. */
  kept(): Kept {
    const kept: Kept = { folders: [], links: [], times: [] };
    this.#keep(this.root, "", kept);
    return kept;
  }

  #keep(folder: Folder, prefix: string, kept: Kept): void {
    for (const [name, node] of folder.entries) {
      const path = prefix + name;
      if (node.modified !== this.#begun) kept.times.push([path, node.modified]);
      if (node instanceof Link) kept.links.push([path, node.target]);
      if (!(node instanceof Folder)) continue;
      if (node.entries.size > 0) this.#keep(node, `${path}/`, kept);
      else kept.folders.push(path);
    }
  }

  #changes(paths: Set<string>): Changes {
    const changes: Changes = { written: [], removed: [] };
    for (const path of paths) {
      const [file, before] = [this.#fileAt(path), this.#before.get(path)];
      if (file !== undefined) {
        // A report may take back an earlier one, so that also a file that is as before is told.
        if (paths === this.#untold || !same(before, file.content)) {
          changes.written.push([path, file.content.slice()]);
        }
      } else if (before !== undefined || paths === this.#untold) changes.removed.push(path);
    }
    this.#untold.clear();
    return changes;
  }

  #fileAt(path: string): PlainFile | undefined {
    const node = this.#at(path);
    return node instanceof PlainFile ? node : undefined;
  }

  #at(path: string): Node | undefined {
    let node: Node | undefined = this.root;
    for (const name of path.split("/")) {
      if (!(node instanceof Folder)) return undefined;
      node = node.entries.get(name);
    }
    return node;
  }

  #touchAll(node: Node): void {
    if (node instanceof PlainFile) this.#note(node);
    else if (node instanceof Folder) {
      for (const each of node.entries.values()) this.#touchAll(each);
    }
  }

  #note(file: PlainFile): void {
    const path = this.#pathOf(file);
    if (path === undefined) return;
    this.#touched.add(path);
    this.#untold.add(path);
  }

  // The path from the root on; `undefined` for an entry that was removed.
  #pathOf(node: Node): string | undefined {
    const names: string[] = [];
    let at = node;
    while (at.parent !== undefined) {
      names.push(at.name);
      at = at.parent;
    }
    return at === this.root ? names.reverse().join("/") : undefined;
  }

  #plant(path: string, node: Node): void {
    const names = path.split("/");
    const name = names.pop() ?? "";
    const folder = this.#folders(names);
    node.modified = this.#begun;
    if (folder?.entries.has(name) === false) put(folder, name, node);
  }

  // The folder of that path, made if needed; `undefined` if a file is in the way.
  #folders(names: readonly string[]): Folder | undefined {
    let folder = this.root;
    for (const name of names) {
      let next = folder.entries.get(name);
      if (next === undefined) {
        next = new Folder();
        next.modified = this.#begun;
        put(folder, name, next);
      }
      if (!(next instanceof Folder)) return undefined;
      folder = next;
    }
    return folder;
  }
}

/** Returns the time in nanoseconds. */
export function now(): bigint {
  return BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n;
}

function put(folder: Folder, name: string, node: Node): void {
  folder.entries.set(name, node);
  node.parent = folder;
  node.name = name;
}

function same(a: Uint8Array | undefined, b: Uint8Array): boolean {
  return a !== undefined && a.length === b.length && a.every((byte, at) => byte === b[at]);
}
