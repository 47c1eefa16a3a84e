// The most memory that a module may have, written into the module itself before it is compiled:
// nothing refuses a running instance more.

import { concatenated } from "../bytes.js";

/** What a memory is measured by. */
const PAGE = 64 * 2 ** 10;
/** Most pages of a memory with addresses of 32 bits. */
const MOST_PAGES = 2 ** 16;

/** What a module begins with: its magic number, and the version. */
const HEAD = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
const MEMORY_SECTION = 5;
/** How a memory's size is said: its least only, or its most as well. */
const LEAST_ONLY = 0;
const BOTH = 1;

/**
 * The module with a memory that grows to so many bytes at most. What is no module, or ends too
 * early, comes back as it is: who compiles it says why.
 *
 * @throws Error where its memory is larger from the start, or is of another kind than programs of
 *   preview 1 have: shared, with addresses of 64 bits, or one of several.
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

// The content of the section, with at most so many pages.
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

/** Numbers as modules write them. Beyond the end there are zeros, and `at` says so. */
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
