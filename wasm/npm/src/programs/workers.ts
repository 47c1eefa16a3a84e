// One run of a program in a worker of its own. A program cannot be interrupted from inside, so that
// its worker is terminated at its end, at its time limit or when it is stopped.

import { LONGEST_MS, platform } from "../platform/platform.js";
import type { Ending, ProgramJob } from "../wasi/program.js";
import type { Changes } from "../wasi/tree.js";

/** The time in milliseconds that a worker has to begin. */
const BEGIN_MS = 30_000;

/** The job of a run, its limits and the functions that take its news. */
export interface WorkerRun {
  job: ProgramJob;
  /** The files whose bytes are transferred to the worker instead of copied; they are gone here. */
  given: readonly [string, Uint8Array][];
  /** The time limit, which begins when the program does. */
  limitMs: number;
  /** A signal that ends it. */
  signal: AbortSignal;
  onOutput(stream: 1 | 2, bytes: Uint8Array): void;
  onChange(changes: Changes): void;
  /** Called when a shell wants to start a program that is not loaded. */
  onWant?(program: string): void;
}

/**
 * The changes that a run has reported, the last of each file. They are what is known of a run whose
 * worker was terminated.
 */
export class Noted {
  readonly #files = new Map<string, Uint8Array | undefined>();

  add({ written, removed }: Changes): void {
    for (const [path, bytes] of written) this.#files.set(path, bytes);
    for (const path of removed) this.#files.set(path, undefined);
  }

  get changes(): Changes {
    const all = [...this.#files];
    return {
      written: all.flatMap(([path, bytes]) => (bytes === undefined ? [] : [[path, bytes]])),
      removed: all.flatMap(([path, bytes]) => (bytes === undefined ? path : [])),
    };
  }
}

/** The end of a run, by itself or from outside. */
export type WorkerEnd = Ending | { type: "timed_out" | "cancelled" };

/** Runs a program to its end, its time limit, or until the signal fires. */
export function runInWorker(run: WorkerRun): Promise<WorkerEnd> {
  const { job, given, limitMs, signal } = run;
  const worker = platform().startWorker?.();
  if (worker === undefined) throw new Error("this platform has no workers");
  return new Promise((resolve) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = (how: WorkerEnd): void => {
      clearTimeout(timer);
      worker.terminate();
      signal.removeEventListener("abort", stop);
      resolve(how);
    };
    const stop = (): void => end({ type: "cancelled" });
    const endIn = (ms: number): void => {
      clearTimeout(timer);
      timer = setTimeout(() => end({ type: "timed_out" }), Math.min(ms, LONGEST_MS));
    };
    signal.addEventListener("abort", stop);
    // The program's limit begins with the program: loading a worker may take long at first.
    endIn(limitMs + BEGIN_MS);
    const transfer = given.map(([, bytes]) => bytes.buffer as ArrayBuffer);
    worker.start(job, transfer, (news) => {
      if (news.type === "begun") endIn(limitMs);
      else if (news.type === "output") run.onOutput(news.stream, news.bytes);
      else if (news.type === "changed") run.onChange(news);
      else if (news.type === "wanted") run.onWant?.(news.program);
      else end(news);
    });
  });
}
