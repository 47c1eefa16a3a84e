// The agent: the one class most people need.

import { AgentError, guarded } from "./errors.js";
import { Files } from "./files.js";
import { RawAgent } from "./innerloop_wasm.js";
import {
  checkListener,
  checkOptions,
  checkedRestore,
  filesOf,
  partsOf,
  rawOptions,
  rawPatch,
  sender,
  signalOf,
} from "./options.js";
import { init } from "./platform.js";
import { type LoadedProgram, type ProgramRequest, loadPrograms, runInWorker } from "./programs.js";
import { Run } from "./run.js";
import { callTool } from "./tools.js";
import type {
  AgentEvent,
  AgentOptions,
  Changes,
  Part,
  RestoreOptions,
  RunError,
  Status,
} from "./types.js";

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
  readonly #raw: RawAgent;
  readonly #listeners = new Set<(event: AgentEvent) => void>();
  readonly #ended: Promise<void>;
  #end: () => void = () => {};
  #run: Run | undefined;

  private constructor(options: AgentOptions, programs: LoadedProgram[], snapshot?: Uint8Array) {
    if (options.onEvent) this.#listeners.add(options.onEvent);
    this.#ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    const host = this.#host(options, programs);
    const files = filesOf(options.files);
    const raw = rawOptions(options, programs, files);
    this.#raw = guarded(() =>
      snapshot === undefined ? new RawAgent(raw, host) : RawAgent.restore(snapshot, raw, host),
    );
    this.files = new Files(this.#raw);
    for (const [path, content] of files) this.files.write(path, content);
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
    return new Agent(options, programs);
  }

  /**
   * Makes an agent of a snapshot. The snapshot holds the conversation and the configuration, which
   * {@link Agent.configure} changes; files, tools, programs and the key are given anew.
   * A run that was under way goes on: it is {@link Agent.current}.
   *
   * @throws AgentError where the bytes are no snapshot of this version, or an option does not fit.
   */
  static async restore(snapshot: Uint8Array, options: RestoreOptions): Promise<Agent> {
    if (!(snapshot instanceof Uint8Array)) {
      throw new AgentError("bad_snapshot", "give the bytes that `snapshot()` returned");
    }
    const complete = checkedRestore(options);
    const [programs] = await Promise.all([loadPrograms(complete.programs), init()]);
    return new Agent(complete, programs, snapshot);
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
      guarded(() => this.#raw.submit(partsOf(input)));
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
    checkListener("listener", listener);
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Tells the model something after the current round of tools; while idle, with the next run. */
  steer(input: string | readonly Part[]): void {
    guarded(() => this.#raw.steer(partsOf(input)));
  }

  /** Gives the agent another input for when the current one is done, in the same run. */
  followUp(input: string | readonly Part[]): void {
    guarded(() => this.#raw.followUp(partsOf(input)));
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
    return guarded(() => this.#raw.status() as Status);
  }

  /** The conversation as bytes, for {@link Agent.restore}. The files are yours to keep. */
  snapshot(): Uint8Array {
    return guarded(() => this.#raw.snapshot());
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
      fault: () => this.#raw.fault() as Partial<RunError> | undefined,
    });
  }

  #host(options: AgentOptions, programs: LoadedProgram[]): object {
    const tools = new Map((options.tools ?? []).map((tool) => [tool.name, tool]));
    return {
      events: (batch: string): void => {
        for (const event of JSON.parse(batch) as AgentEvent[]) this.#deliver(event);
      },
      sends: options.fetch !== undefined,
      send: sender(options.fetch),
      callTool: async (
        effect: bigint,
        name: string,
        args: string,
        callId: string,
        signal: AbortSignal,
      ): Promise<unknown> => {
        const output = (text: string): void => this.#raw.toolOutput(effect, String(text));
        return callTool(tools.get(name), args, { callId, signal, output });
      },
      runProgram: (effect: bigint, request: ProgramRequest, signal: AbortSignal) =>
        runInWorker(
          programs,
          request,
          (stream, bytes, text) => this.#raw.programOutput(effect, stream, bytes, text),
          signal,
        ),
    };
  }

  #deliver(event: AgentEvent): void {
    if (event.type === "user_input") this.#run ??= this.#newRun();
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
