// Runs one WASI program (preview 1) over a copy of the workspace, and what it starts if it is a
// shell. Lives in a worker: a program cannot be interrupted from inside, so whoever started the
// worker ends it.

import { concatenated } from "../bytes.js";
import type { Loaded } from "../programs/sources.js";
import { shellImports } from "./children.js";
import { Input, OpenFolder, Output, type Watch } from "./descriptors.js";
import { environment, type Guest, runGuest } from "./guest.js";
import { LIMIT_WORDS, LIMITS, type LimitName } from "./limits.js";
import { type Changes, type Folder, type Kept, Tree } from "./tree.js";

/** A program and what it runs with. */
export interface ProgramJob {
  module: WebAssembly.Module;
  /** Its own name, then its arguments. */
  args: string[];
  stdin: string;
  /** What it finds in its environment beside what all do, `NAME=value` each. */
  env: readonly string[];
  /** The workspace, mounted at `/`: path and content. */
  files: [string, Uint8Array][];
  /** What else is known of the workspace. */
  kept: Kept;
  /** When the workspace was begun, in nanoseconds: the time of files without one. */
  begun: bigint;
  /** Limits in place of those of programs. */
  limits?: Partial<Record<LimitName, number>>;
  /** Whether it may not change the files. */
  isReadOnly?: boolean;
  /** What a shell has beside; only a shell is given it. */
  shell?: {
    /** The programs that it can start; text where one could not be loaded. */
    programs: [string, Loaded | string][];
    /** A folder of the root that lists leave out. */
    hidden?: string;
  };
}

/** What a running program's worker reports, at last how it ended. */
export type ProgramNews =
  | { type: "begun" }
  | { type: "output"; stream: 1 | 2; bytes: Uint8Array }
  /** Files were changed since the last report. */
  | ({ type: "changed" } & Changes)
  /** A program was to be started that is not loaded. */
  | { type: "wanted"; program: string }
  | Ending;

/** How a program ended, and which files it left otherwise. */
export type Ending = (
  | { type: "exit"; code: number }
  /** It broke. */
  | { type: "crash"; message: string }
  /** It went beyond a limit. */
  | { type: LimitName }
) &
  Changes & {
    kept?: Kept;
    /** What a shell replied. */
    reply?: string;
  };

/** The environment that a program finds; the native host's is the same. */
const ENVIRONMENT = ["HOME=/", "LANG=C.UTF-8", "PWD=/", "TZ=UTC"];

/**
 * Changes of files are reported as they come, so that they outlive a worker which is ended: so
 * many bytes, and as many more as were written, and so many times as many.
 */
const REPORTED_BYTES = 2 ** 20;
const REPORTED_TIMES = 4;

/** Pieces of output that are reported at once, how many more each millisecond, and the longest. */
const AT_ONCE = 256;
const EACH_MS = 0.5;
const JOINED_BYTES = 16 * 2 ** 10;

class LimitReached extends Error {
  constructor(readonly limit: LimitName) {
    super(LIMIT_WORDS[limit]);
  }
}

/** Runs the program to its end. */
export function runProgram(job: ProgramJob, report: (news: ProgramNews) => void): void {
  const tree = new Tree(job.files, job.kept, job.begun);
  if (job.shell?.hidden !== undefined) tree.hide(job.shell.hidden);
  let reply: string | undefined;
  report({ type: "begun" });
  const how = ended(() =>
    execute(job, tree, report, (text) => {
      reply = text;
    }),
  );
  report({ ...how, ...tree.changes(), kept: tree.kept(), reply });
}

type How =
  | { type: "exit"; code: number }
  | { type: "crash"; message: string }
  | { type: LimitName };

function ended(run: () => number): How {
  try {
    return { type: "exit", code: run() };
  } catch (error) {
    if (error instanceof LimitReached) return { type: error.limit };
    return { type: "crash", message: describe(error) };
  }
}

function execute(
  job: ProgramJob,
  tree: Tree,
  report: (news: ProgramNews) => void,
  reply: (text: string) => void,
): number {
  const printed = meter(job, "printed_too_much");
  const outputs = new Printed(report);
  const output = (stream: 1 | 2): Output =>
    new Output((bytes) => {
      printed(bytes.length);
      outputs.push(stream, bytes);
    });
  const watch = watcher(job, tree, report);
  const open = (folder: Folder): OpenFolder => new OpenFolder(tree, watch, folder, "/");
  const stdin = new Input(new TextEncoder().encode(job.stdin));
  const { module, args, env, shell } = job;
  const guest = {
    module,
    args,
    env: environment([...ENVIRONMENT, ...env]),
    fds: [stdin, output(1), output(2), open(tree.root)],
  };
  if (shell === undefined) return outputs.during(() => runGuest(guest));
  const around = {
    tree,
    programs: new Map(shell.programs),
    env: ENVIRONMENT,
    open,
    reply,
    want: (program: string) => report({ type: "wanted", program }),
    describe: (error: unknown) => {
      const isLimit = error instanceof LimitReached;
      return { isLimit, words: isLimit ? error.message : `it crashed: ${describe(error)}` };
    },
  };
  const more: Guest["more"] = (memory) => shellImports(around, memory);
  return outputs.during(() => runGuest({ ...guest, more }));
}

/**
 * What is printed, on its way out. A program does not wait for who reads, so that a flood of small
 * pieces would pile up: beyond so many at once, and so many in each second, they are joined.
 */
class Printed {
  #pieces = AT_ONCE;
  #since = performance.now();
  #waiting: Uint8Array[] = [];
  #length = 0;
  #stream: 1 | 2 = 1;

  constructor(readonly report: (news: ProgramNews) => void) {}

  push(stream: 1 | 2, bytes: Uint8Array): void {
    if (stream !== this.#stream) this.#flush();
    this.#stream = stream;
    this.#waiting.push(bytes);
    this.#length += bytes.length;
    const now = performance.now();
    this.#pieces = Math.min(AT_ONCE, this.#pieces + (now - this.#since) * EACH_MS);
    this.#since = now;
    if (this.#pieces >= 1 || this.#length >= JOINED_BYTES) this.#flush();
  }

  /** Runs something that prints; what still waits is reported at its end. */
  during(run: () => number): number {
    try {
      return run();
    } finally {
      this.#flush();
    }
  }

  #flush(): void {
    if (this.#length === 0) return;
    const bytes = concatenated(this.#waiting);
    this.#waiting = [];
    this.#length = 0;
    this.#pieces = Math.max(0, this.#pieces - 1);
    this.report({ type: "output", stream: this.#stream, bytes });
  }
}

function meter({ limits }: ProgramJob, limit: LimitName): (more: number) => void {
  const most = limits?.[limit] ?? LIMITS[limit];
  let total = 0;
  return (more) => {
    total += more;
    if (total > most) throw new LimitReached(limit);
  };
}

// Counts what goes to files, of all programs of a run together, and reports changes. A file that
// grows by a line at a time is not reported with each line.
function watcher(job: ProgramJob, tree: Tree, report: (news: ProgramNews) => void): Watch {
  const count = meter(job, "wrote_too_much");
  let room = REPORTED_BYTES;
  return {
    mayWrite: job.isReadOnly !== true,
    wrote(bytes) {
      count(bytes);
      room += REPORTED_TIMES * bytes;
    },
    changed() {
      const { untold } = tree;
      if (untold > room) return;
      room -= untold;
      report({ type: "changed", ...tree.news() });
    },
  };
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
