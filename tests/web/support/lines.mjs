// The command lines that agents type, with bash's answers: the lists, what carries them out in Node
// or in a page, and what is wrong with the answers.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { stream } from "./anthropic.mjs";
import { ROOT } from "./package.mjs";

/** The native host's list, and a short one of the package's own. */
const LISTS = ["tests/fixtures/shell/lines.json", "tests/web/fixtures/shell.json"].map((path) =>
  JSON.parse(readFileSync(join(ROOT, path), "utf8")),
);

/** All lines, each with the files that it finds. */
export const LINES = LISTS.flatMap(({ files, lines }) => lines.map((line) => ({ ...line, files })));

/** What `carryOut` takes: the files, and what a model says that has the line carried out. */
export const TASKS = LINES.map(({ line, files }) => {
  const call = stream({ calls: [["shell", { command: line }]] }).join("");
  return { files, replies: [call, stream({ text: "Done." }).join("")] };
});

/**
 * Has agents carry out the lines, each an agent and files of its own, a few of them at once: their
 * outputs and exit statuses. A page is given this function as text, so that it uses nothing else.
 */
export async function carryOut(Agent, programs, tasks) {
  const carryOutOne = async ({ files, replies }) => {
    const left = [...replies];
    const headers = { "content-type": "text/event-stream" };
    const agent = await Agent.create({
      provider: "anthropic",
      model: "mock-1",
      vocabulary: "seed",
      fetch: () => Promise.resolve(new Response(left.shift(), { headers })),
      files,
      programs,
    });
    let outcome;
    for await (const event of agent.run("Go")) outcome = event.outcome ?? outcome;
    await agent.close();
    const [stdout, stderr] = outcome.parts.map(({ text }) => text);
    return { stdout, stderr, status: outcome.exit };
  };
  const said = [];
  let next = 0;
  const carryOutSome = async () => {
    while (next < tasks.length) {
      const at = next;
      next += 1;
      said[at] = await carryOutOne(tasks[at]);
    }
  };
  await Promise.all([1, 2, 3, 4].map(carryOutSome));
  return said;
}

/** Fails unless each line was answered as by bash, and those that are listed otherwise. */
export function checkAnswers(said) {
  assert.ok(LINES.length >= 300);
  assert.equal(said.length, LINES.length);
  const wrong = LINES.flatMap(({ name, line, stdout, stderr = "", status, differs }, at) => {
    const [bash, ours] = [{ stdout, stderr, status }, said[at]];
    if (!isDeepStrictEqual(bash, ours)) return differs === undefined ? [{ line, bash, ours }] : [];
    return differs === undefined ? [] : [`${name} does not differ any more: ${differs}`];
  });
  assert.deepEqual(wrong, []);
}
