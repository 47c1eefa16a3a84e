// The commits and trees of a repository, loose and in packs. A store that borrows objects from
// elsewhere is not read: its author could choose any path of the machine.

import { type FileHandle, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { inflateSync } from "node:zlib";
import { type Budget, bytesAt, statAt } from "./plain.js";

/** The most bytes of an object, and of a pack's table. */
const MOST_OBJECT = 16 * 2 ** 20;
const MOST_TABLE = 64 * 2 ** 20;
/** The most deltas that lead to one object; git's own packs have 50. */
const MOST_DELTAS = 100;
/** The kinds of objects, by their number in packs. */
const KINDS = ["", "commit", "tree", "blob", "tag"];

/** A commit. */
export interface Commit {
  tree: string;
  parents: string[];
  /** In seconds since 1970. */
  time: number;
  message: string;
}

interface Pack {
  table: Buffer;
  file: FileHandle;
}

interface Found {
  kind: string;
  data: Buffer;
}

/** The objects of a repository. */
export class Objects {
  readonly #folder: string;
  readonly #budget: Budget;
  readonly #packs: Pack[] = [];

  private constructor(folder: string, budget: Budget) {
    this.#folder = folder;
    this.#budget = budget;
  }

  /** Opens the store; `undefined` if it is not made of plain files alone. */
  static async open(common: string, budget: Budget): Promise<Objects | undefined> {
    const folder = join(common, "objects");
    for (const path of ["", "pack"]) {
      if ((await statAt(join(folder, path)))?.isDirectory() !== true) return undefined;
    }
    const info = await statAt(join(folder, "info"));
    if (info !== undefined && !info.isDirectory()) return undefined;
    for (const path of ["info/alternates", "info/http-alternates"]) {
      if ((await statAt(join(folder, path))) !== undefined) return undefined;
    }
    const objects = new Objects(folder, budget);
    try {
      await objects.#openPacks(join(folder, "pack"));
      return objects;
    } catch {
      await objects.close();
      return undefined;
    }
  }

  async close(): Promise<void> {
    for (const { file } of this.#packs) await file.close().catch(() => {});
  }

  /** Returns a commit; throws if it cannot be read. */
  async commit(id: string): Promise<Commit> {
    const text = (await this.#find(id, "commit")).toString("utf8");
    const end = text.indexOf("\n\n");
    const head = end < 0 ? text : text.slice(0, end);
    const all = (name: RegExp): string[] =>
      [...head.matchAll(name)].map(([, value]) => value ?? "");
    const [tree = ""] = all(/^tree (\w{40})$/gm);
    const [time = "0"] = all(/^committer .* (\d+) [+-]\d+$/gm);
    const message = end < 0 ? "" : text.slice(end + 2);
    return { tree, parents: all(/^parent (\w{40})$/gm), time: Number(time), message };
  }

  /** Returns a tree's entries; throws if it cannot be read. */
  async tree(id: string): Promise<{ name: string; mode: number; id: string }[]> {
    const data = await this.#find(id, "tree");
    const entries = [];
    for (let at = 0; at < data.length; ) {
      const blank = data.indexOf(0x20, at);
      const end = data.indexOf(0, blank);
      if (blank < 0 || end < 0 || end + 21 > data.length) throw new Error("a tree is broken");
      entries.push({
        name: data.toString("latin1", blank + 1, end),
        mode: Number.parseInt(data.toString("latin1", at, blank), 8),
        id: data.toString("hex", end + 1, end + 21),
      });
      at = end + 21;
    }
    return entries;
  }

  async #find(id: string, kind: string): Promise<Buffer> {
    const found = (await this.#packed(id, 0)) ?? (await this.#loose(id));
    if (found.kind !== kind) throw new Error(`${id} is no ${kind}`);
    return found.data;
  }

  async #loose(id: string): Promise<Found> {
    const bytes = await bytesAt(join(this.#folder, id.slice(0, 2), id.slice(2)), MOST_OBJECT);
    if (bytes === undefined) throw new Error(`${id} is not there`);
    const whole = inflated(bytes, MOST_OBJECT);
    this.#budget.take(1, whole.length);
    const end = whole.indexOf(0);
    const [kind = "", size] = whole.toString("latin1", 0, end).split(" ");
    const data = whole.subarray(end + 1);
    if (end < 0 || data.length !== Number(size)) throw new Error(`${id} is broken`);
    return { kind, data };
  }

  async #openPacks(folder: string): Promise<void> {
    for (const name of await readdir(folder)) {
      if (!/^pack-\w+\.idx$/.test(name)) continue;
      const table = await bytesAt(join(folder, name), MOST_TABLE);
      const pack = join(folder, name.replace(/idx$/, "pack"));
      if ((await statAt(pack))?.isFile() !== true) throw new Error("a pack is missing");
      // Version 2 of tables, which git has written since 2008.
      if (table?.readUInt32BE(0) !== 0xff744f63 || table.readUInt32BE(4) !== 2) {
        throw new Error("a pack's table cannot be read");
      }
      this.#packs.push({ table, file: await open(pack, "r") });
    }
  }

  async #packed(id: string, depth: number): Promise<Found | undefined> {
    for (const pack of this.#packs) {
      const at = offsetIn(pack.table, Buffer.from(id, "hex"));
      if (at !== undefined) return await this.#entry(pack, at, depth);
    }
    return undefined;
  }

  // An object of a pack: whole, or the changes of another one.
  async #entry(pack: Pack, at: number, depth: number): Promise<Found> {
    if (depth > MOST_DELTAS) throw new Error("a pack is broken");
    const head = await read(pack.file, at, 64);
    let [next, byte] = [1, head[0] ?? 0];
    const kind = (byte >> 4) & 7;
    let size = byte & 15;
    for (let shift = 4; byte & 128; shift += 7) {
      byte = head[next++] ?? 0;
      size += (byte & 127) * 2 ** shift;
    }
    if (size > MOST_OBJECT) throw new Error("an object is too large");
    this.#budget.take(1, size);
    let base: Promise<Found | undefined> | undefined;
    if (kind === 6) {
      byte = head[next++] ?? 0;
      let back = byte & 127;
      while (byte & 128) {
        byte = head[next++] ?? 0;
        back = (back + 1) * 128 + (byte & 127);
      }
      if (back === 0 || back > at) throw new Error("a pack is broken");
      base = this.#entry(pack, at - back, depth + 1);
    } else if (kind === 7) {
      base = this.#packed(head.toString("hex", next, next + 20), depth + 1);
      next += 20;
    }
    const before = await base;
    // The length of what is compressed is told nowhere. No deflater makes more than this of it.
    const raw = await read(pack.file, at + next, size + (size >> 6) + 1024);
    const data = inflated(raw, size);
    if (data.length !== size) throw new Error("a pack is broken");
    if (base === undefined) return { kind: KINDS[kind] ?? "", data };
    if (before === undefined) throw new Error("a pack is broken");
    return { kind: before.kind, data: patched(before.data, data) };
  }
}

function inflated(bytes: Buffer, most: number): Buffer {
  return inflateSync(bytes, { maxOutputLength: Math.max(most, 1) });
}

async function read(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at);
  return buffer.subarray(0, bytesRead);
}

// The place of an object in its pack, by a search in the table's sorted ids.
function offsetIn(table: Buffer, id: Buffer): number | undefined {
  const fan = (byte: number): number => (byte < 0 ? 0 : table.readUInt32BE(8 + 4 * byte));
  const ids = 8 + 4 * 256;
  const count = fan(255);
  let [low, high] = [fan((id[0] ?? 0) - 1), fan(id[0] ?? 0)];
  while (low < high) {
    const middle = (low + high) >> 1;
    const order = id.compare(table, ids + 20 * middle, ids + 20 * (middle + 1));
    if (order === 0) {
      const offsets = ids + 24 * count;
      const short = table.readUInt32BE(offsets + 4 * middle);
      if (short < 2 ** 31) return short;
      return Number(table.readBigUInt64BE(offsets + 4 * count + 8 * (short - 2 ** 31)));
    }
    if (order < 0) high = middle;
    else low = middle + 1;
  }
  return undefined;
}

// The object that a delta makes of another one: pieces of that, and bytes of its own.
function patched(base: Buffer, delta: Buffer): Buffer {
  let at = 0;
  const byte = (): number => {
    const value = delta[at++];
    if (value === undefined) throw new Error("a delta is broken");
    return value;
  };
  const length = (): number => {
    let [sum, shift, value] = [0, 0, 128];
    for (; value & 128; shift += 7) {
      value = byte();
      sum += (value & 127) * 2 ** shift;
    }
    return sum;
  };
  const fits = length() === base.length;
  const size = length();
  if (!fits || size > MOST_OBJECT) throw new Error("a delta is broken");
  const pieces: Buffer[] = [];
  let made = 0;
  while (at < delta.length) {
    const code = byte();
    if (code & 128) {
      const number = (bits: number, from: number): number => {
        let sum = 0;
        for (let each = 0; each < bits; each += 1) {
          if (code & (1 << (from + each))) sum += byte() * 2 ** (8 * each);
        }
        return sum;
      };
      const from = number(4, 0);
      const count = number(3, 4) || 0x10000;
      pieces.push(base.subarray(from, from + count));
    } else {
      pieces.push(delta.subarray(at, at + code));
      at += code;
    }
    // Looked at in the loop: a short delta could otherwise ask for any number of bytes.
    const length = pieces.at(-1)?.length ?? 0;
    made += length;
    if (length === 0 || made > size) throw new Error("a delta is broken");
  }
  if (made !== size) throw new Error("a delta is broken");
  return Buffer.concat(pieces);
}
