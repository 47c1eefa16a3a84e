// One run of a program in a worker of its own, which ends with it.

import { LONGEST_MS, platform } from "../platform/platform.js";
import type { Ending, ProgramJob } from "../wasi/program.js";
import type { Changes } from "../wasi/tree.js";

/** How long a worker may take to begin. */
const BEGIN_MS = 30_000;

/** What such a run is told, and whom it tells. */
export interface WorkerRun {
  job: ProgramJob;
  /** Those of its files whose bytes go over to the worker, and are gone here. */
  given: readonly [string, Uint8Array][];
  /** The time limit, which begins when the program does. */
  limitMs: number;
  /** Ends it. */
  signal: AbortSignal;
  onOutput(stream: 1 | 2, bytes: Uint8Array): void;
  onChange(changes: Changes): void;
  /** A program was to be started that is not loaded. */
  onWant?(program: string): void;
}

/** What a run has reported of its changes: of each file the last. */
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

/** How it ended: by itself, or from outside. */
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
