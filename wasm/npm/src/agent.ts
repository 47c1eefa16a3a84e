// The agent: the one class most people need.

import { callbacksOf } from "./callbacks.js";
import type { SessionStatus, SessionTurn } from "./data.js";
import { AgentError, guarded } from "./errors.js";
import { Files, rawOf } from "./files.js";
import { RawAgent } from "./innerloop_wasm.js";
import {
  checkFunction,
  checkOptions,
  checkRestore,
  newId,
  rawOptions,
  rawParts,
  rawPatch,
  signalOf,
  toolsPatch,
} from "./options.js";
import { init } from "./platform.js";
import { type RegisteredProgram, loadPrograms } from "./programs.js";
import { statusOf, turnOf } from "./results.js";
import { Run } from "./run.js";
import { Session } from "./session.js";
import { Tools } from "./tools.js";
import type {
  AgentEvent,
  AgentOptions,
  Changes,
  ForkOptions,
  Part,
  Replayed,
  RestoreOptions,
  RunError,
  Status,
  Turn,
} from "./types.js";

/** Makes the binding's side of an agent. */
type Make = (options: string, files: Files, callbacks: object) => RawAgent;

/**
 * A coding agent over files in memory.
 *
 * ```js
 * const agent = await Agent.create({ provider: "anthropic", model, apiKey, files });
 * for await (const event of agent.run("Make the tests pass")) console.log(event.type);
 * await agent.close();
 * ```
 */
export class Agent {
  /** The workspace. */
  readonly files: Files;
  /** Your tools. */
  readonly tools: Tools;
  readonly #raw: RawAgent;
  readonly #options: AgentOptions;
  readonly #programs: readonly RegisteredProgram[];
  readonly #listeners = new Set<(event: AgentEvent) => void>();
  readonly #ended: Promise<void>;
  #end: () => void = () => {};
  #run: Run | undefined;

  private constructor(options: AgentOptions, programs: readonly RegisteredProgram[], make: Make) {
    this.#options = options;
    this.#programs = programs;
    if (options.onEvent) this.#listeners.add(options.onEvent);
    this.#ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.files = new Files(options.files);
    this.tools = new Tools(options.tools ?? [], (tools) => {
      guarded(() => this.#raw.configure(toolsPatch(tools)));
    });
    const raw = JSON.stringify(rawOptions(options, programs));
    this.#raw = guarded(() => make(raw, this.files, this.#callbacks()));
    if (this.status().state === "processing") this.#run = this.#newRun();
    guarded(() => this.#raw.start());
  }

  /**
   * Creates an agent.
   *
   * @throws AgentError where an option is missing or does not fit.
   */
  static async create(options: AgentOptions): Promise<Agent> {
    checkOptions(options);
    const [programs] = await Promise.all([loadPrograms(options.programs), init()]);
    return new Agent(options, programs, (raw, files, callbacks) => {
      return new RawAgent(raw, rawOf(files), callbacks);
    });
  }

  /**
   * Makes an agent of a snapshot, or of a log. Both hold the conversation and the configuration,
   * which {@link Agent.configure} changes; files, tools, programs, functions and the key are given
   * anew. A run that was under way goes on: it is {@link Agent.current}.
   *
   * @throws AgentError where that is no snapshot (`bad_snapshot`) or log (`bad_log`) which this
   *   version reads, or an option does not fit.
   */
  static async restore(saved: Uint8Array | string, options: RestoreOptions): Promise<Agent> {
    if (!(saved instanceof Uint8Array) && typeof saved !== "string") {
      const message = "give the bytes that `snapshot()` returned, or the text of a log";
      throw new AgentError("bad_snapshot", message);
    }
    const complete = checkRestore(options);
    const [programs] = await Promise.all([loadPrograms(complete.programs), init()]);
    return new Agent(complete, programs, (raw, files, callbacks) => {
      const workspace = rawOf(files);
      return typeof saved === "string"
        ? RawAgent.resume(saved, raw, workspace, callbacks)
        : RawAgent.restore(saved, raw, workspace, callbacks);
    });
  }

  /**
   * Replays the log of a session, of any agent: what happened, what was said, where it ended. No
   * model is called, and no tool runs.
   *
   * @throws AgentError `bad_log` with the line that does not fit.
   */
  static async replay(log: string): Promise<Replayed> {
    const { session, outputs } = await Session.replay(log);
    const events = outputs.flat().flatMap(({ event }) => event ?? []);
    const [status, history] = [session.status(), session.history()];
    if (status === null || history === null) {
      throw new AgentError("internal", "a session has no agent of its own");
    }
    return { events, history: history.map(turnOf), status: statusOf(status) };
  }

  /**
   * Lets the agent work on `input` until it is done.
   *
   * @throws AgentError `busy` while a run is under way, `closed` after the agent has closed,
   *   `bad_option` where the input or an option does not fit.
   */
  run(input: string | readonly Part[], options: { signal?: AbortSignal } = {}): Run {
    const signal = signalOf(options);
    const run = this.#newRun();
    const before = this.#run;
    this.#run = run;
    try {
      guarded(() => this.#raw.submit(rawParts(input)));
    } catch (error) {
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
  get current(): Run | undefined {
    return this.#run;
  }

  /** Calls `listener` with every event from now on; the returned function ends that. */
  subscribe(listener: (event: AgentEvent) => void): () => void {
    checkFunction("listener", listener);
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Tells the model something after the current round of tools; while idle, with the next run. */
  steer(input: string | readonly Part[]): void {
    guarded(() => this.#raw.steer(rawParts(input)));
  }

  /** Gives the agent another input for when the current one is done, in the same run. */
  followUp(input: string | readonly Part[]): void {
    guarded(() => this.#raw.followUp(rawParts(input)));
  }

  /** Changes the configuration, in force from the next model call. */
  configure(changes: Changes): void {
    guarded(() => this.#raw.configure(rawPatch(changes)));
  }

  /** Stops the run under way, if there is one; the agent stays usable. */
  interrupt(): void {
    if (this.#run !== undefined) guarded(() => this.#raw.interrupt());
  }

  /** Where the agent stands and what it has used. */
  status(): Status {
    return statusOf(JSON.parse(guarded(() => this.#raw.status(0))) as SessionStatus);
  }

  /** What was said so far, oldest first; of an agent that this one has started, by its number. */
  history(agent = 0): Turn[] {
    const turns = JSON.parse(guarded(() => this.#raw.history(agent))) as SessionTurn[] | null;
    if (turns === null) throw new AgentError("bad_option", `there is no agent ${agent}`);
    return turns.map(turnOf);
  }

  /** The conversation as bytes, for {@link Agent.restore}. The files are yours to keep. */
  snapshot(): Uint8Array {
    return guarded(() => this.#raw.snapshot());
  }

  /**
   * The session's log so far, for {@link Agent.replay} and {@link Agent.restore}.
   *
   * @throws AgentError `unsupported` if the agent was made without the option `log`.
   */
  log(): string {
    if (this.#options.log) return this.#raw.log();
    throw new AgentError("unsupported", "no log is kept: make the agent with `log: true`");
  }

  /**
   * Another agent that has heard what this one has, or the first `turns` turns of it, and goes
   * its own way: the same options, a copy of the files, a session of its own.
   *
   * @throws AgentError where an option does not fit.
   */
  fork({ turns, id = newId(), files, onEvent }: ForkOptions = {}): Agent {
    if (turns !== undefined && (!Number.isSafeInteger(turns) || turns < 0)) {
      throw new AgentError("bad_option", "`turns` must be a whole number, 0 or more");
    }
    const mine = { ...this.#options, tools: [...this.tools] };
    const options = { ...mine, files: files ?? this.files, onEvent };
    checkOptions(options);
    return new Agent(options, this.#programs, (raw, files, callbacks) => {
      return this.#raw.fork(turns, id, raw, rawOf(files), callbacks);
    });
  }

  /** Ends the session: stops what runs, then closes. `files` and `snapshot` stay readable. */
  async close(): Promise<void> {
    if (this.status().state !== "closed") guarded(() => this.#raw.close());
    await this.#ended;
  }

  /** Closes the agent at the end of an `await using` block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #newRun(): Run {
    return new Run({
      interrupt: () => guarded(() => this.#raw.interrupt()),
      fault: () => (JSON.parse(this.#raw.fault()) as Partial<RunError> | null) ?? undefined,
    });
  }

  #callbacks(): object {
    return callbacksOf({
      options: this.#options,
      programs: this.#programs,
      tools: this.tools,
      files: this.files,
      raw: () => this.#raw,
      deliver: (event) => this.#deliver(event),
    });
  }

  #deliver(event: AgentEvent): void {
    if (event.type === "user_input" && event.agent === 0) this.#run ??= this.#newRun();
    const run = this.#run;
    run?.take(event);
    if (run?.done) this.#run = undefined;
    if (event.type === "session_end") this.#end();
    for (const listener of [...this.#listeners]) {
      try {
        listener(event);
      } catch (error) {
        // A listener's mistake is the listener's: it surfaces as an uncaught error, and the
        // others still hear the event.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
