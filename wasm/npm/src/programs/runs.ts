// A run of a program, or of a command line by the shell, in a worker of its own. A shell cannot
// load a program while it runs, so that those that it may start are loaded before.

import { messageOf } from "../errors.js";
import { toJson } from "../json/encode.js";
import { TextDecoder } from "../platform/coders.js";
import type { ProgramJob } from "../wasi/program.js";
import type { Changes } from "../wasi/tree.js";
import {
  type Keeper,
  type Left,
  type Mounted,
  type ProgramEnd,
  plainArguments,
  type Runner,
  shellRequest,
  tmpOf,
} from "./kept.js";
import { type RegisteredProgram, SHELL } from "./registry.js";
import type { Loaded } from "./sources.js";
import { Noted, runInWorker } from "./workers.js";

/** The binding's request to run a program. */
export interface ProgramRequest extends Runner {
  program: string;
  /** The arguments; `null` for a command line. */
  args: string[] | null;
  /** The standard input; for a command line the action. */
  stdin: string;
  files: [string, Uint8Array][];
  limitMs: number;
}

/**
 * The time in milliseconds that a shell has beyond its limit: it ends itself at the limit, and then
 * still tells its state and what the commands printed.
 */
const LAST_WORDS_MS = 500;
/** The longest script in bytes that is searched for the names of programs. */
const SCRIPT_BYTES = 64 * 2 ** 10;

/** A run of a program. */
export class ProgramRun {
  readonly #noted = new Noted();
  #mounted: Mounted | undefined;

  constructor(
    readonly programs: readonly RegisteredProgram[],
    readonly keeper: Keeper,
    readonly request: ProgramRequest,
    readonly onOutput: (stream: number, bytes: Uint8Array) => void,
  ) {}

  /** Runs to the end, or until `signal` fires. */
  async run(signal: AbortSignal): Promise<ProgramEnd> {
    const { programs, request } = this;
    const found = programs.find(({ name }) => name === request.program);
    if (found === undefined) return this.#crash(`there is no program \`${request.program}\``);
    const module = await found.load();
    // Known by its imports, not its name: a user's own `bash` may be a plain program.
    const isShell = WebAssembly.Module.imports(module).some((each) => each.module === "innerloop");
    const job = isShell ? await this.#shellJob(module, found) : this.#plainJob(module, found);
    if (signal.aborted) return { type: "cancelled", written: [], removed: [] };
    const ending = await runInWorker({
      job,
      given: request.files,
      limitMs: request.limitMs + (isShell ? LAST_WORDS_MS : 0),
      signal,
      onOutput: this.onOutput,
      onChange: (changes) => this.#noted.add(changes),
      onWant: (program) => this.#want(program),
    });
    if (!("written" in ending)) return { type: ending.type, ...this.left() };
    const remembers = request.args === null;
    const how = isShell ? this.keeper.replied(request.agent, ending, remembers) : ending;
    return { ...how, ...this.#take(ending) };
  }

  /** Returns its changes of files so far, if it is ended now. */
  left(): Changes {
    return this.#take(this.#noted.changes);
  }

  #take(left: Left): Changes {
    if (this.#mounted === undefined) return { written: [], removed: [] };
    return this.keeper.take(this.request, this.#mounted, left);
  }

  #crash(message: string): ProgramEnd {
    return { type: "crash", message, written: [], removed: [] };
  }

  #plainJob(module: WebAssembly.Module, { env }: RegisteredProgram): ProgramJob {
    const { program, args, stdin } = this.request;
    const { files, kept, begun } = this.#mount(false);
    const mounted = { files, kept, begun };
    const common = { module, env, ...mounted };
    if (args !== null) return { ...common, args: [program, ...args], stdin };
    return { ...common, args: [program, ...plainArguments(stdin)], stdin: "" };
  }

  async #shellJob(module: WebAssembly.Module, { env }: RegisteredProgram): Promise<ProgramJob> {
    const { args, stdin, limitMs, agent } = this.request;
    const others = this.programs.filter(({ name }) => name !== SHELL);
    const state = this.keeper.state(agent);
    const tmp = tmpOf(this.request.tmp);
    const common = { timeout_ms: limitMs, programs: others.map(({ name }) => name), tmp, state };
    const request = toJson(shellRequest({ args, stdin }, common));
    const said = [stdin, ...(args ?? []), JSON.stringify(state)].join("\n");
    const programs = await Promise.all(others.filter(this.#isNeeded(said)).map(loaded));
    const { hidden, files, kept, begun } = this.#mount(true);
    const shell = { programs, hidden };
    return { module, args: [SHELL], stdin: request, env, files, kept, begun, shell };
  }

  #mount(isShell: boolean): Mounted {
    this.#mounted = this.keeper.mount(this.request, this.request.files, isShell);
    return this.#mounted;
  }

  // Tells which programs to load: those loaded already, and those named, as a whole word, in the
  // command line, in the shell's state or in a script of the workspace. Loading all would make each
  // `ls` wait for Python.
  #isNeeded(said: string): (program: RegisteredProgram) => boolean {
    let scripts: string[] | undefined;
    return ({ isBegun, name }) => {
      const word = asWord(name);
      if (isBegun || word.test(said)) return true;
      scripts ??= scriptsOf(this.request.files);
      return scripts.some((text) => word.test(text));
    };
  }

  #want(program: string): void {
    const found = this.programs.find(({ name }) => name === program);
    // A failure is told by the next command line that names the program.
    found?.load().catch(() => {});
  }
}

async function loaded(program: RegisteredProgram): Promise<[string, Loaded | string]> {
  try {
    return [program.name, { module: await program.load(), env: program.env }];
  } catch (error) {
    return [program.name, messageOf(error)];
  }
}

// A pattern for a program's name that is no part of a longer word or of a file's name, in text or
// in JSON, where a line begins behind an escaped line feed.
function asWord(name: string): RegExp {
  const escaped = name.replaceAll(/[^\w-]/g, "\\$&");
  return new RegExp(`(?:^|[^\\w.-]|\\\\[nrt])${escaped}(?![\\w-]|\\.\\w)`);
}

function scriptsOf(files: readonly [string, Uint8Array][]): string[] {
  const decoder = new TextDecoder();
  const scripts = files.filter(([path, bytes]) => {
    const isNamed = /\.sh$|(^|\/)Makefile$/.test(path) || (bytes[0] === 35 && bytes[1] === 33);
    return isNamed && bytes.length <= SCRIPT_BYTES;
  });
  return scripts.map(([, bytes]) => decoder.decode(bytes));
}
