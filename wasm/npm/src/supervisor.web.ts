// `innerloop/supervisor` for pages and their workers. It imports nothing of the agent.

import { type ParseCommand, parser } from "./supervisor/parser.js";

export type * from "./supervisor/index.js";

/** The same as in Node; see `supervisor.node.ts`. */
export const parseCommand: ParseCommand = parser(async () => {
  // Written out, since bundlers find the file behind it only if the name is a literal.
  const answer = await fetch(new URL("./innerloop_supervisor.wasm", import.meta.url));
  if (!answer.ok) throw new Error(`innerloop_supervisor.wasm: the server answers ${answer.status}`);
  return WebAssembly.compile(await answer.arrayBuffer());
});
