// Runs one WASI program (preview 1) over a copy of the workspace. Lives in a worker: a program
// cannot be interrupted from inside, so whoever started the worker ends it.

import {
  ConsoleStdout,
  Directory,
  File,
  type Inode,
  OpenFile,
  PreopenDirectory,
  WASI,
} from "@bjorn3/browser_wasi_shim";

/** A program and what it runs with. */
export interface ProgramJob {
  module: WebAssembly.Module;
  /** Its own name, then its arguments. */
  args: string[];
  stdin: string;
  /** The workspace, mounted at `/`: path and content. */
  files: [string, Uint8Array][];
}

/** What a running program's worker reports: output, and at last how it ended. */
export type ProgramNews = { type: "output"; stream: 1 | 2; bytes: Uint8Array } | Ending;

/** How a program ended, and which files it left otherwise. */
export type Ending = (
  | { type: "exit"; code: number }
  /** It broke. */
  | { type: "crash"; message: string }
  /** It went beyond a limit. */
  | { type: LimitName }
) & { written: [string, Uint8Array][]; removed: string[] };

/** The environment that a program finds; the native host's is the same. */
const ENVIRONMENT = ["HOME=/", "LANG=C.UTF-8", "PWD=/", "TZ=UTC"];

/** The native host's limits: bytes printed, and bytes written to files. */
const LIMITS = { printed_too_much: 64 * 2 ** 20, wrote_too_much: 256 * 2 ** 20 };
type LimitName = keyof typeof LIMITS;

class LimitReached extends Error {
  constructor(readonly limit: LimitName) {
    super(limit);
  }
}

/** Runs the program to its end. */
export function runProgram(job: ProgramJob, report: (news: ProgramNews) => void): void {
  const root = mount(job.files);
  const before = new Map(job.files);
  try {
    const code = execute(job, root, report);
    report({ type: "exit", code, ...difference(before, root) });
  } catch (error) {
    const changes = difference(before, root);
    if (error instanceof LimitReached) report({ type: error.limit, ...changes });
    else report({ type: "crash", message: describe(error), ...changes });
  }
}

function execute(
  job: ProgramJob,
  root: Map<string, Inode>,
  report: (news: ProgramNews) => void,
): number {
  const printed = meter("printed_too_much");
  const output = (stream: 1 | 2): ConsoleStdout =>
    new ConsoleStdout((bytes) => {
      printed(bytes.length);
      report({ type: "output", stream, bytes: bytes.slice() });
    });
  const stdin = new OpenFile(new File(new TextEncoder().encode(job.stdin)));
  const workspace = new PreopenDirectory("/", root);
  const fds = [stdin, output(1), output(2), workspace];
  const wasi = new WASI(job.args, ENVIRONMENT, fds, { debug: false });
  const imports = { ...wasi.wasiImport, ...metered(wasi), args_sizes_get: argsSizes(wasi) };
  const instance = new WebAssembly.Instance(job.module, {
    wasi_snapshot_preview1: imports as WebAssembly.ModuleImports,
  });
  return wasi.start(instance as Parameters<WASI["start"]>[0]);
}

function meter(limit: LimitName): (more: number) => void {
  let total = 0;
  return (more) => {
    total += more;
    if (total > LIMITS[limit]) throw new LimitReached(limit);
  };
}

// Counts what goes to files; the first three descriptors are the standard streams.
function metered(wasi: WASI) {
  const written = meter("wrote_too_much");
  const count = (fd: number, lengthAt: number): void => {
    const memory = new DataView(wasi.inst.exports.memory.buffer);
    if (fd > 2) written(memory.getUint32(lengthAt, true));
  };
  const { fd_write, fd_pwrite } = wasi.wasiImport as Record<string, (...args: any[]) => number>;
  return {
    fd_write(fd: number, at: number, length: number, lengthAt: number): number | undefined {
      const error = fd_write?.(fd, at, length, lengthAt);
      count(fd, lengthAt);
      return error;
    },
    fd_pwrite(fd: number, at: number, length: number, offset: bigint, lengthAt: number) {
      const error = fd_pwrite?.(fd, at, length, offset, lengthAt);
      count(fd, lengthAt);
      return error;
    },
  };
}

// The shim counts UTF-16 units where the program needs bytes, and then writes past the buffer.
function argsSizes(wasi: WASI) {
  const sizes = wasi.args.map((arg) => new TextEncoder().encode(arg).length + 1);
  return (countAt: number, sizeAt: number): number => {
    const memory = new DataView(wasi.inst.exports.memory.buffer);
    memory.setUint32(countAt, sizes.length, true);
    memory.setUint32(
      sizeAt,
      sizes.reduce((sum, size) => sum + size, 0),
      true,
    );
    return 0;
  };
}

function mount(files: [string, Uint8Array][]): Map<string, Inode> {
  const root = new Map<string, Inode>();
  for (const [path, content] of files) {
    const names = path.split("/");
    const name = names.pop();
    if (name === undefined) continue;
    let folder = root;
    for (const step of names) {
      let next = folder.get(step);
      if (!(next instanceof Directory)) {
        next = new Directory(new Map());
        folder.set(step, next);
      }
      folder = (next as Directory).contents;
    }
    folder.set(name, new File(content));
  }
  return root;
}

function difference(before: Map<string, Uint8Array>, root: Map<string, Inode>) {
  const after = new Map<string, Uint8Array>();
  collect(root, "", after);
  const written = [...after].filter(([path, content]) => !same(before.get(path), content));
  const removed = [...before.keys()].filter((path) => !after.has(path));
  return { written, removed };
}

function collect(folder: Map<string, Inode>, prefix: string, into: Map<string, Uint8Array>): void {
  for (const [name, node] of folder) {
    if (node instanceof Directory) collect(node.contents, `${prefix}${name}/`, into);
    else if (node instanceof File) into.set(prefix + name, node.data);
  }
}

function same(a: Uint8Array | undefined, b: Uint8Array): boolean {
  return a !== undefined && a.length === b.length && a.every((byte, at) => byte === b[at]);
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
