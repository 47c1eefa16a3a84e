// The number of tracked files that differ from the last commit. Files are compared with the index
// and the index with the commit's tree, as `git status` does, but without filters: programs that a
// configuration names are never run. What cannot be counted for sure is unknown.

import { createHash } from "node:crypto";
import { readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import type { GitFolders } from "./folders.js";
import type { Objects } from "./objects.js";
import { type Budget, bytesAt, statAt } from "./plain.js";

/** The most bytes of an index, and of a file whose content is compared. */
const MOST_INDEX = 64 * 2 ** 20;
const MOST_FILE = 16 * 2 ** 20;
/** The deepest folder of a tree that is looked at. */
const DEPTH = 128;
/** The number of files that are looked at at the same time. */
const AT_ONCE = 64;
const [LINK, COMMIT] = [0o120000, 0o160000];

/** A tracked file; its path is bytes, one character each. */
export interface Entry {
  path: string;
  id: string;
  mode: number;
  size: number;
  /** The time of the last change, in whole seconds and nanoseconds. */
  time: [number, number];
  stage: number;
  /** True if the user has told git not to look at it. */
  isLeftAlone: boolean;
}

export interface Index {
  entries: Entry[];
  /** The ids of folders in which nothing is staged; the path ends with a slash or is empty. */
  trees: Map<string, string>;
  /** The time at which it was written, in nanoseconds. */
  written: bigint;
}

/**
 * Returns the number of files that differ; `tree` is the commit's, `undefined` if there is none yet.
 *
 * @throws Error if they cannot be counted.
 */
export async function countModified(
  root: string,
  index: Index,
  tree: string | undefined,
  objects: Objects | undefined,
  budget: Budget,
): Promise<number> {
  const committed = new Committed(index, budget);
  if (tree !== undefined) {
    if (objects === undefined) throw new Error("the commit cannot be read");
    await committed.read(objects, tree, "", DEPTH);
  }
  // A file in conflict has several entries, and is counted as one of the commit's that is not here.
  const entries = index.entries.filter(({ stage }) => stage === 0);
  const attributes = await bytesAt(join(root, ".gitattributes"), 64 * 1024);
  const hasFilters = attributes?.includes("filter=") ?? false;
  let count = committed.gone(entries);
  for (let at = 0; at < entries.length; at += AT_ONCE) {
    const some = entries.slice(at, at + AT_ONCE);
    budget.take(some.length);
    const differ = some.map(async (entry) => {
      return (
        !committed.has(entry) || (await differs(root, entry, index.written, hasFilters, budget))
      );
    });
    count += (await Promise.all(differ)).filter(Boolean).length;
  }
  return count;
}

/** The files of a commit, as far as they may differ from the index. */
class Committed {
  readonly #index: Index;
  readonly #budget: Budget;
  readonly #files = new Map<string, string>();
  /** Folders that are equal in the index. */
  readonly #equal = new Set<string>();

  constructor(index: Index, budget: Budget) {
    this.#index = index;
    this.#budget = budget;
  }

  async read(objects: Objects, tree: string, path: string, depth: number): Promise<void> {
    // With equal ids the whole folder is equal, and no object has to be read. This keeps a large
    // repository within the budget.
    if (this.#index.trees.get(path) === tree) {
      this.#equal.add(path);
      return;
    }
    if (depth === 0) throw new Error("a tree is too deep");
    for (const { name, mode, id } of await objects.tree(tree)) {
      this.#budget.take(1);
      if (mode === 0o40000) await this.read(objects, id, `${path}${name}/`, depth - 1);
      else this.#files.set(path + name, `${mode} ${id}`);
    }
  }

  has({ path, mode, id }: Entry): boolean {
    return this.#isEqual(path) || this.#files.get(path) === `${mode} ${id}`;
  }

  /** Returns the number of the commit's files that are not among these. */
  gone(entries: readonly Entry[]): number {
    const here = new Set(entries.map(({ path }) => path));
    return [...this.#files.keys()].filter((path) => !here.has(path)).length;
  }

  #isEqual(path: string): boolean {
    if (this.#equal.has("")) return true;
    for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1)) {
      if (this.#equal.has(path.slice(0, at + 1))) return true;
    }
    return false;
  }
}

async function differs(
  root: string,
  entry: Entry,
  written: bigint,
  hasFilters: boolean,
  budget: Budget,
): Promise<boolean> {
  if (entry.mode === COMMIT || entry.isLeftAlone) return false;
  const path = Buffer.concat([Buffer.from(`${root}/`), Buffer.from(entry.path, "latin1")]);
  const found = await statAt(path);
  const isLink = entry.mode === LINK;
  if (found === undefined || !(isLink ? found.isSymbolicLink() : found.isFile())) return true;
  const isSize = BigInt(entry.size) === found.size;
  const [seconds, part] = [found.mtimeNs / 1_000_000_000n, found.mtimeNs % 1_000_000_000n];
  // Some builds of git store whole seconds only.
  const isPart = entry.time[1] === 0 || BigInt(entry.time[1]) === part;
  const isTime = BigInt(entry.time[0]) === seconds && isPart;
  // A file that was changed in the same tick as the index was written has the same time before and
  // after. As in git, only an earlier time is proof.
  if (isSize && isTime && found.mtimeNs < written) return false;
  // Git writes the size 0 where it could not be sure of the time.
  if (!isSize && entry.size !== 0) return true;
  if (found.size > MOST_FILE) throw new Error("a file is too large");
  budget.take(0, Number(found.size));
  const bytes = isLink ? await readlink(path, { encoding: "buffer" }) : await readFile(path);
  // Where filters may be at work, different bytes do not prove a change.
  return !isContent(entry.id, bytes) && !hasFilters;
}

// Returns whether these bytes are the object, even if line ends were converted on the way.
function isContent(id: string, bytes: Buffer): boolean {
  const is = (bytes: Buffer): boolean => {
    return createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex") === id;
  };
  if (is(bytes)) return true;
  const text = bytes.toString("latin1");
  return text.includes("\r\n") && is(Buffer.from(text.replaceAll("\r\n", "\n"), "latin1"));
}

/**
 * Reads the tracked files.
 *
 * @throws Error if the index is too large, broken, or has only a part of them.
 */
export async function indexOf({ own }: GitFolders): Promise<Index> {
  const path = join(own, "index");
  const found = await statAt(path);
  if (found === undefined) return { entries: [], trees: new Map(), written: 0n };
  const bytes = await bytesAt(path, MOST_INDEX);
  if (bytes === undefined) throw new Error("the index cannot be read");
  return { ...parsed(bytes), written: found.mtimeNs };
}

function parsed(bytes: Buffer): Pick<Index, "entries" | "trees"> {
  const version = bytes.readUInt32BE(4);
  const isKnown = bytes.toString("latin1", 0, 4) === "DIRC" && version >= 2 && version <= 4;
  if (!isKnown) throw new Error("the index has an unknown form");
  const entries: Entry[] = [];
  let at = 12;
  let path = "";
  for (let left = bytes.readUInt32BE(8); left > 0; left -= 1) {
    const start = at;
    const flags = bytes.readUInt16BE(at + 60);
    const isLong = (flags & 0x4000) !== 0;
    const more = isLong ? bytes.readUInt16BE(at + 62) : 0;
    at += isLong ? 64 : 62;
    let kept = 0;
    if (version === 4) {
      // So many characters of the path before are left out at its end.
      let byte = bytes.readUInt8(at++);
      let cut = byte & 127;
      while (byte & 128) {
        byte = bytes.readUInt8(at++);
        cut = (cut + 1) * 128 + (byte & 127);
      }
      kept = path.length - cut;
    }
    const end = bytes.indexOf(0, at);
    if (end < 0 || kept < 0) throw new Error("the index is broken");
    path = path.slice(0, kept) + bytes.toString("latin1", at, end);
    // Before version 4 an entry is filled up to eights by at least one zero.
    at = version === 4 ? end + 1 : start + (((end - start) >> 3) + 1) * 8;
    entries.push({
      path,
      id: bytes.toString("hex", start + 40, start + 60),
      mode: bytes.readUInt32BE(start + 24),
      size: bytes.readUInt32BE(start + 36),
      time: [bytes.readUInt32BE(start + 8), bytes.readUInt32BE(start + 12)],
      stage: (flags >> 12) & 3,
      isLeftAlone: (flags & 0x8000) !== 0 || (more & 0x4000) !== 0,
    });
  }
  return { entries, trees: treesOf(bytes, at) };
}

// The ids of folders, from the index's extensions. The last 20 bytes are its digest.
function treesOf(bytes: Buffer, from: number): Map<string, string> {
  const trees = new Map<string, string>();
  for (let at = from; at + 8 <= bytes.length - 20; ) {
    const name = bytes.toString("latin1", at, at + 4);
    const end = at + 8 + bytes.readUInt32BE(at + 4);
    // An extension that begins with a small letter changes what the entries mean: some are left
    // out, or stand in another file. A count over those here would be wrong.
    if (/^[^A-Z]/.test(name)) throw new Error("the index has only a part of the entries");
    if (name === "TREE") readTrees(bytes.subarray(at + 8, end), trees);
    at = end;
  }
  return trees;
}

function readTrees(bytes: Buffer, trees: Map<string, string>): void {
  let at = 0;
  const until = (end: number): string => {
    const found = bytes.indexOf(end, at);
    if (found < 0) throw new Error("the index is broken");
    const text = bytes.toString("latin1", at, found);
    at = found + 1;
    return text;
  };
  const read = (above: string, depth: number): void => {
    if (depth > DEPTH) throw new Error("the index is broken");
    const name = until(0);
    const count = Number(until(0x20));
    const below = Number(until(0x0a));
    const path = depth === 0 ? "" : `${above}${name}/`;
    if (count >= 0) {
      trees.set(path, bytes.toString("hex", at, at + 20));
      at += 20;
    }
    for (let left = below; left > 0; left -= 1) read(path, depth + 1);
  };
  if (bytes.length > 0) read("", 0);
}
