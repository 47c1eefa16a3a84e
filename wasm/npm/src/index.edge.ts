// The entry of edge runtimes such as Next's, whose bundlers know a module by the end of its name.

import wasm from "./innerloop_wasm_bg.wasm?module";
import { isolate } from "./platform/isolate.js";
import { usePlatform } from "./platform/platform.js";

usePlatform(isolate(wasm));

export * from "./index.js";
