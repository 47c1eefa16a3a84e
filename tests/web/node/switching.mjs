// Another provider, another model in the middle of a conversation, and sessions that are restored
// with the options with which agents are created.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { hanging, reply, serve } from "../support/anthropic.mjs";
import { Agent, agentAt, eventsOf } from "../support/installed.mjs";

const KEYS = {
  anthropic: "sk-ant-0123456789",
  openai: "sk-oai-9876543210",
  gemini: "AIza-5556667778",
};

/** A server that speaks Chat Completions, with one reply after the other. */
async function completions(...replies) {
  const requests = [];
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const { url, headers } = request;
    requests.push({ url, headers, body: JSON.parse(Buffer.concat(chunks).toString()) });
    const { text, calls } = replies.shift();
    const tool_calls = calls?.map(([name, args], index) => {
      return { index, id: `oai_${index}`, function: { name, arguments: JSON.stringify(args) } };
    });
    const piece = (choice) => `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(piece({ delta: { content: text, tool_calls } }));
    response.write(piece({ delta: {}, finish_reason: calls ? "tool_calls" : "stop" }));
    response.end("data: [DONE]\n\n");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${server.address().port}/v1`, requests, close };
}

const READ = ["read_file", { file_path: "a.txt" }];

test("the provider changes within a conversation, over two wires and back", async () => {
  const claude = await serve(
    reply({ calls: [READ], text: "I look." }),
    reply({ text: "It says one." }),
    reply({ text: "Both said one." }),
  );
  const gpt = await completions({ calls: [READ] }, { text: "Still one." });
  const agent = await agentAt(claude, {
    apiKey: KEYS.anthropic,
    files: { "a.txt": "one\n" },
    betas: ["a-beta"],
    headers: { "x-theirs": "anthropic" },
    query: { version: "1" },
    providerOptions: { metadata: { user_id: "u" } },
    temperature: 0.5,
  });
  await agent.run("What does a.txt say?").result();
  agent.configure({
    provider: "openai-chat",
    model: "gpt-x",
    apiKey: KEYS.openai,
    baseUrl: gpt.url,
  });
  const run = agent.run("And now?");
  const events = await eventsOf(run);
  const { status, text, error } = await run.result();
  assert.deepEqual([status, text], ["completed", "Still one."], error?.message);
  const [request, next] = gpt.requests;
  assert.equal(request.headers.authorization, `Bearer ${KEYS.openai}`);
  assert.deepEqual(
    [request.headers["x-theirs"], request.headers["anthropic-beta"]],
    [].concat(undefined, undefined),
  );
  assert.equal(request.url, "/v1/chat/completions");
  const { model, messages, metadata, temperature } = request.body;
  assert.deepEqual([model, metadata, temperature], ["gpt-x", undefined, undefined]);
  const said = messages.filter(({ role }) => role !== "system" && role !== "developer");
  assert.deepEqual(
    said.map(({ role }) => role),
    ["user", "assistant", "tool", "assistant", "user"],
  );
  assert.equal(said[1].tool_calls[0].function.name, "read_file");
  assert.match(said[2].content, /one/);
  assert.equal(said[3].content, "It says one.");
  assert.match(next.body.messages.at(-1).content, /one/);
  assert.ok(!JSON.stringify(gpt.requests).includes(KEYS.anthropic), "a key goes nowhere else");
  assert.equal(events.at(-1).type, "processing_end");

  agent.configure({
    provider: "anthropic",
    model: "mock-2",
    apiKey: KEYS.anthropic,
    baseUrl: claude.url,
  });
  assert.equal((await agent.run("What did you both say?").result()).text, "Both said one.");
  const back = claude.requests.at(-1);
  assert.deepEqual([back.headers["x-api-key"], back.body.model], [KEYS.anthropic, "mock-2"]);
  assert.equal(back.body.messages.length, 9);
  assert.ok(!JSON.stringify(claude.requests).includes(KEYS.openai));
  const kept = new TextDecoder().decode(agent.snapshot());
  for (const key of Object.values(KEYS)) assert.ok(!kept.includes(key));
  await agent.close();
  for (const each of [claude, gpt]) await each.close();
});

test("a change to another provider that does not fit leaves all as it was", async () => {
  const server = await serve(reply({ text: "Still here." }));
  const agent = await agentAt(server, { apiKey: KEYS.anthropic });
  for (const [changes, code, message] of [
    [{ provider: "openai" }, "missing_key", /there is no key/],
    [{ provider: "openay" }, "unknown_provider", /openay/],
    [{ provider: "azure", apiKey: "k" }, "bad_option", /`model` is missing/],
    [{ provider: "azure", model: "m", apiKey: "k" }, "bad_option", /`baseUrl` is missing/],
    [
      { provider: "openai", apiKey: "k", headers: { authorization: "x" } },
      "bad_option",
      /`headers\.authorization` is the key's/,
    ],
    [
      { provider: "openai", apiKey: "k", limits: { maxTurns: -1 } },
      "bad_option",
      /limits\.maxTurns/,
    ],
    [
      { provider: "openai", apiKey: "k", config: { loops: { window: "x" } } },
      "bad_option",
      /`config\.loops\.window`/,
    ],
    [
      { config: { model: { endpoint: "openai" } } },
      "bad_option",
      /`config\.model\.endpoint` is the provider's: change `provider`/,
    ],
    [
      { config: { model: { wire: "ollama" } } },
      "bad_option",
      /`config\.model\.wire` is the provider's/,
    ],
    [{ config: { id: "x" } }, "bad_option", /`config\.id`: it cannot change in a session/],
    [{ id: "x" }, "bad_option", /no option `id` that can be changed/],
  ]) {
    assert.throws(() => agent.configure(changes), { name: "AgentError", code, message });
  }
  assert.equal((await agent.run("Hello").result()).text, "Still here.");
  assert.equal(server.requests[0].headers["x-api-key"], KEYS.anthropic);
  await agent.close();
  await server.close();
});

test("another model brings its windows and price, and keeps what the user said", async () => {
  const server = await serve(reply({ text: "a" }), reply({ text: "b" }));
  const agent = await agentAt(server, {
    model: "claude-haiku-4-5",
    reasoningEffort: "low",
    providerOptions: { metadata: { user_id: "u" } },
  });
  const configOf = () => JSON.parse(new TextDecoder().decode(agent.snapshot())).state.config.model;
  const before = configOf();
  agent.configure({ model: "claude-opus-4-5" });
  const after = configOf();
  assert.notDeepEqual(after.price, before.price);
  assert.deepEqual([after.name, after.reasoning_effort], ["claude-opus-4-5", "low"]);
  assert.deepEqual(after.options, before.options);
  agent.configure({ model: "claude-haiku-4-5" });
  assert.deepEqual(configOf(), before);
  await agent.close();
  await server.close();
});

test("an agent is restored with the options with which it was created", async () => {
  const server = await serve(reply({ text: "a" }), reply({ text: "b" }), reply({ text: "c" }));
  const tool = { name: "t", description: "d", execute: () => "x" };
  const options = {
    provider: "anthropic",
    model: "mock-1",
    apiKey: KEYS.anthropic,
    baseUrl: server.url,
    preset: "modern",
    vocabulary: "seed",
    id: "session-1",
    instructions: "Be brief.",
    systemPrompt: "You are a clerk.",
    builtins: ["read_file"],
    temperature: 0.5,
    toolChoice: "auto",
    limits: { maxToolRounds: 7 },
    loops: { window: 5 },
    retry: { maxRetries: 1 },
    timeouts: { defaultMs: 5_000 },
    subagents: { depth: 1 },
    facts: { knowledge_cutoff: "2026-01" },
    maxOutputTokens: 1_000,
    contextWindow: 50_000,
    betas: ["a-beta"],
    providerOptions: { metadata: { user_id: "u" } },
    config: { repair: { continue_on_length: 3 } },
    files: { "a.txt": "a" },
    tools: [tool],
    approve: () => true,
    ask: () => "yes",
    hooks: { beforeTool: () => true },
  };
  const first = await Agent.create(options);
  await first.run("Hello").result();
  const configOf = (agent) => JSON.parse(new TextDecoder().decode(agent.snapshot())).state.config;
  const snapshot = first.snapshot();
  const again = await Agent.restore(snapshot, options);
  assert.deepEqual(configOf(again), configOf(first));
  assert.equal(again.history().length, 2);
  await again.run("And again").result();
  const { system, tools, temperature } = server.requests[1].body;
  assert.deepEqual(
    [system, tools, temperature],
    ["system", "tools", "temperature"].map((name) => server.requests[0].body[name]),
  );
  // What the options say is in force, what they leave out stays.
  const { instructions, systemPrompt, preset, ...others } = options;
  const changed = {
    ...others,
    limits: { maxToolRounds: 9 },
    tools: [tool, { ...tool, name: "t2" }],
  };
  const third = await Agent.restore(snapshot, changed);
  const config = configOf(third);
  assert.deepEqual(
    [config.instructions, config.base_prompt, config.limits.max_tool_rounds_per_input],
    ["Be brief.", "You are a clerk.", 9],
  );
  assert.deepEqual(
    config.tools.map(({ name }) => name),
    ["t", "t2"],
  );
  for (const agent of [first, again, third]) await agent.close();
  // A closed session goes on as another one, which may be given its id.
  const next = await Agent.restore(first.snapshot(), { ...options, id: "session-2" });
  assert.equal(configOf(next).id, "session-2");
  assert.equal(next.history().length, 2);
  await next.close();
  await server.close();
});

test("a session is restored with another provider", async () => {
  const claude = await serve(reply({ text: "I'll remember." }));
  const first = await agentAt(claude);
  await first.run("Remember 7").result();
  const gpt = await completions({ text: "It was 7." });
  const again = await Agent.restore(first.snapshot(), {
    provider: "openai-chat",
    model: "gpt-x",
    apiKey: KEYS.openai,
    baseUrl: gpt.url,
  });
  assert.equal((await again.run("What was it?").result()).text, "It was 7.");
  assert.equal(gpt.requests[0].body.model, "gpt-x");
  for (const each of [first, again, claude, gpt]) await each.close();
});

test("what contradicts the snapshot is refused with a word on what to do", async () => {
  const silence = hanging("Never.");
  const server = await serve(silence);
  const first = await agentAt(server, { id: "one" });
  const idle = first.snapshot();
  first.run("Hello");
  await silence.come;
  const busy = first.snapshot();
  const options = { provider: "anthropic", apiKey: "k", baseUrl: server.url };
  for (const [saved, more, message] of [
    [idle, { id: "two" }, /`id`: this is the session `one`, which keeps its id/],
    [busy, { provider: "openai", model: "m" }, /`provider`: a request to `anthropic` is under way/],
    [idle, { config: { id: "two" } }, /`config\.id`: it cannot change in a session/],
    [idle, { config: { model: { wire: "gemini" } } }, /`config\.model\.wire` is the provider's/],
    [idle, { builtins: ["no_such_tool"] }, /`builtins`: there is no tool "no_such_tool"/],
    [idle, { loops: { window: 0 } }, /`loops\.window`/],
    [idle, { limit: {} }, /there is no option `limit`/],
  ]) {
    const refused = { name: "AgentError", code: "bad_option", message };
    await assert.rejects(Agent.restore(saved, { ...options, ...more }), refused);
  }
  const again = await Agent.restore(idle, { ...options, id: "one" });
  for (const each of [first, again, server]) await each.close();
});
