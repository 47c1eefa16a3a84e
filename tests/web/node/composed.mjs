// Agents that a user composes: which tools there are, what the prompt begins with, and what of it
// changes while the agent lives.

import assert from "node:assert/strict";
import { test } from "node:test";
import { failure, reply, serve, toolResults } from "../support/anthropic.mjs";
import { Agent, AgentError, agentAt, Session } from "../support/installed.mjs";

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
    systemPrompt: "You say what to wear.",
    builtins: "none",
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
    ["read-only", ["read_file", "list_dir", "glob", "grep"]],
    [
      ["write_file", "read_file"],
      ["read_file", "write_file"],
    ],
    ["none", []],
  ];
  for (const [builtins, expected] of cases) {
    const server = await serve(reply({ text: "Done." }));
    const agent = await agentAt(server, { builtins });
    await agent.run("Go").result();
    assert.deepEqual(offered(server.requests[0]), expected);
    await agent.close();
    await server.close();
  }
  const server = await serve();
  await assert.rejects(agentAt(server, { builtins: { except: ["rm"] } }), {
    code: "bad_option",
    message: /`builtins`: there is no tool "rm"; there are read_file, /,
  });
  await assert.rejects(agentAt(server, { builtins: "some" }), /`builtins`/);
  await server.close();
});

test("a15 an agent becomes another one while it lives", async () => {
  const server = await serve(reply({ text: "One." }), reply({ text: "Two." }));
  const agent = await agentAt(server, { builtins: "read-only" });
  await agent.run("Go").result();
  const seen = [];
  agent.subscribe(({ type }) => seen.push(type));
  agent.configure({
    systemPrompt: "You are somebody else.",
    builtins: ["write_file"],
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
    [{ config: { id: "x" } }, /id`: it cannot change/],
    [{ config: { limits: { max: 1 } } }, /limits\.max`: there is no `max`/],
    [{ config: 7 }, /`config` must be an object/],
    [{ builtins: ["rm"] }, /there is no tool "rm"/],
    [{ vocabulary: "latin" }, /`vocabulary` must be "native" or "seed"/],
    [{ files: {} }, /there is no option `files` that can be changed/],
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
  const agent = await agentAt(server, { builtins: "none" });
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

const AT_PROVIDERS = [
  ["anthropic", { temperature: 0.3 }],
  ["openai", { temperature: 0.3 }],
  ["groq", { temperature: 0.3 }],
  ["gemini", { generationConfig: { temperature: 0.3 } }],
  ["ollama", { options: { temperature: 0.3 } }],
];

test("c16 the temperature stands where each protocol has it, beside further options", async () => {
  for (const [provider, expected] of AT_PROVIDERS) {
    const sent = [];
    const fetch = async (_url, { body }) => {
      sent.push(JSON.parse(body));
      return new Response("no", { status: 400 });
    };
    // Ollama's own preset closes at a refusal.
    const options = { provider, preset: "modern", model: "m", fetch, temperature: 0.3 };
    const agent = await Agent.create({ ...options, providerOptions: { user: "me" } });
    await agent.run("Go").result();
    agent.configure({ temperature: 0.7 });
    await agent.run("Go").result();
    agent.configure({ temperature: null });
    await agent.run("Go").result();
    const [name] = Object.keys(expected);
    const at = (body) => (name === "temperature" ? body : body[name])?.temperature;
    assert.deepEqual(sent.map(at), [0.3, 0.7, undefined], provider);
    assert.equal(sent[0].user, "me");
    await agent.close();
  }
});

test("c16 the user says whether the model must call a tool", async () => {
  const server = await serve(reply({ text: "One." }), reply({ text: "Two." }));
  const agent = await agentAt(server, { toolChoice: "required" });
  await agent.run("Go").result();
  agent.configure({ toolChoice: { tool: "grep" } });
  await agent.run("Go").result();
  assert.deepEqual(
    server.requests.map(({ body }) => body.tool_choice),
    [{ type: "any" }, { type: "tool", name: "grep" }],
  );
  await agent.close();
  await server.close();
});

test("further headers and parameters of the address go with each request", async () => {
  const sent = [];
  const fetch = async (url, { headers }) => {
    sent.push([url, headers]);
    return new Response("no", { status: 400 });
  };
  const headers = { "X-Team": "blue", "Anthropic-Version": "2099-01-01" };
  const query = { "api-version": "2026-01", q: "a b&c" };
  const options = { provider: "anthropic", model: "m", apiKey: "k-0123456789" };
  const agent = await Agent.create({ ...options, fetch, headers, query });
  await agent.run("Go").result();
  const [[url, got]] = sent;
  assert.equal(url, "https://api.anthropic.com/v1/messages?api-version=2026-01&q=a+b%26c");
  assert.deepEqual([got["x-team"], got["anthropic-version"]], ["blue", "2099-01-01"]);
  assert.equal(got["x-api-key"], "k-0123456789");
  const held = { ...options, model: undefined, fetch, query };
  const again = await Agent.restore(agent.snapshot(), held);
  await again.run("Go").result();
  assert.match(sent[1][0], /\?api-version=2026-01&/);
  for (const each of [agent, again]) await each.close();
});

test("odd words about tools, choice, temperature, headers and query are refused", async () => {
  const server = await serve();
  const odd = [
    [{ builtins: "some" }, /^`builtins` must be "all", "read-only", "none", a list/],
    [{ builtins: "read_only" }, /^`builtins` must be/],
    [{ builtins: { only: ["x"] } }, /^`builtins` must be/],
    [{ builtins: [7] }, /^`builtins` must be/],
    [{ builtins: ["rm"] }, /^`builtins`: there is no tool "rm"; there are read_file/],
    [{ toolChoice: "must" }, /^`toolChoice` must be "auto"/],
    [{ toolChoice: { name: "grep" } }, /^`toolChoice` must be "auto"/],
    [{ temperature: -1 }, /^`temperature` must be a number/],
    [{ temperature: "hot" }, /^`temperature` must be a number/],
    [{ temperature: Infinity }, /^`temperature` must be a number/],
    [{ headers: "x: y" }, /^`headers` must be an object of texts/],
    [{ headers: { a: 7 } }, /^`headers` must be an object of texts/],
    [{ headers: { "no good": "x" } }, /^`headers`: /],
    [{ headers: { "X-Api-Key": "k" } }, /^`headers\.X-Api-Key` is the key's.*`apiKey`/],
    [{ query: { a: null } }, /^`query` must be an object of texts/],
  ];
  for (const [options, message] of odd) {
    await assert.rejects(agentAt(server, options), { code: "bad_option", message });
  }
  await server.close();
});

test("calls that go on and on end their run where nothing else is said", async () => {
  const again = Array.from({ length: 40 }, () => reply({ calls: [["list_dir", {}]] }));
  const server = await serve(...again);
  const agent = await agentAt(server);
  const warnings = [];
  agent.subscribe((event) => event.type === "loop_detection" && warnings.push(event));
  const { status, toolCalls } = await agent.run("Look").result();
  assert.deepEqual([status, toolCalls, warnings.length], ["loop", 30, 3]);
  const { limits } = await Session.config({ provider: "anthropic" });
  assert.equal(limits.max_tool_rounds_per_input, 200);
  await agent.close();
  await server.close();
});
