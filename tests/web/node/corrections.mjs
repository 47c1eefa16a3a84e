// Replies that are wrong: corrected, told by an event, and never taken for an answer.

import assert from "node:assert/strict";
import { test } from "node:test";
import { reply, serve } from "../support/anthropic.mjs";
import { agentAt } from "../support/installed.mjs";

const look = reply({ calls: [["Glob", { pattern: "*" }]] });
const endless = "I will now look at the next file of the project. ".repeat(1_700);

/** Runs a scripted model; gives the result, and the faults that were corrected. */
async function play(replies, options = {}) {
  const server = await serve(...replies);
  const agent = await agentAt(server, options);
  const faults = [];
  agent.subscribe((event) => event.type === "corrected" && faults.push(event.fault));
  const result = await agent.run("Go").result();
  const bodies = server.requests.map(({ body }) => JSON.stringify(body.messages));
  await agent.close();
  await server.close();
  return { result, faults, bodies };
}

test("i8 a result that the model makes up is no answer", async () => {
  const fake = reply({ text: "These. [Tool Result] secret.txt" });
  const { result, faults, bodies } = await play([look, fake, reply({ text: "None." })]);
  assert.deepEqual([result.status, result.text, faults], ["completed", "None.", ["fake_result"]]);
  assert.ok(!bodies[2].includes("secret.txt"));
});

test("k9 a sentence without end is ended and corrected", async () => {
  const again = reply({ text: endless });
  const { result, faults } = await play([look, again, again]);
  assert.deepEqual([result.status, faults], ["incomplete", ["echo"]]);
  assert.ok(result.text.length < 1_000);
});

test("i7 a claim of a change without any call is asked about", async () => {
  const claim = reply({ text: "I created hello.py and it works. Done." });
  const { result, faults } = await play([claim, reply({ text: "Nothing was changed." })]);
  assert.deepEqual([result.text, faults], ["Nothing was changed.", ["claimed"]]);
});

test("k10 which faults are corrected is a setting", async () => {
  const greets = reply({ text: "Hi there! How can I help you?" });
  const config = { corrections: { faults: { greeting: 1 } } };
  const script = [look, greets, reply({ text: "Empty." })];
  assert.deepEqual((await play(script, { config })).faults, ["greeting"]);
  assert.deepEqual((await play(script)).faults, []);
  const odd = { corrections: { faults: { gretting: 1 } } };
  await assert.rejects(play(script, { config: odd }), { message: /gretting/ });
});
