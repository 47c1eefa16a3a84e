// The entry of pages and their workers, and of everything that is neither of the others.

import load from "./innerloop_wasm.js";
import { usePlatform } from "./platform.js";

usePlatform({
  page: true,
  async load(source) {
    const module_or_path = source ?? new URL("./innerloop_wasm_bg.wasm", import.meta.url);
    await load({ module_or_path });
  },
  startWorker() {
    const url = new URL("./program.web.js", import.meta.url);
    const worker = new Worker(url, { type: "module" });
    return {
      start(job, transfer, onNews) {
        worker.onmessage = (event) => onNews(event.data);
        worker.onerror = (event) =>
          onNews({ type: "crash", message: event.message, written: [], removed: [] });
        worker.postMessage(job, transfer);
      },
      terminate: () => worker.terminate(),
    };
  },
  locate: (place) => new URL(place, location.href),
});

export * from "./index.js";
