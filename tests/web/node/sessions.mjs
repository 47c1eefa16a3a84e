// Snapshots, and several agents side by side.

import assert from "node:assert/strict";
import { test } from "node:test";
import { hanging, reply, serve, toolResults } from "../support/anthropic.mjs";
import { Agent, agentAt } from "../support/installed.mjs";

const KEY = "sk-test-0123456789";

test("a restored agent knows the conversation, and goes on with it", async () => {
  const server = await serve(reply({ text: "I'll remember." }), reply({ text: "It was 7." }));
  const first = await agentAt(server);
  await first.run("Remember 7").result();
  const snapshot = first.snapshot();
  await first.close();

  const again = await Agent.restore(snapshot, {
    provider: "anthropic",
    apiKey: KEY,
    baseUrl: server.url,
  });
  assert.equal(again.status().turns, 2);
  assert.equal((await again.run("What was it?").result()).text, "It was 7.");
  const { messages, model } = server.requests[1].body;
  assert.deepEqual(
    messages.map(({ role }) => role),
    ["user", "assistant", "user"],
  );
  assert.equal(model, "mock-1");
  await again.close();
  await server.close();
});

test("a run that was under way goes on after a restore: the request is sent again", async () => {
  const silence = hanging("Never.");
  const server = await serve(silence, reply({ text: "After all." }));
  const first = await agentAt(server);
  first.run("Hello");
  await new Promise((resolve) => setTimeout(resolve, 30));
  const snapshot = first.snapshot();
  await first.close();
  const again = await Agent.restore(snapshot, {
    provider: "anthropic",
    apiKey: KEY,
    baseUrl: server.url,
  });
  const result = await again.current.result();
  assert.deepEqual([result.status, result.text], ["completed", "After all."]);
  assert.deepEqual(server.requests[1].body, server.requests[0].body);
  await again.close();
  await server.close();
});

test("a run that waits for a person goes on after a restore: they are asked again", async () => {
  const write = reply({ calls: [["write_file", { file_path: "a", content: "x" }]] });
  const server = await serve(write, reply({ text: "Written." }));
  let isAsked;
  const asked = new Promise((resolve) => (isAsked = resolve));
  const approve = () => {
    isAsked();
    return new Promise(() => {});
  };
  const first = await agentAt(server, { approve });
  first.run("Write");
  await asked;
  const snapshot = first.snapshot();
  const options = { provider: "anthropic", apiKey: KEY, baseUrl: server.url };
  const again = await Agent.restore(snapshot, { ...options, approve: () => true });
  assert.equal((await again.current.result()).text, "Written.");
  assert.equal(again.current, undefined);
  await again.close();
  await first.close();
  await server.close();
});

test("a tool that ran when the snapshot was taken is reported lost, not run again", async () => {
  const server = await serve(reply({ calls: [["pay", {}]] }), reply({ text: "I see." }));
  let paid = 0;
  const pay = {
    name: "pay",
    description: "Pays",
    execute: () => {
      paid += 1;
      return new Promise(() => {});
    },
  };
  const first = await agentAt(server, { tools: [pay] });
  for await (const { type } of first.run("Pay")) {
    if (type !== "tool_call_start") continue;
    await new Promise((resolve) => setTimeout(resolve, 10));
    break;
  }
  // The loop above interrupts on leaving, so the snapshot of the running tool is another agent's.
  await first.close();
  assert.equal(paid, 1);

  const other = await serve(reply({ calls: [["pay", {}]] }), reply({ text: "I see." }));
  const second = await agentAt(other, { tools: [pay] });
  let snapshot;
  second.subscribe(({ type }) => {
    if (type === "tool_call_start") setTimeout(() => (snapshot = second.snapshot()), 10);
  });
  second.run("Pay");
  while (snapshot === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(paid, 2);
  const options = { provider: "anthropic", apiKey: KEY, baseUrl: other.url, tools: [pay] };
  const again = await Agent.restore(snapshot, options);
  assert.equal((await again.current.result()).text, "I see.");
  assert.equal(paid, 2);
  const [{ isError }] = toolResults(other.requests[1]);
  assert.equal(isError, true);
  await again.close();
  await second.close();
  await other.close();
  await server.close();
});

test("what is no snapshot is refused", async () => {
  const options = { provider: "anthropic", apiKey: KEY };
  const refused = { name: "AgentError", code: "bad_snapshot" };
  for (const bytes of [
    new Uint8Array(),
    new Uint8Array([255, 0]),
    new TextEncoder().encode("{}"),
  ]) {
    await assert.rejects(Agent.restore(bytes, options), refused);
  }
  await assert.rejects(Agent.restore(7, options), refused);
  await assert.rejects(Agent.restore("text", options), { name: "AgentError", code: "bad_log" });
  const agent = await Agent.create({ ...options, model: "m" });
  const damaged = agent.snapshot().slice(0, -9);
  await assert.rejects(Agent.restore(damaged, options), refused);
  await assert.rejects(Agent.restore(agent.snapshot(), { provider: "anthropic" }), {
    code: "missing_key",
  });
  await agent.close();
});

test("agents side by side share nothing", async () => {
  const server = await serve();
  const servers = await Promise.all([1, 2, 3].map((n) => serve(reply({ text: `I am ${n}.` }))));
  const agents = await Promise.all(
    servers.map((at, n) => agentAt(at, { files: { [`${n}.txt`]: "" } })),
  );
  const results = await Promise.all(agents.map((agent) => agent.run("Who are you?").result()));
  assert.deepEqual(
    results.map(({ text }) => text),
    ["I am 1.", "I am 2.", "I am 3."],
  );
  assert.deepEqual(
    agents.map(({ files }) => files.list()),
    [["0.txt"], ["1.txt"], ["2.txt"]],
  );
  const ids = agents.map(
    (agent) => JSON.parse(new TextDecoder().decode(agent.snapshot())).state.config.id,
  );
  assert.equal(new Set(ids).size, 3);
  for (const id of ids)
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-/);
  for (const agent of agents) await agent.close();
  for (const each of [server, ...servers]) await each.close();
});
