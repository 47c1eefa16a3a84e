// What a value is, whatever realm it comes from: `instanceof` knows only those of its own, and in
// frames, in `node:vm` and in test runners values of several meet.

/** What a value says that it is. */
export function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}

export function isUrl(value: unknown): value is URL {
  return tagOf(value) === "URL";
}

export function isResponse(value: unknown): value is Response {
  return typeof value === "object" && value !== null && "body" in value && "ok" in value;
}

export function isModule(value: unknown): value is WebAssembly.Module {
  return tagOf(value) === "WebAssembly.Module";
}

export function isBytes(value: unknown): value is Uint8Array {
  // A `Buffer` is one, too, and says so.
  return tagOf(value) === "Uint8Array";
}

export function isBuffer(value: unknown): value is ArrayBuffer {
  return tagOf(value) === "ArrayBuffer";
}

export function isError(value: unknown): value is Error {
  return value instanceof Error || tagOf(value) === "Error" || tagOf(value) === "DOMException";
}
