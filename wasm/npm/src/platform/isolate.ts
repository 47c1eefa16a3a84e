// The platform of Workers and edge runtimes. Both forbid compiling WebAssembly at run time, so that
// the module is imported; they have no workers to run programs in and no import by name.

import { isModule } from "./kinds.js";
import type { Platform } from "./platform.js";

/** Returns the platform of an isolate whose entry imports this module. */
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
