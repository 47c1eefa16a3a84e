// The platform of pages, for both of their entries.

import { builtin } from "./builtin.js";
import { isUrl } from "./kinds.js";
import { importPackage } from "./named.js";
import { type ModuleSource, noWorker, type Platform } from "./platform.js";

/** Returns the platform of a page; the entry says where its module and worker come from. */
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
            // Browsers fire an event without a message if the script could not be loaded.
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

// The module at a place: fetched, or read from the disk where a test in Node stands in for a page.
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

/**
 * Starts the worker whose script is at an address, also if that is of another origin, such as a
 * CDN's.
 */
export function workerAt(address: URL): { started: Worker; place: URL } {
  // Some bundlers put in an object whose `href` has no origin.
  const place = new URL(address.href, location.href);
  // A page must not start a worker from another origin, but a module of its own may import one.
  const isOwn = place.origin === location.origin;
  const script = isOwn ? place : scriptOf(`import ${JSON.stringify(place.href)};`);
  return { started: new Worker(script, { type: "module" }), place };
}

const scripts = new Map<string, string>();

/**
 * Returns the address of a script in memory. It is never revoked: each program starts a worker of
 * the same script.
 */
export function scriptOf(text: string): string {
  let address = scripts.get(text);
  if (address === undefined) {
    address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    scripts.set(text, address);
  }
  return address;
}
