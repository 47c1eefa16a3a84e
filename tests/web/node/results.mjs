// What is handed out of a run: results, errors with what the provider's server said of itself, and
// refusals that name options as the user has written them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ending, failure, reply, serve } from "../support/anthropic.mjs";
import { Agent, agentAt, Session } from "../support/installed.mjs";

const KEY = "sk-test-0123456789";

const FAILURES = [
  [401, "authentication_error", { "request-id": "req_1" }, ["authentication", false, "req_1"]],
  [400, "invalid_request_error", { "x-request-id": "req_2" }, ["invalid_request", false, "req_2"]],
  [429, "rate_limit_error", { "cf-ray": "ray-3" }, ["rate_limit", true, "ray-3"]],
  [529, "overloaded_error", {}, ["overloaded", true, undefined]],
  [500, "api_error", { "request-id": `of ${KEY}` }, ["server", true, undefined]],
];

test("g3 a failed run says status, request id and whether it may go well later", async () => {
  for (const [status, type, headers, expected] of FAILURES) {
    const server = await serve(failure(status, type, "no", headers));
    const agent = await agentAt(server, { retry: { maxRetries: 0 } });
    const { error, ...result } = await agent.run("Hello").result();
    assert.equal(result.status, "failed");
    assert.deepEqual([error.kind, error.retryable, error.requestId], expected);
    assert.equal(error.status, status);
    assert.ok(!JSON.stringify(error).includes(KEY));
    await agent.close();
    await server.close();
  }
});

test("of several tries the last one's status is told, and of a broken one none", async () => {
  const server = await serve(
    failure(529, "overloaded_error", "busy", { "request-id": "req_1" }),
    failure(500, "api_error", "broken", { "request-id": "req_2" }),
    (_request, response) => response.destroy(),
    reply({ text: "Well." }),
  );
  const agent = await agentAt(server, { retry: { maxRetries: 1, baseMs: 1 } });
  const { error } = await agent.run("Hello").result();
  assert.deepEqual([error.status, error.requestId], [500, "req_2"]);
  agent.configure({ config: { retry: { max_retries: 0 } } });
  const { error: broken } = await agent.run("Hello").result();
  assert.deepEqual([broken.kind, broken.retryable, "status" in broken], ["network", true, false]);
  const { status, error: none } = await agent.run("Hello").result();
  assert.deepEqual([status, none], ["completed", undefined]);
  await agent.close();
  await server.close();
});

test("results, status and history are in camelCase", async () => {
  const server = await serve(
    reply({ calls: [["read_file", { file_path: "a.txt" }]] }),
    reply({ text: "Done." }),
  );
  const agent = await agentAt(server, { model: "claude-sonnet-4-5", files: { "a.txt": "a" } });
  const result = await agent.run("Go").result();
  const names = (value) =>
    typeof value === "object" && value !== null
      ? Object.entries(value).flatMap(([name, inner]) => [name, ...names(inner)])
      : [];
  const snake = names([result, agent.status(), agent.history()]).filter((it) => it.includes("_"));
  assert.deepEqual(snake, []);
  assert.ok(result.costUsd > 0 && result.costUsd < 0.01, `${result.costUsd}`);
  await agent.close();
  await server.close();
});

const tool = { name: "t", description: "d", execute() {} };
const WRITTEN = [
  [{ maxOutputTokens: 0 }, /^`maxOutputTokens`: is 0/],
  [{ contextWindow: 1 }, /^`contextWindow`: is 1: it must be more than maxOutputTokens/],
  [{ timeouts: { defaultMs: 0 } }, /^`timeouts\.defaultMs`: is 0: .* to timeouts\.maxMs/],
  [{ limits: { action: "explode" } }, /^`limits\.action`: there is no `explode`; give `idle`/],
  [{ loops: { ladder: ["dance"] } }, /^`loops\.ladder\[0\]`: there is no `dance`/],
  [{ betas: [7] }, /^`betas\[0\]`: it must be a string, not 7$/],
  [{ providerOptions: 7 }, /^`providerOptions`: it must be an object, not 7$/],
  [{ facts: [] }, /^`facts`: it must be an object, not an array$/],
  [{ preset: "baroque" }, /^`preset`: there is no `baroque`; give `seed001`/],
  [{ answer: {} }, /^`answer\.schema` is missing$/],
  [{ answer: { schema: { type: "string" } } }, /^`answer\.schema`: the root/],
  [{ tools: [{ ...tool, parameters: { type: "string" } }] }, /^`t`: its `parameters`: the root/],
  [{ config: { retri: {} } }, /^`config\.retri`: there is no `retri`; there is `id`/],
  [{ config: { model: { max_output_tokens: 0 } } }, /^`config\.model\.max_output_tokens`: is 0/],
  [
    { config: { retry: { max_ms: "x" } } },
    /^`config\.retry\.max_ms`: .* whole number, 0 or more, not "x"$/,
  ],
];

test("a refusal names the option as the user has written it", async () => {
  for (const [options, message] of WRITTEN) {
    const refused = { name: "AgentError", code: "bad_option", message };
    const fine = { provider: "anthropic", model: "m", apiKey: "k" };
    await assert.rejects(Agent.create({ ...fine, ...options }), refused);
  }
  const config = Session.config({ provider: "anthropic", maxOutputTokens: 0.5 });
  await assert.rejects(config, { message: /^`maxOutputTokens` must be a whole number/ });
});

test("a refused change and a refused word name what the user has written", async () => {
  const agent = await Agent.create({ provider: "anthropic", model: "m", apiKey: "k" });
  const refused = (message) => ({ name: "AgentError", code: "bad_option", message });
  const changes = [
    [{ reasoningEffort: 7 }, /^`reasoningEffort` must be a text$/],
    [{ timeouts: { defaultMs: 0 } }, /^`timeouts\.defaultMs`: is 0/],
    [
      { config: { timeouts: { default_command_ms: 0 } } },
      /^`config\.timeouts\.default_command_ms`/,
    ],
    [{ config: { id: "x" } }, /^`config\.id`: it cannot change/],
  ];
  for (const [change, message] of changes) {
    assert.throws(() => agent.configure(change), refused(message));
  }
  const words = [
    [[{ type: "sound" }], /^`\[0\]\.type`: there is no `sound`; give `text`/],
    [[{ text: "x" }], /^`\[0\]\.type` is missing$/],
    [[{ type: "text", text: 7 }], /^`\[0\]\.text`: it must be a string, not 7$/],
  ];
  for (const [parts, message] of words) {
    for (const say of ["run", "steer", "followUp"]) {
      assert.throws(() => agent[say](parts), refused(message));
    }
  }
  await agent.close();
});

test("a run that was cut or refused says so, why, and what there is", async () => {
  for (const [replies, expected] of [
    [
      ["max_tokens", "max_tokens"],
      ["incomplete", "I I", "output_limit"],
    ],
    [["refusal"], ["refused", "I", "refusal"]],
  ]) {
    const server = await serve(...replies.map((reason, at) => ending(at ? " I" : "I", reason)));
    const agent = await agentAt(server);
    const { status, text, error } = await agent.run("Hello").result();
    assert.deepEqual([status, text, error.kind], expected);
    await agent.close();
    await server.close();
  }
});

test("signatures of one model do not go to another", async () => {
  const thinking = { type: "thinking", thinking: "Hm.", signature: "" };
  const events = [
    { type: "message_start", message: { content: [], usage: { input_tokens: 1 } } },
    { type: "content_block_start", index: 0, content_block: thinking },
    {
      type: "content_block_delta",
      index: 0,
      delta: { type: "signature_delta", signature: "c2VhbA==" },
    },
    { type: "content_block_stop", index: 0 },
    { type: "content_block_start", index: 1, content_block: { type: "text", text: "Well." } },
    { type: "content_block_stop", index: 1 },
    { type: "message_delta", delta: { stop_reason: "end_turn" } },
    { type: "message_stop" },
  ];
  const thinks = (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`);
    response.end();
  };
  const server = await serve(thinks, reply({ text: "A" }), reply({ text: "B" }));
  const agent = await agentAt(server, { model: "claude-opus-4-8" });
  for (const model of [undefined, "claude-opus-4-8", "claude-sonnet-5"]) {
    if (model !== undefined) agent.configure({ model });
    assert.equal((await agent.run("Go").result()).status, "completed");
  }
  const sent = server.requests.map(({ body }) => JSON.stringify(body).includes("c2VhbA=="));
  assert.deepEqual(sent, [false, true, false]);
  await agent.close();
  await server.close();
});
