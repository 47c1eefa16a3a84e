// The life of an agent's side in the module: begun in an instance, begun again in a fresh one where
// the module breaks, moved with the files, and given back at the end. What is said there, and what
// is heard from there, is the agent's.

import { attempt, guarded } from "../binding/guard.js";
import { abandon, type Binding, type RawAgent, settle, unsettle } from "../binding/instance.js";
import { AgentError } from "../errors.js";
import type { SessionStatus } from "../json/data.js";
import type { AgentEvent } from "../json/events.js";
import { toolsPatch } from "../options/changes.js";
import { givenJson } from "../options/given.js";
import { rawOptions } from "../options/raw.js";
import type { Room, Tenant } from "../workspace/room.js";
import { Callbacks, type Side } from "./callbacks.js";
import { type Make, made, madeAgain } from "./making.js";
import type { News } from "./news.js";
import { Reserve } from "./reserve.js";
import { lookAt, onlySnapshot, type Rest, restOf, type Visible } from "./rest.js";
import type { RunError } from "./results.js";

/** Whose life it is. */
type Living = Side & Tenant;

/** What is left in the module of an agent that nobody holds any more and nobody has closed. */
interface Left {
  callbacks: Callbacks;
  of: Binding;
  tenant: Tenant;
  room: WeakRef<Room>;
}

// Workers of an older compatibility date have no such thing: there an agent stays until it is
// closed.
const LOST =
  typeof FinalizationRegistry === "function" ? new FinalizationRegistry<Left>(giveBack) : undefined;

function giveBack({ callbacks, of, tenant, room }: Left): void {
  const { raw } = callbacks;
  callbacks.drop();
  callbacks.raw = undefined;
  const isOut = attempt(() => room.deref()?.exit(tenant) ?? true) === true;
  if (raw !== undefined && (!isOut || attempt(() => raw.free() ?? true) === undefined))
    abandon(raw);
  unsettle(of);
}

/** Holds an agent for the module: held by that itself, one that is dropped would stay for ever. */
export function held<T extends object>(agent: T): { deref(): T | undefined } {
  return LOST === undefined ? { deref: () => agent } : new WeakRef(agent);
}

/** So often an agent is made again before one of its runs has come to an end. */
const MOST_REBIRTHS = 3;

/** The life of one agent's side. Nothing but the agent holds it, which may be lost. */
export class Life {
  readonly #owner: Living;
  readonly #room: Room;
  readonly #news: News;
  /** How the side is made again as it was at first, where it can be. */
  readonly #first: Make | undefined;
  /** The side, while there is one, and the instance that it lives in. */
  #raw: RawAgent | undefined;
  #of: Binding | undefined;
  #callbacks: Callbacks | undefined;
  #rest: Rest | undefined;
  #reserve: Reserve | undefined;
  #rebirths = 0;
  /** Resolves when the session is over and its memory is given back; made on first need. */
  #ended: Promise<void> | undefined;
  #end: (() => void) | undefined;

  constructor(owner: Living, room: Room, news: News, first: Make | undefined) {
    this.#owner = owner;
    this.#room = room;
    this.#news = news;
    this.#first = first;
  }

  /** Makes the side; nothing is under way before it is started. */
  begin(make: Make): void {
    const owner = this.#owner;
    const mine = { apiKey: owner.key.given, tools: [...owner.tools] };
    // Agents of the same options share what is made of them, for which their ids stand apart.
    const { id, ...options } = rawOptions({ ...owner.options, ...mine }, owner.programs);
    const json = givenJson(options, owner.options.config);
    const room = this.#room;
    const of = room.enter(owner);
    const callbacks = new Callbacks(owner);
    this.#raw = callbacks.raw = guarded(() => {
      try {
        return make(of, json, room.raw, callbacks, id);
      } catch (error) {
        room.exit(owner);
        throw error;
      }
    }, owner.options);
    this.#of = of;
    settle(of);
    this.#callbacks = callbacks;
    LOST?.unregister(this);
    LOST?.register(this, { callbacks, of, tenant: owner, room: new WeakRef(room) }, this);
    if (make !== made) this.#takeRun();
    this.call((raw) => raw.start());
  }

  /** Whether there is a side: the session is not over. */
  get isOpen(): boolean {
    return this.#raw !== undefined;
  }

  /** Calls the side. Where the module breaks at it, the side is made again, and the call throws. */
  call<T>(tell: (raw: RawAgent) => T, options?: { config?: unknown }): T {
    const raw = this.#raw;
    if (raw === undefined) throw new AgentError("closed", "the session is closed");
    try {
      return guarded(() => tell(raw), options);
    } catch (error) {
      this.#broke(raw, error);
      throw error;
    }
  }

  /** Tells that side of what was under way for it, if it is still there. */
  report(raw: RawAgent, tell: (raw: RawAgent) => void): void {
    // What was under way for one that broke has nobody to tell.
    if (raw !== this.#raw) return;
    try {
      guarded(() => tell(raw), {});
    } catch (error) {
      if (!this.#broke(raw, error)) throw error;
    }
  }

  /** Looks at the session, which may be over. */
  look<T>(at: (session: Visible) => T): T {
    const rest = this.#rest;
    return rest === undefined ? this.call((raw) => at(raw)) : lookAt(rest, at);
  }

  /** The session as bytes, also when it is over. */
  snapshot(): Uint8Array {
    return this.#rest?.snapshot.slice() ?? this.call((raw) => raw.snapshot());
  }

  /** The session's log, also when it is over. */
  log(): string {
    return this.#rest?.log ?? this.call((raw) => raw.log());
  }

  /** Where the session's own agent stands. */
  status(): SessionStatus {
    return this.call((raw) => JSON.parse(raw.status(0)) as SessionStatus);
  }

  /** Whether it works, or asks a person something for that. */
  isAtWork(): boolean {
    return isWork(this.status());
  }

  /** What is known of the failure of a recording. */
  get fault(): Partial<RunError> | null {
    return JSON.parse(this.#raw?.fault() ?? "null") as Partial<RunError> | null;
  }

  /** Hands an event on, and does what follows from it. */
  deliver(event: AgentEvent): void {
    if (this.#news.take(event)) {
      // With the run what was kept before it is over.
      if (this.#reserve !== undefined) this.#reserve.snapshot = undefined;
      if (event.type === "processing_end" && event.end === "completed") this.#rebirths = 0;
    }
    if (event.type === "session_end") this.#hasEnded();
    this.#news.tell(event);
  }

  /** The side, if it lives in that instance. */
  sideIn(of: Binding): RawAgent | undefined {
    return this.#of === of ? this.#raw : undefined;
  }

  /** Changes the configuration, also of what the side is made again of. */
  configure(patch: string, changes: { config?: unknown }): void {
    this.call((raw) => raw.configure(patch), changes);
    this.#reserve ??= new Reserve();
    this.#reserve.patches.push(patch);
  }

  /** Keeps what the side is made again of, should the next run break the module. */
  keep(): void {
    if (this.#raw === undefined || !this.#news.hasBegun) return;
    this.#reserve ??= new Reserve();
    this.#reserve.keep(() => this.call((raw) => raw.snapshot()));
  }

  /** Others have changed these files. */
  touch(paths: readonly string[]): void {
    this.#callbacks?.touch(paths);
  }

  /**
   * The files have gone to another instance, and the side with them: its requests are sent again,
   * and what runs for it there is lost.
   */
  follow(): void {
    const raw = this.#raw;
    if (raw === undefined || this.#room.isIn(this.#of)) return;
    const saved = attempt(() => raw.snapshot());
    this.#callbacks?.drop();
    this.#raw = undefined;
    abandon(raw);
    if (saved !== undefined && attempt(() => this.#makeAgain(saved)) === true) return;
    this.#raw = undefined;
    const message = "innerloop could not make the agent again";
    this.#failRun(message);
    this.#news.failFolding(message);
    this.#over(saved);
  }

  /** Closes the session, and comes back when it is over. */
  async close(): Promise<void> {
    for (let tries = 0; ; tries += 1) {
      try {
        this.call((raw) => raw.close());
        break;
      } catch (error) {
        if (error instanceof AgentError && error.code === "closed") break;
        // Where the module broke at it, the side that is made again is closed in its place.
        if (tries >= MOST_REBIRTHS) throw error;
      }
    }
    await this.#whenEnded();
  }

  /** Gives back what the side holds of the module's memory. */
  release(): void {
    const raw = this.#raw;
    if (raw === undefined) return;
    this.#callbacks?.drop();
    this.#raw = undefined;
    this.#reserve = undefined;
    LOST?.unregister(this);
    const rest = restOf(raw);
    this.#rest = rest ?? onlySnapshot();
    const isOut = attempt(() => this.#room.exit(this.#owner)) === true;
    const isWell = rest !== undefined && isOut;
    if (isWell) raw.free();
    else abandon(raw);
    if (this.#of !== undefined) unsettle(this.#of);
  }

  #hasEnded(): void {
    void this.#whenEnded();
    this.#end?.();
  }

  #whenEnded(): Promise<void> {
    const ended = (): Promise<void> => new Promise((resolve) => (this.#end = resolve));
    // What is being written comes to its end before, and so does the call that told of it.
    return (this.#ended ??= ended()
      .then(() => this.#room.copy?.settled())
      .then(() => this.release()));
  }

  // If it is a fault of the module's: makes the side again in a fresh instance.
  #broke(raw: RawAgent, thrown: unknown): boolean {
    const isFault = thrown instanceof AgentError && thrown.code === "internal";
    if (!isFault || raw !== this.#raw) return isFault;
    this.#callbacks?.drop();
    this.#raw = undefined;
    const isRunning = this.#news.run !== undefined;
    const newest = isRunning ? undefined : attempt(() => raw.snapshot());
    // Kept here: with the run, what was kept before it is over.
    const saved = newest ?? this.#reserve?.snapshot;
    abandon(raw);
    const hasFiles = attempt(() => this.#room.leave(true)) === true;
    const isBack = attempt(() => this.#beginAgain(saved)) === true;
    if (!isBack) this.#raw = undefined;
    this.#room.haveFollow(this.#owner);
    const lost = hasFiles ? "" : "; its files are lost";
    const end = isBack ? "the agent goes on from where it stood before" : "the agent is closed";
    const message = `${thrown.message}: a fault of innerloop's own; ${end}${lost}`;
    if (isRunning) this.#failRun(message);
    this.#news.failFolding(message);
    if (isBack) this.#takeRun();
    else this.#over(saved);
    return true;
  }

  // A run that is under way in the session is the current one, whoever began it.
  #takeRun(): void {
    const status = this.status();
    if (isWork(status) && !status.compacting) this.#news.run ??= this.#news.newRun();
  }

  #failRun(message: string): void {
    for (const event of this.#news.failure(message)) this.deliver(event);
  }

  // It cannot be made again.
  #over(saved: Uint8Array | undefined): void {
    this.#room.exit(this.#owner);
    this.#rest = onlySnapshot(saved);
    this.#hasEnded();
  }

  #beginAgain(saved: Uint8Array | undefined): true {
    this.#rebirths += 1;
    if (this.#rebirths > MOST_REBIRTHS) throw new Error("there is no way");
    this.#makeAgain(saved);
    for (const patch of [...(this.#reserve?.patches ?? []), toolsPatch(this.#owner.tools)]) {
      this.call((raw) => raw.configure(patch));
    }
    return true;
  }

  #makeAgain(saved: Uint8Array | undefined): true {
    const again = saved ? madeAgain(saved) : this.#first;
    if (again === undefined) throw new Error("there is no way");
    const { run } = this.#news;
    this.begin(again);
    this.#news.run = run;
    return true;
  }
}

function isWork({ state }: SessionStatus): boolean {
  return state === "processing" || state === "awaiting_input";
}
