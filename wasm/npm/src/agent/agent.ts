// The agent: the class that most users need. It checks what it is given and passes it on; its side
// in the module is in `life.ts`, its events are in `news.ts`.

/// <reference lib="esnext.disposable" preserve="true" />

import type { RawAgent } from "../binding/instance.js";
import { AgentError, messageOf } from "../errors.js";
import type { SessionConfig } from "../json/config.js";
import type { ContextUsage, FileChange, Part, SessionStatus } from "../json/data.js";
import type { AgentEvent, Failure } from "../json/events.js";
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
  statusOfAll,
  type Turn,
  turnOf,
  type UndoneFile,
  type UndoneFiles,
} from "./results.js";
import type { Run, RunOwner } from "./run.js";
import { maySayPictures, rawParts, say, Waiting } from "./saying.js";
import { Session } from "./session.js";
import { agentsOf, configOf, contextOf, historyOf, pendingOf, seenBy } from "./state.js";
import { Tools, type ToolsOwner } from "./tools.js";
import { undoIn } from "./undoing.js";

/** The operations that an agent's parts may perform on it. */
type Inside = Side & Tenant & RunOwner & ToolsOwner;

/** The session's own message, for a run that is refused before the session sees it. */
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
  /** The workspace: the files that the agent works on. */
  readonly files: Files;
  /** The tools of yours that the agent has. */
  readonly tools: Tools;
  #options: AgentOptions;
  readonly #programs: readonly RegisteredProgram[];
  readonly #key: KeySource;
  readonly #inside: Inside;
  readonly #life: Life;
  readonly #news: News<Answer>;
  /** The inputs whose pictures are being made smaller, once there has been one. */
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
   * Makes an agent from a snapshot or a log, with the options of {@link Agent.create}. Both hold
   * the conversation and the configuration: an option replaces its part of the configuration, and
   * what is left out stays. Files, tools, programs, functions and the key are given again. A run
   * that was under way goes on as {@link Agent.current}. A closed session stays closed: the agent
   * is then a fork of it, with an id of its own and the same history.
   *
   * ```js
   * const saved = agent.snapshot();
   * const again = await Agent.restore(saved, { provider: "anthropic", apiKey, files });
   * await again.current?.result();
   * ```
   *
   * @throws AgentError `bad_snapshot` or `bad_log` if this version cannot read it; or where an
   *   option does not fit the session, such as another `id`, or another `provider` while a request
   *   is under way.
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
   * Replays the log of a session and returns its events, its history and its last status. No model
   * is called, and no tool runs.
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
   * Starts a run: the agent works on `input` until it is done.
   *
   * ```js
   * const { status, text } = await agent.run("Make the tests pass").result();
   * ```
   *
   * @throws AgentError `busy` during a run, `closed` after the end, `bad_option` for an input or an
   *   option that does not fit.
   */
  run(input: string | readonly Part[], options: RunOptions = {}): Run<Answer> {
    const { signal, agents } = checkRun(options);
    const [parts, own] = [rawParts(input), rawTurn(options)];
    const run = this.#news.newRun(agents);
    const before = this.#news.run;
    // The snapshot for the case that this run breaks the module; a run under way has its own.
    if (before === undefined) this.#life.keep();
    // Set before the input is given: its first events come within that call.
    this.#news.run = run;
    try {
      // The session does not know yet of a run whose pictures are being made smaller, so that it
      // could not refuse this one.
      if (this.#waiting?.hasRun) throw new AgentError("busy", BUSY);
      const give = (fit: string): void =>
        this.#life.call((raw) => say(raw, "submit", fit, own), {});
      if (before !== undefined || !this.#mustWait(input)) give(parts);
      else this.#giveLate(run, parts, give);
    } catch (error) {
      // If the module broke, the run has ended with that failure as its result.
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

  /** The run under way, if there is one; also one that a follow-up or a restored session began. */
  get current(): Run<Answer> | undefined {
    return this.#news.run;
  }

  /** Calls `listener` with every event from now on, and returns a function that ends that. */
  subscribe(listener: (event: AgentEvent) => void): () => void {
    checkFunction("listener", listener);
    return this.#news.subscribe(listener);
  }

  /**
   * Gives the model a message, such as `agent.steer("Leave the tests as they are")`, after the
   * current round of tools; while idle, with the next run.
   *
   * @throws AgentError `bad_option` for an input that does not fit, `closed` after the end.
   */
  steer(input: string | readonly Part[]): void {
    const parts = rawParts(input);
    this.#give(input, parts, (fit) => this.#life.call((raw) => raw.steer(fit), {}));
  }

  /**
   * Queues an input, such as `agent.followUp("Then update the changelog")`, for when the current
   * one is done; it belongs to the same run.
   *
   * @throws AgentError `bad_option` for an input that does not fit, `closed` after the end.
   */
  followUp(input: string | readonly Part[], options: TurnOptions = {}): void {
    const [parts, own] = [rawParts(input), rawTurn(checkTurn(options))];
    this.#give(input, parts, (fit) =>
      this.#life.call((raw) => say(raw, "follow_up", fit, own), {}),
    );
  }

  /**
   * Changes the configuration from the next model call on, such as the model; `provider`, `model`
   * and `apiKey` together change who serves it.
   *
   * @throws AgentError where a change does not fit; then nothing has changed.
   */
  configure(changes: Changes): void {
    checkChanges(changes);
    const before = this.#options;
    const next = changed({ ...before, apiKey: this.#key.given }, changes);
    const patch = patchOf(changes, next, () => this.#life.call(configOf));
    const isReached = concernsEndpoint(changes);
    // The endpoint first: the session may send a request as soon as it has the new configuration.
    // If the session refuses it, the endpoint goes back.
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
   * Undoes the newest steps; each input begins a step. The model sees again what it saw before
   * them, and agents that were started since are closed. Files stay as they are until
   * {@link Agent.undoFiles}.
   *
   * @throws AgentError `busy` while a run is under way, `nothing` where there is no such step.
   */
  undo(steps = 1): void {
    this.#rewind({ undo: { steps: wholeNumber("steps", steps) } });
  }

  /**
   * Redoes steps that were undone, the last undone first. After another input there are none.
   *
   * @throws AgentError `busy` while a run is under way, `nothing` where no step was undone.
   */
  redo(steps = 1): void {
    this.#rewind({ redo: { steps: wholeNumber("steps", steps) } });
  }

  /**
   * Goes back to when {@link Agent.history} had `at` turns: the model sees what it saw then.
   *
   * @throws AgentError `busy` while a run is under way, `nothing` where it would change nothing.
   */
  restore(at: number): void {
    this.#rewind({ restore: { at: wholeNumber("at", at) } });
  }

  /**
   * Hides all turns so far from the model; {@link Agent.undo} brings them back.
   *
   * @throws AgentError `busy` while a run is under way, `nothing` where there is nothing to hide.
   */
  clear(): void {
    this.#rewind({ clear: null });
  }

  /**
   * Appends turns to the history: your own, or another agent's, as `agent.import(other.seen())`.
   *
   * @throws AgentError `bad_option` where a call has no result, or a result no call.
   */
  import(turns: readonly SeenTurn[]): void {
    const at = Date.now();
    this.#rewind({ import: { turns: turns.map((turn) => ({ at, kind: saidOf(turn) })) } });
  }

  /**
   * Restores the files that undone steps had changed, and returns which. A file that differs from
   * what its step left, or that this agent did not change itself, stays as it is.
   */
  undoFiles(): UndoneFiles {
    const list = JSON.parse(this.#life.call((raw) => raw.undoneFiles())) as UndoneFile[];
    return undoIn(this.files, list);
  }

  /**
   * Replaces the oldest turns by a summary of them; `instructions` say what it must keep. Resolves
   * to the event that ends it, `compacted` or `compaction_failed`.
   *
   * @throws AgentError `busy` while a run is under way, `nothing` where no turn is old enough.
   */
  async compact(instructions?: string): Promise<FoldingEnd> {
    this.#life.keep();
    const tell = (word: string): void => this.#life.call((raw) => raw.tell(word), {});
    return this.#news.fold(instructions, tell);
  }

  /** Stops the run or summary under way, if there is one; the agent stays usable. */
  interrupt(): void {
    if (this.#waiting?.stopRun()) return;
    if (this.#life.isOpen && this.#life.isAtWork()) this.#life.call((raw) => raw.interrupt());
  }

  /** Returns the agent's state, and the usage of it and of all agents that it has started. */
  status(): Status {
    return this.#life.look((raw) => {
      return statusOfAll((agent) => JSON.parse(raw.status(agent)) as SessionStatus | null);
    });
  }

  /** Returns the configuration in force, as the session has it, without keys. */
  config(): SessionConfig {
    return this.#life.look(configOf);
  }

  /**
   * Returns the inputs that this agent, or one that it has started, has not read yet, without those
   * whose pictures are still being made smaller.
   *
   * ```js
   * for (const { parts } of agent.pending().followUps) console.log(parts);
   * ```
   */
  pending(agent = 0): PendingInputs {
    return this.#life.look((raw) => pendingOf(raw, agent));
  }

  /**
   * Returns the agents that this one, or one of them, has started, in the order of their numbers.
   *
   * ```js
   * const running = agent.agents().filter(({ state }) => state === "running");
   * console.log(running.map(({ id, task }) => `${id}: ${task}`));
   * ```
   */
  agents(): SubagentInfo[] {
    return this.#life.look(agentsOf);
  }

  /**
   * Returns how many tokens fill the context window of this agent, or of one that it has started:
   * its system prompt, documents, tools, history and results, which add up to the total.
   *
   * @throws AgentError `bad_option` where there is no agent of that number.
   */
  context(agent = 0): ContextUsage {
    return this.#life.look((raw) => contextOf(raw, agent));
  }

  /**
   * Returns the history of this agent, or by its number of one that it has started, oldest turn
   * first.
   *
   * @throws AgentError `bad_option` where there is no agent of that number.
   */
  history(agent = 0): Turn[] {
    return this.#life.look((raw) => historyOf(raw, agent));
  }

  /**
   * Returns the turns that the model sees: the history without what is undone, cleared or folded.
   *
   * @throws AgentError `bad_option` where there is no agent of that number.
   */
  seen(agent = 0): SeenTurn[] {
    return this.#life.look((raw) => seenBy(raw, agent));
  }

  /** Returns the session as bytes, for {@link Agent.restore}. Files are not among them. */
  snapshot(): Uint8Array {
    return this.#life.snapshot();
  }

  /**
   * Returns the session's log, for {@link Agent.replay} and {@link Agent.restore}: whole while it
   * is short, later its newest snapshot and the lines behind it. {@link AgentOptions.onLine} has
   * every line.
   *
   * @throws AgentError `unsupported` if the agent was made without the option `log`.
   */
  log(): string {
    if (this.#options.log) return this.#life.log();
    throw new AgentError("unsupported", "no log is kept: make the agent with `log: true`");
  }

  /**
   * Returns another agent with this one's history, or its first `turns` turns, the same options, a
   * copy of the files, and a session of its own.
   *
   * ```js
   * const other = agent.fork();
   * await other.run("Try it without the cache").result();
   * ```
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

  /**
   * Ends the session: stops all that runs, then closes. `files`, `history` and `snapshot` stay
   * readable.
   */
  async close(): Promise<void> {
    await this.#life.close();
  }

  /** Closes the agent at the end of an `await using` block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  // Sends requests to the endpoint of these options from now on.
  #reach(options: AgentOptions, changes?: { config?: unknown }): void {
    const json = givenJson(rawOptions(options, []), changes?.config);
    this.#life.call((raw) => raw.reach(json), changes);
  }

  #mustWait(input: string | readonly Part[]): boolean {
    return this.#waiting?.isBusy || maySayPictures(input);
  }

  // Gives an input that is no run of its own. If it is given late, its caller has returned, and a
  // refusal can only surface as an uncaught error.
  #give(input: string | readonly Part[], parts: string, give: (parts: string) => void): void {
    if (this.#news.run === undefined) this.#life.keep();
    if (!this.#mustWait(input)) return give(parts);
    // Throws at once, as `give` would, if the agent is closed.
    this.#life.status();
    const failed = (error: unknown): void => {
      if (!this.#life.isOpen) return;
      queueMicrotask(() => {
        throw error;
      });
    };
    (this.#waiting ??= new Waiting()).push(parts, this.#options.provider, { give, failed });
  }

  // Gives a run its input once its pictures are small enough.
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

  // One object for all parts, since an idle agent must take little memory. It holds the agent
  // weakly: the module reaches this object, and would keep a dropped agent alive for ever.
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

    // Work may end after its agent was collected; its result is then dropped without an error.
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
