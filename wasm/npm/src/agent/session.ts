// The bare session, for engines of your own: the core without a driver. It does no I/O; each call
// crosses into the module once and returns all that follows.

import { guarded } from "../binding/guard.js";
import { binding, type RawSession } from "../binding/instance.js";
import { AgentError } from "../errors.js";
import type { SessionConfig } from "../json/config.js";
import type { ContextUsage, SessionStatus } from "../json/data.js";
import type { Said, SessionTurn } from "../json/history.js";
import type { Deadline, Input, Output } from "../json/protocol.js";
import type { OpenOptions } from "../options/agent.js";
import type { ConfigOptions } from "../options/config.js";
import { givenJson } from "../options/given.js";
import { rawConfig } from "../options/raw.js";
import { bad } from "../options/values.js";
import { isBytes } from "../platform/kinds.js";
import { init } from "../platform/platform.js";

/** The outputs of one input, and the time of the next. */
export interface Step {
  /** All outputs in causal order: effects to carry out, and events. */
  outputs: Output[];
  /** The time for `{ tick: null }` if nothing else happens before; `null` for never. */
  deadline: Deadline | null;
  /**
   * The line of the session's log, where it was opened with `log: true`. Make it durable before
   * you carry out an effect of this step.
   */
  line?: string;
}

/**
 * A session without a driver: it takes what happened, returns what follows, and does nothing else.
 * It has no timers, no `fetch` and no keys: your engine carries out its effects.
 *
 * Time is yours, too: `at` counts milliseconds of session time, from 0 when the session opened.
 * Each effect but `cancel` is owed one answer under its id; a failure outside is an answer as well.
 * The session's JSON is that of its log.
 *
 * ```js
 * const config = await Session.config({ provider: "anthropic", model: "claude-sonnet-5-5" });
 * const { session, step } = await Session.open(config);
 * const { outputs } = session.say("Make the tests pass", 0);
 * ```
 */
export class Session {
  readonly #raw: RawSession;

  private constructor(raw: RawSession) {
    if (raw === undefined) throw bad("open a session with `await Session.open(config)`");
    this.#raw = raw;
  }

  /**
   * Returns the configuration that an agent with these options would have. Change it as you like.
   *
   * @throws AgentError `unknown_provider`, or `bad_option` with the field that does not fit.
   */
  static async config(options: ConfigOptions): Promise<SessionConfig> {
    await init();
    const raw = givenJson(rawConfig(options), options.config);
    const json = guarded(() => binding().configJson(raw), options);
    return JSON.parse(json) as SessionConfig;
  }

  /**
   * Opens a session. What the configuration leaves out is as in the preset `seed001`.
   *
   * @throws AgentError `bad_option` with the field that does not fit.
   */
  static async open(
    config: Partial<SessionConfig>,
    { wall = Date.now(), log = false }: OpenOptions = {},
  ): Promise<{ session: Session; step: Step }> {
    await init();
    const open = (): RawSession => binding().RawSession.open(givenJson(config), wall, log);
    return Session.#opened(guarded(open, { config }));
  }

  /**
   * Makes a session from a snapshot. Carry out the effects of {@link Session.owed}, or report as
   * `lost` those whose outcome cannot be known.
   *
   * @throws AgentError `bad_snapshot`.
   */
  static async restore(
    snapshot: Uint8Array,
    { wall = Date.now(), log = false }: OpenOptions = {},
  ): Promise<Session> {
    if (!isBytes(snapshot)) {
      throw new AgentError("bad_snapshot", "give the bytes that `snapshot()` returned");
    }
    await init();
    return new Session(guarded(() => binding().RawSession.restore(snapshot, wall, log)));
  }

  /**
   * Makes a session from a log, the lines of its steps: from the newest snapshot if there is one.
   *
   * @throws AgentError `bad_log`.
   */
  static async resume(
    log: string,
    { wall = Date.now(), log: goesOn = false }: OpenOptions = {},
  ): Promise<Session> {
    await init();
    return new Session(guarded(() => binding().RawSession.resume(logText(log), wall, goesOn)));
  }

  /**
   * Replays a log, and returns the session at its end with the outputs of its opening and of each
   * line. Nothing is carried out. Since each request holds the whole conversation, the outputs of a
   * long session may exceed the longest string; `onlyEvents` leaves the effects out.
   *
   * @throws AgentError `bad_log`.
   */
  static async replay(
    log: string,
    { onlyEvents = false }: { onlyEvents?: boolean } = {},
  ): Promise<{ session: Session; outputs: Output[][] }> {
    await init();
    const raw = guarded(() => binding().RawSession.replay(logText(log), onlyEvents));
    const lines = (raw.opening() ?? "").split("\n").filter((line) => line !== "");
    const outputs = lines.map((line) => JSON.parse(line) as Output[]);
    return { session: new Session(raw), outputs };
  }

  /**
   * Returns another session, under an id of its own, with the history of this one, or its first
   * `turns` turns.
   *
   * @throws AgentError `bad_option` for an id that is empty or this session's.
   */
  fork(
    id: string,
    { turns, wall = Date.now() }: { turns?: number; wall?: number } = {},
  ): { session: Session; step: Step } {
    return Session.#opened(guarded(() => this.#raw.fork(id, turns, wall)));
  }

  /**
   * Takes in what happened at `at` and returns all that follows.
   *
   * @throws RejectedError with the input and the reason if the session refuses it; the session has
   *   not changed. AgentError `bad_option` for what is not an input.
   */
  handle(input: Input, at: number): Step {
    return JSON.parse(guarded(() => this.#raw.handle(givenJson(input), at), {})) as Step;
  }

  /** Does {@link Session.handle} with a text of the user, which starts a run. */
  say(text: string, at: number): Step {
    const command = { submit: { parts: [{ type: "text" as const, text }] } };
    return this.handle({ command: { agent: 0, command } }, at);
  }

  /** Does {@link Session.handle} with a piece of a response's body, cut anywhere. */
  chunk(id: number, bytes: Uint8Array, at: number): Step {
    return JSON.parse(guarded(() => this.#raw.chunk(id, bytes, at))) as Step;
  }

  /** Returns the time for `{ tick: null }` if nothing else happens before; `null` for never. */
  deadline(): Deadline | null {
    return JSON.parse(guarded(() => this.#raw.deadline())) as Deadline | null;
  }

  /** Returns every open effect again, whole, under its id. */
  owed(): Output[] {
    return JSON.parse(guarded(() => this.#raw.owed())) as Output[];
  }

  /** Returns the session as bytes, at any moment, for {@link Session.restore}. */
  snapshot(): Uint8Array {
    return guarded(() => this.#raw.snapshot());
  }

  /**
   * Returns the session as a line of its log. Write one whenever it is idle: the lines between the
   * log's first and this one may then be dropped.
   */
  snapshotLine(): string {
    return guarded(() => this.#raw.snapshotLine());
  }

  /** Returns an agent's status; `null` if there is no such agent. */
  status(agent = 0): SessionStatus | null {
    return JSON.parse(guarded(() => this.#raw.status(agent))) as SessionStatus | null;
  }

  /** Returns an agent's history from the turn `from` on; `null` if there is no such agent. */
  history({ agent = 0, from = 0 } = {}): SessionTurn[] | null {
    return JSON.parse(guarded(() => this.#raw.history(agent, from))) as SessionTurn[] | null;
  }

  /** Returns the turns that the model sees; `null` if there is no such agent. */
  seen(agent = 0): Said[] | null {
    return JSON.parse(guarded(() => this.#raw.seen(agent))) as Said[] | null;
  }

  /** Returns what fills an agent's context window; `null` if there is no such agent. */
  context(agent = 0): ContextUsage | null {
    return JSON.parse(guarded(() => this.#raw.context(agent))) as ContextUsage | null;
  }

  /** The session's id. */
  get id(): string {
    return this.#raw.id();
  }

  /** The session time of the last input. */
  get now(): number {
    return this.#raw.now();
  }

  static #opened(raw: RawSession): { session: Session; step: Step } {
    return { session: new Session(raw), step: JSON.parse(raw.opening() ?? "null") as Step };
  }
}

function logText(log: unknown): string {
  if (typeof log === "string") return log;
  throw new AgentError("bad_log", "give the text of a log");
}
