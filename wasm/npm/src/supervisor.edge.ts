// `innerloop/supervisor` for edge runtimes, whose bundlers know a module by the suffix `?module`.

import wasm from "./innerloop_supervisor.wasm?module";
import { type ParseCommand, parser } from "./supervisor/parser.js";

export type * from "./supervisor/index.js";

/** The same as in Node; see `supervisor.node.ts`. */
export const parseCommand: ParseCommand = parser(async () => wasm);
