// The asynchronous work under way for an agent, and its timer. Each piece of work belongs to an
// effect of the session, by its number, and reports exactly once: its end, its failure, or that it
// was stopped.

import { messageOf } from "../errors.js";
import { LONGEST_MS } from "../platform/platform.js";

/** A piece of work. */
export interface Task {
  /** Does the work; resolves to a function that reports the result. */
  run(signal: AbortSignal): Promise<() => void>;
  /** Reports that it failed, or that its result does not fit. */
  failed(message: string): void;
  /** Reports that it was stopped; absent where nobody waits for that. */
  stopped?(timedOut: boolean): void;
  /** The time in milliseconds that it may take. */
  limitMs?: number;
}

/** The reason for stopping a piece of work; if it is dropped, nothing is reported. */
type Why = "timed_out" | "cancelled" | "dropped";

/** The work under way, and the timer of the session's next deadline. */
export class Work {
  /** The functions that stop each piece of work; absent while there is none. */
  #open: Map<number, (why: Why) => void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #onChange: (isBusy: boolean) => void;

  /** Makes it; `onChange` is called with whether any work or timer is under way. */
  constructor(onChange: (isBusy: boolean) => void) {
    this.#onChange = onChange;
  }

  /** Begins a piece of work. */
  begin(effect: number, task: Task): void {
    const controller = new AbortController();
    const { signal } = controller;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const settle = (report: () => void): void => {
      // Whoever comes first settles it: a result after a time-out is dropped here.
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
    // In a microtask: the binding's call that begins this must return first, since a function of
    // the user's may call the agent, and the module cannot be entered twice.
    Promise.resolve()
      .then(() => (signal.aborted ? () => {} : task.run(signal)))
      .then(end, (error: unknown) => settle(() => task.failed(messageOf(error))));
  }

  /** Returns whether that piece of work is under way. */
  has(effect: number): boolean {
    return this.#open?.has(effect) ?? false;
  }

  /** Stops a piece of work, if it is under way. */
  cancel(effect: number): void {
    this.#open?.get(effect)?.("cancelled");
  }

  /** Stops all work under way and the timer, without a report. */
  dropAll(): void {
    this.wake(-1, () => {});
    for (const stop of [...(this.#open?.values() ?? [])]) stop("dropped");
  }

  /** Calls `tick` in `ms` milliseconds instead of at the time set before; below 0, never. */
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
