// What runs in workers: the programs that an agent may run, where they come from, and WASI tools.

import type { Address, HttpResponse, WasmModule } from "../platform/globals.js";

/** Where a program's module comes from; its bytes may be compressed by gzip. */
export type ProgramSource =
  | Uint8Array
  | ArrayBuffer
  | Address
  | HttpResponse
  | Promise<HttpResponse>
  | WasmModule;

/** Says where a program's module comes from when it is first needed. */
export type LazySource = () => ProgramSource | Promise<ProgramSource>;

/** A program with a word about it. */
export interface Program {
  /** The module; with a function nothing is loaded before the program is first run. */
  wasm: ProgramSource | LazySource;
  /** What it is and how it is called, in a sentence: the model reads this. */
  description?: string | undefined;
  /** Other names by which it is called, too. */
  aliases?: readonly string[] | undefined;
  /** What it finds in its environment beside `HOME`, `LANG`, `PWD` and `TZ`. */
  env?: Readonly<Record<string, string>> | undefined;
}

/** A program that says what it is called, as packages such as `innerloop-shell` export it. */
export interface NamedProgram extends Program {
  name: string;
}

/** A program that has a package of its own: `innerloop-qjs`, and so on. */
export type PackagedProgram = "qjs" | "shell" | "python";

/** The programs by name, or a list of those that have one, and of those that have a package. */
export type Programs =
  | Readonly<Record<string, ProgramSource | LazySource | Program>>
  | readonly (NamedProgram | PackagedProgram)[];

/** A program that is loaded, as a worker is given it. */
export interface Loaded {
  module: WasmModule;
  /** What it finds in its environment beside what all do, `NAME=value` each. */
  env: readonly string[];
}

/** A tool of your own that is a WASI module; `wasiTool` makes it of a folder. */
export interface WasiTool {
  /** A unique name. */
  name: string;
  /** What it does and when to use it: the model reads this. */
  description: string;
  /** A JSON Schema of the arguments, `type: "object"`. No arguments if left out. */
  parameters?: object | undefined;
  /** Whether it changes nothing, so that it may run beside others: it then can't. */
  readOnly?: boolean | undefined;
  /** As of other tools. */
  paths?: readonly string[] | undefined;
  /** After how long a call is ended; without it, as the option `timeouts` says. */
  timeoutMs?: number | undefined;
  /**
   * The module: a program of WASI preview 1. It reads the arguments as JSON from standard input,
   * and prints the result: a text, or an object with `text`, `parts`, `is_error` and `details`.
   */
  module: WasmModule;
  /** Its arguments, after its name. */
  args?: readonly string[] | undefined;
  /** The most that a call may do; how much memory it may have is the module's to say. */
  limits?:
    | {
        /** MiB of what it prints; 64 if left out. */
        outputMib?: number | undefined;
        /** MiB that it writes to files, with 4 KiB for each new entry; 256 if left out. */
        diskMib?: number | undefined;
      }
    | undefined;
}
