// The functions that the binding calls for one agent: they take events and do the work that needs
// JavaScript, such as requests, tools and timers. Each begins its work and returns at once; the
// answer goes back by the number of its effect.

import type { RawAgent } from "../binding/instance.js";
import { endpointOf } from "../binding/providers.js";
import { AgentError, messageOf } from "../errors.js";
import type { Action } from "../json/action.js";
import type { HookPoint } from "../json/config.js";
import type { FileChange, Outcome } from "../json/data.js";
import { toJson } from "../json/encode.js";
import type { AgentEvent } from "../json/events.js";
import type { Answer, Ask, HookReply, HttpInput, Input } from "../json/protocol.js";
import { tellEach } from "../listeners.js";
import type { AgentOptions, OnLine } from "../options/agent.js";
import type { KeySource } from "../options/key.js";
import type { Tool, ToolContext, WebFetch } from "../options/tool.js";
import { TextEncoder } from "../platform/coders.js";
import { hasCanvas } from "../platform/platform.js";
import { RunningCall, Turns, type Workspace } from "../programs/calls.js";
import { Keeper, type ProgramEnd, type Temporary } from "../programs/kept.js";
import type { RegisteredProgram } from "../programs/registry.js";
import { ProgramRun } from "../programs/runs.js";
import type { WasiTool } from "../programs/sources.js";
import type { Changes } from "../wasi/tree.js";
import type { WorkingCopy } from "../workspace/copy.js";
import type { Room } from "../workspace/room.js";
import { exchange, type Responses } from "./http.js";
import { askPerson, runHook } from "./people.js";
import { fitted } from "./pictures.js";
import { callTool, failedOutcome, stoppedOutcome, type Tools } from "./tools.js";
import { Work } from "./work.js";

/** The agent's side of its callbacks. */
export interface Side {
  /** The agent; it throws once the agent is collected. */
  readonly agent: object;
  /** The options in force. */
  readonly options: AgentOptions;
  readonly programs: readonly RegisteredProgram[];
  readonly tools: Tools;
  readonly room: Room;
  readonly key: KeySource;
  /** The heads of the run's responses. */
  readonly responses: Responses;
  /** Calls the binding's side, if it is still the agent's. */
  call(raw: RawAgent, tell: (raw: RawAgent) => void): void;
  deliver(event: AgentEvent): void;
  /** Tells that a tool of the agent has changed files. */
  changed(changes: readonly FileChange[]): void;
}

/** A call of a function of the user. */
type ToolCall = [
  id: number,
  limitMs: number,
  name: string,
  args: string,
  callId: string,
  folder: string,
];
type Asked = Parameters<WebFetch>[0];

/**
 * The callbacks of one agent; each method begins something and returns at once. What only work
 * needs is made on first use, so that an idle agent takes little memory.
 */
export class Callbacks {
  /** The binding's side; set before any of the methods is called. */
  raw: RawAgent | undefined;
  readonly #side: Side;
  /**
   * The agent, held only while something is under way for it: the module holds this object, so that
   * an agent dropped by its user stays alive until its work is done, and no longer.
   */
  #held: object | undefined;
  readonly #work = new Work((isBusy) => {
    if (isBusy !== (this.#held !== undefined)) this.#held = isBusy ? this.#side.agent : undefined;
  });
  readonly #begun = Date.now();
  #ownWorkspace: Workspace | undefined;

  constructor(side: Side) {
    this.#side = side;
  }

  get keepsLog(): boolean {
    return this.#side.options.log === true;
  }

  get fitsPictures(): boolean {
    return hasCanvas();
  }

  fit(id: number, outcome: string): void {
    this.#work.begin(id, {
      run: async () => {
        const shown = await fitted(JSON.parse(outcome) as Outcome, this.#side.options.provider);
        return () => this.#done(id, toJson(shown));
      },
      failed: () => this.#done(id, outcome),
      stopped: (timedOut) => this.#done(id, stoppedOutcome(timedOut)),
    });
  }

  get hearsLines(): boolean {
    const { onLine, replay } = this.#side.options;
    return onLine !== undefined || replay !== undefined;
  }

  lines(text: string): void {
    const { onLine, replay } = this.#side.options;
    const tell = ([line, kind]: [string, LineKind]): void => onLine?.(line, kind);
    for (const line of text.split("\n").slice(0, -1)) {
      if (replay !== undefined) this.#noteRecorded(line);
      if (onLine !== undefined) tellEach([tell], [`${line}\n`, kindOf(line)]);
    }
  }

  /**
   * Takes a batch of events. A list of texts stands for events that differ from the one before only
   * in text and number, so that a stream of deltas is cheap to hand over.
   */
  events(batch: string, session: string, epoch: number): void {
    let last = {} as AgentEvent;
    for (const told of JSON.parse(batch) as (AgentEvent | string[])[]) {
      if (Array.isArray(told)) {
        for (const text of told) {
          last = { ...last, seq: last.seq + 1, text } as AgentEvent;
          this.#side.deliver(last);
        }
      } else {
        last = told;
        last.session = session;
        last.wall = epoch + last.at;
        if (last.type === "tool_call_end") this.#noteChanges(last.outcome);
        this.#side.deliver(last);
      }
    }
  }

  send(
    id: number,
    endpoint: string,
    base: string,
    url: string,
    pairs: string,
    view: Uint8Array,
  ): void {
    const { key, options } = this.#side;
    // Key, headers and parameters are the provider's own: no other server may see them. The table
    // of providers is not asked, since that would call the module from within its own call.
    const isOwn = options.provider === undefined || endpoint === options.provider;
    const tell = (input: HttpInput): void => {
      if ("head" in input) this.#side.responses.note(id, input.head, key.text);
      this.#report({ http: { id, input } });
    };
    const chunk = (bytes: Uint8Array): void => this.#call((raw) => raw.chunk(id, bytes));
    const own = isOwn ? Object.entries(options.headers ?? {}) : [];
    const names = own.map(([name]) => name.toLowerCase());
    const made = JSON.parse(pairs) as [string, string][];
    // The user's headers win over the driver's; names differ in case between the two.
    const headers = [...made.filter(([name]) => !names.includes(name.toLowerCase())), ...own];
    // A copy: the view is of the binding's memory, which the next call may change or move.
    const query = isOwn ? options.query : undefined;
    const request = { base, url: withQuery(url, query), headers, body: view.slice() };
    this.#work.begin(id, {
      run: async (signal) => {
        const refused = isOwn && key.isAsked && (await this.#addKey(headers));
        if (refused) return () => tell({ failed: { kind: "refused", message: refused } });
        // The key may have come late: a request that was cancelled meanwhile must not be sent.
        if (signal.aborted) return () => {};
        return exchange(request, options.fetch, signal, { tell, chunk });
      },
      failed: (message) => tell({ failed: { kind: "network", message } }),
    });
  }

  callTool(...call: ToolCall): void {
    const tool = this.#side.tools.get(call[2]);
    if (tool !== undefined && "module" in tool) this.#callModule(tool, ...call);
    else this.#callOwn(tool, ...call);
  }

  perform(...[id, limitMs, name, action, callId, folder, known]: [...ToolCall, string]): void {
    const call: ToolCall = [id, limitMs, name, action, callId, folder];
    const { copy } = this.#side.room;
    const isFetch = (JSON.parse(action) as Action).action === "fetch";
    if (copy === undefined || isFetch) this.#readPages(...call);
    else this.#callBuiltin(copy, known, ...call);
  }

  runProgram(
    id: number,
    limitMs: number,
    program: string,
    args: string,
    stdin: string,
    files: [string, Uint8Array][],
    folder: string,
    agent: number,
    tmp: Temporary,
  ): void {
    const request = { program, args: JSON.parse(args) as string[] | null, stdin, files };
    const output = (stream: number, bytes: Uint8Array): void =>
      this.#call((raw) => raw.programOutput(id, stream, bytes));
    const end = (ended: ProgramEnd): void => this.#call((raw) => raw.programEnded(id, ended));
    const { room } = this.#side;
    // With a file system of the user's, the program's changes are written there before its end is
    // reported: the model must not read "done" of files that could not be written.
    const settle = (ended: ProgramEnd): void => {
      if (room.copy === undefined) return end(ended);
      const take = (kept: Changes, lost: string[]): void => {
        if (lost.length === 0) return end({ ...ended, ...kept });
        output(2, new TextEncoder().encode(`${lost.join("\n")}\n`));
        const crash = { type: "crash", message: "not all of its files were written" } as const;
        end({ ...(ended.type === "exit" ? crash : ended), ...kept });
      };
      room.copy.save(folder, ended, take).catch((error: unknown) => this.#hear(error));
    };
    const begun = new ProgramRun(
      this.#side.programs,
      this.#workspace.keeper,
      { ...request, limitMs, folder, agent, tmp },
      output,
    );
    this.#work.begin(id, {
      run: async (signal) => {
        await room.copy?.mount(folder, () => begun.request.files.push(...room.below(folder)));
        const ended = await begun.run(signal);
        return () => settle(ended);
      },
      failed: (message) => settle({ type: "crash", message, ...begun.left() }),
      stopped: () => settle({ type: "cancelled", ...begun.left() }),
    });
  }

  ask(id: number, agent: number, question: string): void {
    const tell = (answer: Answer): void => this.#report({ answer: { id, answer } });
    this.#work.begin(id, {
      run: async (signal) => {
        const asked = JSON.parse(question) as Ask;
        const answer = await askPerson(this.#side.options, asked, { agent, signal });
        return () => tell(answer);
      },
      failed: (why) => tell({ deny: { reason: `the person could not be asked: ${why}` } }),
    });
  }

  runHook(id: number, agent: number, hook: string): void {
    const tell = (reply: HookReply): void => this.#report({ hook: { id, reply } });
    this.#work.begin(id, {
      run: async (signal) => {
        const run = JSON.parse(hook) as { point: HookPoint; payload: unknown };
        const reply = await runHook(this.#side.options.hooks, run, { agent, signal });
        return () => tell(reply);
      },
      failed: (message) => tell({ failed: { message } }),
    });
  }

  cancel(effect: number): void {
    this.#work.cancel(effect);
  }

  wake(ms: number): void {
    this.#work.wake(ms, () => this.#call((raw) => raw.tick()));
  }

  /** Tells programs that these files were changed from outside. */
  touch(paths: readonly string[]): void {
    this.#workspace.keeper.touch(paths);
  }

  /** Drops all work under way without a report. */
  drop(): void {
    this.#work.dropAll();
  }

  get #workspace(): Workspace {
    const side = this.#side;
    const make = (): Workspace => {
      const kept = { keeper: new Keeper(this.#begun), turns: new Turns() };
      return {
        ...kept,
        // A getter, so that this does not hold the room of an agent that was dropped.
        get room() {
          return side.room;
        },
      };
    };
    return (this.#ownWorkspace ??= make());
  }

  #call(tell: (raw: RawAgent) => void): void {
    if (this.raw !== undefined) this.#side.call(this.raw, tell);
  }

  #report(input: Input): void {
    const json = toJson(input);
    this.#call((raw) => raw.report(json));
  }

  #done(id: number, outcome: string): void {
    this.#call((raw) => raw.report(`{"tool":{"id":${id},"input":{"done":${outcome}}}}`));
  }

  #outputOf(id: number): (text: string) => void {
    return (text) => {
      if (this.#work.has(id)) this.#report({ tool: { id, input: { delta: String(text) } } });
    };
  }

  #callOwn(
    tool: Pick<Tool, "execute" | "parameters"> | undefined,
    ...[id, limitMs, name, args, callId, folder]: ToolCall
  ): void {
    const output = this.#outputOf(id);
    this.#work.begin(id, {
      limitMs,
      run: async (signal) => {
        const context = { callId, folder, signal, output };
        const outcome = await callTool(tool, args, context, this.#side.options.provider);
        return () => this.#done(id, outcome);
      },
      failed: (message) => this.#done(id, failedOutcome(name, message)),
      stopped: (timedOut) => this.#done(id, stoppedOutcome(timedOut)),
    });
  }

  #callModule(tool: WasiTool, ...[id, limitMs, name, args, callId, folder]: ToolCall): void {
    const made = { tool, args, callId, folder, limitMs };
    const running = new RunningCall(made, this.#workspace, this.#outputOf(id));
    this.#work.begin(id, {
      run: async (signal) => {
        const outcome = await running.end(await running.run(signal));
        return () => this.#done(id, outcome);
      },
      failed: (message) => this.#done(id, failedOutcome(name, message)),
      stopped: () => void running.end().then((outcome) => this.#done(id, outcome)),
    });
  }

  #readPages(...call: ToolCall): void {
    const readPages = this.#side.options.webFetch;
    const tool = readPages && {
      execute: ({ urls, prompt }: Asked, context: ToolContext) =>
        readPages({ urls, prompt }, context),
    };
    this.#callOwn(tool, ...call);
  }

  // A built-in tool on a file system of the user's; with files in memory the module runs it itself.
  #callBuiltin(
    copy: WorkingCopy,
    known: string,
    ...[id, limitMs, name, action, , folder]: ToolCall
  ): void {
    this.#work.begin(id, {
      limitMs,
      run: async (signal) => {
        try {
          const outcome = await copy.perform(action, folder, known, signal);
          const shown = await fitted(outcome, this.#side.options.provider);
          return () => this.#done(id, toJson(shown));
        } catch (error) {
          this.#hear(error);
          throw error;
        }
      },
      failed: (message) => this.#done(id, failedOutcome(name, message)),
      stopped: (timedOut) => this.#done(id, stoppedOutcome(timedOut)),
    });
  }

  // Passes a fault of the module in work that runs later on to the agent, which makes its side
  // again: no call of the agent is open that could throw it.
  #hear(error: unknown): void {
    if (!(error instanceof AgentError) || error.code !== "internal") return;
    this.#call(() => {
      throw error;
    });
  }

  // Asks the user's function for the key and adds it to the headers; returns why it cannot. The
  // driver learns the key first, so that it is masked in everything that comes of the request.
  async #addKey(headers: [string, string][]): Promise<string | undefined> {
    const { key, options } = this.#side;
    try {
      const asked = await key.ask();
      this.#call((raw) => raw.setKey(asked));
      const { auth } = endpointOf(options.provider) ?? {};
      const { header, prefix } = auth ?? { header: "", prefix: "" };
      const others = headers.filter(([name]) => name !== header);
      headers.splice(0, headers.length, ...others, [header, prefix + asked]);
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  }

  // Notes the head of a recorded response. No request is sent for it, so that the log's line is the
  // only place where its status and its id are told.
  #noteRecorded(line: string): void {
    // A cheap test first: most lines are chunks, and parsing each would double the work.
    if (!line.includes('"head":{')) return;
    const { input } = JSON.parse(line) as { input?: Partial<Extract<Input, { http: unknown }>> };
    if (input?.http === undefined || !("head" in input.http.input)) return;
    this.#side.responses.note(input.http.id, input.http.input.head, this.#side.key.text);
  }

  // Tells watchers of the files what a tool has changed. Programs are told as well, unless it was
  // a program: only those outcomes have `streams`.
  #noteChanges({ changes = [], streams }: Outcome): void {
    if (changes.length === 0) return;
    if (!streams) this.touch(changes.map(({ path }) => path));
    this.#side.changed(changes);
  }
}

type LineKind = Parameters<OnLine>[1];

function kindOf(line: string): LineKind {
  if (line.startsWith('{"snapshot":')) return "snapshot";
  return line.startsWith('{"format":') ? "first" : "input";
}

function withQuery(url: string, query: AgentOptions["query"]): string {
  const added = new URLSearchParams(query).toString();
  if (added === "") return url;
  return `${url}${url.includes("?") ? "&" : "?"}${added}`;
}
