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
  const corrections = { faults: { greeting: 1 } };
  const script = [look, greets, reply({ text: "Empty." })];
  assert.deepEqual((await play(script, { corrections })).faults, ["greeting"]);
  assert.deepEqual((await play(script, { config: { corrections } })).faults, ["greeting"]);
  assert.deepEqual((await play(script)).faults, []);
  const none = { faults: { greeting: 2 }, maxAfterCalls: 0 };
  assert.deepEqual((await play(script, { corrections: none })).faults, []);
  for (const [odd, message] of [
    [{ faults: { gretting: 1 } }, /`corrections\.faults\.gretting`/],
    [{ faults: { greeting: -1 } }, /`corrections\.faults\.greeting`/],
    [{ maxPerRun: 0.5 }, /`corrections\.maxPerRun`/],
    [{ mostPerRun: 1 }, /no option `corrections\.mostPerRun`/],
    [true, /`corrections` must be an object/],
  ]) {
    const refused = { name: "AgentError", code: "bad_option", message };
    await assert.rejects(play(script, { corrections: odd }), refused);
  }
});

test("i7 corrections are changed in the middle, and left out by `false`", async () => {
  const claim = reply({ text: "I created hello.py and it works. Done." });
  assert.deepEqual((await play([claim], { corrections: false })).faults, []);
  const server = await serve(claim, claim, reply({ text: "Nothing was changed." }));
  const agent = await agentAt(server, { corrections: false });
  const faults = [];
  agent.subscribe((event) => event.type === "corrected" && faults.push(event.fault));
  assert.match((await agent.run("Go").result()).text, /hello/);
  agent.configure({ corrections: { faults: { claimed: 1 } } });
  assert.equal((await agent.run("Go").result()).text, "Nothing was changed.");
  assert.deepEqual(faults, ["claimed"]);
  await agent.close();
  await server.close();
});
