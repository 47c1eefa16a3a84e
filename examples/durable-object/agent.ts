// An agent in a Durable Object. The session's log is in the object's storage: whatever ends the
// object, the next one goes on from it.

import { DurableObject } from "cloudflare:workers";
import { type Answer, type Effect, type Input, Session, type Step, providers } from "innerloop";
import { outcomeOf, specs, tools } from "./tools.ts";

export interface Env {
  AGENTS: DurableObjectNamespace<Agent>;
  ANTHROPIC_API_KEY: string;
  ANTHROPIC_BASE_URL?: string;
  TRAVEL_URL: string;
}

/** How often an object is woken that has something to do, should it have been ended. */
const WATCH_MS = 30_000;
/** A row holds 2 MB at most. */
const ROW = /[^]{1,500000}/g;

export class Agent extends DurableObject<Env> {
  #session!: Session;
  /** What the clock showed at session time 0. */
  #began = 0;
  /** The log's first line. */
  #header = "";
  /** When the alarm rings, in session time. */
  #alarm = Infinity;
  /** What is being carried out, by the effects' ids. */
  readonly #running = new Map<number, AbortController>();

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS log (text TEXT NOT NULL)");
    ctx.blockConcurrencyWhile(() => this.#wake());
  }

  /** Starts a run. */
  say(text: string): Response {
    return this.#answered(() => this.#follow(this.#session.say(text, this.#now())));
  }

  /** Answers a question that {@link state} shows. */
  answer(id: number, answer: Answer): Response {
    return this.#answered(() => this.#tell({ answer: { id, answer } }));
  }

  /** Where the agent stands, what it asks, and what was said. */
  state(): Response {
    const asks = this.#session.owed().flatMap(({ effect }) => effect?.ask ?? []);
    const said = this.#session.seen();
    return Response.json({ state: this.#session.status()?.state, asks, said });
  }

  override alarm(): void {
    this.#alarm = Infinity;
    this.#tell({ tick: null });
  }

  async #wake(): Promise<void> {
    const rows = this.ctx.storage.sql.exec<{ text: string }>("SELECT text FROM log ORDER BY rowid");
    const log = [...rows].map(({ text }) => text).join("");
    if (log === "") {
      const { session, step } = await Session.open(await config(), { log: true });
      this.#session = session;
      this.#began = Date.now();
      this.#header = step.line ?? "";
      this.#follow(step);
      return;
    }
    this.#session = await Session.resume(log, { log: true });
    this.#began = Date.now() - this.#session.now;
    this.#header = log.slice(0, log.indexOf("\n") + 1);
    for (const { effect } of this.#session.owed()) this.#begin(effect!, { again: true });
    this.#setAlarm();
  }

  #tell(input: Input): void {
    this.#follow(this.#session.handle(input, this.#now()));
  }

  /** Stores what has happened, and then carries out what follows. */
  #follow({ line = "", outputs }: Step): void {
    this.#store(line);
    for (const { effect } of outputs) if (effect !== undefined) this.#begin(effect);
    if (this.#session.status()?.state === "idle") {
      this.ctx.storage.sql.exec("DELETE FROM log");
      this.#store(this.#header + this.#session.snapshotLine());
    }
    this.#setAlarm();
  }

  // What is written without an `await` in between is written as a whole, and no request leaves the
  // object before that.
  #store(lines: string): void {
    for (const [row] of lines.matchAll(ROW)) {
      this.ctx.storage.sql.exec("INSERT INTO log VALUES (?)", row);
    }
  }

  #begin({ http, run_tool, cancel }: Effect, { again = false } = {}): void {
    if (cancel !== undefined) return this.#running.get(cancel.id)?.abort();
    const effect = http ?? run_tool;
    if (effect === undefined) return; // A question is open until `answer`.
    const { id } = effect;
    if (again && run_tool !== undefined && !tools[run_tool.run.name]?.repeatable) {
      return this.#tell({ lost: { id } });
    }
    const controller = new AbortController();
    this.#running.set(id, controller);
    const { signal } = controller;
    const end = http ? this.#send(http, signal) : this.#run(run_tool!, signal);
    void end.then((input) => {
      this.#running.delete(id);
      this.#tell(input);
    });
  }

  async #send({ id, request }: NonNullable<Effect["http"]>, signal: AbortSignal): Promise<Input> {
    try {
      const [provider] = (await providers()).filter(({ name }) => name === request.endpoint);
      const { baseUrl, auth } = provider!;
      const headers = new Headers(request.headers);
      headers.set(auth.header, auth.prefix + this.env.ANTHROPIC_API_KEY);
      const response = await fetch((this.env.ANTHROPIC_BASE_URL ?? baseUrl) + request.path, {
        method: "POST",
        headers,
        body: request.body,
        redirect: "manual",
        signal,
      });
      const head = { status: response.status, headers: [...response.headers], at: Date.now() };
      this.#tell({ http: { id, input: { head } } });
      for await (const bytes of response.body ?? []) {
        this.#follow(this.#session.chunk(id, bytes, this.#now()));
      }
      return { http: { id, input: { end: null } } };
    } catch (error) {
      const kind = signal.aborted ? "cancelled" : "network";
      return { http: { id, input: { failed: { kind, message: String(error) } } } };
    }
  }

  async #run({ id, run }: NonNullable<Effect["run_tool"]>, signal: AbortSignal): Promise<Input> {
    const key = `${this.#session.id}/${id}`;
    const done = await outcomeOf(run, { url: this.env.TRAVEL_URL, key, signal });
    return { tool: { id, input: { done } } };
  }

  /** Sets the alarm to the deadline, and while anything runs to a time that is not far. */
  #setAlarm(): void {
    const deadline = this.#session.deadline()?.at ?? Infinity;
    const watch = this.#running.size > 0 ? this.#now() + WATCH_MS : Infinity;
    const next = Math.min(deadline, watch);
    if (next >= this.#alarm) return;
    this.#alarm = next;
    void this.ctx.storage.setAlarm(this.#began + next);
  }

  #now(): number {
    return Date.now() - this.#began;
  }

  #answered(does: () => void): Response {
    try {
      does();
      return this.state();
    } catch (error) {
      return new Response(String(error), { status: 409 });
    }
  }
}

function config() {
  return Session.config({
    provider: "anthropic",
    model: "claude-sonnet-5-5",
    id: crypto.randomUUID(),
    systemPrompt: "You arrange journeys.",
    builtins: "none",
    config: {
      tools: specs,
      // People are asked before anything is booked.
      approval: { ask: "changes", allow: [{ tool: "call_taxi", starting: {} }] },
    },
  });
}

export default {
  // POST /ada says something to the agent named ada, POST /ada/7 answers its question 7, and GET
  // /ada tells where it stands.
  async fetch(request, env): Promise<Response> {
    const [, name = "", ask] = new URL(request.url).pathname.split("/");
    const agent = env.AGENTS.getByName(name);
    if (request.method !== "POST") return agent.state();
    if (ask === undefined) return agent.say(await request.text());
    return agent.answer(Number(ask), await request.json());
  },
} satisfies ExportedHandler<Env>;
