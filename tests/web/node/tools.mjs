// Tools in JavaScript, and the built-in ones over the files in memory.

import assert from "node:assert/strict";
import { test } from "node:test";
import { reply, serve, toolResults } from "../support/anthropic.mjs";
import { agentAt, eventsOf } from "../support/installed.mjs";

const parameters = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};

const weather = { name: "weather", description: "The weather in a city", parameters };

/** Lets the model make these calls at once, and returns what it reads of them and the events. */
async function results(calls, options) {
  const server = await serve(reply({ calls }), reply({ text: "Done." }));
  const agent = await agentAt(server, options);
  const run = agent.run("Go");
  const events = await eventsOf(run);
  assert.equal((await run.result()).status, "completed");
  await agent.close();
  await server.close();
  return {
    read: toolResults(server.requests[1]),
    events,
    agent,
    offered: server.requests[0].body.tools,
  };
}

test("c5 a tool in JavaScript is offered, gets its arguments, and its result is read", async () => {
  const got = [];
  const execute = async (args, { callId, signal, output }) => {
    got.push({ args, callId, signal });
    output("asking");
    await new Promise((resolve) => setTimeout(resolve, 5));
    output("…");
    return `rain in ${args.city}`;
  };
  const call = ["weather", { city: "Köln" }];
  const { read, events, offered } = await results([call], { tools: [{ ...weather, execute }] });
  assert.deepEqual(read, [{ text: "rain in Köln", isError: false }]);
  assert.deepEqual(got[0].args, { city: "Köln" });
  assert.equal(got[0].callId, "toolu_weather_0");
  assert.equal(got[0].signal.aborted, false);
  const shown = events.filter(({ type }) => type === "tool_call_output_delta");
  assert.deepEqual(
    shown.map(({ text }) => text),
    ["asking", "…"],
  );
  const tool = offered.find(({ name }) => name === "weather");
  assert.deepEqual([tool.description, tool.input_schema], [weather.description, parameters]);
});

test("what a tool returns is text, a reply, or JSON", async () => {
  const returns = [
    ["text", "text"],
    [{ text: "a reply" }, "a reply"],
    [{ city: "Berlin", degrees: 7 }, '{"city":"Berlin","degrees":7}'],
    [[1, 2], "[1,2]"],
    [7, "7"],
    [false, "false"],
    [null, "null"],
    [undefined, "done"],
    [Promise.resolve("later"), "later"],
  ];
  const left = returns.map(([value]) => value);
  const tool = { ...weather, execute: () => left.shift() };
  const calls = returns.map(() => ["weather", { city: "x" }]);
  const { read } = await results(calls, { tools: [tool] });
  assert.deepEqual(
    read,
    returns.map(([, text]) => ({ text, isError: false })),
  );
});

test("c22 what a tool throws is an error result, and the run goes on", async () => {
  const throws = [new Error("no such city"), "a bare text", { odd: true }];
  const reads = [/no such city/, /a bare text/, /weather/];
  const left = [...throws];
  const execute = () => {
    throw left.shift();
  };
  const calls = throws.map(() => ["weather", { city: "x" }]);
  const { read, events } = await results(calls, { tools: [{ ...weather, execute }] });
  read.forEach(({ text, isError }, at) => {
    assert.equal(isError, true);
    assert.match(text, reads[at]);
  });
  const ends = events.filter(({ type }) => type === "tool_call_end");
  assert.deepEqual(
    ends.map(({ outcome }) => outcome.error),
    ["crashed", "crashed", "crashed"],
  );
});

test("a result that JSON cannot hold is an error that says why", async () => {
  const circular = {};
  circular.self = circular;
  const returns = [
    [{ big: 1n }, /weather failed.*as JSON.*BigInt/],
    [1n, /as JSON.*BigInt/],
    [circular, /as JSON.*circular/],
    [Symbol("s"), /as JSON: it is a symbol/],
    [() => 1, /as JSON: it is a function/],
    [Promise.resolve({ big: 1n }), /as JSON.*BigInt/],
  ];
  const left = returns.map(([value]) => value);
  const tool = { ...weather, execute: () => left.shift() };
  const calls = returns.map(() => ["weather", { city: "x" }]);
  const { read, events } = await results(calls, { tools: [tool] });
  assert.equal(read.length, returns.length);
  read.forEach(({ text, isError }, at) => {
    assert.equal(isError, true);
    assert.match(text, returns[at][1]);
  });
  const ends = events.filter(({ type }) => type === "tool_call_end");
  assert.ok(ends.every(({ outcome }) => outcome.error === "crashed"));
});

test("what is thrown and is no error is shown", async () => {
  const circular = {};
  circular.self = circular;
  const throws = [
    [{ a: 1 }, /weather failed: it threw \{"a":1\}/],
    [7, /it threw 7/],
    [undefined, /it threw undefined/],
    [null, /it threw null/],
    [1n, /it threw a value of type bigint/],
    [circular, /it threw a value of type object/],
    [new RangeError(), /it threw an error, RangeError, without a message/],
  ];
  const left = throws.map(([value]) => value);
  const execute = () => {
    throw left.shift();
  };
  const calls = throws.map(() => ["weather", { city: "x" }]);
  const { read } = await results(calls, { tools: [{ ...weather, execute }] });
  assert.equal(read.length, throws.length);
  read.forEach(({ text, isError }, at) => {
    assert.equal(isError, true);
    assert.match(text, throws[at][1]);
  });
});

test("a tool may return a failure of its own", async () => {
  const tool = { ...weather, execute: () => ({ text: "unknown city", isError: true }) };
  const { read } = await results([["weather", { city: "x" }]], { tools: [tool] });
  assert.equal(read[0].isError, true);
  assert.match(read[0].text, /unknown city/);
});

test("c21 a tool never sees arguments that do not fit its schema", async () => {
  let ran = 0;
  const tool = { ...weather, execute: () => (ran += 1) };
  const calls = [
    ["weather", {}],
    ["weather", { city: ["a"] }],
    ["weather", { city: "a", more: 1 }],
  ];
  const { read } = await results(calls, { tools: [tool] });
  assert.equal(ran, 0);
  assert.deepEqual(
    read.map(({ isError }) => isError),
    [true, true, true],
  );
  assert.match(read[0].text, /city/);
});

test("c20 an unknown tool is an error result", async () => {
  const { read } = await results([["teleport", {}]], {});
  assert.deepEqual(
    read.map(({ isError }) => isError),
    [true],
  );
  assert.match(read[0].text, /Unknown tool: teleport/);
});

test("c6 the last tool of a name wins, over a built-in one as well", async () => {
  const named = (text) => ({
    ...weather,
    name: "read_file",
    parameters: { type: "object" },
    execute: () => text,
  });
  const options = { tools: [named("first"), named("last")], files: { "a.txt": "from the file" } };
  const { read, offered } = await results([["read_file", { file_path: "a.txt" }]], options);
  assert.equal(read[0].text, "last");
  assert.equal(offered.filter(({ name }) => name === "read_file").length, 1);
});

test("a tool that takes too long is told so, and the model reads it", async () => {
  let told;
  const execute = (_args, { signal }) =>
    new Promise(() => signal.addEventListener("abort", () => (told = true)));
  const options = { tools: [{ ...weather, execute }], timeouts: { defaultMs: 40, maxMs: 40 } };
  const { read, events } = await results([["weather", { city: "x" }]], options);
  assert.equal(told, true);
  assert.equal(read[0].isError, true);
  assert.match(read[0].text, /timed out after 40ms/);
  assert.equal(events.find(({ type }) => type === "tool_call_end").outcome.timed_out, true);
});

test("an interrupted tool is told so, and its late result counts nowhere", async () => {
  const server = await serve(
    reply({ calls: [["weather", { city: "x" }]] }),
    reply({ text: "Well." }),
  );
  let finish;
  let told = false;
  const execute = (_args, { signal, output }) => {
    signal.addEventListener("abort", () => (told = true));
    return new Promise((resolve) => {
      finish = () => {
        output("too late");
        resolve("too late");
      };
    });
  };
  const agent = await agentAt(server, { tools: [{ ...weather, execute }] });
  const run = agent.run("Go");
  for await (const { type } of run) {
    if (type === "tool_call_start") break;
  }
  assert.equal((await run.result()).status, "interrupted");
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(told, true);
  finish();
  assert.equal((await agent.run("Go on").result()).text, "Well.");
  assert.doesNotMatch(JSON.stringify(server.requests[1].body), /too late/);
  await agent.close();
  await server.close();
});

test("c23 read-only tools run side by side, and results keep the order of the calls", async () => {
  let running = 0;
  let most = 0;
  const execute = async ({ city }) => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setTimeout(resolve, city === "slow" ? 40 : 5));
    running -= 1;
    return city;
  };
  const calls = ["slow", "b", "c"].map((city) => ["weather", { city }]);
  const { read } = await results(calls, { tools: [{ ...weather, readOnly: true, execute }] });
  assert.deepEqual(
    read.map(({ text }) => text),
    ["slow", "b", "c"],
  );
  assert.equal(most, 3);
});

test("a tool may use the agent's files, and built-in tools see what it wrote", async () => {
  const server = await serve(
    reply({ calls: [["weather", { city: "Bonn" }]] }),
    reply({ calls: [["read_file", { file_path: "weather.txt" }]] }),
    reply({ text: "Done." }),
  );
  const execute = ({ city }) => agent.files.write("weather.txt", `sun in ${city}`);
  const agent = await agentAt(server, { tools: [{ ...weather, execute }] });
  await agent.run("Go").result();
  assert.match(toolResults(server.requests[2])[0].text, /sun in Bonn/);
  await agent.close();
  await server.close();
});

test("files are a map of paths; what leads out of the workspace is refused", async () => {
  const server = await serve();
  const files = new Map([
    ["b/c.txt", "text"],
    ["a.bin", new Uint8Array([0, 255])],
  ]);
  const agent = await agentAt(server, { files });
  const { files: workspace } = agent;
  assert.deepEqual(workspace.list(), ["a.bin", "b/c.txt"]);
  assert.deepEqual([...workspace.read("a.bin")], [0, 255]);
  assert.equal(workspace.readText("/b/c.txt"), "text");
  workspace.write("d/e/f.txt", "new");
  assert.deepEqual(
    [workspace.size, workspace.has("d/e/f.txt"), workspace.has("d")],
    [3, true, false],
  );
  assert.equal(workspace.remove("d/e/f.txt"), true);
  assert.equal(workspace.remove("d/e/f.txt"), false);
  assert.deepEqual(
    [...workspace].map(([path]) => path),
    ["a.bin", "b/c.txt"],
  );
  for (const path of ["../x", "b/../../x", "", "/", "b/", "a\0b"]) {
    assert.throws(() => workspace.write(path, "x"), { name: "AgentError", code: "bad_path" }, path);
  }
  assert.throws(() => workspace.write("b", "x"), { code: "bad_path" });
  assert.throws(() => workspace.write("a.bin/x", "x"), { code: "bad_path" });
  assert.throws(() => workspace.remove("b"), { code: "bad_path" });
  assert.throws(() => workspace.write("x", 7), { code: "bad_option" });
  assert.throws(() => workspace.read(7), { code: "bad_path" });
  await agent.close();
  assert.equal(workspace.readText("b/c.txt"), "text", "files stay readable");
  await server.close();
});

test("m6 a file that the user has changed meanwhile is not overwritten", async () => {
  const write = (content) => reply({ calls: [["write_file", { file_path: "a.txt", content }]] });
  const server = await serve(
    reply({ calls: [["read_file", { file_path: "a.txt" }]] }),
    reply({ text: "Read." }),
    write("mine"),
    reply({ calls: [["read_file", { file_path: "a.txt" }]] }),
    write("both"),
    reply({ text: "Done." }),
  );
  const agent = await agentAt(server, { files: { "a.txt": "first" } });
  await agent.run("Read it").result();
  agent.files.write("a.txt", "theirs");
  await agent.run("Write it").result();
  const [refused] = toolResults(server.requests[3]);
  assert.ok(
    refused.isError && refused.text.includes("has changed since you read it"),
    refused.text,
  );
  assert.equal(toolResults(server.requests[5])[0].isError, false);
  assert.equal(agent.files.readText("a.txt"), "both");
  await agent.close();
  await server.close();
});

test("a tool shows pictures and files, and tells the user interface more than the model", async () => {
  const image = { type: "image", media_type: "image/png", data: "iVBORw0KGgo=" };
  const replies = [
    { text: "seen", parts: [image], details: { rows: [1, 2] } },
    { parts: [{ type: "text", text: "half \ud800 a pair" }] },
    { parts: "none" },
    { parts: [{ type: "film" }] },
    { text: "no", isError: true, details: "why" },
  ];
  const execute = () => replies.shift();
  const calls = replies.map(() => ["weather", { city: "Köln" }]);
  const server = await serve(reply({ calls }), reply({ text: "Done." }));
  const agent = await agentAt(server, { tools: [{ ...weather, execute }] });
  const events = await eventsOf(agent.run("Go"));
  const { content } = server.requests[1].body.messages.at(-1);
  const [shown, plain, json, broken, failed] = content;
  assert.deepEqual(
    shown.content.map(({ type }) => type),
    ["text", "image"],
  );
  assert.equal(shown.content[1].source.data, image.data);
  assert.equal(plain.content, "half \ufffd a pair");
  assert.equal(json.content, '{"parts":"none"}');
  assert.ok(broken.is_error && /film/.test(broken.content), broken.content);
  assert.deepEqual([failed.content, failed.is_error], ["Tool error (weather): no", true]);
  assert.equal(JSON.stringify(server.requests).includes("rows"), false);
  const ends = events.filter(({ type }) => type === "tool_call_end");
  assert.deepEqual(
    ends.map(({ outcome }) => outcome.details),
    [{ rows: [1, 2] }, undefined, undefined, undefined, "why"],
  );
  await agent.close();
  await server.close();
});

test("the user's words may come with pictures by their address and with files", async () => {
  const server = await serve(reply({ text: "Done." }));
  const agent = await agentAt(server);
  const file = { type: "file", media_type: "application/pdf", name: "a.pdf", data: "JVBERi0=" };
  const url = "https://example.com/a.png";
  await agent.run([{ type: "text", text: "Look" }, { type: "image_url", url }, file]).result();
  const [, image, document] = server.requests[0].body.messages[0].content;
  assert.deepEqual(image.source, { type: "url", url });
  assert.deepEqual([document.type, document.title], ["document", "a.pdf"]);
  await agent.close();
  await server.close();
});

test("c16 pages of the web are read by the user's function", async () => {
  const asked = [];
  const webFetch = (page, { signal }) => {
    asked.push([page, signal.aborted]);
    return { text: `read ${page.urls}`, details: { status: 200 } };
  };
  const call = ["web_fetch", { url: "https://a.example/", prompt: "The title" }];
  const { read, events, offered } = await results([call], { webFetch });
  assert.deepEqual(asked, [[{ urls: ["https://a.example/"], prompt: "The title" }, false]]);
  const framed = / begins ---\nread https:\/\/a\.example\/\n--- untrusted /;
  assert.deepEqual([read.length, read[0].isError], [1, false]);
  assert.match(read[0].text, framed);
  assert.ok(offered.some(({ name }) => name === "web_fetch"));
  const ended = events.find(({ type }) => type === "tool_call_end");
  assert.deepEqual(ended.outcome.details, { status: 200 });
  const without = await results([call], {});
  assert.match(without.read[0].text, /Unknown tool: web_fetch|has no such tool/);
  assert.ok(!without.offered.some(({ name }) => name === "web_fetch"));
});

test("d4 a tool is stopped when its own time is up, and hears of it", async () => {
  const heard = [];
  const slow = (context) =>
    new Promise((resolve) => {
      context.signal.addEventListener("abort", () => {
        heard.push("abort");
        context.output("too late");
        resolve("too late");
      });
    });
  const tool = { ...weather, timeoutMs: 30, execute: (_args, context) => slow(context) };
  const { read, events } = await results([["weather", { city: "Köln" }]], { tools: [tool] });
  assert.deepEqual(heard, ["abort"]);
  assert.equal(read[0].isError, true);
  assert.match(read[0].text, /timed out after 30ms/);
  assert.equal(events.filter(({ type }) => type === "tool_call_output_delta").length, 0);
});

test("d4 the user's time limit goes before the family's, a tool's before both", async () => {
  const execute = (_args, { signal }) =>
    new Promise((resolve) => {
      const done = setTimeout(resolve, 200, "slow but sure");
      signal.addEventListener("abort", () => clearTimeout(done));
    });
  const patient = { ...weather, name: "patient", timeoutMs: 5_000, execute };
  const tools = [{ ...weather, execute }, patient];
  const calls = [
    ["weather", { city: "x" }],
    ["patient", { city: "x" }],
  ];
  const { read } = await results(calls, { tools, timeouts: { defaultMs: 40 } });
  assert.match(read[0].text, /timed out after 40ms/);
  assert.doesNotMatch(read[0].text, /longer timeout/, "it has no such parameter");
  assert.deepEqual(read[1], { text: "slow but sure", isError: false });
});
