// The shell beside bash, in worker threads.

import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Agent, shell } from "../support/installed.mjs";
import { carryOut, checkAnswers, TASKS } from "../support/lines.mjs";

test("c11 lines that agents type are answered as by bash", async () => {
  const bash = await WebAssembly.compile(readFileSync(shell.wasm()));
  checkAnswers(await carryOut(Agent, { bash }, TASKS));
});
