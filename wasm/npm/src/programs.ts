// The registry of programs: where their modules come from, and loading them, once.

import { bounded } from "./bound.js";
import { AgentError } from "./errors.js";
import { platform } from "./platform.js";
import type { LazySource, NamedProgram, Program, ProgramSource, Programs } from "./sources.js";

/** What the tool for command lines runs, and what else a shell may be called in the options. */
export const SHELL = "bash";
const SHELL_NAMES = [SHELL, "sh", "shell"];

/** What begins bytes that are compressed by gzip. */
const GZIP = [0x1f, 0x8b];

const SOURCES = "give a Uint8Array, an ArrayBuffer, a URL, a Response or a Module";

/** A program of the registry. */
export class RegisteredProgram {
  #loading: Promise<WebAssembly.Module> | undefined;

  readonly name: string;

  constructor(
    name: string,
    readonly description: string,
    readonly source: ProgramSource | LazySource,
    /** What it finds in its environment beside what all do, `NAME=value` each. */
    readonly env: readonly string[] = [],
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
      // Under another name of the same program it has been said before.
      if (error instanceof AgentError) throw error;
      const why = error instanceof Error ? error.message : String(error);
      const message = `the program \`${this.name}\` could not be loaded: ${why}`;
      throw new AgentError("bad_program", message);
    }
  }
}

/** The programs of the options; those that are not lazy are loaded. */
export async function loadPrograms(programs: Programs = {}): Promise<RegisteredProgram[]> {
  const all = Array.isArray(programs)
    ? (programs as readonly unknown[]).flatMap(named)
    : Object.entries(programs).flatMap(([name, program]) => keyed(name, program));
  if (all.length > 0 && platform().startWorker === undefined) {
    throw new AgentError(
      "unsupported",
      "programs run in a worker, and this platform has none: leave out the option `programs`",
    );
  }
  await Promise.all(all.filter(({ isLazy }) => !isLazy).map((program) => program.load()));
  return all;
}

function named(program: unknown): RegisteredProgram[] {
  const { name, wasm, ...rest } = (program ?? {}) as Partial<NamedProgram>;
  if (typeof name === "string" && name !== "" && wasm !== undefined) {
    return described(name, { wasm, ...rest });
  }
  const message = "a list of `programs` has objects with `name` and `wasm`";
  throw new AgentError("bad_option", message);
}

function keyed(name: string, program: ProgramSource | LazySource | Program): RegisteredProgram[] {
  return described(name, isDescribed(program) ? program : { wasm: program });
}

// The program, and again under each of its other names; it is loaded once for all of them.
function described(
  name: string,
  { wasm, description = "", aliases = [], env = {} }: Program,
): RegisteredProgram[] {
  checkNames(name, aliases);
  const own = environmentOf(name, env);
  const program = new RegisteredProgram(name, description, wasm, own);
  const again = (alias: string) =>
    new RegisteredProgram(alias, `the same as \`${name}\``, () => program.load(), own);
  return [program, ...aliases.map(again)];
}

function checkNames(name: string, aliases: unknown): void {
  const isName = (alias: unknown): boolean => typeof alias === "string" && alias !== "";
  if (Array.isArray(aliases) && aliases.every(isName)) return;
  const message = `\`aliases\` of the program \`${name}\` must be a list of names`;
  throw new AgentError("bad_option", message);
}

function environmentOf(name: string, env: unknown): string[] {
  const isObject = typeof env === "object" && env !== null && !Array.isArray(env);
  const pairs = isObject ? Object.entries(env) : [];
  const fits = ([key, value]: [string, unknown]): boolean =>
    /^[^=\0]+$/.test(key) && typeof value === "string" && !value.includes("\0");
  if (isObject && pairs.every(fits)) return pairs.map((pair) => pair.join("="));
  const message = `\`env\` of the program \`${name}\` must be an object of names and texts`;
  throw new AgentError("bad_option", message);
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
    return compileBytes(given as BufferSource);
  }
  throw new TypeError(SOURCES);
}

function isResponse(given: object): given is Response {
  return "arrayBuffer" in given && "ok" in given;
}

async function compileUrl(url: URL): Promise<WebAssembly.Module> {
  const { readFile } = platform();
  if (url.protocol === "file:" && readFile !== undefined) {
    return compileBytes((await readFile(url)) as BufferSource);
  }
  return compileResponse(await fetch(url));
}

async function compileResponse(response: Response): Promise<WebAssembly.Module> {
  if (!response.ok) throw new Error(`${response.url} answers ${response.status}`);
  return compileBytes(await response.arrayBuffer());
}

async function compileBytes(given: BufferSource): Promise<WebAssembly.Module> {
  const bytes = ArrayBuffer.isView(given)
    ? new Uint8Array(given.buffer, given.byteOffset, given.byteLength)
    : new Uint8Array(given);
  const isPacked = GZIP.every((byte, at) => bytes[at] === byte);
  return WebAssembly.compile(bounded(isPacked ? await unpacked(bytes) : bytes) as BufferSource);
}

// A large module travels compressed, where its server does not see to that.
async function unpacked(bytes: Uint8Array): Promise<Uint8Array> {
  if (typeof DecompressionStream === "undefined") {
    throw new TypeError("it is compressed by gzip, which this platform cannot unpack");
  }
  const packed = new Blob([bytes as BlobPart]).stream();
  const plain = new Response(packed.pipeThrough(new DecompressionStream("gzip")));
  return new Uint8Array(await plain.arrayBuffer());
}
