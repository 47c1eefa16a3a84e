// What differs from platform to platform; each entry hands in its own.

import { type Binding, loadFirst } from "../binding/instance.js";
import { AgentError, messageOf } from "../errors.js";
import type { ProgramJob, ProgramNews } from "../wasi/program.js";
import type { Address, HttpResponse, WasmModule } from "./globals.js";
import { isUrl } from "./kinds.js";

/** The longest wait that platforms keep; a longer one would end at once. */
export const LONGEST_MS = 2 ** 31 - 1;

/**
 * Where the package's WebAssembly may come from, if not from beside its script; a text is an
 * address, or in Node a path.
 */
export type ModuleSource =
  | string
  | Address
  | HttpResponse
  | Promise<HttpResponse>
  | ArrayBufferView
  | ArrayBuffer
  | WasmModule;

/** @internal What an entry provides. */
export interface Platform {
  /** Where the package's module is, or the module itself. */
  module(): ModuleSource | Promise<ModuleSource>;
  /** Loads the package's module, or what is at that place, into an instance; called once. */
  load(source: Exclude<ModuleSource, string>, into: Binding): Promise<void>;
  /** Starts a worker for one run of a program; absent where there are no workers. */
  startWorker?(): ProgramWorker;
  /** Imports a package by its name; absent where all that runs is bundled before. */
  importPackage?(name: string): Promise<{ default: unknown }>;
  /** Where a text leads: a path of the machine, or an address from the page's on. */
  locate(place: string): URL;
  /** Reads a `file:` URL; absent where there are no files. */
  readFile?(url: URL): Promise<Uint8Array>;
  /** Whether the platform is a page, so that a provider wants to know that the key is in it. */
  page: boolean;
}

/** @internal A worker that runs one program. */
export interface ProgramWorker {
  /** Hands over the program, these buffers with it, and listens to it. */
  start(job: ProgramJob, transfer: ArrayBuffer[], onNews: (news: ProgramNews) => void): void;
  /** Ends the worker, wherever the program is. */
  terminate(): void;
}

let current: Platform | undefined;
let loading: Promise<void> | undefined;

/** @internal Sets the platform; each entry does it when it is imported. */
export function usePlatform(platform: Platform): void {
  current = platform;
}

/** @internal The platform of the entry that was imported. */
export function platform(): Platform {
  if (current === undefined) {
    throw new Error("innerloop: import the package by its name, not one of its inner files");
  }
  return current;
}

/**
 * Loads the package's WebAssembly. `Agent.create` does it by itself; call this first only where
 * a bundler does not carry the `.wasm` file along, with the module or the place it is at.
 */
export function init({ module }: { module?: ModuleSource } = {}): Promise<void> {
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

/** What to do where a file of the package could not be loaded. */
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

/** @internal Whether pictures can be made smaller here. */
export function hasCanvas(): boolean {
  return typeof createImageBitmap === "function" && typeof OffscreenCanvas === "function";
}

/** @internal What is said of a worker that does not start. */
export function noWorker(place: URL | undefined, why = "it could not be loaded"): string {
  const from = place === undefined ? "" : ` (${place.href})`;
  const policy = "a content security policy must have `worker-src` for it";
  return `the worker${from} did not start: ${why}. ${ADVICE}; ${policy}`;
}
