// One run: its events as an async iterable, and its result as a promise that never rejects.

import { messageOf } from "../errors.js";
import type { AgentEvent, Failure } from "../json/events.js";
import type { RunOptions } from "../options/turn.js";
import { errorOf, type RunError, type RunResult, resultOf, type Spent, sumOf } from "./results.js";

/** The agent, as a run needs it. */
export interface RunOwner {
  /** Stops the run. */
  interrupt(): void;
  /** Returns the details of a failure that the session does not know, such as the HTTP status. */
  fault(failure: Failure): Partial<RunError>;
  /** Validates the final answer by the user's schema; rejects if it does not fit. */
  meant(answer: unknown): Promise<unknown>;
}

/**
 * One run of an agent, under way from the moment it is made. Iterate it for its events, with
 * `agents: "all"` also those of agents that it has started. Each iteration begins with the first
 * event; leaving the loop early interrupts the run. Or await {@link Run.result} alone.
 *
 * ```js
 * const run = agent.run("Make the tests pass");
 * for await (const event of run) if (event.type === "tool_call_start") console.log(event.name);
 * const { status, text } = await run.result();
 * ```
 */
export class Run<Answer = unknown> implements AsyncIterable<AgentEvent> {
  readonly #owner: RunOwner;
  readonly #hasAll: boolean;
  readonly #events: AgentEvent[] = [];
  /** The usage of agents that this one has started, reply by reply. */
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

  /** Returns the run's result. It never rejects: a failure is a status. */
  result(): Promise<RunResult<Answer>> {
    return this.#result;
  }

  /** True if the run is over. */
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

  /** @internal Takes the next event; the agent hands over each, the last one included. */
  take(event: AgentEvent): void {
    // Events of other agents have ends and failures, too, which are not this run's.
    const isOwn = event.agent === 0;
    if (isOwn || this.#hasAll) this.#events.push(event);
    if (!isOwn && event.type === "assistant_text_end") this.#spent.push(event);
    if (isOwn && event.type === "error") this.#failure = event;
    if (isOwn && event.type === "final_answer") this.#answer = { answer: event.value };
    const ends = event.type === "processing_end" || event.type === "session_end";
    if (isOwn && ends) this.#finish(event);
    if (this.#wake.length === 0) return;
    const waiting = this.#wake;
    // Emptied first: an iteration that is woken may wait again at once.
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

  // Validates the answer by the schema's own library: the session knows only its JSON schema.
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
