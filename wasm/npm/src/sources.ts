// What the option `programs` takes: the programs that an agent may run, and where they come from.

/** Where a program's module comes from. */
export type ProgramSource =
  Uint8Array | ArrayBuffer | URL | Response | Promise<Response> | WebAssembly.Module;

/** Says where a program's module comes from when it is first needed. */
export type LazySource = () => ProgramSource | Promise<ProgramSource>;

/** A program with a word about it. */
export interface Program {
  /** The module; with a function nothing is loaded before the program is first run. */
  wasm: ProgramSource | LazySource;
  /** What it is and how it is called, in a sentence: the model reads this. */
  description?: string;
}

/** A program that says what it is called, as packages such as `innerloop-shell` export it. */
export interface NamedProgram extends Program {
  name: string;
}

/** The programs by name, or a list of those that have one. */
export type Programs =
  Readonly<Record<string, ProgramSource | LazySource | Program>> | readonly NamedProgram[];
