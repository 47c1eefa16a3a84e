// The entry of Workers (workerd), where a module is imported and never compiled.

import wasm from "./innerloop_wasm_bg.wasm";
import { initSync } from "./innerloop_wasm.js";
import { type ModuleSource, usePlatform } from "./platform.js";

usePlatform({
  page: false,
  async load(source: ModuleSource | undefined) {
    initSync({ module: source instanceof WebAssembly.Module ? source : wasm });
  },
  locate: (place) => new URL(place),
});

export * from "./index.js";
