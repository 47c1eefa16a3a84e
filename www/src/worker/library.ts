// The package `innerloop` and the programs, loaded when they are first needed: the page is shown
// before them.

import type * as Innerloop from "innerloop";
import type { Files } from "innerloop";

let loading: Promise<typeof Innerloop> | undefined;
let tries = 0;

/** Returns the package; if it could not be loaded, the next call tries again. */
export function library(): Promise<typeof Innerloop> {
  loading ??= load().catch((error: unknown) => {
    loading = undefined;
    throw new Error(`The package could not be loaded; try again. (${(error as Error).message})`);
  });
  return loading;
}

// Loads the package. Browsers remember a failed import by its address, so that a further try needs
// another address.
async function load(): Promise<typeof Innerloop> {
  tries += 1;
  if (tries === 1) return import("innerloop");
  const again = new URL(`innerloop/dist/index.web.js?try=${tries}`, import.meta.url);
  return (await import(again.href)) as typeof Innerloop;
}

/** Makes a workspace of the package, which reads and writes archives. */
export async function filesWith(files?: ReadonlyMap<string, Uint8Array>): Promise<Files> {
  const { Files, init } = await library();
  await init();
  return new Files(files);
}

const program = (name: string): URL => new URL(`programs/${name}`, import.meta.url);

/** QuickJS: fetched with the first agent. */
export const QJS = {
  qjs: {
    wasm: (): URL => program("qjs.wasm"),
    description: "QuickJS: `qjs -m file.mjs` runs a JavaScript module",
  },
};

/** Command lines and Python: fetched when one runs. */
export const SHELL = {
  bash: { wasm: (): URL => program("bash.wasm") },
  python: {
    wasm: (): URL => program("python.wasm.gz"),
    description: "Python 3.12 with its standard library: `python file.py`, `python -m unittest`",
    aliases: ["python3"],
    env: { PYTHONDONTWRITEBYTECODE: "1" },
  },
};
