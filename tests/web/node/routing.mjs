// Several models: one that fails is left alone, and the next one takes over, each with a key of its
// own.

import assert from "node:assert/strict";
import { test } from "node:test";
import { failure, reply, serve } from "../support/anthropic.mjs";
import { Agent, agentAt } from "../support/installed.mjs";

const limited = failure(429, "rate_limit_error", "too many requests", { "retry-after": "400" });
const KEY = "sk-other-0123456789";

/** Runs an agent whose model another one may take over from; gives what became of it. */
async function play(own, other, options = {}) {
  const servers = [await serve(...own), await serve(...other)];
  const fallback = { provider: "anthropic", model: "mock-2", baseUrl: servers[1].url };
  const agent = await agentAt(servers[0], {
    fallbacks: [{ ...fallback, apiKey: KEY }],
    headers: { "x-own": "1" },
    ...options,
  });
  const events = [];
  agent.subscribe((event) => event.type === "rerouted" && events.push(event));
  const result = await agent.run("Go").result();
  return { agent, servers, events, result };
}

async function close({ agent, servers }) {
  await agent.close();
  for (const server of servers) await server.close();
}

test("n18 another provider takes over with its own key", async () => {
  const look = reply({ calls: [["Glob", { pattern: "*" }]] });
  const played = await play([look, limited], [reply({ text: "Nothing is there." })]);
  const { result, events, servers, agent } = played;
  assert.deepEqual([result.status, result.text], ["completed", "Nothing is there."]);
  assert.deepEqual(
    events.map(({ failed, to }) => [failed.model, to.model]),
    [["mock-1", "mock-2"]],
  );
  const [{ headers, body }] = servers[1].requests;
  assert.equal(headers["x-api-key"], KEY);
  assert.equal(headers["x-own"], undefined, "the headers are the own provider's");
  assert.equal(body.model, "mock-2");
  assert.equal(servers[0].requests[1].headers["x-own"], "1");
  assert.ok(!JSON.stringify([agent.snapshot(), events]).includes(KEY));
  await close(played);
});

test("n18 a function for the key is asked for the own provider only", async () => {
  let asked = 0;
  const apiKey = () => {
    asked += 1;
    return "sk-asked-0123456789";
  };
  const played = await play([limited], [reply({ text: "Done." })], { apiKey });
  assert.equal(played.result.text, "Done.");
  assert.equal(asked, 1);
  assert.equal(played.servers[1].requests[0].headers["x-api-key"], KEY);
  await close(played);
});

test("n18 a restored agent routes alike", async () => {
  const other = [reply({ text: "Done." }), reply({ text: "Done again." })];
  const { agent, servers } = await play([limited], other);
  const snapshot = agent.snapshot();
  await agent.close();
  const fallback = { provider: "anthropic", model: "mock-2", apiKey: KEY, baseUrl: servers[1].url };
  const again = await Agent.restore(snapshot, {
    provider: "anthropic",
    apiKey: "sk-test-0123456789",
    baseUrl: servers[0].url,
    fallbacks: [fallback],
  });
  assert.equal((await again.run("Again").result()).text, "Done again.");
  assert.equal(servers[0].requests.length, 1, "it is still left alone");
  await close({ agent: again, servers });
});

test("n18 what cannot be a fallback is refused by its name", async () => {
  const at = { url: "http://127.0.0.1:9" };
  for (const [fallbacks, message] of [
    [[{ provider: "anthropik" }], /unknown provider "anthropik"/],
    [[{ provider: "openai" }], /key/],
    [[{ provider: "openai", key: "sk" }], /there is no option `key`/],
    [[{ provider: "ollama", model: "m", tasks: ["cooking"] }], /cooking/],
    [{ provider: "openai" }, /must be a list/],
  ]) {
    await assert.rejects(agentAt(at, { fallbacks }), { message }, JSON.stringify(fallbacks));
  }
});

test("k3 an input goes to the model for its kind of task", async () => {
  const servers = [await serve(reply({ text: "A." })), await serve(reply({ text: "B." }))];
  const fixer = { provider: "anthropic", model: "fixer", apiKey: KEY, baseUrl: servers[1].url };
  const agent = await agentAt(servers[0], { fallbacks: [{ ...fixer, tasks: ["debug"] }] });
  assert.equal((await agent.run("Fix the crash").result()).text, "B.");
  assert.equal((await agent.run("Explain what it does").result()).text, "A.");
  await close({ agent, servers });
});
