// A conversation that is made shorter: when asked, by a hook of one's own, or not.

import assert from "node:assert/strict";
import { test } from "node:test";
import { hanging, reply, serve } from "../support/anthropic.mjs";
import { Agent, agentAt } from "../support/installed.mjs";

const KEY = "sk-test-0123456789";
const said = (text, usage) => reply({ text, usage });

/** An agent that has had four turns, and what comes of a summary. */
async function talked(options, ...more) {
  const words = Array.from({ length: 200 }, (_, at) => `Long answer ${at}. `).join("");
  const answers = [1, 2, 3, 4].map((number) => said(words, [number * 1000, 750]));
  const server = await serve(...answers, ...more);
  const agent = await agentAt(server, options);
  for (const number of [1, 2, 3, 4]) await agent.run(`Question ${number}`).result();
  const close = async () => {
    await agent.close();
    await server.close();
  };
  return { agent, server, close };
}

test("j14 an agent sums its conversation up when it is asked to", async () => {
  const { agent, server, close } = await talked({}, said("It was long."), said("Five."));
  await assert.rejects(agent.compact(7), { name: "AgentError", code: "bad_option" });
  const told = await agent.compact("the numbers");
  assert.deepEqual([told.type, told.kind, told.why], ["compacted", "summary", "asked"]);
  assert.ok(told.after < told.before, JSON.stringify(told));
  const { messages } = server.requests[4].body;
  assert.match(messages[0].content[0].text, /Look above all at this: the numbers$/);
  assert.equal((await agent.run("Question 5").result()).text, "Five.");
  const first = JSON.stringify(server.requests[5].body.messages[0]);
  assert.match(first, /It was long\./);
  assert.match(first, /> Question 1/);
  assert.equal(agent.history().filter(({ type }) => type === "user").length, 5, "nothing is lost");
  await close();
});

test("j14 there is nothing to sum up in a young conversation", async () => {
  const agent = await Agent.create({ provider: "ollama", model: "m" });
  await assert.rejects(agent.compact(), { name: "AgentError", code: "nothing" });
  await agent.close();
});

test("j14 a summary that was under way goes on after a restore, without a run", async () => {
  const { agent, server, close } = await talked({}, hanging("Never."), said("It was long."));
  void agent.compact();
  while (server.requests.length < 5) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual([agent.status().compacting, agent.current], [true, undefined]);
  const snapshot = agent.snapshot();
  agent.interrupt();
  const heard = [];
  const onEvent = ({ type }) => heard.push(type);
  const options = { provider: "anthropic", apiKey: KEY, baseUrl: server.url, onEvent };
  const again = await Agent.restore(snapshot, options);
  assert.equal(again.current, undefined);
  while (!heard.includes("compacted")) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual([again.status().compacting, again.status().state], [undefined, "idle"]);
  await again.close();

  const stopped = await Agent.restore(snapshot, options);
  stopped.interrupt();
  assert.equal(stopped.status().state, "idle");
  await stopped.close();
  await close();
});

test("j23 a hook of one's own stands for the model", async () => {
  const seen = [];
  const compact = (turns) => {
    seen.push(turns);
    return { replace: "Kept elsewhere." };
  };
  const { agent, server, close } = await talked({ hooks: { compact } }, said("Five."));
  assert.equal((await agent.compact()).type, "compacted");
  assert.match(seen[0].transcript, /\[User\]\nQuestion 1/);
  await agent.run("Question 5").result();
  assert.match(JSON.stringify(server.requests[4].body.messages[0]), /Kept elsewhere\./);
  await close();
});

test("m4 what is wrong with the option is told, and what is right is in force", async () => {
  const create = (compaction) => Agent.create({ provider: "ollama", model: "m", compaction });
  for (const wrong of [true, { to: { percent: 5 } }, { from: 1 }, { at: { percent: "x" } }]) {
    await assert.rejects(create(wrong), { name: "AgentError", code: "bad_option" });
  }
  const options = { compaction: { at: { used: 4000 } } };
  const { agent, close } = await talked(options, said("Sum."), said("Five."));
  const events = [];
  agent.subscribe((event) => events.push(event.type));
  assert.equal((await agent.run("Question 5").result()).text, "Five.");
  assert.deepEqual(
    events.filter((type) => type.startsWith("compact")),
    ["compaction_started", "compacted"],
  );
  await close();
});
