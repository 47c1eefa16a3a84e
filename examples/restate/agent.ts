// An agent as a virtual object of Restate. After a crash the handler runs again from its beginning,
// and the session comes to the same: all that it is told comes out of Restate's journal.

import * as restate from "@restatedev/restate-sdk";
import {
  AgentError,
  type Ask,
  type Effect,
  type Input,
  type RunEnd,
  Session,
  type Step,
  providers,
} from "innerloop";
import { outcomeOf, specs, tools } from "./tools.ts";

const { ANTHROPIC_API_KEY = "", ANTHROPIC_BASE_URL, TRAVEL_URL = "", PORT = "9080" } = process.env;

/** What the object keeps: the conversation between runs, and what a run asks. */
type State = { session: Uint8Array; questions: Question[] };
type Context = restate.ObjectContext<State>;

/** A question to the person, whose answer resolves the awakeable: true for yes. */
export interface Question {
  awakeable: string;
  ask: Ask;
}

/** How a run ended, and what the model said last. */
export interface End {
  end: RunEnd;
  text: string;
}

/** What the session is told when an effect has ended, or a deadline has come. */
interface News {
  effect?: number;
  inputs: Input[];
}

/** Says something to the agent, and waits for the end of that. */
async function say(ctx: Context, text: string): Promise<End> {
  const wall = await ctx.date.now();
  const session = await open(ctx, wall);
  const run = new Run(ctx, session, wall - session.now);
  const end = await run.say(text);
  ctx.set("session", session.snapshot(), restate.serde.binary);
  return end;
}

/** The session that the last run has left, or a new one. */
async function open(ctx: Context, wall: number): Promise<Session> {
  const snapshot = await ctx.get("session", restate.serde.binary);
  if (snapshot !== null) return Session.restore(snapshot, { wall });
  const id = ctx.rand.uuidv4();
  // It names the day, for example, and is to be the same in every replay.
  const config = await ctx.run("config", () =>
    Session.config({
      provider: "anthropic",
      model: "claude-sonnet-5-5",
      id,
      systemPrompt: "You arrange journeys.",
      builtins: "none",
      config: {
        tools: specs,
        // People are asked before anything is booked.
        approval: { ask: "changes", allow: [{ tool: "call_taxi", starting: {} }] },
      },
    }),
  );
  return (await Session.open(config, { wall })).session;
}

class Run {
  /** Each time that the handler runs is another attempt. */
  readonly #attempt = crypto.randomUUID();
  readonly #underway = new Map<number, restate.RestatePromise<News>>();
  readonly #cancels = new Map<number, AbortController>();
  readonly #questions = new Map<number, Question>();
  #timer?: { at: number; news: restate.RestatePromise<News> };
  #end?: End;

  constructor(
    readonly ctx: Context,
    readonly session: Session,
    /** What the clock showed at session time 0. */
    readonly began: number,
  ) {}

  async say(text: string): Promise<End> {
    await this.#follow(this.session.say(text, this.session.now));
    while (this.#end === undefined || this.#underway.size > 0) {
      // Which of them comes first stands in the journal.
      const { effect, inputs } = await restate.RestatePromise.race(this.#awaited());
      const now = (await this.ctx.date.now()) - this.began;
      this.#settle(effect);
      const at = Math.max(now, this.session.now);
      for (const input of inputs) await this.#follow(this.session.handle(input, at));
    }
    return this.#end;
  }

  #settle(effect?: number): void {
    if (effect === undefined) return void (this.#timer = undefined);
    this.#underway.delete(effect);
    if (this.#questions.delete(effect)) this.#showQuestions();
  }

  /** What comes next: the end of an effect, or the deadline. */
  #awaited(): restate.RestatePromise<News>[] {
    const at = this.session.deadline()?.at;
    if (at === undefined) return [...this.#underway.values()];
    if (this.#timer?.at !== at) {
      const sleep = this.ctx.sleep(Math.max(at - this.session.now, 0));
      this.#timer = { at, news: sleep.map(() => ({ inputs: [{ tick: null }] })) };
    }
    return [...this.#underway.values(), this.#timer.news];
  }

  async #follow({ outputs }: Step): Promise<void> {
    for (const { effect, event } of outputs) {
      if (event?.type === "processing_end") this.#end = { end: event.end, text: event.text };
      if (effect?.http) this.#send(effect.http);
      if (effect?.run_tool) await this.#run(effect.run_tool);
      if (effect?.ask) this.#ask(effect.ask);
      if (effect?.cancel) this.#cancels.get(effect.cancel.id)?.abort();
    }
  }

  #send({ id, request }: NonNullable<Effect["http"]>): void {
    this.#begin(id, async (signal) => {
      try {
        const [provider] = (await providers()).filter(({ name }) => name === request.endpoint);
        const { baseUrl, auth } = provider!;
        const headers = new Headers(request.headers);
        headers.set(auth.header, auth.prefix + ANTHROPIC_API_KEY);
        const response = await fetch((ANTHROPIC_BASE_URL ?? baseUrl) + request.path, {
          method: "POST",
          headers,
          body: request.body,
          redirect: "manual",
          signal,
        });
        const head = { status: response.status, headers: [...response.headers], at: Date.now() };
        const news = [{ head }, { chunk: await response.text() }, { end: null }];
        return news.map((input) => ({ http: { id, input } }));
      } catch (error) {
        // The session decides whether it is tried again.
        const kind = signal.aborted ? "cancelled" : "network";
        return [{ http: { id, input: { failed: { kind, message: String(error) } } } }];
      }
    });
  }

  async #run({ id, run }: NonNullable<Effect["run_tool"]>): Promise<void> {
    // What must not run twice runs in the attempt that was the first to say so; another one does
    // not know what became of it.
    const attempt = tools[run.name]?.repeatable
      ? this.#attempt
      : await this.ctx.run(`${id} begins`, () => this.#attempt);
    this.#begin(id, async (signal) => {
      if (attempt !== this.#attempt) return [{ lost: { id } }];
      const key = `${this.session.id}/${id}`;
      const done = await outcomeOf(run, { url: TRAVEL_URL, key, signal });
      return [{ tool: { id, input: { done } } }];
    });
  }

  #ask({ id, ask }: NonNullable<Effect["ask"]>): void {
    const { id: awakeable, promise } = this.ctx.awakeable<boolean>();
    this.#questions.set(id, { awakeable, ask });
    this.#showQuestions();
    const news = promise.map((isYes): News => {
      const answer = isYes === true ? { allow: null } : { deny: { reason: "the user said no" } };
      return { effect: id, inputs: [{ answer: { id, answer } }] };
    });
    this.#underway.set(id, news);
  }

  #showQuestions(): void {
    this.ctx.set("questions", [...this.#questions.values()]);
  }

  /** Begins a step of the journal, named by the effect's id. */
  #begin(id: number, does: (signal: AbortSignal) => Promise<Input[]>): void {
    const controller = new AbortController();
    this.#cancels.set(id, controller);
    const step = async (): Promise<News> => ({ effect: id, inputs: await does(controller.signal) });
    this.#underway.set(id, this.ctx.run(String(id), step));
  }
}

const agent = restate.object({
  name: "agent",
  handlers: {
    say,
    /** What the agent asks: answer by POST /restate/awakeables/{awakeable}/resolve. */
    questions: restate.handlers.object.shared(
      async (ctx: restate.ObjectSharedContext<State>) => (await ctx.get("questions")) ?? [],
    ),
  },
  options: {
    // What the session refuses it would refuse again.
    asTerminalError: (error) => {
      if (!(error instanceof AgentError)) return undefined;
      return new restate.TerminalError(error.message, { errorCode: 400 });
    },
  },
});

await restate.serve({ services: [agent], port: Number(PORT) });
