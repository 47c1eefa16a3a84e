// The registry of an agent's programs. Each module is loaded and compiled once, however many names
// the program has.

import { bytesOf } from "../bytes.js";
import { AgentError, messageOf } from "../errors.js";
import { isBuffer, isModule, isResponse, isUrl } from "../platform/kinds.js";
import { platform } from "../platform/platform.js";
import { compile, MOST_MODULE, readResponse, readUrl, unpacked } from "./modules.js";
import { packaged } from "./packages.js";
import type { LazySource, NamedProgram, Program, ProgramSource, Programs } from "./sources.js";

/** The program that the tool for command lines runs; in the options it may have these names. */
export const SHELL = "bash";
const SHELL_NAMES = [SHELL, "sh", "shell"];

/** The most memory of a program or of the shell: 1 GiB. */
const MOST_MEMORY = 2 ** 30;

const SOURCES = "give a Uint8Array, an ArrayBuffer, a URL, a Response or a Module";

/** A program of the registry, under one of its names. */
export class RegisteredProgram {
  readonly name: string;

  constructor(
    name: string,
    readonly description: string,
    readonly source: Source,
    /** Variables of its environment beside the common ones, `NAME=value` each. */
    readonly env: readonly string[] = [],
  ) {
    this.name = SHELL_NAMES.includes(name) ? SHELL : name;
  }

  /** True if its module is loaded, or being loaded. */
  get isBegun(): boolean {
    return this.source.isBegun;
  }

  /** Loads and compiles its module, if that has not been done. */
  load(): Promise<WebAssembly.Module> {
    return this.source.load();
  }
}

/** The source of a program's module, shared by all names of the program. */
class Source {
  #loading: Promise<WebAssembly.Module> | undefined;

  constructor(
    readonly name: string,
    readonly wasm: ProgramSource | LazySource,
  ) {}

  /** True if it is loaded when it is first needed. */
  get isLazy(): boolean {
    return typeof this.wasm === "function";
  }

  get isBegun(): boolean {
    return this.#loading !== undefined;
  }

  load(): Promise<WebAssembly.Module> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  async #load(): Promise<WebAssembly.Module> {
    try {
      const { wasm } = this;
      return await moduleOf(typeof wasm === "function" ? await wasm() : wasm);
    } catch (error) {
      // The next run tries again: the network may be back.
      this.#loading = undefined;
      const message = `the program \`${this.name}\` could not be loaded: ${messageOf(error)}`;
      throw new AgentError("bad_program", message);
    }
  }
}

/** Returns the programs of the options; those that are not lazy are loaded. */
export async function loadPrograms(programs: Programs = {}): Promise<RegisteredProgram[]> {
  const given: [string, unknown][] = Object.entries(programs);
  if (given.length > 0 && platform().startWorker === undefined) {
    throw new AgentError(
      "unsupported",
      "programs run in a worker, and this platform has none: leave out the option `programs`",
    );
  }
  const list = Array.isArray(programs);
  const found = given.map(async ([name, program]) => {
    if (!list) return keyed(name, program as ProgramSource | LazySource | Program);
    return named(typeof program === "string" ? await packaged(program) : program);
  });
  const all = (await Promise.all(found)).flat();
  await Promise.all(all.filter(({ source }) => !source.isLazy).map((program) => program.load()));
  return all;
}

function named(program: unknown): RegisteredProgram[] {
  const { name, wasm, ...rest } = (program ?? {}) as Partial<NamedProgram>;
  if (typeof name === "string" && name !== "" && wasm !== undefined) {
    return described(name, { wasm, ...rest });
  }
  const message = "a list of `programs` has names, and objects with `name` and `wasm`";
  throw new AgentError("bad_option", message);
}

function keyed(name: string, program: ProgramSource | LazySource | Program): RegisteredProgram[] {
  return described(name, isDescribed(program) ? program : { wasm: program });
}

// The program under its name and under each of its aliases.
function described(
  name: string,
  { wasm, description = "", aliases = [], env = {} }: Program,
): RegisteredProgram[] {
  checkNames(name, aliases);
  const [source, own] = [new Source(name, wasm), environmentOf(name, env)];
  const again = (alias: string) =>
    new RegisteredProgram(alias, `the same as \`${name}\``, source, own);
  return [new RegisteredProgram(name, description, source, own), ...aliases.map(again)];
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

async function moduleOf(source: ProgramSource): Promise<WebAssembly.Module> {
  const given: unknown = await source;
  if (isModule(given)) return given;
  return compile(await unpacked(await read(given)), MOST_MEMORY);
}

function read(given: unknown): Uint8Array<ArrayBuffer> | Promise<Uint8Array<ArrayBuffer>> {
  if (isUrl(given)) return readUrl(given, MOST_MODULE);
  if (ArrayBuffer.isView(given) || isBuffer(given)) return bytesOf(given);
  if (isResponse(given)) return readResponse(given, MOST_MODULE);
  throw new TypeError(SOURCES);
}
