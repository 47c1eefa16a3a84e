// The registry of programs: where their modules come from, and loading them, once.

import { AgentError } from "./errors.js";
import { platform } from "./platform.js";
import type { LazySource, NamedProgram, Program, ProgramSource, Programs } from "./sources.js";

/** What the tool for command lines runs, and what else a shell may be called in the options. */
export const SHELL = "bash";
const SHELL_NAMES = [SHELL, "sh", "shell"];

const SOURCES = "give a Uint8Array, an ArrayBuffer, a URL, a Response or a Module";

/** A program of the registry. */
export class RegisteredProgram {
  #loading: Promise<WebAssembly.Module> | undefined;

  readonly name: string;

  constructor(
    name: string,
    readonly description: string,
    readonly source: ProgramSource | LazySource,
  ) {
    this.name = SHELL_NAMES.includes(name) ? SHELL : name;
  }

  /** Whether it is loaded when it is first needed. */
  get isLazy(): boolean {
    return typeof this.source === "function";
  }

  /** Whether it is loaded, or about to be. */
  get isBegun(): boolean {
    return this.#loading !== undefined;
  }

  /** Its module, loaded and compiled if that has not been done. */
  load(): Promise<WebAssembly.Module> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  async #load(): Promise<WebAssembly.Module> {
    try {
      const { source } = this;
      return await compile(typeof source === "function" ? await source() : source);
    } catch (error) {
      this.#loading = undefined;
      const why = error instanceof Error ? error.message : String(error);
      const message = `the program \`${this.name}\` could not be loaded: ${why}`;
      throw new AgentError("bad_program", message);
    }
  }
}

/** The programs of the options; those that are not lazy are loaded. */
export async function loadPrograms(programs: Programs = {}): Promise<RegisteredProgram[]> {
  const all = Array.isArray(programs)
    ? (programs as readonly unknown[]).map(named)
    : Object.entries(programs).map(([name, program]) => keyed(name, program));
  if (all.length > 0 && platform().startWorker === undefined) {
    throw new AgentError(
      "unsupported",
      "programs run in a worker, and this platform has none: leave out the option `programs`",
    );
  }
  await Promise.all(all.filter(({ isLazy }) => !isLazy).map((program) => program.load()));
  return all;
}

function named(program: unknown): RegisteredProgram {
  const { name, wasm, description = "" } = (program ?? {}) as Partial<NamedProgram>;
  if (typeof name === "string" && name !== "" && wasm !== undefined) {
    return new RegisteredProgram(name, description, wasm);
  }
  const message = "a list of `programs` has objects with `name` and `wasm`";
  throw new AgentError("bad_option", message);
}

function keyed(name: string, program: ProgramSource | LazySource | Program): RegisteredProgram {
  if (!isDescribed(program)) return new RegisteredProgram(name, "", program);
  const { wasm, description = "" } = program;
  return new RegisteredProgram(name, description, wasm);
}

function isDescribed(program: ProgramSource | LazySource | Program): program is Program {
  return typeof program === "object" && program !== null && "wasm" in program;
}

async function compile(source: ProgramSource): Promise<WebAssembly.Module> {
  const given: unknown = await source;
  if (typeof given !== "object" || given === null) throw new TypeError(SOURCES);
  if (given instanceof WebAssembly.Module) return given;
  if (given instanceof URL) return compileUrl(given);
  if (isResponse(given)) return compileResponse(given);
  if (ArrayBuffer.isView(given) || given instanceof ArrayBuffer) {
    return WebAssembly.compile(given as BufferSource);
  }
  throw new TypeError(SOURCES);
}

function isResponse(given: object): given is Response {
  return "arrayBuffer" in given && "ok" in given;
}

async function compileUrl(url: URL): Promise<WebAssembly.Module> {
  const { readFile } = platform();
  if (url.protocol === "file:" && readFile !== undefined) {
    return WebAssembly.compile((await readFile(url)) as BufferSource);
  }
  return compileResponse(await fetch(url));
}

async function compileResponse(response: Response): Promise<WebAssembly.Module> {
  if (!response.ok) throw new Error(`${response.url} answers ${response.status}`);
  return WebAssembly.compile(await response.arrayBuffer());
}
