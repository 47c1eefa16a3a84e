// Agents that a user composes: which tools there are, what the prompt begins with, and what of it
// changes while the agent lives.

import assert from "node:assert/strict";
import { test } from "node:test";
import { failure, reply, serve, toolResults } from "../support/anthropic.mjs";
import { AgentError, agentAt } from "../support/installed.mjs";

const weather = {
  name: "weather",
  description: "The weather in a city",
  parameters: { type: "object", properties: { city: { type: "string" } } },
  execute: ({ city }) => `rain in ${city}`,
};

const offered = ({ body }) => (body.tools ?? []).map(({ name }) => name);
const system = ({ body }) => body.system.map(({ text }) => text).join("");

test("an agent that has nothing to do with code can be built", async () => {
  const server = await serve(
    reply({ calls: [["weather", { city: "Rome" }]] }),
    reply({ text: "Take an umbrella." }),
  );
  const agent = await agentAt(server, {
    basePrompt: "You say what to wear.",
    builtinTools: "none",
    tools: [weather],
  });
  const { text } = await agent.run("I go to Rome").result();
  assert.equal(text, "Take an umbrella.");
  assert.deepEqual(toolResults(server.requests[1]), [{ text: "rain in Rome", isError: false }]);
  assert.deepEqual(offered(server.requests[0]), ["weather"]);
  const told = system(server.requests[0]);
  assert.match(told, /^You say what to wear\.\n/);
  assert.doesNotMatch(told, /[Cc]oding|Working directory|git/);
  await agent.close();
  await server.close();
});

test("an agent has the built-in tools that it is to have", async () => {
  const cases = [
    ["read_only", ["read_file", "list_dir", "glob", "grep"]],
    [{ only: ["write_file", "read_file"] }, ["read_file", "write_file"]],
    ["none", []],
  ];
  for (const [builtinTools, expected] of cases) {
    const server = await serve(reply({ text: "Done." }));
    const agent = await agentAt(server, { builtinTools });
    await agent.run("Go").result();
    assert.deepEqual(offered(server.requests[0]), expected);
    await agent.close();
    await server.close();
  }
  const server = await serve();
  await assert.rejects(agentAt(server, { builtinTools: { except: ["rm"] } }), {
    code: "bad_option",
    message: /builtin_tools: there is no tool "rm"; there are read_file, /,
  });
  await assert.rejects(agentAt(server, { builtinTools: "some" }), /builtin_tools/);
  await server.close();
});

test("a15 an agent becomes another one while it lives", async () => {
  const server = await serve(reply({ text: "One." }), reply({ text: "Two." }));
  const agent = await agentAt(server, { builtinTools: "read_only" });
  await agent.run("Go").result();
  const seen = [];
  agent.subscribe(({ type }) => seen.push(type));
  agent.configure({
    basePrompt: "You are somebody else.",
    builtinTools: { only: ["write_file"] },
    instructions: "Be brief.",
    timeouts: { defaultMs: 5000 },
    config: { model: { options: { temperature: 0.5 } }, facts: { project_docs: [] } },
  });
  assert.deepEqual(seen, ["prefix_rebased"]);
  await agent.run("Go on").result();
  const [, request] = server.requests;
  assert.deepEqual(offered(request), ["write_file"]);
  assert.match(system(request), /^You are somebody else\./);
  assert.match(system(request), /Be brief\.$/);
  assert.equal(request.body.temperature, 0.5);
  for (const [changes, message] of [
    [{ config: { id: "x" } }, /id: it cannot change/],
    [{ config: { limits: { max: 1 } } }, /limits\.max: unknown field/],
    [{ config: 7 }, /`config` must be an object/],
    [{ builtinTools: { only: ["rm"] } }, /there is no tool "rm"/],
    [{ vocabulary: "seed" }, /there is no option `vocabulary` that can be changed/],
  ]) {
    assert.throws(() => agent.configure(changes), { code: "bad_option", message });
  }
  await agent.close();
  await server.close();
});

test("c17 tools are registered, replaced and removed while the agent lives", async () => {
  const script = [
    reply({ calls: [["weather", { city: "Rome" }]] }),
    reply({ text: "One." }),
    reply({ text: "Two." }),
    failure(400, "invalid_request_error", "the script is over"),
  ];
  const server = await serve(...script);
  const agent = await agentAt(server, { builtinTools: "none" });
  assert.deepEqual(agent.tools.names(), []);
  agent.tools.register(weather);
  agent.tools.register({ ...weather, execute: () => "sun" });
  agent.tools.register({ ...weather, name: "tides" });
  assert.deepEqual(agent.tools.names(), ["weather", "tides"]);
  assert.equal(agent.tools.get("tides").description, weather.description);
  await agent.run("Rome?").result();
  assert.deepEqual(toolResults(server.requests[1]), [{ text: "sun", isError: false }]);
  assert.equal(agent.tools.unregister("weather"), true);
  assert.equal(agent.tools.unregister("weather"), false);
  await agent.run("And now?").result();
  assert.deepEqual(offered(server.requests[2]), ["tides"]);
  const fork = agent.fork();
  assert.deepEqual(fork.tools.names(), ["tides"]);
  await fork.close();
  assert.throws(() => agent.tools.register({ name: "a b" }), { code: "bad_option" });
  assert.throws(
    () => agent.tools.register({ ...weather, name: "x", parameters: { type: "array" } }),
    AgentError,
  );
  assert.deepEqual(agent.tools.names(), ["tides"]);
  await agent.close();
  assert.throws(() => agent.tools.register(weather), { code: "closed" });
  await server.close();
});
