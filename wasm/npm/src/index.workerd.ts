// The entry for Workers (workerd), which import a WebAssembly module compiled.

import wasm from "./innerloop_wasm_bg.wasm";
import { isolate } from "./platform/isolate.js";
import { usePlatform } from "./platform/platform.js";

usePlatform(isolate(wasm));

export * from "./index.js";
