// The state of a workspace beside its files, kept from one program's run to the next: empty
// folders, links and times, and for each agent its shell's state and its own `/tmp`. The workspace
// itself holds only paths and contents.

import type { Action } from "../json/action.js";
import type { LimitName } from "../wasi/limits.js";
import type { Ending } from "../wasi/program.js";
import type { Changes, Kept } from "../wasi/tree.js";

/** The end of a program, as the binding takes it. */
export type ProgramEnd = (
  | { type: "exit"; code: number }
  | { type: "crash"; message: string }
  | { type: LimitName | "timed_out" | "cancelled" }
) &
  Changes;

/** The agent of a run, and the folder that it runs in. */
export interface Runner {
  agent: number;
  /** The folder of the workspace that is its `/`. */
  folder: string;
  /** The meaning of `tmp` in it. */
  tmp: Temporary;
}

/**
 * The folder that `tmp` means in a call: the project's `tmp`, the system's `/tmp`, or both; unsaid
 * if the call names neither. All of the workspace is mounted at `/`, so that their paths are equal.
 */
export type Temporary = "unsaid" | "project" | "system" | "both";

/** The files and state that a run begins with. */
export interface Mounted {
  files: [string, Uint8Array][];
  kept: Kept;
  begun: bigint;
  /** The agent's own folder outside of the workspace, which lists of `/` leave out. */
  hidden?: string;
  /** The paths in `tmp` at the start, if it is mounted: the agent's own, and the workspace's. */
  temporary?: { own: ReadonlySet<string>; others: ReadonlySet<string> };
}

const TEMPORARY = "tmp";
const isTemporary = (path: string): boolean => path.startsWith(`${TEMPORARY}/`);

/** The reply of a shell at its end, as in the crate of the shell's protocol. */
interface Reply {
  status: number;
  timed_out: boolean;
  state?: unknown;
}

/** The state of one agent: its shell's, and its own `/tmp`. */
interface Own {
  state?: unknown;
  files: Map<string, Uint8Array>;
  kept: Kept;
}

/** The keeper of one workspace's state. */
export class Keeper {
  readonly #begun: bigint;
  readonly #owns = new Map<number, Own>();
  #kept: Kept = { folders: [], links: [], times: [] };

  /** Makes it; files without a known time have this one, in Unix milliseconds. */
  constructor(begun: number) {
    this.#begun = BigInt(begun) * 1_000_000n;
  }

  /** Returns what a run begins with. A shell that may mean it also sees the agent's own `/tmp`. */
  mount({ agent, folder, tmp }: Runner, files: [string, Uint8Array][], isShell: boolean): Mounted {
    const kept = select(this.#kept, (path) => within(folder, path));
    const begun = this.#begun;
    const names = [
      ...files.map(([path]) => path),
      ...kept.folders,
      ...kept.links.map(([at]) => at),
    ];
    const own = this.#own(agent);
    const hasFiles = own.files.size + own.kept.folders.length + own.kept.links.length > 0;
    const isSeen = tmp === "system" || tmp === "unsaid" || (tmp === "both" && hasFiles);
    if (!isShell || !isSeen) return { files, kept, begun };
    const others = new Set(names.filter((path) => path === TEMPORARY || isTemporary(path)));
    const added = [...own.files].filter(([path]) => !others.has(path));
    const all = { files: [...files, ...added], kept: joined(kept, own.kept) };
    const paths = [...own.files.keys(), ...own.kept.folders, ...own.kept.links.map(([at]) => at)];
    const temporary = { own: new Set(paths.filter((path) => !others.has(path))), others };
    return { ...all, begun, temporary, hidden: others.size > 0 ? undefined : TEMPORARY };
  }

  /** Keeps what a run has left, and returns its changes of the workspace. */
  take(
    { agent, folder, tmp }: Runner,
    { hidden, temporary }: Mounted,
    { written, removed, kept }: Left,
  ): Changes {
    // A new path in `tmp` is the agent's own only if the call means the system's `/tmp`; otherwise
    // it may be work that the user must find in the workspace.
    const isOwn = (path: string): boolean => {
      if (temporary === undefined || !isTemporary(path)) return false;
      return temporary.own.has(path) || (tmp === "system" && !temporary.others.has(path));
    };
    const own = this.#own(agent);
    for (const [path, bytes] of written) if (isOwn(path)) own.files.set(path, bytes);
    for (const path of removed) if (isOwn(path)) own.files.delete(path);
    const changes = {
      written: written.filter(([path]) => !isOwn(path)),
      removed: removed.filter((path) => !isOwn(path)),
    };
    // A run that was ended from outside tells no times: its files were written now.
    if (kept === undefined) {
      this.touch(changes.written.map(([path]) => joinedPath(folder, path)));
      return changes;
    }
    if (temporary !== undefined) own.kept = select(kept, (at) => (isOwn(at) ? at : undefined));
    const ours = select(kept, (path) =>
      isOwn(path) || path === hidden ? undefined : joinedPath(folder, path),
    );
    const others = select(this.#kept, (path) =>
      within(folder, path) === undefined ? path : undefined,
    );
    this.#kept = joined(others, ours);
    return changes;
  }

  /** Notes that files were written now by something other than a program. */
  touch(paths: readonly string[]): void {
    const now = BigInt(Date.now()) * 1_000_000n;
    const times = new Map(this.#kept.times);
    for (const path of paths) times.set(path, now);
    this.#kept.times = [...times];
  }

  /** Returns the state of an agent's shell. */
  state(agent: number): unknown {
    return this.#owns.get(agent)?.state;
  }

  /** Returns the end of a shell's run, by its reply; its state is kept if `remembers`. */
  replied(
    agent: number,
    ending: Ending,
    remembers: boolean,
  ): Ending | (Left & { type: "timed_out" }) {
    if (ending.type !== "exit" || ending.code !== 0) return ending;
    const { code: _, reply, ...left } = ending;
    if (reply === undefined) {
      return { ...left, type: "crash", message: "the shell gave no reply" };
    }
    const { status, timed_out, state } = JSON.parse(reply) as Reply;
    if (remembers && state !== undefined) this.#own(agent).state = state;
    if (timed_out) return { ...left, type: "timed_out" };
    return { ...left, type: "exit", code: status };
  }

  #own(agent: number): Own {
    const own = this.#owns.get(agent) ?? {
      files: new Map(),
      kept: { folders: [], links: [], times: [] },
    };
    this.#owns.set(agent, own);
    return own;
  }
}

/** The files and state that a run leaves; `kept` is absent if it was ended from outside. */
export type Left = Changes & { kept?: Kept };

/** The request to a shell to carry out a command line. */
export interface ShellRequest {
  script: string;
  args?: string[];
  stdin?: string;
  folder?: string;
  timeout_ms: number;
  programs: string[];
  /** The meaning of `/tmp`, as the crate of the shell's protocol defines it. */
  tmp?: "own" | "project" | "both";
  state?: unknown;
}

/** Returns the meaning of `/tmp` in the shell's words. */
export function tmpOf(meant: Temporary): ShellRequest["tmp"] {
  if (meant === "system") return "own";
  return meant === "unsaid" ? undefined : meant;
}

/** Returns the request for a command line, or for a run of the shell with arguments. */
export function shellRequest(
  run: { args: string[] | null; stdin: string },
  common: Pick<ShellRequest, "timeout_ms" | "programs" | "tmp" | "state">,
): ShellRequest {
  if (run.args !== null) {
    const { state: _, ...others } = common;
    return { script: 'bash "$@"', args: ["bash", ...run.args], stdin: run.stdin, ...others };
  }
  const { command, folder } = commandLine(run.stdin);
  return { script: command, folder, ...common };
}

/** Returns a command line as the arguments of a plain `bash`, which knows no requests. */
export function plainArguments(action: string): string[] {
  const { command, folder } = commandLine(action);
  const there = folder === undefined ? "" : `cd '${folder.replaceAll("'", "'\\''")}' || exit 1\n`;
  return ["-c", there + command];
}

function commandLine(action: string): Extract<Action, { action: "shell" }> {
  return JSON.parse(action) as Extract<Action, { action: "shell" }>;
}

function select({ folders, links, times }: Kept, name: (path: string) => string | undefined): Kept {
  const pairs = <T>(list: [string, T][]): [string, T][] =>
    list.flatMap(([path, value]) => {
      const chosen = name(path);
      return chosen === undefined ? [] : [[chosen, value]];
    });
  return {
    folders: folders.flatMap((path) => name(path) ?? []),
    links: pairs(links),
    times: pairs(times),
  };
}

function joined(a: Kept, b: Kept): Kept {
  return {
    folders: [...a.folders, ...b.folders],
    links: [...a.links, ...b.links],
    times: [...a.times, ...b.times],
  };
}

function joinedPath(folder: string, path: string): string {
  return folder === "" ? path : `${folder}/${path}`;
}

// A path of the workspace as seen from a folder; `undefined` if it is not in it.
function within(folder: string, path: string): string | undefined {
  if (folder === "") return path;
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : undefined;
}
