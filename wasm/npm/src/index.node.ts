// The entry of Node, Deno and Bun.

import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { initSync } from "./innerloop_wasm.js";
import { type ModuleSource, usePlatform } from "./platform.js";

usePlatform({
  page: false,
  async load(source) {
    const bytes = source ?? readFileSync(new URL("./innerloop_wasm_bg.wasm", import.meta.url));
    initSync({ module: await moduleOf(bytes) });
  },
  startWorker() {
    const url = new URL("./program.node.js", import.meta.url);
    const worker = new Worker(url, { env: {}, execArgv: [] });
    return {
      start(job, transfer, onNews) {
        worker.on("message", onNews);
        worker.on("error", (error) =>
          onNews({ type: "crash", message: error.message, written: [], removed: [] }),
        );
        worker.postMessage(job, transfer);
      },
      terminate: () => void worker.terminate(),
    };
  },
  locate: (place) => (/^(file|https?):/.test(place) ? new URL(place) : pathToFileURL(place)),
  readFile,
});

async function moduleOf(source: ModuleSource): Promise<BufferSource | WebAssembly.Module> {
  const given = await source;
  if (given instanceof URL) {
    return given.protocol === "file:" ? readFile(given) : (await fetch(given)).arrayBuffer();
  }
  return given instanceof Response ? given.arrayBuffer() : given;
}

export * from "./index.js";
