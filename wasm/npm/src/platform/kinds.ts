// Type guards that hold across realms: `instanceof` knows only the classes of its own realm, and
// frames, `node:vm` and test runners mix values of several.

/** Returns the tag of a value, such as `Uint8Array`, which classes of all realms share. */
export function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}

export function isUrl(value: unknown): value is URL {
  return tagOf(value) === "URL";
}

export function isResponse(value: unknown): value is Response {
  // By its members, not its tag: libraries that stand in for `fetch` have classes of their own.
  return typeof value === "object" && value !== null && "body" in value && "ok" in value;
}

export function isModule(value: unknown): value is WebAssembly.Module {
  return tagOf(value) === "WebAssembly.Module";
}

export function isBytes(value: unknown): value is Uint8Array {
  // A `Buffer` of Node has this tag, too.
  return tagOf(value) === "Uint8Array";
}

export function isBuffer(value: unknown): value is ArrayBuffer {
  return tagOf(value) === "ArrayBuffer";
}

export function isError(value: unknown): value is Error {
  return value instanceof Error || tagOf(value) === "Error" || tagOf(value) === "DOMException";
}
