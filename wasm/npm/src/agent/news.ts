// The distribution of an agent's events: the run under way takes each first, so that it is done
// when listeners hear its end.

import type { AgentEvent, Failure } from "../json/events.js";
import { added, type Listener, NONE, removed, tellEach } from "../listeners.js";
import type { RunOptions } from "../options/turn.js";
import { Folding, type FoldingEnd } from "./folding.js";
import { Responses } from "./http.js";
import { failed } from "./rest.js";
import type { RunError } from "./results.js";
import { Run, type RunOwner } from "./run.js";

/** The events of an agent, its run under way, and its listeners. */
export class News<Answer = unknown> {
  /** The run under way, if there is one. */
  run: Run<Answer> | undefined;
  readonly #owner: RunOwner;
  #listeners: readonly Listener<AgentEvent>[];
  /** The responses of the run under way; made on first use. */
  #responses: Responses | undefined;
  #folding: Folding | undefined;
  // The stamp of the newest event: `failure` must number its events behind it without a gap.
  #seq = 0;
  #at = 0;
  #wall = 0;
  #session = "";

  /** Makes it with a listener that hears all events, from the first on. */
  constructor(owner: RunOwner, first: Listener<AgentEvent> | undefined) {
    this.#owner = owner;
    this.#listeners = first === undefined ? NONE : [first];
  }

  /** True if anything has happened since the session was opened. */
  get hasBegun(): boolean {
    return this.#seq > 1;
  }

  /** Makes a run of the agent. */
  newRun(agents?: RunOptions["agents"]): Run<Answer> {
    return new Run(this.#owner, agents);
  }

  /** Calls `listener` with every event from now on, and returns a function that ends that. */
  subscribe(listener: Listener<AgentEvent>): () => void {
    this.#listeners = added(this.#listeners, listener);
    return () => void (this.#listeners = removed(this.#listeners, listener));
  }

  /** Asks for a summary by `tell`, and resolves to the event that ends it. */
  fold(instructions: string | undefined, tell: (command: string) => void): Promise<FoldingEnd> {
    this.#folding ??= new Folding();
    return this.#folding.run(instructions, (listener) => this.subscribe(listener), tell);
  }

  /** Rejects the summary that somebody waits for, if there is one. */
  failFolding(message: string): void {
    this.#folding?.break(message);
  }

  /** The responses of the run under way. */
  get responses(): Responses {
    return (this.#responses ??= new Responses());
  }

  /** Returns the response to which a failure belongs. */
  responseOf({ effect }: Failure): Partial<RunError> | undefined {
    return this.#responses?.of(effect);
  }

  /** Gives an event to the run under way, and returns whether the run ends with it. */
  take(event: AgentEvent): boolean {
    this.#seq = event.seq;
    this.#at = event.at;
    this.#wall = event.wall;
    this.#session = event.session;
    // A follow-up to an idle agent begins a run, without a call of `Agent.run`.
    if (event.type === "user_input" && event.agent === 0) this.run ??= this.newRun();
    this.run?.take(event);
    if (!this.run?.done) return false;
    this.run = this.#responses = undefined;
    return true;
  }

  /** Calls all listeners with an event. */
  tell(event: AgentEvent): void {
    tellEach(this.#listeners, event);
  }

  /** Returns the events of a failed run, numbered behind the newest one. */
  failure(message: string): AgentEvent[] {
    const stamp = { seq: this.#seq, at: this.#at, wall: this.#wall, session: this.#session };
    return failed(message, stamp);
  }
}
