// The agent: the one class most people need.

/// <reference lib="esnext.disposable" preserve="true" />

import { attempt, guarded } from "../binding/guard.js";
import { type Binding, type RawAgent, abandon, settle, unsettle } from "../binding/instance.js";
import { AgentError, messageOf } from "../errors.js";
import type { FileChange, Part, Said, SessionStatus, SessionTurn } from "../json/data.js";
import type { AgentEvent, Failure } from "../json/events.js";
import type { Command } from "../json/protocol.js";
import { type Listener, NONE, added, removed, tellEach } from "../listeners.js";
import type { AgentOptions, Changes, ForkOptions, RestoreOptions } from "../options/agent.js";
import {
  changed,
  checkChanges,
  concernsEndpoint,
  patchOf,
  toolsPatch,
} from "../options/changes.js";
import { givenJson } from "../options/given.js";
import { KeySource } from "../options/key.js";
import { checkFork, checkOptions, newId, rawOptions } from "../options/raw.js";
import { type AnswerOf, validated } from "../options/schema.js";
import type { Tool } from "../options/tool.js";
import {
  type RunOptions,
  type TurnOptions,
  checkRun,
  checkTurn,
  rawTurn,
} from "../options/turn.js";
import { bad, checkFunction, wholeNumber } from "../options/values.js";
import type { RegisteredProgram } from "../programs/registry.js";
import type { WasiTool } from "../programs/sources.js";
import { type Files, filesOf, roomOf } from "../workspace/files.js";
import type { Room, Tenant } from "../workspace/room.js";
import { Callbacks, type Side } from "./callbacks.js";
import { Folding, type FoldingEnd } from "./folding.js";
import { Responses } from "./http.js";
import {
  type Make,
  type Prepared,
  configOf,
  forked,
  made,
  madeAgain,
  prepared,
  restored,
} from "./making.js";
import { Reserve } from "./reserve.js";
import { type Rest, type Visible, failed, lookAt, onlySnapshot, restOf } from "./rest.js";
import {
  type Replayed,
  type RunError,
  type SeenTurn,
  type Status,
  type Turn,
  type UndoneFile,
  type UndoneFiles,
  saidOf,
  seenOf,
  statusOfAll,
  turnOf,
} from "./results.js";
import { Run, type RunOwner } from "./run.js";
import { Waiting, rawParts, say } from "./saying.js";
import { Session } from "./session.js";
import { Tools, type ToolsOwner } from "./tools.js";
import { undoIn } from "./undoing.js";

/** What its parts may do to an agent. */
type Inside = Side & Tenant & RunOwner & ToolsOwner;

/** What is left in the module of an agent that nobody holds any more and nobody has closed. */
interface Left {
  callbacks: Callbacks;
  of: Binding;
  inside: Tenant;
  room: WeakRef<Room>;
}

// Workers of an older compatibility date have no such thing: there an agent stays until it is closed.
const LOST =
  typeof FinalizationRegistry === "function" ? new FinalizationRegistry<Left>(giveBack) : undefined;

function giveBack({ callbacks, of, inside, room }: Left): void {
  const { raw } = callbacks;
  callbacks.drop();
  callbacks.raw = undefined;
  const isOut = attempt(() => room.deref()?.exit(inside) ?? true) === true;
  if (raw !== undefined && (!isOut || attempt(() => raw.free() ?? true) === undefined)) abandon(raw);
  unsettle(of);
}

/** In the session's words. */
const BUSY = "a run is under way: use steer or follow_up, or interrupt it first";
/** So often an agent is made again before one of its runs has come to an end. */
const MOST_REBIRTHS = 3;

/**
 * A coding agent over files in memory.
 *
 * ```js
 * const agent = await Agent.create({ provider: "anthropic", model, apiKey, files });
 * for await (const event of agent.run("Make the tests pass")) console.log(event.type);
 * await agent.close();
 * ```
 */
export class Agent<Answer = unknown> {
  /** The workspace. */
  readonly files: Files;
  /** Your tools. */
  readonly tools: Tools;
  #options: AgentOptions;
  readonly #programs: readonly RegisteredProgram[];
  readonly #key: KeySource;
  readonly #inside: Inside;
  #listeners: readonly Listener<AgentEvent>[] = NONE;
  /** What servers have said in the run under way. */
  #responses: Responses | undefined;
  /** Resolves when the session is over and its memory is given back; made on first need. */
  #ended: Promise<void> | undefined;
  #end: (() => void) | undefined;
  /** The binding's side, while there is one, and the instance that it lives in. */
  #raw: RawAgent | undefined;
  #of: Binding | undefined;
  #callbacks: Callbacks | undefined;
  #rest: Rest | undefined;
  /** How it is made again as it was at first, where it can be. */
  readonly #first: Make | undefined;
  #reserve: Reserve | undefined;
  #rebirths = 0;
  /** The stamp of the newest event. */
  readonly #stamp = { seq: 0, at: 0, wall: 0, session: "" };
  #run: Run<Answer> | undefined;
  #folding: Folding | undefined;
  /** Inputs whose pictures are being made smaller, if there have been any. */
  #waiting: Waiting | undefined;
  /** The run whose input is among them, and whether it is stopped already. */
  #late: { run: Run<Answer>; isStopped: boolean } | undefined;

  private constructor(begin: Prepared, make: Make, isFirst = true) {
    if (typeof make !== "function") throw bad("make an agent with `await Agent.create(options)`");
    const { options, files, programs } = begin;
    this.#inside = new Agent.#Inside(this);
    this.#options = options;
    this.#key = new KeySource(options.apiKey);
    this.#programs = programs;
    this.#first = isFirst ? make : undefined;
    if (options.onEvent) this.#listeners = [options.onEvent];
    this.files = files;
    this.tools = new Tools(options.tools ?? [], this.#inside);
    this.#begin(make);
  }

  /**
   * Creates an agent.
   *
   * @throws AgentError where an option is missing or does not fit.
   */
  static async create<Schema = object>(
    options: AgentOptions<Schema>,
  ): Promise<Agent<AnswerOf<Schema>>> {
    return new Agent(await prepared(options), made);
  }

  /**
   * Makes an agent of a snapshot, or of a log, with the options with which one is created. Both
   * hold the conversation and the configuration: what the options say of it is in force, what they
   * leave out stays. Files, tools, programs, functions and the key are given anew. A run that was
   * under way goes on: it is {@link Agent.current}. Of a closed session another one goes on, under
   * an id of its own, that has heard the same.
   *
   * @throws AgentError where that is no snapshot (`bad_snapshot`) or log (`bad_log`) which this
   *   version reads, or an option does not fit, be it not the session: another `id`, or another
   *   `provider` while a request is under way.
   */
  static async restore<Schema = object>(
    saved: Uint8Array | string,
    options: RestoreOptions<Schema>,
  ): Promise<Agent<AnswerOf<Schema>>> {
    let patch = "";
    const begin = await prepared(options);
    const make = restored(saved, begin, (change) => {
      patch = change;
    });
    const agent = new Agent<AnswerOf<Schema>>(begin, make);
    try {
      if (patch !== "{}") agent.#call((raw) => raw.configure(patch), options);
    } catch (error) {
      agent.#release();
      throw error;
    }
    return agent;
  }

  /**
   * Replays the log of a session, of any agent: what happened, what was said, where it ended. No
   * model is called, and no tool runs.
   *
   * @throws AgentError `bad_log` with the line that does not fit.
   */
  static async replay(log: string): Promise<Replayed> {
    const { session, outputs } = await Session.replay(log, { onlyEvents: true });
    const events = outputs.flat().flatMap(({ event }) => event ?? []);
    const status = statusOfAll((agent) => session.status(agent));
    return { events, history: (session.history() ?? []).map(turnOf), status };
  }

  /**
   * Lets the agent work on `input` until it is done.
   *
   * @throws AgentError `busy` while a run is under way, `closed` after the agent has closed,
   *   `bad_option` where the input or an option does not fit.
   */
  run(input: string | readonly Part[], options: RunOptions = {}): Run<Answer> {
    const { signal, agents } = checkRun(options);
    const [parts, own] = [rawParts(input), rawTurn(options)];
    const run = this.#newRun(agents);
    const before = this.#run;
    if (before === undefined) this.#keep();
    this.#run = run;
    try {
      // A run that is under way refuses it at once.
      if (this.#late?.run.done === false) throw new AgentError("busy", BUSY);
      const give = (fit: string): void => this.#call((raw) => say(raw, "submit", fit, own), {});
      if (before !== undefined || !this.#mustWait(input)) give(parts);
      else this.#giveLate(run, parts, give);
    } catch (error) {
      // Of a run that the module broke in, the result tells.
      if (run.done) return run;
      this.#run = before;
      throw error;
    }
    const stop = (): void => run.interrupt();
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop, { once: true });
    void run.result().then(() => signal?.removeEventListener("abort", stop));
    return run;
  }

  /** The run under way, if there is one. */
  get current(): Run<Answer> | undefined {
    return this.#run;
  }

  /** Calls `listener` with every event from now on; the returned function ends that. */
  subscribe(listener: (event: AgentEvent) => void): () => void {
    checkFunction("listener", listener);
    this.#listeners = added(this.#listeners, listener);
    return () => void (this.#listeners = removed(this.#listeners, listener));
  }

  /** Tells the model something after the current round of tools; while idle, with the next run. */
  steer(input: string | readonly Part[]): void {
    const parts = rawParts(input);
    this.#give(input, parts, (fit) => this.#call((raw) => raw.steer(fit), {}));
  }

  /** Gives the agent another input for when the current one is done, in the same run. */
  followUp(input: string | readonly Part[], options: TurnOptions = {}): void {
    const [parts, own] = [rawParts(input), rawTurn(checkTurn(options))];
    this.#give(input, parts, (fit) => this.#call((raw) => say(raw, "follow_up", fit, own), {}));
  }

  /**
   * Changes the configuration, in force from the next model call: the model, and with `provider`,
   * `model` and `apiKey` who serves it.
   *
   * @throws AgentError where a change does not fit; then all is as before.
   */
  configure(changes: Changes): void {
    checkChanges(changes);
    const before = this.#options;
    const next = changed({ ...before, apiKey: this.#key.given }, changes);
    const patch = patchOf(changes, next, () => this.#call(configOf));
    const isReached = concernsEndpoint(changes);
    if (isReached) this.#reach(next, changes);
    try {
      this.#configure(patch, changes);
    } catch (error) {
      if (isReached) this.#reach({ ...before, apiKey: this.#key.given });
      throw error;
    }
    this.#options = next;
    this.#key.take(next.apiKey);
  }

  /**
   * Takes back the newest steps; a step begins with each input. The model sees again what it saw
   * before, and agents that were started since are closed. For files see {@link Agent.undoFiles}.
   *
   * @throws AgentError `busy` while a run is under way, `nothing` where there is no such step.
   */
  undo(steps = 1): void {
    this.#rewind({ undo: { steps: wholeNumber("steps", steps) } });
  }

  /** Puts back steps that were taken back, the last one first. An input makes an end of them. */
  redo(steps = 1): void {
    this.#rewind({ redo: { steps: wholeNumber("steps", steps) } });
  }

  /** The model sees again what it saw when {@link Agent.history} had `at` turns. */
  restore(at: number): void {
    this.#rewind({ restore: { at: wholeNumber("at", at) } });
  }

  /** The model sees nothing of what was said so far; {@link Agent.undo} brings it back. */
  clear(): void {
    this.#rewind({ clear: null });
  }

  /**
   * Takes over what was said elsewhere, behind what is there: turns of another agent's
   * {@link Agent.seen}, or of your own making.
   *
   * @throws AgentError `bad_option` where they do not answer each other's calls.
   */
  import(turns: readonly SeenTurn[]): void {
    const at = Date.now();
    this.#rewind({ import: { turns: turns.map((turn) => ({ at, kind: saidOf(turn) })) } });
  }

  /**
   * Takes back the files that the steps have changed which are undone now, as far as this agent
   * has done them: where a file still is as its step left it. The others stay as they are.
   */
  undoFiles(): UndoneFiles {
    const list = JSON.parse(this.#call((raw) => raw.undoneFiles())) as UndoneFile[];
    return undoIn(this.files, list);
  }

  /**
   * Has the oldest turns summed up; `instructions` say what matters. Comes to the event that tells
   * how it went.
   *
   * @throws AgentError `busy` while a run is under way, `nothing` where no turn is old enough.
   */
  async compact(instructions?: string): Promise<FoldingEnd> {
    this.#keep();
    const tell = (word: string): void => this.#call((raw) => raw.tell(word), {});
    this.#folding ??= new Folding();
    return this.#folding.run(instructions, (listener) => this.subscribe(listener), tell);
  }

  /** Stops the run under way, or a summary, if there is one; the agent stays usable. */
  interrupt(): void {
    if (this.#late !== undefined) this.#late.isStopped = true;
    else if (this.#raw !== undefined && this.#isAtWork()) this.#call((raw) => raw.interrupt());
  }

  /** Where the agent stands, and what it and all that it has started have used. */
  status(): Status {
    return this.#look((raw) => {
      return statusOfAll((agent) => JSON.parse(raw.status(agent)) as SessionStatus | null);
    });
  }

  /** What was said so far, oldest first; of an agent that this one has started, by its number. */
  history(agent = 0): Turn[] {
    const turns = this.#look((raw) => {
      return JSON.parse(Number.isInteger(agent) ? raw.history(agent, 0) : "null") as
        SessionTurn[] | null;
    });
    if (turns === null) throw new AgentError("bad_option", `there is no agent ${agent}`);
    return turns.map(turnOf);
  }

  /** What the model sees of that, after all that was undone, cleared or folded. */
  seen(agent = 0): SeenTurn[] {
    const seen = this.#look((raw) => JSON.parse(raw.seen(agent)) as Said[] | null);
    if (seen === null) throw new AgentError("bad_option", `there is no agent ${agent}`);
    return seen.map(seenOf);
  }

  /** The conversation as bytes, for {@link Agent.restore}. The files are yours to keep. */
  snapshot(): Uint8Array {
    return this.#rest?.snapshot.slice() ?? this.#call((raw) => raw.snapshot());
  }

  /**
   * The session's log, for {@link Agent.replay} and {@link Agent.restore}: whole while it is short,
   * then its newest snapshot and what came after. All of it there is by {@link AgentOptions.onLine}.
   *
   * @throws AgentError `unsupported` if the agent was made without the option `log`.
   */
  log(): string {
    if (this.#options.log) return this.#rest?.log ?? this.#call((raw) => raw.log());
    throw new AgentError("unsupported", "no log is kept: make the agent with `log: true`");
  }

  /**
   * Another agent that has heard what this one has, or the first `turns` turns of it, and goes
   * its own way: the same options, a copy of the files, a session of its own.
   *
   * @throws AgentError where an option does not fit.
   */
  fork(given: ForkOptions = {}): Agent<Answer> {
    checkFork(given);
    const { turns, id = newId(), files, onEvent, onLine } = given;
    const mine = { ...this.#options, apiKey: this.#key.given, tools: [...this.tools] };
    const options = { ...mine, files, onEvent, onLine };
    checkOptions(options);
    const begin = { options, files: filesOf(files ?? [...this.files]), programs: this.#programs };
    const rawIn = (of: Binding): RawAgent | undefined => (this.#of === of ? this.#raw : undefined);
    const make = forked(turns, id, rawIn, () => this.snapshot());
    return new Agent(begin, make, false);
  }

  /** Ends the session: stops what runs, then closes. `files` and `snapshot` stay readable. */
  async close(): Promise<void> {
    for (let tries = 0; ; tries += 1) {
      try {
        this.#call((raw) => raw.close());
        break;
      } catch (error) {
        if (error instanceof AgentError && error.code === "closed") break;
        // Where the module broke at it, the agent that is made again is closed in its place.
        if (tries >= MOST_REBIRTHS) throw error;
      }
    }
    await this.#whenEnded();
  }

  /** Closes the agent at the end of an `await using` block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #status(): SessionStatus {
    return this.#call((raw) => JSON.parse(raw.status(0)) as SessionStatus);
  }

  // Whether it works, or asks a person something for that.
  #isAtWork({ state } = this.#status()): boolean {
    return state === "processing" || state === "awaiting_input";
  }

  // A run that is under way is the current one, whoever began it.
  #takeRun(): void {
    const status = this.#status();
    if (this.#isAtWork(status) && !status.compacting) this.#run ??= this.#newRun();
  }

  // Makes the binding's side; nothing is under way before it is started.
  #begin(make: Make): void {
    const mine = { apiKey: this.#key.given, tools: [...this.tools] };
    // Agents of the same options share what is made of them, for which their ids stand apart.
    const { id, ...options } = rawOptions({ ...this.#options, ...mine }, this.#programs);
    const json = givenJson(options, this.#options.config);
    const room = roomOf(this.files);
    const of = room.enter(this.#inside);
    const callbacks = new Callbacks(this.#inside);
    this.#raw = callbacks.raw = guarded(() => {
      try {
        return make(of, json, room.raw, callbacks, id);
      } catch (error) {
        room.exit(this.#inside);
        throw error;
      }
    }, this.#options);
    this.#of = of;
    settle(of);
    this.#callbacks = callbacks;
    LOST?.unregister(this);
    LOST?.register(this, { callbacks, of, inside: this.#inside, room: new WeakRef(room) }, this);
    if (make !== made) this.#takeRun();
    this.#call((raw) => raw.start());
  }

  #call<T>(tell: (raw: RawAgent) => T, options?: { config?: unknown }): T {
    const raw = this.#raw;
    if (raw === undefined) throw new AgentError("closed", "the session is closed");
    try {
      return guarded(() => tell(raw), options);
    } catch (error) {
      this.#broke(raw, error);
      throw error;
    }
  }

  // Looks at the session, which may be closed.
  #look<T>(at: (raw: Visible) => T): T {
    const rest = this.#rest;
    return rest === undefined ? this.#call((raw) => at(raw)) : lookAt(rest, at);
  }

  // Lets requests go where these options say.
  #reach(options: AgentOptions, changes?: { config?: unknown }): void {
    const json = givenJson(rawOptions(options, []), changes?.config);
    this.#call((raw) => raw.reach(json), changes);
  }

  #mustWait(input: string | readonly Part[]): boolean {
    return (this.#waiting ??= new Waiting()).mustWait(input);
  }

  // Gives an input beside a run, whose refusal nobody waits for any more if it comes late.
  #give(input: string | readonly Part[], parts: string, give: (parts: string) => void): void {
    if (this.#run === undefined) this.#keep();
    if (!this.#mustWait(input)) return give(parts);
    this.#status();
    const failed = (error: unknown): void => {
      if (this.#raw === undefined) return;
      queueMicrotask(() => {
        throw error;
      });
    };
    this.#waiting?.push(parts, this.#options.provider, { give, failed });
  }

  // Gives a run its input when the pictures fit; whoever has stopped it has stopped that, too.
  #giveLate(run: Run<Answer>, parts: string, give: (parts: string) => void): void {
    this.#status();
    const late = { run, isStopped: false };
    this.#late = late;
    this.#waiting?.push(parts, this.#options.provider, {
      give: (fit) => {
        if (this.#late === late) this.#late = undefined;
        if (run.done) return;
        give(fit);
        if (late.isStopped) run.interrupt();
      },
      failed: (error) => {
        for (const event of failed(messageOf(error), this.#stamp)) run.take(event);
        if (this.#run === run) this.#run = undefined;
      },
    });
  }

  #rewind(command: Command): void {
    if (this.#run === undefined) this.#keep();
    const word = givenJson(command);
    this.#call((raw) => raw.tell(word), {});
  }

  #configure(patch: string, changes: { config?: unknown }): void {
    if (this.#run === undefined) this.#keep();
    this.#call((raw) => raw.configure(patch), changes);
    this.#reserve ??= new Reserve();
    this.#reserve.patches.push(patch);
  }

  // Keeps what the agent is made again of, should its next run break the module.
  #keep(): void {
    if (this.#raw === undefined || this.#stamp.seq <= 1) return;
    this.#reserve ??= new Reserve();
    this.#reserve.keep(() => this.#call((raw) => raw.snapshot()));
  }

  // If it is a fault of the module's: ends the run, and makes the agent again in a fresh instance.
  #broke(raw: RawAgent, thrown: unknown): boolean {
    const isFault = thrown instanceof AgentError && thrown.code === "internal";
    if (!isFault || raw !== this.#raw) return isFault;
    this.#callbacks?.drop();
    this.#raw = undefined;
    const run = this.#run;
    const newest = run === undefined ? attempt(() => raw.snapshot()) : undefined;
    abandon(raw);
    const room = roomOf(this.files);
    const hasFiles = attempt(() => room.leave(true)) === true;
    const isBack = attempt(() => this.#beginAgain(newest ?? this.#reserve?.snapshot)) === true;
    if (!isBack) this.#raw = undefined;
    room.haveFollow(this.#inside);
    const lost = hasFiles ? "" : "; its files are lost";
    const end = isBack ? "the agent goes on from where it stood before" : "the agent is closed";
    const message = `${thrown.message}: a fault of innerloop's own; ${end}${lost}`;
    if (run !== undefined) this.#fail(message);
    this.#folding?.break(message);
    if (isBack) {
      this.#takeRun();
      return true;
    }
    this.#over(newest ?? this.#reserve?.snapshot);
    return true;
  }

  // The files have gone to another instance, and the agent with them: its requests are sent again,
  // and what runs for it there is lost.
  #follow(): void {
    const raw = this.#raw;
    if (raw === undefined || roomOf(this.files).isIn(this.#of)) return;
    const saved = attempt(() => raw.snapshot());
    this.#callbacks?.drop();
    this.#raw = undefined;
    abandon(raw);
    if (saved !== undefined && attempt(() => this.#makeAgain(saved)) === true) return;
    this.#raw = undefined;
    this.#fail("innerloop could not make the agent again");
    this.#over(saved);
  }

  // It cannot be made again.
  #over(saved: Uint8Array | undefined): void {
    roomOf(this.files).exit(this.#inside);
    this.#rest = onlySnapshot(saved);
    this.#hasEnded();
  }

  #beginAgain(saved: Uint8Array | undefined): true {
    this.#rebirths += 1;
    if (this.#rebirths > MOST_REBIRTHS) throw new Error("there is no way");
    this.#makeAgain(saved);
    for (const patch of [...(this.#reserve?.patches ?? []), toolsPatch(this.tools)]) {
      this.#call((raw) => raw.configure(patch));
    }
    return true;
  }

  #makeAgain(saved: Uint8Array | undefined): true {
    const again = saved ? madeAgain(saved) : this.#first;
    if (again === undefined) throw new Error("there is no way");
    const run = this.#run;
    this.#begin(again);
    this.#run = run;
    return true;
  }

  #fail(message: string): void {
    for (const event of failed(message, this.#stamp)) this.#deliver(event);
  }

  #hasEnded(): void {
    void this.#whenEnded();
    this.#end?.();
  }

  #whenEnded(): Promise<void> {
    const ended = (): Promise<void> => new Promise((resolve) => (this.#end = resolve));
    // What is being written comes to its end before, and so does the call that told of it.
    return (this.#ended ??= ended()
      .then(() => roomOf(this.files).copy?.settled())
      .then(() => this.#release()));
  }

  // Gives back what a closed agent holds of the module's memory.
  #release(): void {
    const raw = this.#raw;
    if (raw === undefined) return;
    this.#callbacks?.drop();
    this.#raw = undefined;
    this.#reserve = undefined;
    LOST?.unregister(this);
    const rest = restOf(raw);
    this.#rest = rest ?? onlySnapshot();
    const isOut = attempt(() => roomOf(this.files).exit(this.#inside)) === true;
    const isWell = rest !== undefined && isOut;
    if (isWell) raw.free();
    else abandon(raw);
    if (this.#of !== undefined) unsettle(this.#of);
  }

  #newRun(agents?: RunOptions["agents"]): Run<Answer> {
    return new Run(this.#inside, agents);
  }

  #deliver(event: AgentEvent): void {
    const stamp = this.#stamp;
    stamp.seq = event.seq;
    stamp.at = event.at;
    stamp.wall = event.wall;
    stamp.session = event.session;
    if (event.type === "user_input" && event.agent === 0) this.#run ??= this.#newRun();
    const run = this.#run;
    run?.take(event);
    if (run?.done) {
      if (this.#reserve !== undefined) this.#reserve.snapshot = undefined;
      this.#run = this.#responses = undefined;
      if (event.type === "processing_end" && event.end === "completed") this.#rebirths = 0;
    }
    if (event.type === "session_end") this.#hasEnded();
    tellEach(this.#listeners, event);
  }

  // One object for all of its parts, since an agent that waits is to weigh little.
  static readonly #Inside = class implements Inside {
    // The module holds this: held as well, an agent that is dropped would stay for ever.
    readonly #held: WeakRef<Agent> | { deref(): Agent };

    constructor(agent: Agent) {
      this.#held = LOST === undefined ? { deref: () => agent } : new WeakRef(agent);
    }

    get agent(): Agent {
      return this.#agent;
    }

    get #agent(): Agent {
      const agent = this.#held.deref();
      if (agent !== undefined) return agent;
      throw new AgentError("closed", "the agent is gone");
    }

    get options(): AgentOptions {
      return this.#agent.#options;
    }

    get programs(): readonly RegisteredProgram[] {
      return this.#agent.#programs;
    }

    get tools(): Tools {
      return this.#agent.tools;
    }

    get room(): Room {
      return roomOf(this.#agent.files);
    }

    get key(): KeySource {
      return this.#agent.#key;
    }

    get responses(): Responses {
      return (this.#agent.#responses ??= new Responses());
    }

    call(raw: RawAgent, tell: (raw: RawAgent) => void): void {
      // What was under way for one that broke, or that nobody holds any more, has nobody to tell.
      const agent = this.#held.deref();
      if (agent === undefined || raw !== agent.#raw) return;
      try {
        guarded(() => tell(raw), {});
      } catch (error) {
        if (!this.#agent.#broke(raw, error)) throw error;
      }
    }

    deliver(event: AgentEvent): void {
      this.#agent.#deliver(event);
    }

    changed(changes: readonly FileChange[]): void {
      this.room.tellAll(changes, this);
    }

    follow(): void {
      const agent = this.#held.deref();
      if (agent !== undefined) agent.#follow();
    }

    touch(paths: readonly string[]): void {
      const agent = this.#held.deref();
      if (agent !== undefined) agent.#callbacks?.touch(paths);
    }

    changeTools(tools: readonly (Tool | WasiTool)[]): void {
      this.#agent.#configure(toolsPatch(tools), {});
    }

    interrupt(): void {
      const late = this.#agent.#late;
      if (late !== undefined) late.isStopped = true;
      else this.#agent.#call((raw) => raw.interrupt());
    }

    meant(answer: unknown): Promise<unknown> {
      return validated(this.#agent.#options.answer?.schema, answer);
    }

    fault({ effect }: Failure): Partial<RunError> {
      const replay = JSON.parse(this.#agent.#raw?.fault() ?? "null") as Partial<RunError> | null;
      return { ...this.#agent.#responses?.of(effect), ...replay };
    }
  };
}
