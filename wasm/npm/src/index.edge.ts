// The entry for edge runtimes such as Next's. Their bundlers recognise a WebAssembly module by the
// suffix `?module`, and hand it over compiled: these runtimes forbid compiling at run time.

import wasm from "./innerloop_wasm_bg.wasm?module";
import { isolate } from "./platform/isolate.js";
import { usePlatform } from "./platform/platform.js";

usePlatform(isolate(wasm));

export * from "./index.js";
