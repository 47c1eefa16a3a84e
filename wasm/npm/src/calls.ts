// One call of a WASI tool: a run of its module in a worker, over a copy of the agent's files.

import type { FileChange } from "./data.js";
import type { Files } from "./files.js";
import type { Keeper, Left, Mounted } from "./kept.js";
import { type CallEnd, Printed } from "./outcome.js";
import type { WasiTool } from "./types.js";
import { toJson } from "./work.js";
import { Noted, type WorkerEnd, runInWorker } from "./workers.js";

/** What is called, and how. */
export interface ModuleCall {
  tool: WasiTool;
  /** The arguments, as JSON. */
  args: string;
  callId: string;
  /** The folder of the workspace that is its `/`. */
  folder: string;
  limitMs: number;
}

/** What calls of one agent share: its files, what is kept beside them, and when each may run. */
export interface Workspace {
  files: Files;
  keeper: Keeper;
  turns: Turns;
}

/** Most calls that run at the same time: each has a worker, with a copy of the files. */
const AT_ONCE = 4;

/** Lets so many calls run at the same time, in the order in which they come. */
export class Turns {
  #free = AT_ONCE;
  readonly #waiting: (() => void)[] = [];

  /** Waits for a turn, which is given back with {@link Turns.done}. */
  async take(): Promise<void> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((begin) => this.#waiting.push(begin));
  }

  /** Gives a turn to the next call that waits. */
  done(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}

const MIB = 2 ** 20;
/** The longest text of a file that a change has, as of the built-in tools. */
const MOST_TEXT = 256 * 2 ** 10;

/** A call that runs. It ends once: by itself, or when it is stopped. */
export class RunningCall {
  readonly #printed = new Printed();
  readonly #noted = new Noted();
  #mounted: Mounted | undefined;

  constructor(
    readonly call: ModuleCall,
    readonly workspace: Workspace,
    readonly output: (text: string) => void,
  ) {}

  /** Runs to the end, or until `signal` fires. The time limit begins with its turn. */
  async run(signal: AbortSignal): Promise<WorkerEnd> {
    const { turns } = this.workspace;
    await turns.take();
    try {
      return signal.aborted ? { type: "cancelled" } : await this.#run(signal);
    } finally {
      turns.done();
    }
  }

  /** The outcome, as JSON, where it has ended so; the agent's files are then as it left them. */
  ended(end: WorkerEnd): string {
    return this.#outcome(end, "written" in end ? end : this.#noted.changes);
  }

  /** The outcome, as JSON, where it was stopped: with what there is by now. */
  stopped(): string {
    return this.#outcome({ type: "cancelled" }, this.#noted.changes);
  }

  async #run(signal: AbortSignal): Promise<WorkerEnd> {
    const { tool, args, callId, limitMs } = this.call;
    const { outputMib, diskMib } = tool.limits ?? {};
    const mounted = this.#mount();
    const job = {
      module: tool.module,
      args: [tool.name, ...(tool.args ?? [])],
      stdin: args,
      env: [`INNERLOOP_CALL_ID=${callId}`, `INNERLOOP_TOOL=${tool.name}`],
      limits: {
        printed_too_much: outputMib === undefined ? undefined : outputMib * MIB,
        wrote_too_much: diskMib === undefined ? undefined : diskMib * MIB,
      },
      isReadOnly: tool.readOnly,
      ...mounted,
    };
    const end = await runInWorker({
      job,
      given: mounted.files,
      limitMs,
      signal,
      onOutput: (stream, bytes) => this.#tell(this.#printed.push(stream, bytes)),
      onChange: (changes) => this.#noted.add(changes),
    });
    this.#tell(this.#printed.rest());
    return end;
  }

  #outcome(end: CallEnd, left: Left): string {
    const changes = this.#take(left);
    try {
      return toJson(this.#printed.outcome(end, changes));
    } catch (error) {
      const { name } = this.call.tool;
      const text = `The tool ${name} failed: ${(error as Error).message}`;
      return toJson({ parts: [{ type: "text", text }], error: "crashed", exit: 0, changes });
    }
  }

  #mount(): Mounted {
    const { workspace, call } = this;
    const prefix = prefixOf(call.folder);
    const inside = workspace.files.list().filter((path) => path.startsWith(prefix));
    const files = inside.flatMap((path): [string, Uint8Array][] => {
      const bytes = workspace.files.read(path);
      return bytes === undefined ? [] : [[path.slice(prefix.length), bytes]];
    });
    this.#mounted = workspace.keeper.mount({ agent: 0, folder: call.folder }, files, false);
    return this.#mounted;
  }

  #tell(text: string): void {
    if (text !== "") this.output(text);
  }

  // Puts into the agent's files what the call has left, and says what that has changed. A tool that
  // only reads has left nothing, and runs beside others, whose links and times it does not know.
  #take(left: Left): FileChange[] {
    const { workspace, call } = this;
    if (this.#mounted === undefined || call.tool.readOnly) return [];
    const runner = { agent: 0, folder: call.folder };
    const { written, removed } = workspace.keeper.take(runner, this.#mounted, left);
    const prefix = prefixOf(call.folder);
    const all: [string, Uint8Array | undefined][] = [
      ...removed.map((path): [string, undefined] => [prefix + path, undefined]),
      ...written.map(([path, bytes]): [string, Uint8Array] => [prefix + path, bytes]),
    ];
    const changes = all.flatMap(([path, bytes]) => take(workspace.files, path, bytes) ?? []);
    return changes.sort((one, other) => (one.path < other.path ? -1 : 1));
  }
}

function prefixOf(folder: string): string {
  return folder === "" ? "" : `${folder}/`;
}

function take(files: Files, path: string, after: Uint8Array | undefined): FileChange | undefined {
  const before = files.read(path);
  if (before === undefined && after === undefined) return undefined;
  if (before !== undefined && after !== undefined && isSame(before, after)) return undefined;
  try {
    if (after === undefined) files.remove(path);
    else files.write(path, after);
  } catch {
    // A file that the user has meanwhile put in the way of a folder wins over the tool's.
    return undefined;
  }
  const kind = before === undefined ? "created" : after === undefined ? "deleted" : "modified";
  return { path, kind, before: textOf(before), after: textOf(after) };
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}

// A file's text as a change includes it: none if it is too long or no text.
function textOf(bytes: Uint8Array | undefined): string | undefined {
  if (bytes === undefined || bytes.length > MOST_TEXT) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
