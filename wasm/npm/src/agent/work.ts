// What is under way for an agent. The binding begins each piece of work by the number of its
// effect; a piece answers once, or is stopped.

import { messageOf } from "../errors.js";
import { LONGEST_MS } from "../platform/platform.js";

/** A piece of work. */
export interface Task {
  /** Does it; resolves to what reports the result. */
  run(signal: AbortSignal): Promise<() => void>;
  /** Reports that it has failed, or that its result does not fit. */
  failed(message: string): void;
  /** Reports that it was stopped; absent where nobody waits for that. */
  stopped?(timedOut: boolean): void;
  /** How long it may take. */
  limitMs?: number;
}

/** Why a piece of work is stopped; of what is dropped nothing is reported. */
type Why = "timed_out" | "cancelled" | "dropped";

/** What is under way, and the time of the next step. */
export class Work {
  /** What stops each piece of work, as long as there is one. */
  #open: Map<number, (why: Why) => void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #onChange: (isBusy: boolean) => void;

  /** `onChange` hears whether anything is under way, or waited for. */
  constructor(onChange: (isBusy: boolean) => void) {
    this.#onChange = onChange;
  }

  /** Begins a piece of work. */
  begin(effect: number, task: Task): void {
    const controller = new AbortController();
    const { signal } = controller;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const settle = (report: () => void): void => {
      if (!this.#open?.delete(effect)) return;
      if (this.#open.size === 0) this.#open = undefined;
      clearTimeout(timer);
      report();
      this.#tell();
    };
    const stop = (why: Why): void =>
      settle(() => {
        controller.abort();
        if (why !== "dropped") task.stopped?.(why === "timed_out");
      });
    const end = (report: () => void): void =>
      settle(() => {
        try {
          report();
        } catch (error) {
          task.failed(`what it returned does not fit: ${messageOf(error)}`);
        }
      });
    this.#open ??= new Map();
    this.#open.set(effect, stop);
    this.#tell();
    if (task.limitMs !== undefined) {
      timer = setTimeout(stop, Math.min(task.limitMs, LONGEST_MS), "timed_out");
    }
    // A function of the user may call back in: it begins when the binding has returned.
    Promise.resolve()
      .then(() => (signal.aborted ? () => {} : task.run(signal)))
      .then(end, (error: unknown) => settle(() => task.failed(messageOf(error))));
  }

  /** Whether that piece of work is under way. */
  has(effect: number): boolean {
    return this.#open?.has(effect) ?? false;
  }

  /** Stops a piece of work, if it is under way. */
  cancel(effect: number): void {
    this.#open?.get(effect)?.("cancelled");
  }

  /** Stops all that is under way; nobody is told. */
  dropAll(): void {
    this.wake(-1, () => {});
    for (const stop of [...(this.#open?.values() ?? [])]) stop("dropped");
  }

  /** Calls `tick` in so many milliseconds, in place of what was said before; never below 0. */
  wake(ms: number, tick: () => void): void {
    clearTimeout(this.#timer);
    const fire = (): void => {
      this.#timer = undefined;
      tick();
      this.#tell();
    };
    this.#timer = ms < 0 ? undefined : setTimeout(fire, Math.min(ms, LONGEST_MS));
    this.#tell();
  }

  #tell(): void {
    this.#onChange(this.#open !== undefined || this.#timer !== undefined);
  }
}
