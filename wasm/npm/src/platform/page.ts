// What the entries of pages have in common.

import { builtin } from "./builtin.js";
import { isUrl } from "./kinds.js";
import { importPackage } from "./named.js";
import { type ModuleSource, noWorker, type Platform } from "./platform.js";

/** A page, by where its parts come from. */
export function page({ module, worker }: PageParts): Platform {
  return {
    page: true,
    module,
    async load(source, into) {
      const given = await source;
      await into.load({ module_or_path: isUrl(given) ? await found(given) : given });
    },
    startWorker() {
      const { started, place } = worker();
      return {
        start(job, transfer, onNews) {
          started.onmessage = (event) => onNews(event.data);
          started.onerror = (event) => {
            // An event without a message says that there was no script to run.
            const message = event.message ?? noWorker(place);
            onNews({ type: "crash", message, written: [], removed: [] });
          };
          started.postMessage(job, transfer);
        },
        terminate: () => started.terminate(),
      };
    },
    importPackage,
    locate: (place) => new URL(place, location.href),
  };
}

// A test's page in Node has files in place of a server.
async function found(place: URL): Promise<Response | BufferSource> {
  const files = builtin<typeof import("node:fs")>("node:fs");
  const urls = builtin<typeof import("node:url")>("node:url");
  if (place.protocol !== "file:" || files === undefined || urls === undefined) return fetch(place);
  return new Uint8Array(files.readFileSync(urls.fileURLToPath(place.href)));
}

interface PageParts {
  module(): ModuleSource | Promise<ModuleSource>;
  worker(): { started: Worker; place?: URL };
}

/** Starts the worker at an address; a page can import a script of another origin, not start it. */
export function workerAt(address: URL): { started: Worker; place: URL } {
  // Some bundlers put an address without an origin in place of what they bundle.
  const place = new URL(address.href, location.href);
  const isOwn = place.origin === location.origin;
  const script = isOwn ? place : scriptOf(`import ${JSON.stringify(place.href)};`);
  return { started: new Worker(script, { type: "module" }), place };
}

const scripts = new Map<string, string>();

/** The address of a script in memory, which is kept for the next worker. */
export function scriptOf(text: string): string {
  let address = scripts.get(text);
  if (address === undefined) {
    address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    scripts.set(text, address);
  }
  return address;
}
