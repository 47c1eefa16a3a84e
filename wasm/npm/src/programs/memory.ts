// The limit of a module's memory, written into the module before it is compiled: JavaScript offers
// no way to refuse a running instance more memory.

import { concatenated } from "../bytes.js";

/** The size of a page of memory in bytes. */
const PAGE = 64 * 2 ** 10;
/** The most pages of a memory with addresses of 32 bits. */
const MOST_PAGES = 2 ** 16;

/** The first bytes of a module: the magic number and the version. */
const HEAD = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
const MEMORY_SECTION = 5;
/** The flags of a memory: its least size only, or its most as well. */
const LEAST_ONLY = 0;
const BOTH = 1;

/**
 * Returns the module with a memory that grows to at most `most` bytes. Bytes that are no module, or
 * end too early, are returned unchanged: compiling them tells what is wrong.
 *
 * @throws Error if its memory is larger from the start, or of a kind that programs of preview 1 do
 *   not have: shared, with addresses of 64 bits, or one of several.
 */
export function withMemory(module: Uint8Array<ArrayBuffer>, most: number): Uint8Array<ArrayBuffer> {
  if (!HEAD.every((byte, at) => module[at] === byte)) return module;
  const reader = new Reader(module, HEAD.length);
  while (reader.at < module.length) {
    const begin = reader.at;
    const id = reader.byte();
    const end = reader.number() + reader.at;
    if (id === MEMORY_SECTION) {
      const content = limited(reader, Math.min(Math.floor(most / PAGE), MOST_PAGES));
      if (reader.at !== end) throw new Error("its section of memories is malformed");
      const section = [id, ...leb(content.length), ...content];
      return concatenated([module.subarray(0, begin), section, module.subarray(end)]);
    }
    reader.at = end;
  }
  return module;
}

// The section's content with the limit in it.
function limited(reader: Reader, pages: number): number[] {
  const count = reader.number();
  if (count === 0) return leb(0);
  if (count > 1) throw new Error("it has several memories, and a program has one");
  const flags = reader.byte();
  if (flags !== LEAST_ONLY && flags !== BOTH) {
    throw new Error("its memory is shared or has addresses of 64 bits: preview 1 has no such");
  }
  const least = reader.number();
  const most = flags === BOTH ? reader.number() : MOST_PAGES;
  if (least > pages) {
    const [has, may] = [least, pages].map((each) => `${(each * PAGE) / 2 ** 20} MiB`);
    throw new Error(`it begins with ${has} of memory and may have ${may}`);
  }
  return [...leb(count), BOTH, ...leb(least), ...leb(Math.min(most, pages))];
}

/** A reader of a module's numbers. Beyond the end it reads zeros, and `at` goes past the end. */
class Reader {
  constructor(
    readonly bytes: Uint8Array,
    public at: number,
  ) {}

  byte(): number {
    return this.bytes[this.at++] ?? 0;
  }

  /** A number of up to 32 bits, in LEB128. */
  number(): number {
    let number = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte();
      // Not by shifts, which are of 32 bits with a sign.
      number += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) break;
    }
    return number;
  }
}

function leb(number: number): number[] {
  const bytes: number[] = [];
  for (let rest = number; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest % 128) | 0x80);
  }
}
