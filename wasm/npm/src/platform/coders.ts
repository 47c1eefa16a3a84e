// `TextDecoder` and `TextEncoder`. Every platform has them, but Jest's environment `jsdom` leaves
// them out: there they come from `node:util`.

import { builtin } from "./builtin.js";

interface Coders {
  TextDecoder: typeof globalThis.TextDecoder;
  TextEncoder: typeof globalThis.TextEncoder;
}

const found: Partial<Coders> =
  typeof globalThis.TextDecoder === "function" ? globalThis : (builtin<Coders>("node:util") ?? {});

/** A stand-in that throws on use, not on import: most of the package works without the coders. */
class Missing {
  constructor() {
    throw new Error(
      "there is no `TextDecoder` here: set `globalThis.TextDecoder` and `TextEncoder` to those of " +
        "`node:util` before the package is imported",
    );
  }
}

export const TextDecoder = (found.TextDecoder ?? Missing) as Coders["TextDecoder"];
export const TextEncoder = (found.TextEncoder ?? Missing) as Coders["TextEncoder"];
