// What Node has, for an entry that may run in it all the same: a test's page in Node, as Jest's
// environment `jsdom` makes one, takes the entry of pages and has no `fetch`, `TextDecoder` and the
// like. Nothing is imported, so that bundlers have nothing to look for.

interface Machine {
  process?: { getBuiltinModule?(name: string): unknown };
}

/** A module of Node's own, such as `node:util`; nothing elsewhere, and in Node before 20.16. */
export function builtin<T>(name: string): T | undefined {
  const { process } = globalThis as Machine;
  return process?.getBuiltinModule?.(name) as T | undefined;
}
