// The agent: the one class most people need.

/// <reference lib="esnext.disposable" preserve="true" />

import type { RawAgent } from "../binding/instance.js";
import { AgentError, messageOf } from "../errors.js";
import type { SessionConfig } from "../json/config.js";
import type { FileChange, Part, SessionStatus } from "../json/data.js";
import type { AgentEvent, Failure } from "../json/events.js";
import type { Said, SessionTurn } from "../json/history.js";
import type { Command } from "../json/protocol.js";
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
  checkRun,
  checkTurn,
  type RunOptions,
  rawTurn,
  type TurnOptions,
} from "../options/turn.js";
import { bad, checkFunction, wholeNumber } from "../options/values.js";
import type { RegisteredProgram } from "../programs/registry.js";
import type { WasiTool } from "../programs/sources.js";
import { type Files, filesOf, roomOf } from "../workspace/files.js";
import type { Room, Tenant } from "../workspace/room.js";
import type { Side } from "./callbacks.js";
import type { FoldingEnd } from "./folding.js";
import type { Responses } from "./http.js";
import { held, Life } from "./life.js";
import { forked, type Make, made, type Prepared, prepared, restored } from "./making.js";
import { News } from "./news.js";
import {
  type PendingInputs,
  type Replayed,
  type RunError,
  type SeenTurn,
  type Status,
  type SubagentInfo,
  saidOf,
  seenOf,
  statusOfAll,
  type Turn,
  turnOf,
  type UndoneFile,
  type UndoneFiles,
} from "./results.js";
import type { Run, RunOwner } from "./run.js";
import { maySayPictures, rawParts, say, Waiting } from "./saying.js";
import { Session } from "./session.js";
import { agentsOf, configOf, pendingOf } from "./state.js";
import { Tools, type ToolsOwner } from "./tools.js";
import { undoIn } from "./undoing.js";

/** What its parts may do to an agent. */
type Inside = Side & Tenant & RunOwner & ToolsOwner;

/** In the session's words. */
const BUSY = "a run is under way: use steer or follow_up, or interrupt it first";

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
  readonly #life: Life;
  readonly #news: News<Answer>;
  /** Inputs whose pictures are being made smaller, if there have been any. */
  #waiting: Waiting | undefined;

  private constructor(begin: Prepared, make: Make, isFirst = true) {
    if (typeof make !== "function") throw bad("make an agent with `await Agent.create(options)`");
    const { options, files, programs } = begin;
    this.#inside = new Agent.#Inside(this);
    this.#options = options;
    this.#key = new KeySource(options.apiKey);
    this.#programs = programs;
    this.#news = new News(this.#inside, options.onEvent);
    this.files = files;
    this.tools = new Tools(options.tools ?? [], this.#inside);
    this.#life = new Life(this.#inside, roomOf(files), this.#news, isFirst ? make : undefined);
    this.#life.begin(make);
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
      if (patch !== "{}") agent.#life.call((raw) => raw.configure(patch), options);
    } catch (error) {
      agent.#life.release();
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
    const run = this.#news.newRun(agents);
    const before = this.#news.run;
    if (before === undefined) this.#life.keep();
    this.#news.run = run;
    try {
      // A run that is under way refuses it at once.
      if (this.#waiting?.hasRun) throw new AgentError("busy", BUSY);
      const give = (fit: string): void =>
        this.#life.call((raw) => say(raw, "submit", fit, own), {});
      if (before !== undefined || !this.#mustWait(input)) give(parts);
      else this.#giveLate(run, parts, give);
    } catch (error) {
      // Of a run that the module broke in, the result tells.
      if (run.done) return run;
      this.#news.run = before;
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
    return this.#news.run;
  }

  /** Calls `listener` with every event from now on; the returned function ends that. */
  subscribe(listener: (event: AgentEvent) => void): () => void {
    checkFunction("listener", listener);
    return this.#news.subscribe(listener);
  }

  /** Tells the model something after the current round of tools; while idle, with the next run. */
  steer(input: string | readonly Part[]): void {
    const parts = rawParts(input);
    this.#give(input, parts, (fit) => this.#life.call((raw) => raw.steer(fit), {}));
  }

  /** Gives the agent another input for when the current one is done, in the same run. */
  followUp(input: string | readonly Part[], options: TurnOptions = {}): void {
    const [parts, own] = [rawParts(input), rawTurn(checkTurn(options))];
    this.#give(input, parts, (fit) =>
      this.#life.call((raw) => say(raw, "follow_up", fit, own), {}),
    );
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
    const patch = patchOf(changes, next, () => this.#life.call(configOf));
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
    const list = JSON.parse(this.#life.call((raw) => raw.undoneFiles())) as UndoneFile[];
    return undoIn(this.files, list);
  }

  /**
   * Has the oldest turns summed up; `instructions` say what matters. Comes to the event that tells
   * how it went.
   *
   * @throws AgentError `busy` while a run is under way, `nothing` where no turn is old enough.
   */
  async compact(instructions?: string): Promise<FoldingEnd> {
    this.#life.keep();
    const tell = (word: string): void => this.#life.call((raw) => raw.tell(word), {});
    return this.#news.fold(instructions, tell);
  }

  /** Stops the run under way, or a summary, if there is one; the agent stays usable. */
  interrupt(): void {
    if (this.#waiting?.stopRun()) return;
    if (this.#life.isOpen && this.#life.isAtWork()) this.#life.call((raw) => raw.interrupt());
  }

  /** Where the agent stands, and what it and all that it has started have used. */
  status(): Status {
    return this.#life.look((raw) => {
      return statusOfAll((agent) => JSON.parse(raw.status(agent)) as SessionStatus | null);
    });
  }

  /** The configuration in force, as the session has it, without keys. */
  config(): SessionConfig {
    return this.#life.look(configOf);
  }

  /**
   * What waits to be read, by this agent or by one that it has started. An input whose pictures are
   * still being made smaller is not among it yet.
   *
   * ```js
   * for (const { parts } of agent.pending().followUps) console.log(parts);
   * ```
   */
  pending(agent = 0): PendingInputs {
    return this.#life.look((raw) => pendingOf(raw, agent));
  }

  /**
   * The agents that were started, by this one or by each other, in the order of their numbers.
   *
   * ```js
   * const running = agent.agents().filter(({ state }) => state === "running");
   * console.log(running.map(({ id, task }) => `${id}: ${task}`));
   * ```
   */
  agents(): SubagentInfo[] {
    return this.#life.look(agentsOf);
  }

  /** What was said so far, oldest first; of an agent that this one has started, by its number. */
  history(agent = 0): Turn[] {
    const turns = this.#life.look((raw) => {
      return JSON.parse(Number.isInteger(agent) ? raw.history(agent, 0) : "null") as
        | SessionTurn[]
        | null;
    });
    if (turns === null) throw new AgentError("bad_option", `there is no agent ${agent}`);
    return turns.map(turnOf);
  }

  /** What the model sees of that, after all that was undone, cleared or folded. */
  seen(agent = 0): SeenTurn[] {
    const seen = this.#life.look((raw) => JSON.parse(raw.seen(agent)) as Said[] | null);
    if (seen === null) throw new AgentError("bad_option", `there is no agent ${agent}`);
    return seen.map(seenOf);
  }

  /** The conversation as bytes, for {@link Agent.restore}. The files are yours to keep. */
  snapshot(): Uint8Array {
    return this.#life.snapshot();
  }

  /**
   * The session's log, for {@link Agent.replay} and {@link Agent.restore}: whole while it is short,
   * then its newest snapshot and what came after. All of it there is by
   * {@link AgentOptions.onLine}.
   *
   * @throws AgentError `unsupported` if the agent was made without the option `log`.
   */
  log(): string {
    if (this.#options.log) return this.#life.log();
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
    const make = forked(
      turns,
      id,
      (of) => this.#life.sideIn(of),
      () => this.snapshot(),
    );
    return new Agent(begin, make, false);
  }

  /** Ends the session: stops what runs, then closes. `files` and `snapshot` stay readable. */
  async close(): Promise<void> {
    await this.#life.close();
  }

  /** Closes the agent at the end of an `await using` block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  // Lets requests go where these options say.
  #reach(options: AgentOptions, changes?: { config?: unknown }): void {
    const json = givenJson(rawOptions(options, []), changes?.config);
    this.#life.call((raw) => raw.reach(json), changes);
  }

  #mustWait(input: string | readonly Part[]): boolean {
    return this.#waiting?.isBusy || maySayPictures(input);
  }

  // Gives an input beside a run, whose refusal nobody waits for any more if it comes late.
  #give(input: string | readonly Part[], parts: string, give: (parts: string) => void): void {
    if (this.#news.run === undefined) this.#life.keep();
    if (!this.#mustWait(input)) return give(parts);
    this.#life.status();
    const failed = (error: unknown): void => {
      if (!this.#life.isOpen) return;
      queueMicrotask(() => {
        throw error;
      });
    };
    (this.#waiting ??= new Waiting()).push(parts, this.#options.provider, { give, failed });
  }

  // Gives a run its input when the pictures fit.
  #giveLate(run: Run<Answer>, parts: string, give: (parts: string) => void): void {
    this.#life.status();
    const failed = (error: unknown): void => {
      for (const event of this.#news.failure(messageOf(error))) run.take(event);
      if (this.#news.run === run) this.#news.run = undefined;
    };
    (this.#waiting ??= new Waiting()).pushFor(run, parts, this.#options.provider, { give, failed });
  }

  #rewind(command: Command): void {
    if (this.#news.run === undefined) this.#life.keep();
    const word = givenJson(command);
    this.#life.call((raw) => raw.tell(word), {});
  }

  #configure(patch: string, changes: { config?: unknown }): void {
    if (this.#news.run === undefined) this.#life.keep();
    this.#life.configure(patch, changes);
  }

  // One object for all of its parts, since an agent that waits is to weigh little.
  static readonly #Inside = class implements Inside {
    readonly #held: { deref(): Agent | undefined };

    constructor(agent: Agent) {
      this.#held = held(agent);
    }

    get agent(): Agent {
      return this.#agent;
    }

    get #agent(): Agent {
      const agent = this.#held.deref();
      if (agent !== undefined) return agent;
      throw new AgentError("closed", "the agent is gone");
    }

    // Of what was under way for an agent that nobody holds any more nobody has to hear.
    get #ownLife(): Life | undefined {
      const agent = this.#held.deref();
      return agent === undefined ? undefined : agent.#life;
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
      return this.#agent.#news.responses;
    }

    call(raw: RawAgent, tell: (raw: RawAgent) => void): void {
      this.#ownLife?.report(raw, tell);
    }

    deliver(event: AgentEvent): void {
      this.#agent.#life.deliver(event);
    }

    changed(changes: readonly FileChange[]): void {
      this.room.tellAll(changes, this);
    }

    follow(): void {
      this.#ownLife?.follow();
    }

    touch(paths: readonly string[]): void {
      this.#ownLife?.touch(paths);
    }

    changeTools(tools: readonly (Tool | WasiTool)[]): void {
      this.#agent.#configure(toolsPatch(tools), {});
    }

    interrupt(): void {
      const agent = this.#agent;
      if (!agent.#waiting?.stopRun()) agent.#life.call((raw) => raw.interrupt());
    }

    meant(answer: unknown): Promise<unknown> {
      return validated(this.#agent.#options.answer?.schema, answer);
    }

    fault(failure: Failure): Partial<RunError> {
      const { fault } = this.#agent.#life;
      return { ...this.#agent.#news.responseOf(failure), ...fault };
    }
  };
}
