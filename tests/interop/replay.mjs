// Replays a corpus of logs in V8: `node replay.mjs MODULE FOLDER`. Prints a log's name and the
// digest of its outputs a line.

import { createHash } from "node:crypto";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { coreOf } from "./core.mjs";

const END = ".log.jsonl";
const [modulePath, folder] = process.argv.slice(2);
const answer = await coreOf(modulePath);

for (const file of (await readdir(folder)).filter((name) => name.endsWith(END)).sort()) {
  const log = await readFile(join(folder, file));
  const outputs = answer(Buffer.concat([Buffer.from('{"replay":null}\n'), log]));
  const digest = createHash("sha256").update(outputs).digest("hex");
  console.log(file.slice(0, -END.length), digest);
}
