// The events of an agent: the run under way has them first, and then whoever listens.

import type { AgentEvent, Failure } from "../json/events.js";
import { added, type Listener, NONE, removed, tellEach } from "../listeners.js";
import type { RunOptions } from "../options/turn.js";
import { Folding, type FoldingEnd } from "./folding.js";
import { Responses } from "./http.js";
import { failed } from "./rest.js";
import type { RunError } from "./results.js";
import { Run, type RunOwner } from "./run.js";

/** What an agent hears of its session, and who hears it from there. */
export class News<Answer = unknown> {
  /** The run under way, if there is one. */
  run: Run<Answer> | undefined;
  readonly #owner: RunOwner;
  #listeners: readonly Listener<AgentEvent>[];
  /** What servers have said in the run under way. */
  #responses: Responses | undefined;
  #folding: Folding | undefined;
  // The stamp of the newest event.
  #seq = 0;
  #at = 0;
  #wall = 0;
  #session = "";

  /** `first` hears all events, from the very first. */
  constructor(owner: RunOwner, first: Listener<AgentEvent> | undefined) {
    this.#owner = owner;
    this.#listeners = first === undefined ? NONE : [first];
  }

  /** Whether something has happened since the session was opened. */
  get hasBegun(): boolean {
    return this.#seq > 1;
  }

  /** A run of the agent. */
  newRun(agents?: RunOptions["agents"]): Run<Answer> {
    return new Run(this.#owner, agents);
  }

  /** Tells `listener` of every event from now on; the returned function ends that. */
  subscribe(listener: Listener<AgentEvent>): () => void {
    this.#listeners = added(this.#listeners, listener);
    return () => void (this.#listeners = removed(this.#listeners, listener));
  }

  /** Asks for a summary by `tell`, and comes to what is told of it. */
  fold(instructions: string | undefined, tell: (command: string) => void): Promise<FoldingEnd> {
    this.#folding ??= new Folding();
    return this.#folding.run(instructions, (listener) => this.subscribe(listener), tell);
  }

  /** Whoever waits for a summary hears that there will be none. */
  failFolding(message: string): void {
    this.#folding?.break(message);
  }

  /** What servers have said in the run under way, to be noted. */
  get responses(): Responses {
    return (this.#responses ??= new Responses());
  }

  /** What the server said that a failure is about. */
  responseOf({ effect }: Failure): Partial<RunError> | undefined {
    return this.#responses?.of(effect);
  }

  /** Gives an event to the run under way, which may begin with it; whether it ends with it. */
  take(event: AgentEvent): boolean {
    this.#seq = event.seq;
    this.#at = event.at;
    this.#wall = event.wall;
    this.#session = event.session;
    if (event.type === "user_input" && event.agent === 0) this.run ??= this.newRun();
    this.run?.take(event);
    if (!this.run?.done) return false;
    this.run = this.#responses = undefined;
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
