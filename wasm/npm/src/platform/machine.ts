// The platform of Node, Deno and Bun, for both of their entries.

import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import type { Worker } from "node:worker_threads";
import { isResponse, isUrl } from "./kinds.js";
import { importPackage } from "./named.js";
import { type ModuleSource, noWorker, type Platform } from "./platform.js";

/** Returns the platform of a machine; the entry says where its module and worker come from. */
export function machine({ module, worker }: MachineParts): Platform {
  return {
    page: false,
    module,
    async load(source, into) {
      into.initSync({ module: await moduleOf(await source) });
    },
    startWorker() {
      const { started, place } = worker();
      return {
        start(job, transfer, onNews) {
          started.on("message", onNews);
          started.on("error", (error: Error & { code?: string }) => {
            // A script that cannot be loaded is told here as an error of the worker, like a crash
            // of the program; only this code tells that the package's files are not in place.
            const isMissing = error.code?.endsWith("MODULE_NOT_FOUND");
            const message = isMissing ? noWorker(place, error.message) : error.message;
            onNews({ type: "crash", message, written: [], removed: [] });
          });
          started.postMessage(job, transfer);
        },
        terminate: () => void started.terminate(),
      };
    },
    importPackage,
    locate: (place) => (/^(file|https?):/.test(place) ? new URL(place) : pathToFileURL(place)),
    readFile,
  };
}

interface MachineParts {
  module(): ModuleSource;
  worker(): { started: Worker; place?: URL };
}

type Given = Exclude<Awaited<ModuleSource>, string>;

async function moduleOf(given: Given): Promise<BufferSource | WebAssembly.Module> {
  if (isUrl(given)) {
    return given.protocol === "file:" ? readFileSync(given) : moduleOf(await fetch(given));
  }
  if (!isResponse(given)) return given;
  if (!given.ok) throw new Error(`the server answers ${given.status}`);
  return given.arrayBuffer();
}
