// `innerloop/supervisor` for Node, Deno and Bun. It imports nothing of the agent.

import { readFile } from "node:fs/promises";
import { type ParseCommand, parser } from "./supervisor/parser.js";

export type * from "./supervisor/index.js";

/**
 * Reads what a person has typed: a command, an answer to what is pending, or text for the model.
 *
 * ```js
 * const word = await parseCommand("/UNDO 2"); // { type: "undo", steps: 2 }
 * ```
 */
export const parseCommand: ParseCommand = parser(async () =>
  WebAssembly.compile(await readFile(new URL("./innerloop_supervisor.wasm", import.meta.url))),
);
