// The entry for Node, Deno and Bun.

import { Worker } from "node:worker_threads";
import { machine } from "./platform/machine.js";
import { usePlatform } from "./platform/platform.js";

usePlatform(
  machine({
    module: () => new URL("./innerloop_wasm_bg.wasm", import.meta.url),
    worker() {
      // Without the host's environment, in which keys may stand, and without its flags.
      const place = new URL("./program.node.js", import.meta.url);
      return { started: new Worker(place, { env: {}, execArgv: [] }), place };
    },
  }),
);

export * from "./index.js";
