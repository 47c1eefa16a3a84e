// File functions for the shell, each one call where WASI needs several: the facts about a path, a
// folder's entries with their facts, a whole file. Shells do these for many files.

import { wasi } from "@bjorn3/browser_wasi_shim";
import { textAt } from "./guest.js";
import { Folder, type Found, Link, type Node, PlainFile, type Tree } from "./tree.js";

/** The number of bytes of a file's facts: kind, mode, size and time of change. */
const ABOUT = 19;

/** The first bytes of a script, which counts as executable. */
const SCRIPT = [0x23, 0x21];

/** Returns the functions for files that a shell imports. */
export function fileImports(tree: Tree, memory: () => ArrayBuffer): WebAssembly.ModuleImports {
  // A result waits here until the shell has made room for it and takes it.
  let found = new Uint8Array();
  const at = (place: number, length: number, follow: boolean): Found<Node> => {
    const path = textAt(memory(), place, length).replace(/^\/+/, "");
    const spot = tree.find(tree.root, path, follow);
    if (typeof spot === "number") return spot;
    return spot.node ?? wasi.ERRNO_NOENT;
  };
  const keep = (bytes: Found<Uint8Array<ArrayBuffer>>): bigint => {
    if (typeof bytes === "number") return BigInt(-bytes);
    found = bytes;
    return BigInt(bytes.length);
  };
  return {
    path_stat(place: number, length: number, result: number): number {
      const node = at(place, length, false);
      if (typeof node === "number") return node;
      new Uint8Array(memory()).set(about(node), result);
      return wasi.ERRNO_SUCCESS;
    },

    // Files in memory have no modes; the shell itself keeps what `chmod` sets.
    path_set_mode: (): number => wasi.ERRNO_NOSYS,

    folder_list(place: number, length: number): bigint {
      const node = at(place, length, true);
      if (typeof node === "number") return keep(node);
      return keep(node instanceof Folder ? list(tree, node) : wasi.ERRNO_NOTDIR);
    },

    file_read(place: number, length: number): bigint {
      const node = at(place, length, true);
      if (typeof node === "number") return keep(node);
      return keep(node instanceof PlainFile ? node.content.slice() : wasi.ERRNO_ISDIR);
    },

    take(place: number): void {
      new Uint8Array(memory()).set(found, place);
      found = new Uint8Array();
    },
  };
}

function list(tree: Tree, folder: Folder): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder();
  const entries = [...folder.entries].filter(([, node]) => node !== tree.hidden);
  const named = entries.map(([name, node]) => ({ name: encoder.encode(name), node }));
  const total = named.reduce((sum, { name }) => sum + ABOUT + 2 + name.length, 0);
  const bytes = new Uint8Array(total);
  let end = 0;
  // In the order of their bytes, as on the native host.
  for (const { name, node } of named.sort((one, other) => compare(one.name, other.name))) {
    bytes.set(about(node), end);
    new DataView(bytes.buffer).setUint16(end + ABOUT, name.length, true);
    bytes.set(name, end + ABOUT + 2);
    end += ABOUT + 2 + name.length;
  }
  return bytes;
}

function compare(one: Uint8Array, other: Uint8Array): number {
  const at = one.findIndex((byte, index) => byte !== other[index]);
  if (at < 0) return one.length - other.length;
  return (one[at] ?? 0) - (other[at] ?? -1);
}

function about(node: Node): Uint8Array {
  const view = new DataView(new ArrayBuffer(ABOUT));
  view.setUint8(0, node.type);
  view.setUint16(1, mode(node), true);
  view.setBigUint64(3, BigInt(node.size), true);
  view.setBigUint64(11, node.modified, true);
  return new Uint8Array(view.buffer);
}

function mode(node: Node): number {
  if (node instanceof Folder) return 0o755;
  if (node instanceof Link) return 0o777;
  return SCRIPT.every((byte, at) => node.content[at] === byte) ? 0o755 : 0o644;
}
