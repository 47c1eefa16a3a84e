// The life cycle of an agent's side in the module: made in an instance, made again in a fresh one
// if the module breaks, moved together with the workspace, and freed at the end. After a break the
// user sees one failed run, never a broken agent; after the end, `rest.ts` answers what was.

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

/** The agent that owns a life. */
type Living = Side & Tenant;

/** The remains in the module of an agent that was dropped without `close`. */
interface Left {
  callbacks: Callbacks;
  of: Binding;
  tenant: Tenant;
  room: WeakRef<Room>;
}

// Workers with an older compatibility date have no `FinalizationRegistry`: an agent that is not
// closed stays in memory there.
const LOST =
  typeof FinalizationRegistry === "function" ? new FinalizationRegistry<Left>(giveBack) : undefined;

function giveBack({ callbacks, of, tenant, room }: Left): void {
  // The registry must not hold the agent, so that this works with the parts that it had. Whatever
  // throws here may have broken the instance, which then cannot be called to free anything.
  const { raw } = callbacks;
  callbacks.drop();
  callbacks.raw = undefined;
  const isOut = attempt(() => room.deref()?.exit(tenant) ?? true) === true;
  if (raw !== undefined && (!isOut || attempt(() => raw.free() ?? true) === undefined))
    abandon(raw);
  unsettle(of);
}

/** Returns a weak hold on an agent: the module, which reaches it, must not keep it alive. */
export function held<T extends object>(agent: T): { deref(): T | undefined } {
  return LOST === undefined ? { deref: () => agent } : new WeakRef(agent);
}

/**
 * The number of times that an agent is made again before a run of it completes: an input that
 * breaks the module each time must not go round for ever.
 */
const MOST_REBIRTHS = 3;

/** The life cycle of one agent's side. Only the agent holds it, so that both can be collected. */
export class Life {
  readonly #owner: Living;
  readonly #room: Room;
  readonly #news: News;
  /** The function that makes the side as at first; absent for a fork, whose origin may be gone. */
  readonly #first: Make | undefined;
  /** The side, while there is one. */
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

  /** Makes the side and starts it. */
  begin(make: Make): void {
    const owner = this.#owner;
    const mine = { apiKey: owner.key.given, tools: [...owner.tools] };
    // The id goes separately: the module shares what it makes of equal options between agents, and
    // finds it by their text.
    const room = this.#room;
    const all = { ...owner.options, ...mine };
    const { id, ...options } = rawOptions(all, owner.programs, room.facts);
    const json = givenJson(options, owner.options.config);
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
    // Before the start, which may already tell events of a run that goes on.
    if (make !== made) this.#takeRun();
    this.call((raw) => raw.start());
  }

  /** True while there is a side: the session is not over. */
  get isOpen(): boolean {
    return this.#raw !== undefined;
  }

  /** Calls the side. If the module breaks in the call, the side is made again, and this throws. */
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

  /** Reports to `raw` the end of work that it began, if it still is the agent's side. */
  report(raw: RawAgent, tell: (raw: RawAgent) => void): void {
    // A side that was made again has its own effects, some under the same numbers.
    if (raw !== this.#raw) return;
    try {
      guarded(() => tell(raw), {});
    } catch (error) {
      if (!this.#broke(raw, error)) throw error;
    }
  }

  /** Reads from the session, also when it is over. */
  look<T>(at: (session: Visible) => T): T {
    const rest = this.#rest;
    return rest === undefined ? this.call((raw) => at(raw)) : lookAt(rest, at);
  }

  /** Returns the session as bytes, also when it is over. */
  snapshot(): Uint8Array {
    return this.#rest?.snapshot.slice() ?? this.call((raw) => raw.snapshot());
  }

  /** Returns the session's log, also when it is over. */
  log(): string {
    return this.#rest?.log ?? this.call((raw) => raw.log());
  }

  /** Returns the status of the session's own agent. */
  status(): SessionStatus {
    return this.call((raw) => JSON.parse(raw.status(0)) as SessionStatus);
  }

  /** Returns whether the agent works, or waits for a person's answer to go on. */
  isAtWork(): boolean {
    return isWork(this.status());
  }

  /** The details of a recording's failure, if there was one. */
  get fault(): Partial<RunError> | null {
    return JSON.parse(this.#raw?.fault() ?? "null") as Partial<RunError> | null;
  }

  /** Passes an event to the run and to listeners, and acts on ends of runs and of the session. */
  deliver(event: AgentEvent): void {
    if (this.#news.take(event)) {
      // The snapshot from before the run would undo a finished one.
      if (this.#reserve !== undefined) this.#reserve.snapshot = undefined;
      if (event.type === "processing_end" && event.end === "completed") this.#rebirths = 0;
    }
    if (event.type === "session_end") this.#hasEnded();
    this.#news.tell(event);
  }

  /** Returns the side, if it lives in that instance. */
  sideIn(of: Binding): RawAgent | undefined {
    return this.#of === of ? this.#raw : undefined;
  }

  /** Changes the configuration, and keeps the change for a side that is made again. */
  configure(patch: string, changes: { config?: unknown }): void {
    // First the call: a patch that the session refuses must not be kept.
    this.call((raw) => raw.configure(patch), changes);
    this.#reserve ??= new Reserve();
    this.#reserve.patches.push(patch);
  }

  /** Keeps a snapshot, from which the side is made again if the next run breaks the module. */
  keep(): void {
    if (this.#raw === undefined || !this.#news.hasBegun) return;
    this.#reserve ??= new Reserve();
    this.#reserve.keep(() => this.call((raw) => raw.snapshot()));
  }

  /** Tells the agent's programs that these files were changed from outside. */
  touch(paths: readonly string[]): void {
    this.#callbacks?.touch(paths);
  }

  /**
   * Moves the side to the instance to which its files have moved. Its requests are sent again, and
   * its tools that run are reported as lost.
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

  /** Closes the session; resolves when it is over and its memory is freed. */
  async close(): Promise<void> {
    for (let tries = 0; ; tries += 1) {
      try {
        this.call((raw) => raw.close());
        break;
      } catch (error) {
        if (error instanceof AgentError && error.code === "closed") break;
        // The module broke in the call: now the side that was made again must be closed.
        if (tries >= MOST_REBIRTHS) throw error;
      }
    }
    await this.#whenEnded();
  }

  /** Frees the side's memory in the module, and keeps what can still be asked for. */
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
    // Later, in a microtask: the event comes within a call of the side, which must not be freed
    // under it. Files that are being written are written first.
    return (this.#ended ??= ended()
      .then(() => this.#room.copy?.settled())
      .then(() => this.release()));
  }

  // If the module broke, makes the side again in a fresh instance; returns whether it broke. The
  // order matters: the files leave the broken instance before the side is made beside them, and the
  // run's failure is told when the agent can be used again.
  #broke(raw: RawAgent, thrown: unknown): boolean {
    const isFault = thrown instanceof AgentError && thrown.code === "internal";
    if (!isFault || raw !== this.#raw) return isFault;
    this.#callbacks?.drop();
    this.#raw = undefined;
    const isRunning = this.#news.run !== undefined;
    // A snapshot taken within a run would go on with it and break again.
    const newest = isRunning ? undefined : attempt(() => raw.snapshot());
    // Taken out now, since `deliver` drops the kept snapshot at the end of the run.
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

  // Makes a run that is under way in the session the current one: after a restore nobody began it.
  #takeRun(): void {
    const status = this.status();
    if (isWork(status) && !status.compacting) this.#news.run ??= this.#news.newRun();
  }

  #failRun(message: string): void {
    for (const event of this.#news.failure(message)) this.deliver(event);
  }

  // Ends the agent, since its side cannot be made again.
  #over(saved: Uint8Array | undefined): void {
    this.#room.exit(this.#owner);
    this.#rest = onlySnapshot(saved);
    this.#hasEnded();
  }

  #beginAgain(saved: Uint8Array | undefined): true {
    this.#rebirths += 1;
    if (this.#rebirths > MOST_REBIRTHS) throw new Error("there is no way");
    this.#makeAgain(saved);
    // The snapshot is older than these changes, which the user was told are in force.
    for (const patch of [...(this.#reserve?.patches ?? []), toolsPatch(this.#owner.tools)]) {
      this.call((raw) => raw.configure(patch));
    }
    return true;
  }

  #makeAgain(saved: Uint8Array | undefined): true {
    const again = saved ? madeAgain(saved) : this.#first;
    if (again === undefined) throw new Error("there is no way");
    // The start of the new side must not take the place of the user's run, which fails later.
    const { run } = this.#news;
    this.begin(again);
    this.#news.run = run;
    return true;
  }
}

function isWork({ state }: SessionStatus): boolean {
  return state === "processing" || state === "awaiting_input";
}
