// The most memory that a module may have, written into the module itself: there is no other way to
// limit what an engine lets it have.

const PAGE = 64 * 2 ** 10;
const MOST_PAGES = 2 ** 16;

/** The header of a module; what follows are sections. */
const HEADER = 8;
const MEMORY_SECTION = 5;
const HAS_MOST = 1;

/** A module whose memory is larger from the start than it may be. */
export class TooLarge extends Error {}

/**
 * The module with memories that grow to so many bytes at most. What is no module comes back as it
 * is: who compiles it says why.
 *
 * @throws TooLarge
 */
export function withMemory(
  module: Uint8Array<ArrayBuffer>,
  most: number,
): Uint8Array<ArrayBuffer> {
  const reader = new Reader(module);
  reader.at = HEADER;
  while (reader.at < module.length) {
    const begin = reader.at;
    const id = reader.byte();
    const end = reader.number() + reader.at;
    if (id !== MEMORY_SECTION) {
      reader.at = end;
      continue;
    }
    const content = memories(reader, Math.min(Math.floor(most / PAGE), MOST_PAGES));
    if (content === undefined || reader.at !== end) return module;
    const section = [id, ...leb(content.length), ...content];
    const parts = [module.subarray(0, begin), section, module.subarray(end)];
    const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  }
  return module;
}

// The section with other limits; nothing if a memory is of a kind that preview 1 does not know.
function memories(reader: Reader, pages: number): number[] | undefined {
  const count = reader.number();
  const content = leb(count);
  for (let index = 0; index < count; index += 1) {
    const flags = reader.byte();
    if ((flags & ~HAS_MOST) !== 0) return undefined;
    const least = reader.number();
    const most = flags === HAS_MOST ? reader.number() : MOST_PAGES;
    if (!(reader.at <= reader.bytes.length)) return undefined;
    if (least > pages) {
      const [has, may] = [least, pages].map((each) => `${(each * PAGE) / 2 ** 20} MiB`);
      throw new TooLarge(`it begins with ${has} of memory and may have ${may}`);
    }
    content.push(HAS_MOST, ...leb(least), ...leb(Math.min(most, pages)));
  }
  return content;
}

/** Numbers as modules write them. Beyond the end there are zeros, and `at` says so. */
class Reader {
  at = 0;

  constructor(readonly bytes: Uint8Array) {}

  byte(): number {
    return this.bytes[this.at++] ?? 0;
  }

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
