// Node's own modules for the entry of pages, which runs in Node in tests: Jest's environment
// `jsdom` resolves to that entry and lacks `fetch`, `TextDecoder` and the like. Nothing is
// imported, so that bundlers for pages find no `node:` module to complain about.

interface Machine {
  process?: { getBuiltinModule?(name: string): unknown };
}

/** Returns a module such as `node:util`; `undefined` outside of Node and before Node 20.16. */
export function builtin<T>(name: string): T | undefined {
  const { process } = globalThis as Machine;
  return process?.getBuiltinModule?.(name) as T | undefined;
}
