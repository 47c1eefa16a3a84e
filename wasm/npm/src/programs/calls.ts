// One call of a WASI tool: a run of its module in a worker, over a copy of the agent's files. The
// changes are put into the agent's files once, when the call ends, however it ends.

import { isSame } from "../bytes.js";
import type { FileChange } from "../json/data.js";
import { toJson } from "../json/encode.js";
import { TextDecoder } from "../platform/coders.js";
import type { Changes } from "../wasi/tree.js";
import { joined } from "../workspace/places.js";
import type { Room } from "../workspace/room.js";
import type { Keeper, Left, Mounted, Runner } from "./kept.js";
import { type CallEnd, Printed } from "./outcome.js";
import type { WasiTool } from "./sources.js";
import { Noted, runInWorker, type WorkerEnd } from "./workers.js";

/** The call of a tool. */
export interface ModuleCall {
  tool: WasiTool;
  /** The arguments, as JSON. */
  args: string;
  callId: string;
  /** The folder of the workspace that is its `/`. */
  folder: string;
  limitMs: number;
}

/** The parts that all calls of one agent share. */
export interface Workspace {
  room: Room;
  keeper: Keeper;
  turns: Turns;
}

/** The most calls that run at the same time: each has a worker with a copy of the files. */
const AT_ONCE = 4;

/** A queue that lets a bounded number of calls run at the same time, first come, first served. */
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
/** The longest text of a file in a change, the same as for the built-in tools. */
const MOST_TEXT = 256 * 2 ** 10;

/** A call that runs. It ends once: by itself, or when it is stopped. */
export class RunningCall {
  readonly #printed = new Printed();
  readonly #noted = new Noted();
  #mounted: Mounted | undefined;
  #outcome: Promise<string> | undefined;

  constructor(
    readonly call: ModuleCall,
    readonly workspace: Workspace,
    readonly output: (text: string) => void,
  ) {}

  /** Runs to the end, or until `signal` fires. The time limit does not count the waiting before. */
  async run(signal: AbortSignal): Promise<WorkerEnd> {
    const { turns } = this.workspace;
    await turns.take();
    try {
      return signal.aborted ? { type: "cancelled" } : await this.#run(signal);
    } finally {
      turns.done();
    }
  }

  /** Puts the call's changes into the agent's files and resolves to the outcome, as JSON. */
  end(end: WorkerEnd = { type: "cancelled" }): Promise<string> {
    // Once: a call that is stopped while it ends by itself comes here twice.
    this.#outcome ??= this.#settle(end);
    return this.#outcome;
  }

  async #settle(end: WorkerEnd): Promise<string> {
    const { copy } = this.workspace.room;
    const left = this.#changes("written" in end ? end : this.#noted.changes);
    if (copy === undefined) return this.#told(end, this.#take(left), []);
    let outcome = "";
    await copy.save(this.call.folder, left, (kept, lost) => {
      outcome = this.#told(end, this.#take(kept), lost);
    });
    return outcome;
  }

  async #run(signal: AbortSignal): Promise<WorkerEnd> {
    const { tool, args, callId, limitMs } = this.call;
    const { outputMib, diskMib } = tool.limits ?? {};
    const mounted = await this.#mount();
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

  #told(end: CallEnd, changes: FileChange[], lost: readonly string[]): string {
    const { name } = this.call.tool;
    const failed = (why: string): string => {
      const text = `The tool ${name} failed: ${why}`;
      return toJson({ parts: [{ type: "text", text }], error: "crashed", exit: 0, changes });
    };
    if (lost.length > 0) return failed(lost.join("; "));
    try {
      return toJson(this.#printed.outcome(end, changes));
    } catch (error) {
      return failed((error as Error).message);
    }
  }

  async #mount(): Promise<Mounted> {
    const { workspace, call } = this;
    const { room, keeper } = workspace;
    const mount = (): Mounted =>
      keeper.mount(runnerOf(call.folder), room.below(call.folder), false);
    this.#mounted = room.copy ? await room.copy.mount(call.folder, mount) : mount();
    return this.#mounted;
  }

  #tell(text: string): void {
    if (text !== "") this.output(text);
  }

  // The changes of the call. A tool that only reads may run beside others, so that its view of
  // links and times may be old and must not replace what the others left.
  #changes(left: Left): Changes {
    const { workspace, call } = this;
    if (this.#mounted === undefined || call.tool.readOnly) return { written: [], removed: [] };
    return workspace.keeper.take(runnerOf(call.folder), this.#mounted, left);
  }

  // Puts changes into the agent's files, removed ones first: a file may stand where a folder was.
  #take({ written, removed }: Changes): FileChange[] {
    const { room } = this.workspace;
    const all: [string, Uint8Array | undefined][] = [
      ...removed.map((path): [string, undefined] => [path, undefined]),
      ...written,
    ];
    const changes = all.flatMap(([path, bytes]) => {
      return take(room, joined(this.call.folder, path), bytes) ?? [];
    });
    return changes.sort((one, other) => (one.path < other.path ? -1 : 1));
  }
}

// The runner of a custom tool: nothing is known of what its `tmp` means.
function runnerOf(folder: string): Runner {
  return { agent: 0, folder, tmp: "unsaid" };
}

function take(room: Room, path: string, after: Uint8Array | undefined): FileChange | undefined {
  const before = room.read(path);
  if (before === undefined && after === undefined) return undefined;
  if (before !== undefined && after !== undefined && isSame(before, after)) return undefined;
  try {
    room.put(path, after);
  } catch {
    // A file that the user has meanwhile put in the way of a folder wins over the tool's.
    return undefined;
  }
  const kind = before === undefined ? "created" : after === undefined ? "deleted" : "modified";
  return { path, kind, before: textOf(before), after: textOf(after) };
}

// A file's text for a change; none if it is too long or not UTF-8.
function textOf(bytes: Uint8Array | undefined): string | undefined {
  if (bytes === undefined || bytes.length > MOST_TEXT) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
