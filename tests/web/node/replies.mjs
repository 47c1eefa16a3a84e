// What tools in JavaScript return: parts, pictures, results of the Model Context Protocol,
// generators.

import assert from "node:assert/strict";
import { test } from "node:test";
import { reply, serve } from "../support/anthropic.mjs";
import { agentAt, eventsOf } from "../support/installed.mjs";

const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47]);
const DATA = "iVBORw==";
const image = { type: "image", media_type: "image/png", data: DATA };

/** Lets the model call a tool once for each of these, and returns what it reads and the events. */
async function outcomes(returns, more = {}) {
  const calls = returns.map(() => ["look", {}]);
  const server = await serve(reply({ calls }), reply({ text: "Done." }));
  const left = [...returns];
  const execute = (args, context) => {
    const next = left.shift();
    return typeof next === "function" ? next(args, context) : next;
  };
  const tools = [{ name: "look", description: "Looks", execute, ...more }];
  const agent = await agentAt(server, { tools });
  const events = await eventsOf(agent.run("Go"));
  const ends = events.filter(({ type }) => type === "tool_call_end");
  const read = server.requests[1].body.messages.at(-1).content;
  await agent.close();
  await server.close();
  return { outcomes: ends.map(({ outcome }) => outcome), events, read };
}

const text = (said) => ({ type: "text", text: said });
const link = { type: "resource_link", uri: "file:///a.txt", name: "a" };
const PARTS = [
  [image, [image]],
  [{ type: "image", mimeType: "image/png", data: PNG }, [image]],
  [
    [text("see"), { type: "image", mediaType: "image/png", data: DATA }],
    [text("see"), image],
  ],
  [
    { text: "see", parts: [{ type: "image", mimeType: "image/png", data: PNG }] },
    [text("see"), image],
  ],
  [new Blob([PNG], { type: "image/png" }), [image]],
  [new Blob(["words"], { type: "text/plain" }), [text("words")]],
  [
    new Blob([PNG], { type: "application/pdf" }),
    [{ type: "file", media_type: "application/pdf", name: "file", data: DATA }],
  ],
  [
    { content: [text("from afar"), { ...image, media_type: undefined, mimeType: "image/png" }] },
    [text("from afar"), image],
  ],
  [
    { content: [{ type: "resource", resource: { uri: "a", text: "of it" } }, link] },
    [text("of it"), text("a: file:///a.txt")],
  ],
  [
    { content: [{ type: "resource", resource: { uri: "b", blob: DATA, mimeType: "image/png" } }] },
    [image],
  ],
  [{ content: [], structuredContent: { n: 1 } }, [text('{"n":1}')]],
  [{ content: [] }, [text("done")]],
  // What only looks like one of these is JSON.
  [{ content: [], total: 0 }, [text('{"content":[],"total":0}')]],
  [{ content: ["a"] }, [text('{"content":["a"]}')]],
  [[text("a"), 7], [text('[{"type":"text","text":"a"},7]')]],
  [[], [text("[]")]],
  [{ type: "image" }, [text('{"type":"image"}')]],
];

test("what a tool shows comes as parts, whatever the form", async () => {
  const { outcomes: found } = await outcomes(PARTS.map(([returned]) => returned));
  found.forEach(({ parts, error }, at) => {
    assert.deepEqual([parts, error], [PARTS[at][1], undefined], JSON.stringify(PARTS[at][0]));
  });
});

test("a result of the Model Context Protocol may be an error, with details for people", async () => {
  const failed = { content: [text("no such file")], isError: true };
  const structured = { content: [text("1 row")], structuredContent: { rows: 1 } };
  const { outcomes: found, read } = await outcomes([failed, structured]);
  assert.deepEqual([found[0].error, read[0].is_error], ["crashed", true]);
  assert.match(read[0].content, /no such file/);
  assert.deepEqual([found[1].details, read[1].content], [{ rows: 1 }, "1 row"]);
});

test("an error that a tool returns is an error result, in its own words", async () => {
  const failed = new TypeError("no such city");
  const { outcomes: found, read } = await outcomes([failed, { tried: 2, error: failed }]);
  assert.deepEqual(
    [found[0].error, found[0].parts],
    ["crashed", [text("TypeError: no such city")]],
  );
  assert.equal(read[0].is_error, true);
  assert.deepEqual(JSON.parse(found[1].parts[0].text), {
    tried: 2,
    error: { name: "TypeError", message: "no such city" },
  });
});

test("what JSON would call an empty object is what it holds", async () => {
  const given = [
    new Map([["a", new Map([["b", 1]])]]),
    new Map([[1, "one"]]),
    { tags: new Set(["x", "y"]) },
    new Headers({ "x-id": "7" }),
    { query: new URLSearchParams("a=1") },
    { like: /^a+$/g },
    { bytes: PNG },
  ];
  const { outcomes: found } = await outcomes(given);
  assert.deepEqual(
    found.map(({ parts }) => parts[0].text),
    [
      '{"a":{"b":1}}',
      '[[1,"one"]]',
      '{"tags":["x","y"]}',
      '{"x-id":"7"}',
      '{"query":{"a":"1"}}',
      '{"like":"/^a+$/g"}',
      '{"bytes":[137,80,78,71]}',
    ],
  );
  const { outcomes: lost } = await outcomes([{ a: Promise.resolve(1) }, [new WeakMap()]]);
  const said = lost.map(({ error, parts }) => [error, parts[0].text]);
  assert.match(said[0].join(), /^crashed.*there is a Promise in it/);
  assert.match(said[1].join(), /^crashed.*there is a WeakMap in it/);
});

test("a response that a tool returns is what the server said", async () => {
  const json = { headers: { "content-type": "application/json; charset=utf-8" } };
  const { outcomes: found } = await outcomes([
    new Response('{"rain":true}', json),
    new Response(PNG, { headers: { "content-type": "image/png" } }),
    new Response("no such city", { status: 404 }),
  ]);
  assert.deepEqual([found[0].parts, found[0].error], [[text('{"rain":true}')], undefined]);
  assert.deepEqual(found[1].parts, [image]);
  assert.deepEqual(found[2].parts, [text("the server answers 404"), text("no such city")]);
  assert.equal(found[2].error, "crashed");
});

test("what cannot be shown is an error result that says what to do", async () => {
  const { outcomes: found } = await outcomes([PNG, new Blob([PNG]), PNG.buffer]);
  const said = found.map(({ parts }) => parts[0].text);
  assert.match(said[0], /returned bytes: return `new Blob/);
  assert.match(said[1], /a Blob without a `type`/);
  assert.match(said[2], /returned bytes/);
  assert.ok(found.every(({ error }) => error === "crashed"));
});

test("the pieces of a generator are progress, and what it returns is the result", async () => {
  async function* slowly() {
    yield "one ";
    await new Promise((resolve) => setTimeout(resolve, 5));
    yield { step: 2 };
    return { text: "found", details: { steps: 2 } };
  }
  function* atOnce() {
    yield "half";
  }
  async function* fails() {
    yield "so far";
    throw new Error("no further");
  }
  const { outcomes: found, events } = await outcomes([slowly, atOnce, fails]);
  const deltas = events.filter(({ type }) => type === "tool_call_output_delta");
  assert.deepEqual(
    deltas.map(({ text: piece }) => piece),
    ["one ", '{"step":2}\n', "half", "so far"],
  );
  const said = found.map(({ parts }) => parts[0].text);
  assert.deepEqual(said.slice(0, 2), ["found", "done"]);
  assert.deepEqual(found[0].details, { steps: 2 });
  assert.match(said[2], /no further/);
});

test("d4 a generator is ended when its time is up", async () => {
  let ended = false;
  async function* endless() {
    try {
      for (;;) {
        yield ".";
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    } finally {
      ended = true;
    }
  }
  const { outcomes: found } = await outcomes([endless], { timeoutMs: 30 });
  assert.equal(found[0].timed_out, true);
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(ended, true);
});
