// The entry of pages and their workers, and of everything that is neither of the others. Bundlers
// know `new URL(…, import.meta.url)` only where it is written out.

import { page, workerAt } from "./platform/page.js";
import { usePlatform } from "./platform/platform.js";

usePlatform(
  page({
    module: () => new URL("./innerloop_wasm_bg.wasm", import.meta.url),
    worker: () => workerAt(new URL("./program.web.js", import.meta.url)),
  }),
);

export * from "./index.js";
