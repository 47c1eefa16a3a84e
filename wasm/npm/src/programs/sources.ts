// The types of programs, of the sources of their modules, and of WASI tools: all that runs in
// workers.

import type { Address, HttpResponse, WasmModule } from "../platform/globals.js";

/** The source of a program's module; its bytes may be compressed by gzip. */
export type ProgramSource =
  | Uint8Array
  | ArrayBuffer
  | Address
  | HttpResponse
  | Promise<HttpResponse>
  | WasmModule;

/** A function that returns the source of a program's module when it is first needed. */
export type LazySource = () => ProgramSource | Promise<ProgramSource>;

/** A program with its description. */
export interface Program {
  /** The module; if it is a function, nothing is loaded before the program is first run. */
  wasm: ProgramSource | LazySource;
  /** A sentence on what it is and how to call it: the model reads this. */
  description?: string | undefined;
  /** Other names of the program. */
  aliases?: readonly string[] | undefined;
  /** The variables of its environment beside `HOME`, `LANG`, `PWD` and `TZ`. */
  env?: Readonly<Record<string, string>> | undefined;
}

/** A program with its name, as packages such as `innerloop-shell` export it. */
export interface NamedProgram extends Program {
  name: string;
}

/** The name of a program that has a package: `innerloop-qjs`, and so on. */
export type PackagedProgram = "qjs" | "shell" | "python";

/** The programs by name, or a list of named ones and of names of packages. */
export type Programs =
  | Readonly<Record<string, ProgramSource | LazySource | Program>>
  | readonly (NamedProgram | PackagedProgram)[];

/** A loaded program, as a worker gets it. */
export interface Loaded {
  module: WasmModule;
  /** Variables of its environment beside the common ones, `NAME=value` each. */
  env: readonly string[];
}

/** A tool of your own that is a WASI module; `wasiTool` makes one from a folder. */
export interface WasiTool {
  /** A unique name. */
  name: string;
  /** What it does and when to use it: the model reads this. */
  description: string;
  /** A JSON Schema of the arguments, `type: "object"`. No arguments if left out. */
  parameters?: object | undefined;
  /** True if it changes nothing, so that it may run beside others; its changes are then refused. */
  readOnly?: boolean | undefined;
  /** True if its output comes from elsewhere, such as the web; see {@link Tool}. */
  untrusted?: boolean | undefined;
  /** Its arguments that name files or folders; see {@link Tool}. */
  paths?: readonly string[] | undefined;
  /** The time limit of a call; if left out, that of the option `timeouts`. */
  timeoutMs?: number | undefined;
  /**
   * The module: a program of WASI preview 1. It reads the arguments as JSON from standard input,
   * and prints the result: a text, or an object with `text`, `parts`, `is_error` and `details`.
   */
  module: WasmModule;
  /** Its arguments, after its name. */
  args?: readonly string[] | undefined;
  /** The limits of a call; that of its memory is part of the module. */
  limits?:
    | {
        /** The most MiB that it may print; 64 if left out. */
        outputMib?: number | undefined;
        /** The most MiB written to files, with 4 KiB for each new entry; 256 if left out. */
        diskMib?: number | undefined;
      }
    | undefined;
}
