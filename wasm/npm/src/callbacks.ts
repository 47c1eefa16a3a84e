// What the binding calls for one agent: where events go, and the work that only JavaScript can do.

import type { RawAgent } from "./innerloop_wasm.js";
import type { HookPoint } from "./config.js";
import { RunningCall, Turns } from "./calls.js";
import type { AgentEvent } from "./events.js";
import type { Files } from "./files.js";
import { exchange } from "./http.js";
import { askPerson, runHook } from "./people.js";
import { Keeper } from "./kept.js";
import type { RegisteredProgram } from "./programs.js";
import type { Answer, Ask, HookReply, HttpInput, Input } from "./protocol.js";
import { ProgramRun } from "./runs.js";
import { callTool, type Tools } from "./tools.js";
import type { AgentOptions, Tool, ToolContext, WasiTool, WebFetch } from "./types.js";
import { Work, toJson } from "./work.js";

/** What the functions of one agent work with. */
export interface Side {
  options: AgentOptions;
  programs: readonly RegisteredProgram[];
  tools: Tools;
  files: Files;
  /** The binding; none of the functions is called before it is there. */
  raw(): RawAgent;
  deliver(event: AgentEvent): void;
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

/** The functions; each begins something and returns at once. */
export function callbacksOf({ options, programs, tools, files, raw, deliver }: Side): object {
  const work = new Work();
  const keeper = new Keeper();
  const workspace = { files, keeper, turns: new Turns() };
  const readPages = options.webFetch;
  const webFetch = readPages && {
    execute: ({ urls, prompt }: Asked, context: ToolContext) =>
      readPages({ urls, prompt }, context),
  };
  const report = (input: Input): void => raw().report(toJson(input));
  const done = (id: number, outcome: string): void =>
    raw().report(`{"tool":{"id":${id},"input":{"done":${outcome}}}}`);
  const outputOf = (id: number) => (text: string): void => {
    if (work.has(id)) report({ tool: { id, input: { delta: String(text) } } });
  };
  const callOwn = (
    tool: Pick<Tool, "execute"> | undefined,
    ...[id, limitMs, name, args, callId, folder]: ToolCall
  ): void => {
    const output = outputOf(id);
    work.begin(id, {
      limitMs,
      run: async (signal) => {
        const outcome = await callTool(tool, args, { callId, folder, signal, output });
        return () => done(id, outcome);
      },
      failed: (message) => raw().toolFailed(id, name, message),
      stopped: (timedOut) => raw().toolStopped(id, timedOut),
    });
  };
  const callModule = (
    tool: WasiTool,
    ...[id, limitMs, name, args, callId, folder]: ToolCall
  ): void => {
    const call = { tool, args, callId, folder, limitMs };
    const running = new RunningCall(call, workspace, outputOf(id));
    work.begin(id, {
      run: async (signal) => {
        const ended = await running.run(signal);
        return () => done(id, running.ended(ended));
      },
      failed: (message) => raw().toolFailed(id, name, message),
      stopped: () => done(id, running.stopped()),
    });
  };
  return {
    events(batch: string, session: string, epoch: number): void {
      for (const event of JSON.parse(batch) as AgentEvent[]) {
        event.session = session;
        event.wall = epoch + event.at;
        noteChanges(keeper, event);
        deliver(event);
      }
    },

    send(id: number, base: string, url: string, pairs: string, view: Uint8Array): void {
      const tell = (input: HttpInput): void => report({ http: { id, input } });
      const chunk = (bytes: Uint8Array): void => raw().chunk(id, bytes);
      const headers = JSON.parse(pairs) as [string, string][];
      // The bytes are the binding's memory.
      const request = { base, url, headers, body: view.slice() };
      work.begin(id, {
        run: (signal) => exchange(request, options.fetch, signal, { tell, chunk }),
        failed: (message) => tell({ failed: { kind: "network", message } }),
      });
    },

    callTool(...call: ToolCall): void {
      const tool = tools.get(call[2]);
      if (tool !== undefined && "module" in tool) callModule(tool, ...call);
      else callOwn(tool, ...call);
    },

    webFetch: (...call: ToolCall): void => callOwn(webFetch, ...call),

    runProgram(
      id: number,
      limitMs: number,
      program: string,
      args: string,
      stdin: string,
      files: [string, Uint8Array][],
      folder: string,
      agent: number,
    ): void {
      const request = { program, args: JSON.parse(args) as string[] | null, stdin, files };
      const output = (stream: number, bytes: Uint8Array): void =>
        raw().programOutput(id, stream, bytes);
      const begun = new ProgramRun(
        programs,
        keeper,
        { ...request, limitMs, folder, agent },
        output,
      );
      work.begin(id, {
        run: async (signal) => {
          const ended = await begun.run(signal);
          return () => raw().programEnded(id, ended);
        },
        failed: (message) => raw().programEnded(id, { type: "crash", message, ...begun.left() }),
        stopped: () => raw().programEnded(id, { type: "cancelled", ...begun.left() }),
      });
    },

    ask(id: number, agent: number, question: string): void {
      const tell = (answer: Answer): void => report({ answer: { id, answer } });
      work.begin(id, {
        run: async (signal) => {
          const asked = JSON.parse(question) as Ask;
          const answer = await askPerson(options, asked, { agent, signal });
          return () => tell(answer);
        },
        failed: (why) => tell({ deny: { reason: `the person could not be asked: ${why}` } }),
      });
    },

    runHook(id: number, agent: number, hook: string): void {
      const tell = (reply: HookReply): void => report({ hook: { id, reply } });
      work.begin(id, {
        run: async (signal) => {
          const run = JSON.parse(hook) as { point: HookPoint; payload: unknown };
          const reply = await runHook(options.hooks, run, { agent, signal });
          return () => tell(reply);
        },
        failed: (message) => tell({ failed: { message } }),
      });
    },

    cancel: (effect: number): void => work.cancel(effect),

    wake: (ms: number): void => work.wake(ms, () => raw().tick()),
  };
}

// What other tools have written is new to programs.
function noteChanges(keeper: Keeper, event: AgentEvent): void {
  if (event.type !== "tool_call_end" || event.outcome.streams) return;
  keeper.touch((event.outcome.changes ?? []).map(({ path }) => path));
}
