// The package, loaded when it is first needed: the page is there before it.

import type * as Innerloop from "innerloop";
import type { Files } from "innerloop";

let loading: Promise<typeof Innerloop> | undefined;

/** The package `innerloop`. */
export function library(): Promise<typeof Innerloop> {
  loading ??= import("innerloop");
  return loading;
}

/** The package's own workspace, which makes and reads archives. */
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
