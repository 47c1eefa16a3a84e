// `innerloop/supervisor` for Workers (workerd), which import a WebAssembly module compiled.

import wasm from "./innerloop_supervisor.wasm";
import { type ParseCommand, parser } from "./supervisor/parser.js";

export type * from "./supervisor/index.js";

/** The same as in Node; see `supervisor.node.ts`. */
export const parseCommand: ParseCommand = parser(async () => wasm);
