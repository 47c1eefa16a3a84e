// The entry for pages and their workers, and for every platform without an entry of its own.

import { page, workerAt } from "./platform/page.js";
import { usePlatform } from "./platform/platform.js";

// Each `new URL(…, import.meta.url)` is written out here: bundlers find the file behind it only if
// the name is a literal.
usePlatform(
  page({
    module: () => new URL("./innerloop_wasm_bg.wasm", import.meta.url),
    worker: () => workerAt(new URL("./program.web.js", import.meta.url)),
  }),
);

export * from "./index.js";
