// The events of an agent: the run under way has them first, and then whoever listens.

import type { AgentEvent } from "../json/events.js";
import { added, type Listener, NONE, removed, tellEach } from "../listeners.js";
import { failed } from "./rest.js";
import type { Run } from "./run.js";

/** What an agent hears of its session, and who hears it from there. */
export class News<Answer> {
  /** The run under way, if there is one. */
  run: Run<Answer> | undefined;
  #listeners: readonly Listener<AgentEvent>[];
  // The stamp of the newest event.
  #seq = 0;
  #at = 0;
  #wall = 0;
  #session = "";

  /** `first` hears all events, from the very first. */
  constructor(first: Listener<AgentEvent> | undefined) {
    this.#listeners = first === undefined ? NONE : [first];
  }

  /** Whether something has happened since the session was opened. */
  get hasBegun(): boolean {
    return this.#seq > 1;
  }

  /** Tells `listener` of every event from now on; the returned function ends that. */
  subscribe(listener: Listener<AgentEvent>): () => void {
    this.#listeners = added(this.#listeners, listener);
    return () => void (this.#listeners = removed(this.#listeners, listener));
  }

  /** Gives an event to the run under way; whether that is over with it. */
  take(event: AgentEvent): boolean {
    this.#seq = event.seq;
    this.#at = event.at;
    this.#wall = event.wall;
    this.#session = event.session;
    this.run?.take(event);
    if (!this.run?.done) return false;
    this.run = undefined;
    return true;
  }

  /** Tells those who listen. */
  tell(event: AgentEvent): void {
    tellEach(this.#listeners, event);
  }

  /** What the session would say of a run that failed, behind the newest event. */
  failure(message: string): AgentEvent[] {
    const stamp = { seq: this.#seq, at: this.#at, wall: this.#wall, session: this.#session };
    return failed(message, stamp);
  }
}
