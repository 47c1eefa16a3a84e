// The registry of programs: loading their modules, and running one in a worker.

import { AgentError } from "./errors.js";
import { platform } from "./platform.js";
import type { Ending } from "./program.js";
import type { Program, ProgramSource } from "./types.js";

const SOURCES = "give a Uint8Array, an ArrayBuffer, a URL, a Response or a Module";

/** A program that is ready to run. */
export interface LoadedProgram {
  name: string;
  description: string;
  module: WebAssembly.Module;
}

/** How a program ended; `stopped` if it was ended from outside. */
export type ProgramEnd = Ending | { type: "stopped" };

/** What the binding wants to run. */
export interface ProgramRequest {
  program: string;
  args: string[];
  stdin: string;
  files: [string, Uint8Array][];
}

/** Loads and compiles the programs of the options. */
export async function loadPrograms(
  programs: Readonly<Record<string, ProgramSource | Program>> = {},
): Promise<LoadedProgram[]> {
  const entries = Object.entries(programs);
  if (entries.length > 0 && platform().startWorker === undefined) {
    throw new AgentError(
      "unsupported",
      "programs run in a worker, and this platform has none: leave out the option `programs`",
    );
  }
  return Promise.all(entries.map(([name, program]) => load(name, program)));
}

async function load(name: string, program: ProgramSource | Program): Promise<LoadedProgram> {
  const { wasm, description = "" } = isDescribed(program) ? program : { wasm: program };
  try {
    return { name, description, module: await compile(wasm) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new AgentError("bad_program", `the program \`${name}\` could not be loaded: ${why}`);
  }
}

function isDescribed(program: ProgramSource | Program): program is Program {
  return typeof program === "object" && program !== null && "wasm" in program;
}

async function compile(source: ProgramSource): Promise<WebAssembly.Module> {
  const given: unknown = await source;
  if (typeof given !== "object" || given === null) throw new TypeError(SOURCES);
  if (given instanceof WebAssembly.Module) return given;
  if (given instanceof URL) return compileBytes(await readUrl(given));
  if (isResponse(given)) return compileBytes(await readResponse(given));
  if (ArrayBuffer.isView(given) || given instanceof ArrayBuffer) {
    return compileBytes(given as Uint8Array | ArrayBuffer);
  }
  throw new TypeError(SOURCES);
}

function isResponse(given: object): given is Response {
  return "arrayBuffer" in given && "ok" in given;
}

function compileBytes(bytes: Uint8Array | ArrayBuffer): Promise<WebAssembly.Module> {
  return WebAssembly.compile(bytes as BufferSource);
}

async function readUrl(url: URL): Promise<Uint8Array | ArrayBuffer> {
  const { readFile } = platform();
  if (url.protocol === "file:" && readFile !== undefined) return readFile(url);
  return readResponse(await fetch(url));
}

async function readResponse(response: Response): Promise<ArrayBuffer> {
  if (!response.ok) throw new Error(`${response.url} answers ${response.status}`);
  return response.arrayBuffer();
}

/** Runs a program in a worker of its own until it ends or `signal` fires. */
export function runInWorker(
  programs: readonly LoadedProgram[],
  request: ProgramRequest,
  onOutput: (stream: number, bytes: Uint8Array) => void,
  signal: AbortSignal,
): Promise<ProgramEnd> {
  const found = programs.find((program) => program.name === request.program);
  const worker = found && platform().startWorker?.();
  if (found === undefined || worker === undefined) {
    const message = `there is no program \`${request.program}\``;
    return Promise.resolve({ type: "crash", message, written: [], removed: [] });
  }
  return new Promise((resolve) => {
    const end = (how: ProgramEnd): void => {
      worker.terminate();
      signal.removeEventListener("abort", stop);
      resolve(how);
    };
    const stop = (): void => end({ type: "stopped" });
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop);
    const { args, stdin, files } = request;
    const job = { module: found.module, args: [found.name, ...args], stdin, files };
    worker.start(job, (news) => {
      if (news.type !== "output") return end(news);
      onOutput(news.stream, news.bytes);
    });
  });
}
