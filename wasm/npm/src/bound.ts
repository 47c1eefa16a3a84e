// The most memory that a program may have. Nothing refuses a running program more, so that the limit
// is written into its module before it is compiled.

/** 1 GiB, in pages of 64 KiB. */
const MOST_PAGES = 16_384;

/** Length of what begins a module: its magic number and version. */
const HEAD = 8;
/** The section that says how large memories are. */
const MEMORIES = 5;
/** How a memory's size is said: its least only, or its most as well. */
const LEAST_ONLY = 0;
const BOTH = 1;

/**
 * The module with memories that grow to 1 GiB at most, or as they begin if that is more. What has
 * no such section, or is no module, is returned as it is.
 */
export function bounded(module: Uint8Array): Uint8Array {
  for (let at = HEAD; at < module.length;) {
    const size = read(module, at + 1);
    if (size === undefined) return module;
    const end = size.next + size.value;
    if (module[at] === MEMORIES && end <= module.length) {
      const section = memories(module.subarray(size.next, end));
      if (section === undefined) return module;
      const head = [MEMORIES, ...written(section.length)];
      return joined([module.subarray(0, at), head, section, module.subarray(end)]);
    }
    at = end;
  }
  return module;
}

// The content of the section with a limit for each memory; none where it says what is unknown here.
function memories(content: Uint8Array): number[] | undefined {
  const count = read(content, 0);
  if (count === undefined) return undefined;
  const section = written(count.value);
  let at = count.next;
  for (let left = count.value; left > 0; left -= 1) {
    const how = content[at];
    const least = read(content, at + 1);
    if (least === undefined || (how !== LEAST_ONLY && how !== BOTH)) return undefined;
    const most = how === BOTH ? read(content, least.next) : { value: MOST_PAGES, next: least.next };
    if (most === undefined) return undefined;
    const bound = Math.max(least.value, Math.min(most.value, MOST_PAGES));
    section.push(BOTH, ...written(least.value), ...written(bound));
    at = most.next;
  }
  return at === content.length ? section : undefined;
}

// A number of up to 32 bits, in LEB128, and where the next thing begins.
function read(bytes: Uint8Array, at: number): { value: number; next: number } | undefined {
  let value = 0;
  for (let index = 0; index < 5; index += 1) {
    const byte = bytes[at + index];
    if (byte === undefined) return undefined;
    value += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return { value, next: at + index + 1 };
  }
  return undefined;
}

function written(value: number): number[] {
  const bytes = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1]! += 128;
    bytes.push(rest % 128);
  }
  return bytes;
}

function joined(parts: ArrayLike<number>[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
