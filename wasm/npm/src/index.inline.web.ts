// The entry `innerloop/inline` for pages: the module and the worker's script are part of it as
// text, so that nothing is loaded from beside the script.

import module from "inline:module";
import program from "inline:program.web";
import { page, scriptOf } from "./platform/page.js";
import { usePlatform } from "./platform/platform.js";
import { unpacked } from "./programs/modules.js";

usePlatform(
  page({
    module: () => unpacked(Uint8Array.from(atob(module), (letter) => letter.charCodeAt(0))),
    worker: () => ({ started: new Worker(scriptOf(program)) }),
  }),
);

export * from "./index.js";
