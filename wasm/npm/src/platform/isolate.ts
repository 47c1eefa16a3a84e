// What the entries of Workers have in common: a module is imported there, and never compiled.

import { isModule } from "./kinds.js";
import type { Platform } from "./platform.js";

/** An isolate, by the module that its entry imports. */
export function isolate(wasm: WebAssembly.Module): Platform {
  return {
    page: false,
    module: () => wasm,
    async load(source, into) {
      if (!isModule(source)) {
        throw new TypeError("Workers take a WebAssembly.Module that was imported, nothing else");
      }
      into.initSync({ module: source });
    },
    locate: (place) => new URL(place),
  };
}
