// The package's module with little memory, so that too much work is a trap in it.

import { readFileSync } from "node:fs";

const PAGE = 64 * 1024;
const MEMORY_SECTION = 5;

/** The module at `path` whose memory grows to so many bytes at most. */
export function capped(path, most) {
  const bytes = readFileSync(path);
  let at = 8;
  const number = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++];
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  };
  for (;;) {
    const begin = at;
    const id = bytes[at++];
    const end = number() + at;
    if (id !== MEMORY_SECTION) {
      at = end;
      continue;
    }
    const [count, flags, least] = [number(), number(), number()];
    if (count !== 1 || flags > 1) throw new Error("the module has another memory than it had");
    const content = [1, 1, ...leb(least), ...leb(most / PAGE)];
    const section = Buffer.from([MEMORY_SECTION, ...leb(content.length), ...content]);
    const parts = [bytes.subarray(0, begin), section, bytes.subarray(end)];
    return new WebAssembly.Module(Buffer.concat(parts));
  }
}

function leb(value) {
  return value < 128 ? [value] : [(value % 128) | 0x80, ...leb(Math.floor(value / 128))];
}

/** Notes every instance that is made from now on. */
export function instances() {
  const made = [];
  const { Instance } = WebAssembly;
  WebAssembly.Instance = class extends Instance {
    constructor(...given) {
      super(...given);
      made.push(this);
    }
  };
  return made;
}

/** The bytes of an instance's memory. */
export function memoryOf({ exports }) {
  const memory = Object.values(exports).find((each) => each instanceof WebAssembly.Memory);
  return memory.buffer.byteLength;
}
