// Failures of the world over real HTTP, and the third-party mock of the protocol.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { LLMock } from "@copilotkit/aimock";
import { endless, failure, reply, serve, stream } from "../support/anthropic.mjs";
import { Agent, agentAt, eventsOf } from "../support/installed.mjs";

test("aimock: a whole run with tools over real HTTP", async () => {
  const mock = new LLMock({ port: 0 });
  mock.loadFixtureFile(fileURLToPath(new URL("../fixtures/aimock.json", import.meta.url)));
  await mock.start();
  const weather = {
    name: "weather",
    description: "The weather in a city",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    execute: async ({ city }) => `rain in ${city}`,
  };
  const agent = await agentAt({ url: mock.url }, { tools: [weather] });
  const run = agent.run("Please note the weather");
  const events = await eventsOf(run);
  const { status, text } = await run.result();
  assert.deepEqual([status, text], ["completed", "Noted: rain in Berlin."]);
  assert.equal(agent.files.readText("notes/weather.md"), "Berlin: rain\n");
  const calls = events.filter(({ type }) => type === "tool_call_end").map(({ name }) => name);
  assert.deepEqual(calls, ["weather", "write_file"]);

  const limited = await agentAt(
    { url: mock.url },
    { retry: { maxRetries: 1, baseMs: 5, maxRetryAfterMs: 0 } },
  );
  const { status: end, error } = await limited.run("Please wait for me").result();
  assert.deepEqual([end, error.kind], ["failed", "rate_limit"]);
  assert.match(error.message, /slow down/);
  await agent.close();
  await limited.close();
  await mock.stop();
});

test("g2 a 429 and a 529 are tried again, and the run goes on", async () => {
  const server = await serve(
    failure(429, "rate_limit_error", "slow down", { "retry-after": "0" }),
    failure(529, "overloaded_error", "too much"),
    reply({ text: "Here I am." }),
  );
  const agent = await agentAt(server);
  const run = agent.run("Hello");
  const events = await eventsOf(run);
  assert.equal((await run.result()).text, "Here I am.");
  const retries = events.filter(({ type }) => type === "retry");
  assert.deepEqual(
    retries.map(({ attempt }) => attempt),
    [2, 3],
  );
  assert.match(retries[0].message, /slow down/);
  await agent.close();
  await server.close();
});

test("a stream that is cut is tried again, and what it said is taken back", async () => {
  const cut = (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const pieces = stream({ text: "This is cut in the middle." });
    response.write(pieces.slice(0, 4).join(""), () => response.destroy());
  };
  const server = await serve(cut, reply({ text: "This is whole." }));
  const agent = await agentAt(server);
  const run = agent.run("Hello");
  const types = (await eventsOf(run)).map(({ type }) => type);
  assert.ok(types.includes("text_reset") && types.includes("retry"));
  assert.equal((await run.result()).text, "This is whole.");
  await agent.close();
  await server.close();
});

test("x10 a reply without end ends at its limit, and the agent goes on", async () => {
  const times = Array.from({ length: 1_000 }, (_, at) => `All work and no play, ${at} times. `);
  const sentence = times.join("");
  const flood = endless(sentence);
  const server = await serve(flood, reply({ text: "Better now." }));
  const agent = await agentAt(server);
  const run = agent.run("Hello");
  let shown = 0;
  for await (const event of run)
    if (event.type === "assistant_text_delta") shown += event.text.length;
  const { status, error } = await run.result();
  assert.deepEqual([status, error.kind], ["failed", "protocol"]);
  assert.match(error.message, /response\.max_kept_bytes/);
  const most = 32 * 2 ** 20;
  assert.ok(shown > most - sentence.length && shown < most + 2 * sentence.length, `${shown}`);
  // The connection is closed, whatever was on its way.
  assert.ok((await flood.gone) < 2 * most);
  assert.equal((await agent.run("And now?").result()).text, "Better now.");
  assert.ok(server.requests[1].text.includes("All work and no play, 0 times. All work"));
  assert.ok(server.requests[1].text.length < 1_000_000);
  await agent.close();
  await server.close();
});

test("g3 a refused key ends its run without a second try, and the agent goes on", async () => {
  const refusal = failure(401, "authentication_error", "invalid x-api-key");
  const server = await serve(refusal, reply({ text: "Now I may." }));
  const agent = await agentAt(server);
  const { status, error } = await agent.run("Hello").result();
  assert.deepEqual([status, error.kind], ["failed", "authentication"]);
  assert.match(error.message, /invalid x-api-key/);
  assert.equal(server.requests.length, 1);
  assert.equal(agent.status().state, "idle");
  assert.equal((await agent.run("Again").result()).text, "Now I may.");
  await agent.close();
  await server.close();
});

test("g3 a refused key closes the agent where the configuration says so", async () => {
  const server = await serve(failure(401, "authentication_error", "invalid x-api-key"));
  const agent = await agentAt(server, { config: { retry: { refusal_closes: true } } });
  assert.equal((await agent.run("Hello").result()).status, "failed");
  assert.equal(agent.status().state, "closed");
  assert.throws(() => agent.run("Again"), { name: "AgentError", code: "closed" });
  await agent.close();
  await server.close();
});

test("a refused connection says where and why", async () => {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  await new Promise((resolve) => server.close(resolve));
  const agent = await agentAt({ url }, { retry: { maxRetries: 1, baseMs: 5 } });
  const { status, error } = await agent.run("Hello").result();
  assert.deepEqual([status, error.kind], ["failed", "network"]);
  assert.ok(error.message.includes(url), error.message);
  assert.match(error.message, /ECONNREFUSED/);
  assert.equal(agent.status().state, "idle");
  await agent.close();
});

test("garbage in place of a reply is a failure with a word, not a crash", async () => {
  const garbage = (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(Buffer.from([0, 255, 254, 10, 100, 97, 116, 97, 58, 123, 10, 10]));
  };
  const server = await serve(garbage, garbage);
  const agent = await agentAt(server, { retry: { maxRetries: 1, baseMs: 5 } });
  const { status, error } = await agent.run("Hello").result();
  assert.equal(status, "failed");
  assert.ok(error.message.length > 10, error.message);
  await agent.close();
  await server.close();
});

test("the option fetch sends the requests, and needs no key", async () => {
  const sent = [];
  const fetch = async (url, init) => {
    sent.push({ url, init });
    const body = stream({ text: "Through your own function." }).join("");
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
  const agent = await Agent.create({ provider: "anthropic", model: "mock-1", fetch });
  assert.equal((await agent.run("Hello").result()).text, "Through your own function.");
  const [{ url, init }] = sent;
  assert.equal(url, "https://api.anthropic.com/v1/messages");
  assert.deepEqual([init.method, init.redirect], ["POST", "manual"]);
  assert.equal(init.headers["x-api-key"], undefined);
  assert.equal(init.headers["anthropic-dangerous-direct-browser-access"], undefined);
  assert.match(JSON.parse(init.body).messages[0].content[0].text ?? "", /Hello/);
  assert.ok(init.signal instanceof AbortSignal);
  await agent.close();
});

test("the option fetch may put another body in the place of ours", async () => {
  const bodies = [];
  const fetch = async (_url, init) => {
    const asked = JSON.parse(init.body);
    init.body = JSON.stringify({ ...asked, metadata: { user_id: "me" } });
    bodies.push(JSON.parse({ ...init }.body));
    const body = stream({ text: "Hello." }).join("");
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
  const agent = await Agent.create({ provider: "anthropic", model: "mock-1", fetch });
  await agent.run("Hello").result();
  assert.deepEqual([bodies[0].metadata.user_id, bodies[0].model], ["me", "mock-1"]);
  await agent.close();
});

test("a model that has gone quiet is given up, counted from its last piece", async () => {
  const begun = performance.now();
  let last;
  const fetch = async () => {
    const [head, ...rest] = stream({ text: "Half of it, and then nothing." });
    const body = new ReadableStream({
      async start(controller) {
        for (const piece of [head, rest[0]]) {
          await new Promise((resolve) => setTimeout(resolve, 250));
          controller.enqueue(new TextEncoder().encode(piece));
          last = performance.now();
        }
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
  const retry = { maxRetries: 0, idleMs: 400 };
  const agent = await Agent.create({ provider: "anthropic", model: "mock-1", fetch, retry });
  const { status, error } = await agent.run("Hello").result();
  const now = performance.now();
  assert.equal(status, "failed");
  assert.match(error.message, /nothing came from the model/);
  assert.ok(now - last >= 395, `given up ${now - last} ms after the last piece`);
  assert.ok(now - begun >= 895, `given up after ${now - begun} ms`);
  await agent.close();
});

test("a request that its fetch holds back is told of, and is not given up as quiet", async () => {
  const fetch = async (_url, { held }) => {
    held(2);
    await new Promise((resolve) => setTimeout(resolve, 600));
    held();
    const body = stream({ text: "At last." }).join("");
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
  const retry = { maxRetries: 0, idleMs: 200 };
  const agent = await Agent.create({ provider: "anthropic", model: "mock-1", fetch, retry });
  const run = agent.run("Hello");
  const queued = (await eventsOf(run)).filter(({ type }) => type === "queued");
  const { status, text } = await run.result();
  assert.deepEqual([status, text], ["completed", "At last."]);
  assert.deepEqual([queued.length, queued[0]?.ahead], [1, 2]);
  await agent.close();
});

test("a fetch that throws or returns nonsense is a failure of the run", async () => {
  const thrown = async () => {
    throw new Error("the proxy is down");
  };
  for (const [fetch, word] of [
    [thrown, /the proxy is down/],
    [() => 7, /no Response/],
  ]) {
    const retry = { maxRetries: 0 };
    const agent = await Agent.create({ provider: "anthropic", model: "mock-1", fetch, retry });
    const { status, error } = await agent.run("Hello").result();
    assert.equal(status, "failed");
    assert.match(error.message, word);
    await agent.close();
  }
});

test("a provider of another protocol gets its own path, header and form", async () => {
  const done = (_request, response) => {
    const chunk = {
      choices: [{ index: 0, delta: { content: "done" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 1000, completion_tokens: 100 },
    };
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
  };
  const server = await serve(done, done);
  const groq = await agentAt(server, { provider: "groq", model: undefined });
  const { status, text } = await groq.run("hello").result();
  assert.deepEqual([status, text], ["completed", "done"]);
  assert.equal(groq.status().costUsd, 0.000_21);
  const [{ url, headers, body }] = server.requests;
  assert.equal(url, "/chat/completions");
  assert.equal(headers.authorization, "Bearer sk-test-0123456789");
  assert.equal(body.model, "openai/gpt-oss-120b");
  const local = await agentAt(server, { provider: "vllm", model: "m", apiKey: undefined });
  assert.equal((await local.run("hello").result()).text, "done");
  assert.equal(server.requests[1].headers.authorization, undefined);
  await Promise.all([groq.close(), local.close(), server.close()]);
});

test("a response of the user's function that comes after the interruption is left alone", async () => {
  const complaints = [];
  const complain = console.error;
  console.error = (...said) => complaints.push(said);
  let answer;
  let cancelled = false;
  const body = new ReadableStream({
    cancel() {
      cancelled = true;
    },
  });
  const fetch = () =>
    new Promise((resolve) => {
      answer = () =>
        resolve(new Response(body, { headers: { "content-type": "text/event-stream" } }));
    });
  const agent = await Agent.create({ provider: "anthropic", model: "m", apiKey: "k", fetch });
  const run = agent.run("Go");
  await new Promise((resolve) => setTimeout(resolve, 5));
  agent.interrupt();
  assert.equal((await run.result()).status, "interrupted");
  answer();
  await new Promise((resolve) => setTimeout(resolve, 5));
  await agent.close();
  console.error = complain;
  assert.deepEqual([complaints, cancelled], [[], true]);
});
