// run_program: WASI programs in a worker thread, over a copy of the workspace.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { reply, serve, toolResults } from "../support/anthropic.mjs";
import { Agent, agentAt, eventsOf, folder } from "../support/installed.mjs";
import { qjs } from "../support/package.mjs";

const programs = { qjs: { wasm: await WebAssembly.compile(qjs()), description: "QuickJS" } };

/** Lets the agent run qjs over the files: what the model reads, the outcome, and the agent. */
async function runQjs(files, call, options = {}) {
  const input = { program: "qjs", args: ["-m", "main.mjs"], ...call };
  const server = await serve(reply({ calls: [["run_program", input]] }), reply({ text: "Done." }));
  const agent = await agentAt(server, { files, programs, ...options });
  const run = agent.run("Run it");
  const events = await eventsOf(run);
  await agent.close();
  await server.close();
  const { outcome } = events.find(({ type }) => type === "tool_call_end");
  return {
    outcome,
    read: toolResults(server.requests[1])[0],
    agent,
    events,
    request: server.requests[0],
  };
}

const std = 'import * as std from "qjs:std";\n';

test("a program's output, standard error and exit code are told", async () => {
  const main = `${std}console.log("out"); std.err.puts("err\\n"); std.exit(3);`;
  const { outcome, read } = await runQjs({ "main.mjs": main });
  assert.deepEqual([outcome.exit, outcome.error], [3, "exit"]);
  assert.equal(read.isError, true);
  assert.match(read.text, /^out\n.*err\n/s);
});

test("d2 an outcome tells both outputs apart and how long the run took", async () => {
  const main = `${std}console.log("größe"); std.err.puts("wärnung"); std.exit(1);`;
  const asked = [];
  const slowly = async (question) => {
    asked.push(question);
    await new Promise((resolve) => setTimeout(resolve, 1200));
    return true;
  };
  const begun = performance.now();
  const { outcome, read, events } = await runQjs({ "main.mjs": main }, {}, { approve: slowly });
  const whole = performance.now() - begun;
  assert.equal(asked.length, 1);
  assert.equal(outcome.streams, true);
  const [stdout, stderr, ...rest] = outcome.parts.map(({ text }) => text);
  assert.deepEqual([stdout, stderr, rest], ["größe\n", "wärnung", []]);
  assert.ok(read.text.startsWith("größe\nstandard error:\nwärnung"), read.text);
  const at = (name) => events.find(({ type }) => type === name).at;
  assert.equal(outcome.duration_ms, at("tool_call_end") - at("tool_call_start"));
  assert.ok(outcome.duration_ms <= whole - 1150, `${outcome.duration_ms} of ${whole} ms`);
});

test("d2 the time of an own tool is told, and none of a call that never ran", async () => {
  const nap = {
    name: "nap",
    description: "Naps.",
    parameters: { type: "object" },
    execute: () => new Promise((resolve) => setTimeout(() => resolve("awake"), 120)),
  };
  const calls = [
    ["nap", {}],
    ["no_such_tool", {}],
  ];
  const server = await serve(reply({ calls }), reply({ text: "Done." }));
  const agent = await agentAt(server, { tools: [nap] });
  const events = await eventsOf(agent.run("Nap"));
  await agent.close();
  await server.close();
  const ends = events.filter(({ type }) => type === "tool_call_end");
  const outcome = (wanted) => ends.find(({ name }) => name === wanted).outcome;
  assert.ok(outcome("nap").duration_ms >= 100, JSON.stringify(outcome("nap")));
  assert.equal(outcome("nap").streams, undefined);
  assert.equal(outcome("no_such_tool").duration_ms, undefined);
});

test("what a program writes and removes is taken over, and told", async () => {
  const main = `${std}import * as os from "qjs:os";
    const put = (path, text) => { const f = std.open(path, "w"); f.puts(text); f.close(); };
    put("new.txt", "new\\n"); put("old.txt", "newer\\n"); os.mkdir("deep");
    put("deep/a.txt", "deep"); put("same.txt", "same"); os.remove("gone.txt");`;
  const files = { "main.mjs": main, "old.txt": "old\n", "gone.txt": "bye", "same.txt": "same" };
  const { outcome, agent, read } = await runQjs(files);
  assert.deepEqual([outcome.exit, outcome.error], [0, undefined], read.text);
  assert.deepEqual(outcome.changes, [
    { path: "deep/a.txt", kind: "created", after: "deep" },
    { path: "gone.txt", kind: "deleted", before: "bye" },
    { path: "new.txt", kind: "created", after: "new\n" },
    { path: "old.txt", kind: "modified", before: "old\n", after: "newer\n" },
  ]);
  assert.deepEqual(agent.files.list(), [
    "deep/a.txt",
    "main.mjs",
    "new.txt",
    "old.txt",
    "same.txt",
  ]);
  assert.equal(agent.files.readText("old.txt"), "newer\n");
});

test("a program that runs away is ended at its time limit, with what it printed", async () => {
  const main = 'console.log("before"); for (;;);';
  const { outcome, read } = await runQjs({ "main.mjs": main }, { timeout_ms: 1500 });
  assert.deepEqual([outcome.timed_out, outcome.error], [true, "timeout"]);
  assert.match(read.text, /^before\n.*timed out after 1500ms/s);
});

test("a program is ended when its run is interrupted", async () => {
  const input = { program: "qjs", args: ["-m", "main.mjs"] };
  const server = await serve(reply({ calls: [["run_program", input]] }));
  const agent = await agentAt(server, {
    files: { "main.mjs": 'console.log("on"); for (;;);' },
    programs,
  });
  const run = agent.run("Run it");
  for await (const { type } of run) {
    if (type === "tool_call_output_delta") break;
  }
  assert.equal((await run.result()).status, "interrupted");
  await agent.close();
  await server.close();
});

test("a program gets its arguments and standard input, whatever their characters", async () => {
  const main = `${std}console.log(JSON.stringify(scriptArgs)); console.log(std.in.readAsString());`;
  const args = ["-m", "main.mjs", "ä€😀", "two words", ""];
  const { outcome, read } = await runQjs({ "main.mjs": main }, { args, stdin: "grüße 😀" });
  assert.equal(outcome.exit, 0, read.text);
  const [given, input] = outcome.parts[0].text.split("\n");
  assert.deepEqual(JSON.parse(given).slice(-3), ["ä€😀", "two words", ""]);
  assert.equal(input, "grüße 😀");
});

test("a flood of output is kept at both ends, and said to be cut", async () => {
  const main = `const line = "x".repeat(99); console.log("first");
    for (let i = 0; i < 30000; i += 1) console.log(line); console.log("last");`;
  const { outcome } = await runQjs({ "main.mjs": main });
  const [{ text }] = outcome.parts;
  assert.equal(outcome.capped_at_source, true);
  assert.ok(text.length < 2_200_000, String(text.length));
  assert.match(text, /^first\n/);
  assert.match(text, /\[\d+ bytes of output dropped here\]/);
  assert.match(text, /last\n$/);
});

test("output streams while the program runs", async () => {
  const { events } = await runQjs({ "main.mjs": 'console.log("one"); console.log("zwölf");' });
  const deltas = events.filter(({ type }) => type === "tool_call_output_delta");
  assert.equal(deltas.map(({ text }) => text).join(""), "one\nzwölf\n");
});

test("a program cannot leave the workspace", async () => {
  const main = `${std}for (const path of ["/etc/passwd", "../etc/passwd", "a/../../x"])
    console.log(std.open(path, "r") === null);`;
  const { outcome } = await runQjs({ "main.mjs": main });
  assert.equal(outcome.parts[0].text, "true\ntrue\ntrue\n");
});

test("an unknown program is an error result that names those there are", async () => {
  const { outcome, read } = await runQjs({}, { program: "python" });
  assert.equal(outcome.error, "not_found");
  assert.match(read.text, /no program `python`; there is: qjs/);
});

test("a program that prints or writes without end is stopped at the limit", async () => {
  const print = `const piece = "x".repeat(2 ** 20);
    for (let i = 0; i < 100; i += 1) console.log(piece);`;
  const write = `${std}const piece = "x".repeat(2 ** 20);
    for (let i = 0; i < 300; i += 1) { const f = std.open("f", "w"); f.puts(piece); f.close(); }`;
  for (const [main, word] of [
    [print, "printed"],
    [write, "wrote"],
  ]) {
    const { outcome } = await runQjs({ "main.mjs": main });
    assert.equal(outcome.error, "limit");
    assert.match(
      outcome.parts[2].text,
      new RegExp(`\\[it was stopped because it ${word} too much`),
    );
  }
});

test("a program that crashes is an error result", async () => {
  // A module whose _start does nothing but trap.
  const trap = new Uint8Array([
    0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 5, 3, 1, 0, 1, 7, 19, 2, 6, 95, 115,
    116, 97, 114, 116, 0, 0, 6, 109, 101, 109, 111, 114, 121, 2, 0, 10, 5, 1, 3, 0, 0, 11,
  ]);
  const { outcome } = await runQjs({}, { program: "trap", args: [] }, { programs: { trap } });
  assert.equal(outcome.error, "crashed");
  assert.match(outcome.parts[2].text, /unreachable/);
});

test("a program's memory is bounded, whatever its module says of it", async () => {
  const section = (id, ...content) => [id, content.length, ...content];
  const name = (text) => [text.length, ...Buffer.from(text)];
  // Its exit code has 2 if its memory does not grow by 16,383 pages, and 1 if not by one more.
  const grown = [64, 0, 65, 127, 70];
  const body = [0, 65, 255, 255, 0, ...grown, 65, 1, 116, 65, 1, ...grown, 114, 16, 0, 11];
  const withMemories = (...memories) =>
    new Uint8Array([
      ...[0, 97, 115, 109, 1, 0, 0, 0],
      ...section(1, 2, 96, 1, 127, 0, 96, 0, 0),
      ...section(2, 1, ...name("wasi_snapshot_preview1"), ...name("proc_exit"), 0, 0),
      ...section(3, 1, 1),
      ...section(5, ...memories),
      ...section(7, 2, ...name("memory"), 2, 0, ...name("_start"), 0, 1),
      ...section(10, 1, body.length, ...body),
    ]);
  const module = (...limits) => withMemories(1, ...limits);
  const several = withMemories(2, 0, 1, 0, 1);
  const cases = [
    [[0, 1], 1],
    [[1, 1, 0xff, 0xff, 3], 1],
    [[1, 1, 0x80, 0x80, 1], 1],
    [[1, 1, 100], 2],
  ];
  for (const [limits, exit] of cases) {
    const options = { programs: { grow: module(...limits) } };
    const { outcome } = await runQjs({}, { program: "grow", args: [] }, options);
    assert.equal(outcome.exit, exit, JSON.stringify([limits, outcome]));
  }
  const refused = [
    [module(0, 0x80, 0x81, 1), /it begins with 1032 MiB of memory and may have 1024 MiB$/],
    [module(4, 1), /its memory is shared or has addresses of 64 bits/],
    [module(3, 1, 2), /its memory is shared or has addresses of 64 bits/],
    [module(1, 1, 2, 0), /its section of memories is malformed/],
    [several, /it has several memories, and a program has one/],
  ];
  for (const [grow, message] of refused) {
    const given = { provider: "anthropic", model: "m", apiKey: "k", programs: { grow } };
    await assert.rejects(Agent.create(given), { code: "bad_program", message });
  }
});

test("a module is read to a limit, also what it is unpacked to", async () => {
  const endless = () =>
    new ReadableStream({ pull: (control) => control.enqueue(new Uint8Array(2 ** 24)) });
  const packed = gzipSync(new Uint8Array(2 ** 28 + 1), { level: 1 });
  for (const wasm of [new Response(endless()), packed]) {
    const given = { provider: "anthropic", model: "m", apiKey: "k", programs: { wasm } };
    const message = "the program `wasm` could not be loaded: it has more than 268435456 bytes";
    await assert.rejects(Agent.create(given), { code: "bad_program", message });
  }
});

test("without programs the tool is not offered; with them the model reads of them", async () => {
  const server = await serve(reply({ text: "Hi." }), reply({ text: "Hi." }));
  const bare = await agentAt(server);
  await bare.run("Hello").result();
  const able = await agentAt(server, { programs });
  await able.run("Hello").result();
  const names = server.requests.map(({ body }) => body.tools.map(({ name }) => name));
  assert.ok(!names[0].includes("run_program"));
  assert.ok(names[1].includes("run_program"));
  assert.match(JSON.stringify(server.requests[1].body.system), /qjs.*QuickJS/);
  await bare.close();
  await able.close();
  await server.close();
});

test("a program comes as bytes, module, response, file or address", async () => {
  const file = join(folder, "qjs.wasm");
  writeFileSync(file, qjs());
  const server = createServer((_request, response) => response.end(qjs()));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = new URL(`http://127.0.0.1:${server.address().port}/qjs.wasm`);
  const sources = [
    qjs(),
    new Uint8Array(qjs()).buffer,
    programs.qjs.wasm,
    pathToFileURL(file),
    address,
    fetch(address),
  ];
  for (const source of sources) {
    const { outcome } = await runQjs(
      { "main.mjs": 'console.log("ok")' },
      {},
      { programs: { qjs: source } },
    );
    assert.equal(outcome.parts[0].text, "ok\n");
  }
  await new Promise((resolve) => server.close(resolve));
});

test("what is no program is refused by name", async () => {
  const common = { provider: "anthropic", model: "m", apiKey: "k" };
  const missing = pathToFileURL(join(folder, "no-such.wasm"));
  for (const source of [new Uint8Array([1, 2, 3]), missing, {}, null, "text"]) {
    await assert.rejects(Agent.create({ ...common, programs: { broken: source } }), {
      name: "AgentError",
      code: "bad_program",
      message: /`broken`/,
    });
  }
});
