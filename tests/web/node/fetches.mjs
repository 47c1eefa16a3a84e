// What a user's own `fetch` may return or throw instead of a response: a failed run with a word,
// never an uncaught exception, never a run or a `close()` that hangs.

import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import { stream } from "../support/anthropic.mjs";
import { Agent } from "../support/installed.mjs";

const OPTIONS = { provider: "anthropic", model: "m", retry: { maxRetries: 1, baseMs: 1 } };
const HEADERS = { "content-type": "text/event-stream" };

const said = () => stream({ text: "Here I am." }).join("");
const fine = () => new Response(said(), { headers: HEADERS });

async function used() {
  const response = fine();
  await response.text();
  return response;
}

function locked() {
  const response = fine();
  response.body.getReader();
  return response;
}

/** As node-fetch has it. */
function ofNode() {
  const headers = new Headers(HEADERS);
  return { ok: true, status: 200, headers, body: Readable.from([said()]), bodyUsed: false };
}

const like = (more) => () => ({ status: 200, headers: new Headers(HEADERS), body: null, ...more });
const holding = (...pieces) =>
  new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });

const NO_RESPONSES = [
  ["undefined", () => undefined, /returned nothing, which is no Response/],
  ["null", async () => null, /returned nothing, which is no Response/],
  ["a number", () => 7, /returned a value of type number, which is no Response/],
  ["a text", () => "fine", /a value of type string, which is no Response/],
  ["{}", () => ({}), /no Response: it has no `status`/],
  ["a status in words", like({ status: "200" }), /its `status` is no number/],
  ["a status out of range", like({ status: 70_000 }), /its `status` is no number/],
  ["ok and json", () => ({ ok: true, status: 200, json: async () => ({}) }), /no `headers`/],
  ["plain headers", like({ headers: { a: "b" } }), /no `headers` that can be listed/],
  ["no body", like({ body: undefined }), /it has no `body`; return `new Response/],
  ["a Node stream", ofNode, /`body` is no ReadableStream; return `new Response/],
  ["a read body", used, /whose body has been read already/],
  ["a locked body", locked, /whose body somebody else reads/],
  [
    "what throws when it is looked at",
    () => Object.defineProperty({}, "status", { get: () => assert.fail("keep off") }),
    /keep off/,
  ],
  ["a body of objects", () => like({ body: holding({ a: 1 }) })(), /holds a value of type object/],
];

const THROWN = [
  ["an error", new TypeError("no way"), /cannot reach .*: no way/],
  ["a text", "just words", /just words/],
  ["undefined", undefined, /it failed without a word/],
  ["an object", { code: "EPROXY" }, /EPROXY/],
  ["a symbol", Symbol("s"), /Symbol\(s\)|type symbol/],
];

/** Runs an agent with this `fetch` to its end, and closes it. */
async function runWith(fetch) {
  const agent = await Agent.create({ ...OPTIONS, fetch });
  const result = await agent.run("Hello").result();
  assert.equal(agent.status().state, "idle", "the agent is usable afterwards");
  await agent.close();
  return result;
}

for (const [what, fetch, message] of NO_RESPONSES) {
  test(`an own fetch that returns ${what} fails its run`, async () => {
    const { status, error } = await runWith(fetch);
    assert.equal(status, "failed");
    assert.match(error.message, message);
  });
}

for (const [what, thrown, message] of THROWN) {
  test(`an own fetch that throws or rejects with ${what} fails its run`, async () => {
    const throws = () => {
      throw thrown;
    };
    for (const fetch of [throws, async () => throws()]) {
      const { status, error } = await runWith(fetch);
      assert.deepEqual([status, error.kind], ["failed", "network"]);
      assert.match(error.message, message);
    }
  });
}

test("a response that is none is not asked for a second time", async () => {
  let asked = 0;
  const { error } = await runWith(() => {
    asked += 1;
    return {};
  });
  assert.deepEqual([asked, error.kind], [1, "host"]);
});

test("a response of another realm or library will do, whatever its pieces are", async () => {
  const bytes = new TextEncoder().encode(said());
  const half = bytes.length >> 1;
  const pieces = [
    [said()],
    [bytes.slice(0, half).buffer, new DataView(bytes.buffer, half)],
    [new Uint8Array(bytes.buffer, 0, half), Buffer.from(bytes.subarray(half))],
  ];
  for (const each of pieces) {
    const headers = new Map(Object.entries(HEADERS));
    const { text } = await runWith(like({ headers, body: holding(...each) }));
    assert.equal(text, "Here I am.");
  }
});

test("an own fetch that never answers holds up neither an interruption nor close", async () => {
  const never = new Promise(() => {});
  const silent = () => like({ body: new ReadableStream({ pull: () => never }) })();
  for (const fetch of [() => never, silent]) {
    const agent = await Agent.create({ ...OPTIONS, fetch });
    const run = agent.run("Hello");
    await new Promise((resolve) => setTimeout(resolve, 10));
    agent.interrupt();
    assert.equal((await run.result()).status, "interrupted");
    const second = agent.run("Again");
    await new Promise((resolve) => setTimeout(resolve, 10));
    // It would wait for ever.
    await agent.close();
    assert.equal((await second.result()).status, "interrupted");
  }
});

test("a body whose cancel throws is left alone when nobody waits for it", async () => {
  let answer;
  const fetch = () => new Promise((resolve) => (answer = resolve));
  const agent = await Agent.create({ ...OPTIONS, fetch });
  const run = agent.run("Hello");
  await new Promise((resolve) => setTimeout(resolve, 10));
  agent.interrupt();
  assert.equal((await run.result()).status, "interrupted");
  const cancel = () => {
    throw new Error("cancelled badly");
  };
  answer(like({ body: { locked: false, getReader: () => {}, cancel } })());
  await new Promise((resolve) => setTimeout(resolve, 10));
  await agent.close();
});
