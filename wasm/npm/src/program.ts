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

/** What a running program's worker reports: output, and at last an exit or a crash. */
export type ProgramNews =
  | { type: "output"; stream: 1 | 2; bytes: Uint8Array }
  | { type: "exit"; code: number; written: [string, Uint8Array][]; removed: string[] }
  | { type: "crash"; message: string; written: [string, Uint8Array][]; removed: string[] };

/** The environment that a program finds; the native host's is the same. */
const ENVIRONMENT = ["HOME=/", "LANG=C.UTF-8", "PWD=/", "TZ=UTC"];

/** Runs the program to its end. */
export function runProgram(job: ProgramJob, report: (news: ProgramNews) => void): void {
  const root = mount(job.files);
  const before = new Map(job.files);
  try {
    const code = execute(job, root, report);
    report({ type: "exit", code, ...difference(before, root) });
  } catch (error) {
    report({ type: "crash", message: describe(error), ...difference(before, root) });
  }
}

function execute(
  job: ProgramJob,
  root: Map<string, Inode>,
  report: (news: ProgramNews) => void,
): number {
  const output = (stream: 1 | 2): ConsoleStdout =>
    new ConsoleStdout((bytes) => report({ type: "output", stream, bytes: bytes.slice() }));
  const stdin = new OpenFile(new File(new TextEncoder().encode(job.stdin)));
  const workspace = new PreopenDirectory("/", root);
  const fds = [stdin, output(1), output(2), workspace];
  const wasi = new WASI(job.args, ENVIRONMENT, fds, { debug: false });
  const imports = { ...wasi.wasiImport, args_sizes_get: argsSizes(wasi, job.args) };
  const instance = new WebAssembly.Instance(job.module, {
    wasi_snapshot_preview1: imports as WebAssembly.ModuleImports,
  });
  return wasi.start(instance as Parameters<WASI["start"]>[0]);
}

// The shim counts UTF-16 units where the program needs bytes, and then writes past the buffer.
function argsSizes(wasi: WASI, args: string[]) {
  const sizes = args.map((arg) => new TextEncoder().encode(arg).length + 1);
  return (countAt: number, sizeAt: number): number => {
    const memory = new DataView(wasi.inst.exports.memory.buffer);
    memory.setUint32(countAt, args.length, true);
    memory.setUint32(sizeAt, sizes.reduce((sum, size) => sum + size, 0), true);
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
