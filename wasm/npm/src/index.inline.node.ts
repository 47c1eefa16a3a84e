// The entry `innerloop/inline` for Node, Deno and Bun: the module and the worker's script are part
// of it as text, so that a bundle is one file.

import module from "inline:module";
import program from "inline:program.node";
import { Worker } from "node:worker_threads";
import { gunzipSync } from "node:zlib";
import { machine } from "./platform/machine.js";
import { usePlatform } from "./platform/platform.js";

usePlatform(
  machine({
    module: () => gunzipSync(Buffer.from(module, "base64")),
    worker: () => ({ started: new Worker(program, { eval: true, env: {}, execArgv: [] }) }),
  }),
);

export * from "./index.js";
