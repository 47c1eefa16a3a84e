// What turns text into bytes and back. Every platform has it, but a test's page in Node may not:
// Jest's environment `jsdom` leaves it out.

import { builtin } from "./builtin.js";

interface Coders {
  TextDecoder: typeof globalThis.TextDecoder;
  TextEncoder: typeof globalThis.TextEncoder;
}

const found: Partial<Coders> =
  typeof globalThis.TextDecoder === "function" ? globalThis : (builtin<Coders>("node:util") ?? {});

/** What stands in the place of what is not there. */
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
