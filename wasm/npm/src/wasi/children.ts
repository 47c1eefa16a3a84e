// The programs that a shell starts, by functions that it imports beside WASI. A worker runs one
// thing at a time: a program runs from start to end when all of its input is there and the shell
// has nothing else to do; then the shell reads its output.

import { Bytes } from "../bytes.js";
import type { Loaded } from "../programs/sources.js";
import { Input, type OpenFolder, Output } from "./descriptors.js";
import { environment, type Guest, runGuest, sleep, textAt } from "./guest.js";
import { Folder, type Tree } from "./tree.js";
import { fileImports } from "./whole.js";

/** The surroundings in which a shell starts programs. */
export interface Surroundings {
  tree: Tree;
  /** The loaded programs; a text is the reason why one could not be loaded. */
  programs: ReadonlyMap<string, Loaded | string>;
  /** The environment of each program, before the shell's own variables. */
  env: readonly string[];
  /** Opens a folder as a program's `/`. */
  open(folder: Folder): OpenFolder;
  /** Takes the shell's reply. */
  reply(text: string): void;
  /** Tells that a program is wanted that is not loaded. */
  want(program: string): void;
  /** Returns the text of an error that ended a program. */
  describe(error: unknown): { isLimit: boolean; words: string };
}

/** The shell's request to start a program. */
interface Launch {
  program: string;
  args: string[];
  /** Names and values by turns. */
  env: string[];
  folder: string;
}

/** The most bytes that a program may read as input, and that it may print. */
const MOST_BYTES = 16 * 2 ** 20;
const IN_WORDS = "16 MiB, the most that a page keeps between a shell and a program";
/** The bytes that each printed piece counts at least, so that a flood of small ones ends soon. */
const LEAST_BYTES = 32;
/** The most programs at the same time. */
const MOST = 64;
/** The most bytes that one call moves. */
const PIECE = 64 * 2 ** 10;

/** The number of times that the shell may look again before it is made to wait. */
const PATIENCE = 64;

const NOT_LOADED = 127;
const CAN_NOT_RUN = 126;
const CRASHED = 134;
const KILLED = 137;

// Answers to a read: nothing yet, or nothing any more.
const NONE_NOW = 0;
const OVER = -1;

class TooMuch extends Error {}

class Child {
  readonly stdin = new Bytes();
  readonly stdout = new Bytes();
  readonly stderr = new Bytes();
  status: number | undefined;
  /** True if it has all of its input. */
  isFed = false;

  constructor(readonly launch: Launch) {}

  get isReady(): boolean {
    return this.isFed && this.status === undefined;
  }

  end(status: number, words?: string): void {
    this.status = status;
    if (words !== undefined) {
      this.stderr.push(new TextEncoder().encode(`${this.launch.program}: ${words}\n`));
    }
  }
}

/** Returns the functions that a shell imports beside WASI, under the name of their module. */
export function shellImports(
  around: Surroundings,
  memory: () => ArrayBuffer,
): { innerloop: WebAssembly.ModuleImports } {
  const children = new Map<number, Child>();
  let next = 0;
  let idle = 0;
  const innerloop = {
    ...fileImports(around.tree, memory),

    reply: (at: number, length: number): void => around.reply(textAt(memory(), at, length)),

    program_start(at: number, length: number): number {
      if (children.size >= MOST) return -1;
      const number = next;
      next += 1;
      children.set(number, new Child(JSON.parse(textAt(memory(), at, length)) as Launch));
      return number;
    },

    program_write(number: number, at: number, length: number): number {
      const child = children.get(number);
      if (child === undefined || child.status !== undefined) return OVER;
      idle = 0;
      if (child.stdin.length + length > MOST_BYTES) {
        child.end(KILLED, `it was stopped because it was given more to read than ${IN_WORDS}`);
        return OVER;
      }
      const count = Math.min(length, PIECE);
      child.stdin.push(new Uint8Array(memory(), at, count));
      return count;
    },

    program_close(number: number): void {
      const child = children.get(number);
      if (child !== undefined) child.isFed = true;
    },

    program_read(number: number, channel: number, at: number, length: number): number {
      const child = children.get(number);
      if (child === undefined) return OVER;
      if (child.status === undefined) return NONE_NOW;
      const bytes = (channel === 2 ? child.stderr : child.stdout).take(Math.min(length, PIECE));
      if (bytes.length === 0) return OVER;
      idle = 0;
      new Uint8Array(memory()).set(bytes, at);
      return bytes.length;
    },

    program_status(number: number): number {
      const child = children.get(number);
      return child === undefined ? KILLED : (child.status ?? -1);
    },

    program_end: (number: number): void => void children.delete(number),

    // The shell calls this when nothing in it can go on, so that a program may run to its end. If
    // none is ready, the shell is between two steps of its own: it really waits only after many
    // calls without progress, since a sleep for each step would make pipes slow.
    programs_wait(ms: number): void {
      const next = [...children.values()].find(({ isReady }) => isReady);
      if (next !== undefined) {
        idle = 0;
        return runChild(around, next);
      }
      idle += 1;
      sleep(Math.min(ms, idle - PATIENCE));
    },
  };
  return { innerloop };
}

function runChild(around: Surroundings, child: Child): void {
  const { tree, programs, describe } = around;
  const { program, args, env, folder } = child.launch;
  const loaded = programs.get(program);
  if (loaded === undefined) {
    around.want(program);
    return child.end(NOT_LOADED, "it is being loaded: run the command line again");
  }
  if (typeof loaded === "string") return child.end(CAN_NOT_RUN, `can't be run: ${loaded}`);
  const spot = tree.find(tree.root, folder.replace(/^\/+/, ""), true);
  if (typeof spot === "number" || !(spot.node instanceof Folder)) {
    return child.end(CAN_NOT_RUN, `there is no folder ${folder} to run in`);
  }
  const output = (into: Bytes) => {
    let counted = 0;
    return new Output((bytes) => {
      counted += Math.max(bytes.length, LEAST_BYTES);
      if (counted > MOST_BYTES) throw new TooMuch();
      into.push(bytes);
    });
  };
  const fds: Guest["fds"] = [new Input(child.stdin.take()), output(child.stdout)];
  fds.push(output(child.stderr), around.open(spot.node));
  const variables = environment([...around.env, ...loaded.env, ...saidByShell(env)]);
  const guest = { module: loaded.module, args: [program, ...args], env: variables, fds };
  try {
    child.end(runGuest(guest) & 0xff);
  } catch (error) {
    if (error instanceof TooMuch) {
      return child.end(KILLED, `it was stopped because it printed more than ${IN_WORDS}`);
    }
    const { isLimit, words } = describe(error);
    child.end(isLimit ? KILLED : CRASHED, words);
  }
}

// The shell's variables, names and values by turns, without `PWD`: the folder is always `/` for the
// program.
function saidByShell(said: readonly string[]): string[] {
  return said.flatMap((name, at) => {
    const isName = at % 2 === 0 && name !== "PWD";
    return isName ? `${name}=${said[at + 1] ?? ""}` : [];
  });
}
