// What a text delta costs in V8: `node deltas.mjs MODULE SCRIPT COUNT`. Prints the microseconds of
// CPU time for each, its answer read.

import { readFile } from "node:fs/promises";
import { coreOf } from "./core.mjs";

const [modulePath, script, count] = process.argv.slice(2);
const core = await coreOf(modulePath);
const [encoder, decoder] = [new TextEncoder(), new TextDecoder()];

function call(request) {
  const lines = decoder.decode(core(encoder.encode(request))).trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line));
}

const [open, submit, head, chunk, piece] = (await readFile(script, "utf8")).split("\n");
for (const request of [open, submit, head]) call(`${request}\n`);
const delta = `${chunk}\n${piece}\n\n`;
// Until V8's compilers, whose threads count, have done what they do.
for (let n = 0; n < 20_000; n++) call(delta);
const begun = process.cpuUsage();
let told = 0;
for (let n = 0; n < Number(count); n++) {
  told += call(delta).filter((line) => line.event?.type === "assistant_text_delta").length;
}
const { user, system } = process.cpuUsage(begun);
if (told !== Number(count)) throw new Error(`${told} deltas were told`);
console.log(((user + system) / told).toFixed(2));
