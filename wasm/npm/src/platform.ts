// What differs from platform to platform; each entry hands in its own.

import type { ProgramJob, ProgramNews } from "./program.js";

/** Where the package's WebAssembly may come from, if not from beside its script. */
export type ModuleSource = URL | Response | Promise<Response> | BufferSource | WebAssembly.Module;

/** What an entry provides. */
export interface Platform {
  /** Instantiates the package's module; called once. */
  load(source: ModuleSource | undefined): Promise<void>;
  /** Starts a worker for one run of a program; absent where there are no workers. */
  startWorker?(): ProgramWorker;
  /** Where a text leads: a path of the machine, or an address from the page's on. */
  locate(place: string): URL;
  /** Reads a `file:` URL; absent where there are no files. */
  readFile?(url: URL): Promise<Uint8Array>;
  /** Whether the platform is a page, so that a provider wants to know that the key is in it. */
  page: boolean;
}

/** A worker that runs one program. */
export interface ProgramWorker {
  /** Hands over the program, these buffers with it, and listens to it. */
  start(job: ProgramJob, transfer: ArrayBuffer[], onNews: (news: ProgramNews) => void): void;
  /** Ends the worker, wherever the program is. */
  terminate(): void;
}

let current: Platform | undefined;
let loading: Promise<void> | undefined;

/** Sets the platform; each entry does it when it is imported. */
export function usePlatform(platform: Platform): void {
  current = platform;
}

/** The platform of the entry that was imported. */
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
export function init(options: { module?: ModuleSource } = {}): Promise<void> {
  loading ??= platform()
    .load(options.module)
    .catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
  return loading;
}
