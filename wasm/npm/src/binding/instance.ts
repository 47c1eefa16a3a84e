// The package's module, instantiated. A trap leaves an instance as it was in the middle of
// something: what lives in it goes on, and what is made from then on lives in a fresh one.

import { AgentError } from "../errors.js";
import type * as Glue from "../innerloop_wasm.js";
// @ts-expect-error `build.mjs` makes a function of the glue, which is one instance as it comes.
import { instantiate } from "../innerloop_wasm.js";

/** One instance: its classes and functions, and how it is loaded. */
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
  /** What it was made of, once it is loaded. */
  module(): WebAssembly.Module;
  /** How large its memory is. */
  bytes(): number;
};

export type { RawAgent, RawFiles, RawSession } from "../innerloop_wasm.js";

const fresh = instantiate as () => Binding;

let current: Binding | undefined;
let compiled: WebAssembly.Module | undefined;

/** Loads the first instance. */
export async function loadFirst(load: (binding: Binding) => Promise<void>): Promise<void> {
  const made = fresh();
  await load(made);
  compiled = made.module();
  current = made;
}

/** The instance for what is made now. */
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

/** A memory that is larger is given back as soon as no agent lives in it: it never shrinks. */
const LARGE = 16 * 2 ** 20;
/** How many agents live in each instance. */
const agents = new WeakMap<Binding, number>();

/** An agent lives in an instance from now on. */
export function settle(of: Binding): void {
  agents.set(of, (agents.get(of) ?? 0) + 1);
}

/** One has gone. */
export function unsettle(of: Binding): void {
  agents.set(of, (agents.get(of) ?? 0) - 1);
  lighten(of);
}

/** What is made from now on lives in a fresh instance, if nobody lives in a large one. */
export function lighten(of: Binding): void {
  if (of === current && !agents.get(of) && of.bytes() > LARGE) current = undefined;
}

/** Something is broken in an instance: what is made from now on lives in a fresh one. */
export function retire(): void {
  current = undefined;
}

/** Lets go of what lives in a broken instance, where nothing can be freed any more. */
export function abandon(raw: object): void {
  (raw as { __destroy_into_raw?(): number }).__destroy_into_raw?.();
}
