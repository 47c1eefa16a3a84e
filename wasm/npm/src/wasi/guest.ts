// The run of one WASI module (preview 1) from start to end. Its functions are those of the shim,
// except for the ones that the shim lacks or has wrong.

import { type Fd, WASI, wasi } from "@bjorn3/browser_wasi_shim";
import { OpenFolder } from "./descriptors.js";

/** A module and what it runs with. */
export interface Guest {
  module: WebAssembly.Module;
  /** Its own name, then its arguments. */
  args: string[];
  /** `NAME=value` each. */
  env: string[];
  /** Its descriptors, from 0 on. */
  fds: Fd[];
  /** Returns its imports beside preview 1, given its memory. */
  more?(memory: () => ArrayBuffer): WebAssembly.Imports;
}

// biome-ignore lint/suspicious/noExplicitAny: WebAssembly calls with numbers of two kinds.
type Imported = Record<string, (...args: any[]) => any>;

/** The most events that a module may wait for at once: each takes memory of the worker. */
const MOST_POLLS = 2 ** 12;

const decoder = new TextDecoder();

/** Runs a module and returns its exit code. */
export function runGuest({ module, args, env, fds, more }: Guest): number {
  const shim = new WASI(args, env, fds, { debug: false });
  // Read anew each time: the buffer is another one after the memory has grown.
  const memory = (): ArrayBuffer => shim.inst.exports.memory.buffer;
  const own = { ...shim.wasiImport, ...patched(shim, memory) } as WebAssembly.ModuleImports;
  const imports = { ...more?.(memory), wasi_snapshot_preview1: own };
  const instance = new WebAssembly.Instance(module, imports);
  return shim.start(instance as Parameters<WASI["start"]>[0]);
}

/** Returns variables, `NAME=value` each; of several with one name the last counts. */
export function environment(pairs: readonly string[]): string[] {
  return [...new Map(pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair])).values()];
}

/** Returns the text at a place in a module's memory. */
export function textAt(memory: ArrayBuffer, at: number, length: number): string {
  return decoder.decode(new Uint8Array(memory, at, length));
}

/** Blocks the worker for a time. */
export function sleep(ms: number): void {
  if (ms <= 0) return;
  // Without shared memory only a busy loop can block; the program has no way to be called later.
  if (lock !== undefined) return void Atomics.wait(lock, 0, 0, ms);
  const end = performance.now() + ms;
  while (performance.now() < end);
}

// The cell to wait at. Pages that are not cross-origin isolated have no `SharedArrayBuffer` by
// name, but WebAssembly may still give them shared memory.
const lock = ((): Int32Array | undefined => {
  try {
    const { buffer } = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
    const cells = new Int32Array(buffer);
    Atomics.wait(cells, 0, 0, 0);
    return cells;
  } catch {
    return undefined;
  }
})();

function patched(shim: WASI, memory: () => ArrayBuffer): Imported {
  const folderAt = (fd: number): OpenFolder | undefined => {
    const found = shim.fds[fd];
    return found instanceof OpenFolder ? found : undefined;
  };
  return {
    // The shim counts UTF-16 units where the program needs bytes, and then writes past the buffer.
    args_sizes_get(countAt: number, sizeAt: number): number {
      const sizes = shim.args.map((arg) => new TextEncoder().encode(arg).length + 1);
      const view = new DataView(memory());
      view.setUint32(countAt, sizes.length, true);
      view.setUint32(
        sizeAt,
        sizes.reduce((sum, size) => sum + size, 0),
        true,
      );
      return 0;
    },

    path_symlink(at: number, length: number, fd: number, linkAt: number, linkLength: number) {
      const folder = folderAt(fd);
      if (folder === undefined) return wasi.ERRNO_BADF;
      return folder.link(textAt(memory(), at, length), textAt(memory(), linkAt, linkLength));
    },

    path_rename(
      fd: number,
      at: number,
      length: number,
      toFd: number,
      to: number,
      toLength: number,
    ) {
      const [from, into] = [folderAt(fd), folderAt(toFd)];
      if (from === undefined || into === undefined) return wasi.ERRNO_BADF;
      return from.rename(textAt(memory(), at, length), into, textAt(memory(), to, toLength));
    },

    path_readlink(
      fd: number,
      at: number,
      length: number,
      into: number,
      room: number,
      usedAt: number,
    ) {
      const folder = folderAt(fd);
      if (folder === undefined) return wasi.ERRNO_BADF;
      const { ret, data } = folder.path_readlink(textAt(memory(), at, length));
      if (data === null) return ret;
      // A target that does not fit is cut, as preview 1 demands.
      const bytes = new TextEncoder().encode(data).subarray(0, room);
      new Uint8Array(memory()).set(bytes, into);
      new DataView(memory()).setUint32(usedAt, bytes.length, true);
      return 0;
    },

    poll_oneoff(at: number, into: number, count: number, countAt: number): number {
      if (count === 0) return wasi.ERRNO_INVAL;
      if (count >>> 0 > MOST_POLLS) return wasi.ERRNO_NOMEM;
      const polls = Array.from({ length: count }, (_, index) => pollAt(memory(), at + 48 * index));
      const first = Math.min(...polls.map(({ due }) => due));
      sleep(first - performance.now());
      const ready = polls.filter(({ due }) => due <= first);
      const view = new DataView(memory());
      ready.forEach(({ data, type }, index) => {
        const event = into + 32 * index;
        new Uint8Array(memory(), event, 32).fill(0);
        view.setBigUint64(event, data, true);
        view.setUint8(event + 10, type);
      });
      view.setUint32(countAt, ready.length, true);
      return 0;
    },
  };
}

// An event that a program waits for, with the time when it is due by `performance`. Files are
// always ready.
function pollAt(memory: ArrayBuffer, at: number): { data: bigint; type: number; due: number } {
  const view = new DataView(memory, at, 48);
  const [data, type] = [view.getBigUint64(0, true), view.getUint8(8)];
  if (type !== wasi.EVENTTYPE_CLOCK) return { data, type, due: 0 };
  const wanted = Number(view.getBigUint64(24, true)) / 1e6;
  const isAbsolute =
    (view.getUint16(40, true) & wasi.SUBCLOCKFLAGS_SUBSCRIPTION_CLOCK_ABSTIME) !== 0;
  if (!isAbsolute) return { data, type, due: performance.now() + wanted };
  const isWall = view.getUint32(16, true) === wasi.CLOCKID_REALTIME;
  return { data, type, due: isWall ? wanted - performance.timeOrigin : wanted };
}
