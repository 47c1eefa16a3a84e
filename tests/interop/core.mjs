// The module without imports in V8: a request in, the bytes of its answer out.

import { readFile } from "node:fs/promises";

/** An instance of the module; its answers stay until the next request. */
export async function coreOf(path) {
  const module = await WebAssembly.compile(await readFile(path));
  const { memory, innerloop_room, innerloop_call } = new WebAssembly.Instance(module).exports;
  // The room stays where it is as long as it is large enough.
  let [room, size] = [0, 0];
  return (request) => {
    if (request.length > size) {
      [room, size] = [innerloop_room(request.length) >>> 0, request.length];
    }
    new Uint8Array(memory.buffer, room, request.length).set(request);
    const packed = BigInt.asUintN(64, innerloop_call(request.length));
    return new Uint8Array(memory.buffer, Number(packed >> 32n), Number(packed & 0xffff_ffffn));
  };
}
