// The modules of WASI programs: reading their bytes from any source, unpacking and compiling them.

import { bytesOf, concatenated } from "../bytes.js";
import { platform } from "../platform/platform.js";
import { withMemory } from "./memory.js";

/** The largest module, compressed or not: 256 MiB. */
export const MOST_MODULE = 2 ** 28;

/** The first bytes of gzip. */
const GZIP = [0x1f, 0x8b];
/** The bytes of a component after the four that it shares with modules. */
const COMPONENT = [0x0d, 0, 1, 0];

/**
 * Reads the bytes at an address.
 *
 * @throws Error if nothing is there, or more than `most` bytes.
 */
export async function readUrl(url: URL, most: number): Promise<Uint8Array<ArrayBuffer>> {
  const { readFile } = platform();
  if (url.protocol !== "file:" || readFile === undefined) {
    return readResponse(await fetch(url), most);
  }
  const bytes = bytesOf(await readFile(url));
  if (bytes.length > most) throw tooLong(most);
  return bytes;
}

/**
 * Reads a response.
 *
 * @throws Error if its status is not one of success, or it has more than `most` bytes.
 */
export async function readResponse(
  response: Response,
  most: number,
): Promise<Uint8Array<ArrayBuffer>> {
  if (!response.ok) {
    throw new Error(`${response.url || "the server"} answers ${response.status}`);
  }
  return readStream(response.body, most);
}

/**
 * Unpacks bytes that are compressed by gzip; others are returned unchanged.
 *
 * @throws Error if they cannot be unpacked, or become too many for a module.
 */
export async function unpacked(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  if (!GZIP.every((byte, at) => bytes[at] === byte)) return bytes;
  if (typeof DecompressionStream === "undefined") {
    throw new TypeError("it is compressed by gzip, which this platform cannot unpack");
  }
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return readStream(plain, MOST_MODULE);
}

/**
 * Compiles a module with a memory of at most `memory` bytes.
 *
 * @throws Error if it is no module, or has another kind of memory or more from the start.
 */
export async function compile(
  bytes: Uint8Array<ArrayBuffer>,
  memory: number,
): Promise<WebAssembly.Module> {
  if (COMPONENT.every((byte, at) => bytes[4 + at] === byte)) {
    throw new Error("it is a component; build it for WASI preview 1, `wasm32-wasip1`");
  }
  return WebAssembly.compile(withMemory(bytes, memory));
}

async function readStream(
  stream: ReadableStream<Uint8Array> | null,
  most: number,
): Promise<Uint8Array<ArrayBuffer>> {
  if (stream === null) return new Uint8Array();
  const reader = stream.getReader();
  const parts: Uint8Array[] = [];
  let total = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return concatenated(parts);
    parts.push(value);
    total += value.length;
    if (total <= most) continue;
    // Counted while it comes: a length in a header may be wrong, and packed bytes have none.
    reader.cancel().catch(() => {});
    throw tooLong(most);
  }
}

function tooLong(most: number): Error {
  return new Error(`it has more than ${most} bytes`);
}
