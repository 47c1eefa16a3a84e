// The run of one WASI program (preview 1), in a worker, over a copy of the workspace; a shell also
// starts others. A program cannot be interrupted from inside, so that the worker's owner terminates
// it. Changes are therefore reported while it runs.

import { concatenated } from "../bytes.js";
import type { Loaded } from "../programs/sources.js";
import { shellImports } from "./children.js";
import { Input, OpenFolder, Output, type Watch } from "./descriptors.js";
import { environment, type Guest, runGuest } from "./guest.js";
import { LIMIT_WORDS, LIMITS, type LimitName } from "./limits.js";
import { type Changes, type Folder, type Kept, Tree } from "./tree.js";

/** A program, its files and its limits. */
export interface ProgramJob {
  module: WebAssembly.Module;
  /** Its own name, then its arguments. */
  args: string[];
  stdin: string;
  /** Variables of its environment beside the common ones, `NAME=value` each. */
  env: readonly string[];
  /** The workspace, mounted at `/`: path and content. */
  files: [string, Uint8Array][];
  /** Folders, links and times of the workspace. */
  kept: Kept;
  /** The time at which the workspace began, in nanoseconds; files without a time have it. */
  begun: bigint;
  /** Limits that replace the default ones. */
  limits?: Partial<Record<LimitName, number>>;
  /** True if it must not change files. */
  isReadOnly?: boolean;
  /** The surroundings of a shell; absent for other programs. */
  shell?: {
    /** The programs that it can start; a text is the reason why one could not be loaded. */
    programs: [string, Loaded | string][];
    /** A folder of the root that lists leave out. */
    hidden?: string;
  };
}

/** A report of a running program's worker; the last one is its end. */
export type ProgramNews =
  | { type: "begun" }
  | { type: "output"; stream: 1 | 2; bytes: Uint8Array }
  /** Files were changed since the last report. */
  | ({ type: "changed" } & Changes)
  /** A program was to be started that is not loaded. */
  | { type: "wanted"; program: string }
  | Ending;

/** The end of a program, with all of its changes. */
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

/** The environment of every program, the same as on the native host. */
const ENVIRONMENT = ["HOME=/", "LANG=C.UTF-8", "PWD=/", "TZ=UTC"];

/**
 * The budget of reports. Changes are reported as they come, so that they survive a worker that is
 * terminated; but a file that is appended to line by line must not be copied with each line. Hence
 * the bytes reported are bounded: this many, and this many times the bytes written.
 */
const REPORTED_BYTES = 2 ** 20;
const REPORTED_TIMES = 4;

// The budget of output: the pieces reported at once, the further ones per millisecond, and the size
// in bytes from which on a joined piece is reported in any case.
const AT_ONCE = 256;
const EACH_MS = 0.5;
const JOINED_BYTES = 16 * 2 ** 10;

class LimitReached extends Error {
  constructor(readonly limit: LimitName) {
    super(LIMIT_WORDS[limit]);
  }
}

/** Runs a program to its end, and reports its changes and output meanwhile. */
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
 * The output on its way out. A program does not wait for readers, so that a flood of small pieces
 * would pile up in the page's queue: beyond the budget they are joined.
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

  /** Runs something that prints, and reports the rest of its output at the end. */
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

// Counts the bytes written by all programs of a run together, and reports changes within the
// budget.
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
