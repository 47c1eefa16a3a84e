// The interface between the package and its platform, and the loading of the module through it.
// Each entry sets its platform once, when it is imported; nothing else here asks where it runs.

import { type Binding, loadFirst } from "../binding/instance.js";
import { AgentError, messageOf } from "../errors.js";
import type { ProgramJob, ProgramNews } from "../wasi/program.js";
import type { Address, HttpResponse, WasmModule } from "./globals.js";
import { isUrl } from "./kinds.js";

/** The longest delay of `setTimeout` in milliseconds; a longer one would end at once. */
export const LONGEST_MS = 2 ** 31 - 1;

/**
 * A source of the package's WebAssembly, if it does not lie beside the script: its bytes, its
 * compiled module, a response, or an address as a text or `URL`; in Node a text may be a path.
 */
export type ModuleSource =
  | string
  | Address
  | HttpResponse
  | Promise<HttpResponse>
  | ArrayBufferView
  | ArrayBuffer
  | WasmModule;

/** @internal The platform, as an entry provides it. */
export interface Platform {
  /** The place of the package's module, or the module itself. */
  module(): ModuleSource | Promise<ModuleSource>;
  /** Loads the package's module into an instance; called once. */
  load(source: Exclude<ModuleSource, string>, into: Binding): Promise<void>;
  /** Starts a worker for one run of a program; absent where there are no workers. */
  startWorker?(): ProgramWorker;
  /** Imports a package by its name; absent where all code is bundled beforehand. */
  importPackage?(name: string): Promise<{ default: unknown }>;
  /** The URL of a text: a path of the machine, or an address relative to the page's. */
  locate(place: string): URL;
  /** Reads a `file:` URL; absent where there are no files. */
  readFile?(url: URL): Promise<Uint8Array>;
  /** True for a page: some providers want a header that admits that the key is in a browser. */
  page: boolean;
}

/** @internal A worker that runs one program. */
export interface ProgramWorker {
  /** Hands over the program, transfers these buffers with it, and listens to it. */
  start(job: ProgramJob, transfer: ArrayBuffer[], onNews: (news: ProgramNews) => void): void;
  /** Ends the worker, wherever the program is. */
  terminate(): void;
}

let current: Platform | undefined;
let loading: Promise<void> | undefined;

/** @internal Sets the platform; called by each entry when it is imported. */
export function usePlatform(platform: Platform): void {
  current = platform;
}

/** @internal Returns the platform of the entry that was imported. */
export function platform(): Platform {
  if (current === undefined) {
    throw new Error("innerloop: import the package by its name, not one of its inner files");
  }
  return current;
}

/**
 * Loads the package's WebAssembly, once. `Agent.create` does it by itself; call this before only if
 * your bundler leaves the `.wasm` file out, with the module or the place where it is.
 *
 * ```js
 * await init({ module: "/assets/innerloop_wasm_bg.wasm" });
 * ```
 *
 * @throws AgentError `not_loaded` if the module cannot be loaded; the next call tries again.
 */
export function init({ module }: { module?: ModuleSource } = {}): Promise<void> {
  // A failed load is forgotten, so that a later call may name another source.
  loading ??= load(module).catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

async function load(given: ModuleSource | undefined): Promise<void> {
  const { module, locate, load } = platform();
  let place = "";
  try {
    const source = given ?? (await module());
    const found = typeof source === "string" ? locate(source) : source;
    if (isUrl(found)) place = ` from ${found.href}`;
    await loadFirst((into) => load(found, into));
  } catch (error) {
    throw notLoaded(`the package's WebAssembly could not be loaded${place}`, error);
  }
}

/** The advice where a file of the package could not be loaded. */
const ADVICE =
  "A bundler that leaves the package's files behind needs `innerloop/inline` in place of " +
  "`innerloop`";
const POLICY = "The page's content security policy must have `script-src 'wasm-unsafe-eval'`";

function notLoaded(what: string, error: unknown): AgentError {
  const why = messageOf(error);
  const isRefused = /content security policy|unsafe-eval/i.test(why);
  const other = "; or `init({ module })` takes the module, or where it is";
  const advice = isRefused ? POLICY : ADVICE + other;
  return new AgentError("not_loaded", `${what}: ${why}. ${advice}`);
}

/** @internal Returns whether pictures can be made smaller here. */
export function hasCanvas(): boolean {
  return typeof createImageBitmap === "function" && typeof OffscreenCanvas === "function";
}

/** @internal Returns the message for a worker that does not start. */
export function noWorker(place: URL | undefined, why = "it could not be loaded"): string {
  const from = place === undefined ? "" : ` (${place.href})`;
  const policy = "a content security policy must have `worker-src` for it";
  return `the worker${from} did not start: ${why}. ${ADVICE}; ${policy}`;
}
