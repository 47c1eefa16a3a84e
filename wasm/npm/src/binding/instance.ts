// The instances of the package's WebAssembly module. One is current: agents and files are made in
// it. A trap leaves an instance in the middle of a change, so that it is retired: agents that live
// in it stay until they break or end, and new ones are made in a fresh instance.

import { AgentError } from "../errors.js";
import type * as Glue from "../innerloop_wasm.js";
// @ts-expect-error `build.mjs` wraps wasm-bindgen's glue in this function: as it comes, the glue
// keeps one instance in module variables.
import { instantiate } from "../innerloop_wasm.js";

/** One instance: its classes and functions, and the functions that load it. */
export type Binding = Pick<
  typeof Glue,
  | "RawAgent"
  | "RawFiles"
  | "RawSession"
  | "configJson"
  | "pictureLimits"
  | "providersJson"
  | "initSync"
> & {
  load: typeof Glue.default;
  /** The compiled module, once the instance is loaded. */
  module(): WebAssembly.Module;
  /** The size of its memory in bytes. */
  bytes(): number;
};

export type { RawAgent, RawFiles, RawSession } from "../innerloop_wasm.js";

const fresh = instantiate as () => Binding;

let current: Binding | undefined;
let compiled: WebAssembly.Module | undefined;

/** Loads the first instance with `load`, and keeps its compiled module for later ones. */
export async function loadFirst(load: (binding: Binding) => Promise<void>): Promise<void> {
  const made = fresh();
  await load(made);
  compiled = made.module();
  current = made;
}

/**
 * Returns the current instance, and makes one if the last was retired. It throws `unsupported` if
 * the module is not loaded.
 */
export function binding(): Binding {
  if (current !== undefined) return current;
  if (compiled === undefined) {
    throw new AgentError("unsupported", "the module is not loaded yet: `await init()` first");
  }
  const made = fresh();
  made.initSync({ module: compiled });
  current = made;
  return made;
}

/**
 * The size in bytes above which an instance is given up once no agent lives in it: a WebAssembly
 * memory never shrinks.
 */
const LARGE = 16 * 2 ** 20;
/** The number of agents that live in each instance. */
const agents = new WeakMap<Binding, number>();

/** Notes that an agent lives in an instance from now on. */
export function settle(of: Binding): void {
  agents.set(of, (agents.get(of) ?? 0) + 1);
}

/** Notes that an agent has left an instance. */
export function unsettle(of: Binding): void {
  agents.set(of, (agents.get(of) ?? 0) - 1);
  lighten(of);
}

/** Gives up the current instance if it is large and no agent lives in it. */
export function lighten(of: Binding): void {
  if (of === current && !agents.get(of) && of.bytes() > LARGE) current = undefined;
}

/** Gives up the current instance because a call into it broke; the next use makes a fresh one. */
export function retire(): void {
  current = undefined;
}

/** Drops an object of a broken instance without calling into it, as `free` would. */
export function abandon(raw: object): void {
  // The glue's own method: it unregisters the object from the glue's finalizer, which would
  // otherwise call into the broken instance once the object is collected.
  (raw as { __destroy_into_raw?(): number }).__destroy_into_raw?.();
}
