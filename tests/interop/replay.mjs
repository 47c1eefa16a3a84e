// Replays a corpus of logs in V8: `node replay.mjs MODULE FOLDER`. Prints a log's name and the
// digest of its outputs a line.

import { createHash } from "node:crypto";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";

const END = ".log.jsonl";
const [modulePath, folder] = process.argv.slice(2);
const module = await WebAssembly.compile(await readFile(modulePath));
const { memory, innerloop_room, innerloop_call } = new WebAssembly.Instance(module).exports;

function answer(request) {
  const room = innerloop_room(request.length) >>> 0;
  new Uint8Array(memory.buffer, room, request.length).set(request);
  const packed = BigInt.asUintN(64, innerloop_call(request.length));
  return new Uint8Array(memory.buffer, Number(packed >> 32n), Number(packed & 0xffff_ffffn));
}

for (const file of (await readdir(folder)).filter((name) => name.endsWith(END)).sort()) {
  const log = await readFile(join(folder, file));
  const outputs = answer(Buffer.concat([Buffer.from('{"replay":null}\n'), log]));
  const digest = createHash("sha256").update(outputs).digest("hex");
  console.log(file.slice(0, -END.length), digest);
}
