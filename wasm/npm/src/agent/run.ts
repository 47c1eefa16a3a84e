// One run: its events as an async iterable, its result as a promise.

import { messageOf } from "../errors.js";
import type { AgentEvent, Failure } from "../json/events.js";
import type { RunOptions } from "../options/turn.js";
import { errorOf, type RunError, type RunResult, resultOf, type Spent, sumOf } from "./results.js";

/** What a run needs of its agent. */
export interface RunOwner {
  /** Stops the run. */
  interrupt(): void;
  /** What is known of a failure beyond the session's word. */
  fault(failure: Failure): Partial<RunError>;
  /** The final answer as its schema means it; rejects with a word where it does not fit. */
  meant(answer: unknown): Promise<unknown>;
}

/**
 * One run of an agent, under way from the moment it is made. Iterate it to see its events, with
 * `agents: "all"` also those of agents that it has started, each iteration from the first one on;
 * leaving the loop early interrupts the run. Or leave the events and await {@link Run.result}.
 */
export class Run<Answer = unknown> implements AsyncIterable<AgentEvent> {
  readonly #owner: RunOwner;
  readonly #hasAll: boolean;
  readonly #events: AgentEvent[] = [];
  /** What agents that this one started have used, reply by reply. */
  readonly #spent: Spent[] = [];
  #failure: Failure | undefined;
  #answer: { answer?: unknown } = {};
  #done = false;
  #wake: (() => void)[] = [];
  readonly #result: Promise<RunResult<Answer>>;
  #settle: (result: unknown) => void = () => {};

  /** @internal Runs are made by `Agent.run`. */
  constructor(owner: RunOwner, agents: RunOptions["agents"] = "own") {
    this.#owner = owner;
    this.#hasAll = agents === "all";
    this.#result = new Promise((resolve) => {
      this.#settle = resolve as (result: unknown) => void;
    });
  }

  /** How the run ended, and with what. Never rejects: a failure is a status. */
  result(): Promise<RunResult<Answer>> {
    return this.#result;
  }

  /** Whether the run is over. */
  get done(): boolean {
    return this.#done;
  }

  /** Stops the run; the agent stays usable. */
  interrupt(): void {
    if (!this.#done) this.#owner.interrupt();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<AgentEvent, void, undefined> {
    let at = 0;
    try {
      for (;;) {
        const event = this.#events[at];
        if (event !== undefined) {
          at += 1;
          yield event;
        } else if (this.#done) {
          return;
        } else {
          await new Promise<void>((resolve) => this.#wake.push(resolve));
        }
      }
    } finally {
      this.interrupt();
    }
  }

  /** @internal Takes the next event; the agent hands each over, the last one included. */
  take(event: AgentEvent): void {
    // Agents that this one started have runs and failures of their own.
    const isOwn = event.agent === 0;
    if (isOwn || this.#hasAll) this.#events.push(event);
    if (!isOwn && event.type === "assistant_text_end") this.#spent.push(event);
    if (isOwn && event.type === "error") this.#failure = event;
    if (isOwn && event.type === "final_answer") this.#answer = { answer: event.value };
    const ends = event.type === "processing_end" || event.type === "session_end";
    if (isOwn && ends) this.#finish(event);
    if (this.#wake.length === 0) return;
    const waiting = this.#wake;
    this.#wake = [];
    for (const wake of waiting) wake();
  }

  #finish(event: AgentEvent): void {
    this.#done = true;
    const ended = event.type === "processing_end" ? resultOf(event, this.#spent) : this.#cutShort();
    const result: RunResult<Answer> = { ...ended };
    const isWhy = ["failed", "incomplete", "refused"].includes(result.status);
    if (isWhy && this.#failure !== undefined) {
      result.error = errorOf(this.#failure, this.#owner.fault(this.#failure));
    }
    this.#settle("answer" in this.#answer ? this.#answered(result, this.#answer.answer) : result);
  }

  // What the library of the schema thinks of the answer only it can say.
  async #answered(result: RunResult<Answer>, answer: unknown): Promise<RunResult<Answer>> {
    try {
      return { ...result, answer: (await this.#owner.meant(answer)) as Answer };
    } catch (error) {
      const message = `the answer does not fit: ${messageOf(error)}`;
      if (result.status !== "completed") return result;
      return { ...result, status: "failed", error: errorOf({ kind: "answer", message }, {}) };
    }
  }

  #cutShort(): RunResult<Answer> {
    const status = this.#failure === undefined ? "interrupted" : "failed";
    return { status, text: "", ...sumOf(this.#spent), replies: 0, toolCalls: 0, rounds: 0 };
  }
}
