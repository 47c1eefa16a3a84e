// Tools that are WASI modules: folders with a `tool.toml`, whose calls run in workers.

import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { reply, serve, toolResults } from "../support/anthropic.mjs";
import { AgentError, agentAt, eventsOf, folder, wasiTool } from "../support/installed.mjs";
import { starred } from "../support/masks.mjs";
import { countLines, qjs, ROOT } from "../support/package.mjs";

const REPLIES = JSON.parse(readFileSync(join(ROOT, "tests/fixtures/tool-replies.json"), "utf8"));
const KEY = "sk-test-0123456789";
const module = qjs();

/** A value as TOML has it on one line. */
function inline(value) {
  if (typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  const pairs = Object.entries(value).map(([name, each]) => `${name} = ${inline(each)}`);
  return `{ ${pairs.join(", ")} }`;
}

const toml = (fields) =>
  Object.entries(fields)
    .map(([name, value]) => `${name} = ${inline(value)}\n`)
    .join("");

/** A tool `probe` that is a script of QuickJS. */
function probe(script, fields = {}) {
  const args = ["--std", "-e", script];
  const all = { name: "probe", description: "Probes.", module: "qjs.wasm", args, ...fields };
  const parameters = { type: "object" };
  return wasiTool({ definition: toml({ ...all, parameters }), module });
}

/** Lets the model make these calls at once: what it reads of them, the events, the agent. */
async function results(calls, options) {
  const server = await serve(reply({ calls }), reply({ text: "Done." }));
  const agent = await agentAt(server, options);
  const events = await eventsOf(agent.run("Go"));
  await agent.close();
  await server.close();
  const outcomes = events.filter(({ type }) => type === "tool_call_end");
  return {
    read: toolResults(server.requests[1]),
    outcomes: outcomes.map(({ outcome }) => outcome),
    events,
    agent,
    offered: server.requests[0].body.tools,
  };
}

test("c5 the example counts lines, by every way to name its folder", async () => {
  const files = { "a.rs": "fn main() {}\n\n// end", "b.py": "print(1)\n", ".hidden": "no\n" };
  const at = countLines();
  const places = [
    at,
    relative(process.cwd(), at),
    join(at, "tool.toml"),
    pathToFileURL(at),
    pathToFileURL(`${at}/`),
    pathToFileURL(`${at}/tool.toml`).href,
    {
      definition: readFileSync(join(at, "tool.toml"), "utf8"),
      module: readFileSync(join(at, "count-lines.wasm")),
    },
  ];
  for (const place of places) {
    const tools = [await wasiTool(place)];
    const { read, outcomes, offered } = await results([["count_lines", { by: "file" }]], {
      files,
      tools,
    });
    const lines = [
      "  files     lines     words       bytes  name",
      "      1         3         5          20  a.rs",
      "      1         1         1           9  b.py",
      "      2         4         6          29  total",
    ];
    assert.deepEqual(read, [{ text: `${lines.join("\n")}\n`, isError: false }]);
    assert.equal(outcomes[0].details.total.words, 6);
    const { description, input_schema } = offered.find(({ name }) => name === "count_lines");
    assert.match(description, /^Counts files, lines, words and bytes of the text files in a /);
    assert.deepEqual(Object.keys(input_schema.properties), ["path", "by"]);
  }
  const tools = [await wasiTool(at)];
  const { read } = await results([["count_lines", { path: "none" }]], { files, tools });
  assert.equal(read[0].isError, true);
  assert.match(read[0].text, /none: No such file.*\n*\[exit code 1\]$/);
});

test("c5 what a tool prints is read as natively", async () => {
  const script = "std.out.puts(JSON.parse(std.in.readAsString()).printed)";
  const tools = [await probe(script, { name: "say" })];
  for (const each of REPLIES) {
    const { read } = await results([["say", { printed: each.printed }]], { tools });
    const misfit = "Tool error (say): The tool say failed: what it printed does not fit: ";
    if (each.misfit) assert.ok(read[0].text.startsWith(misfit), read[0].text);
    else assert.equal(read[0].text, each.read);
    assert.equal(read[0].isError, Boolean(each.misfit || each.is_error), each.printed);
  }
  const image = { type: "image", media_type: "image/png", data: "iVBORw0KGgo=" };
  const printed = JSON.stringify({ text: "seen", parts: [image], details: { rows: 2 } });
  const { outcomes } = await results([["say", { printed }]], { tools });
  assert.deepEqual(outcomes[0].parts, [{ type: "text", text: "seen" }, image]);
  assert.deepEqual([outcomes[0].details, outcomes[0].exit], [{ rows: 2 }, 0]);
});

const NOTE = `
  const { path, text } = JSON.parse(std.in.readAsString());
  const file = std.open(path, 'w');
  if (file === null) { std.err.puts('no way to write'); std.exit(3); }
  file.puts(text);
  file.close();
  os.remove('old.txt');
  std.err.puts('for the person who watches');
  std.out.puts([std.getenv('INNERLOOP_TOOL'), std.getenv('INNERLOOP_CALL_ID'), path].join());
`;

test("c5 a tool works on the files, and its changes are told", async () => {
  const tools = [await probe(NOTE)];
  const files = { "note.txt": "one\n", "old.txt": "old" };
  const call = ["probe", { path: "note.txt", text: "two\n" }];
  const { read, outcomes, events, agent } = await results([call], { tools, files });
  assert.deepEqual(read, [{ text: "probe,toolu_probe_0,note.txt", isError: false }]);
  assert.deepEqual(
    [...agent.files].map(([path]) => path),
    ["note.txt"],
  );
  assert.equal(agent.files.readText("note.txt"), "two\n");
  assert.deepEqual(outcomes[0].changes, [
    { path: "note.txt", kind: "modified", before: "one\n", after: "two\n" },
    { path: "old.txt", kind: "deleted", before: "old" },
  ]);
  assert.deepEqual(outcomes[0].parts[1], { type: "text", text: "" });
  const shown = events.filter(({ type }) => type === "tool_call_output_delta");
  assert.match(shown.map(({ text }) => text).join(""), /for the person who watches/);
});

test("c5 a read-only tool changes nothing and needs no yes", async () => {
  const ways = `
    const { way } = JSON.parse(std.in.readAsString());
    const done = {
      write: () => std.open('a.txt', 'w') === null ? -1 : 0,
      make: () => std.open('new.txt', 'w') === null ? -1 : 0,
      append: () => std.open('a.txt', 'a') === null ? -1 : 0,
      folder: () => os.mkdir('new'),
      remove: () => os.remove('a.txt'),
      rename: () => os.rename('a.txt', 'b.txt'),
      times: () => os.utimes('a.txt', 1, 1),
      read: () => std.loadFile('a.txt') === 'text' ? 0 : -1,
    }[way]();
    std.out.puts(String(done < 0));
  `;
  const names = ["write", "make", "append", "folder", "remove", "rename", "times", "read"];
  const calls = names.map((way) => ["probe", { way }]);
  const files = { "a.txt": "text" };
  const tools = [await probe(ways, { read_only: true })];
  const approve = () => assert.fail("a tool that only reads is not asked about");
  const { read, agent } = await results(calls, { tools, files, approve });
  assert.deepEqual(
    read.map(({ text }, at) => [names[at], text]),
    names.map((name) => [name, String(name !== "read")]),
  );
  assert.deepEqual(
    [...agent.files].map(([path]) => path),
    ["a.txt"],
  );
  const asked = [];
  const deny = ({ name }) => asked.push(name) === 0;
  const writes = { tools: [await probe(ways)], files, approve: deny };
  const denied = await results([calls[0]], writes);
  assert.deepEqual([asked, denied.read[0].isError], [["probe"], true]);
  assert.equal(denied.agent.files.readText("a.txt"), "text");
});

test("c5 a tool that goes beyond a limit ends, and the model reads why", async () => {
  const half = "std.out.puts('half\\n'); std.out.flush();";
  const flood = "for (;;) std.out.puts('x'.repeat(65536));";
  const fill = "const f = std.open('f', 'w'); for (;;) { f.puts('x'.repeat(65536)); f.flush(); }";
  const cases = [
    [
      `${half} while (true);`,
      { timeout_ms: 300 },
      /^half\n+\[ERROR: Command timed out after 300ms/,
    ],
    [flood, { output_mib: 1 }, /\[it was stopped because it printed too much\]$/],
    [fill, { disk_mib: 1 }, /\[it was stopped because it wrote too much to files\]$/],
    ["const a = []; for (;;) a.push(new Uint8Array(1 << 20));", { memory_mib: 16 }, /memory/],
    ["std.out.puts('out'); std.err.puts('err'); std.exit(7);", {}, /^Tool error .*: out\n/],
  ];
  for (const [script, limits, words] of cases) {
    const tools = [await probe(script, { limits })];
    const { read, outcomes } = await results([["probe", {}]], { tools });
    assert.match(read[0].text, words);
    assert.equal(read[0].isError, true, script);
    assert.equal(outcomes[0].timed_out, limits.timeout_ms === undefined ? undefined : true);
  }
  const large = await probe("std.out.puts('x'.repeat(3 << 20))");
  const { outcomes } = await results([["probe", {}]], { tools: [large] });
  assert.equal(outcomes[0].capped_at_source, true);
  assert.match(outcomes[0].parts[0].text, /\n\[1048576 bytes of output dropped here\]\n/);
});

test("c5 many calls at once wait for their turn, also those that are interrupted", async () => {
  const script = "const end = Date.now() + 60; while (Date.now() < end); std.out.puts('done')";
  const tools = [await probe(script, { read_only: true, limits: { timeout_ms: 5000 } })];
  const calls = Array.from({ length: 10 }, () => ["probe", {}]);
  const { read } = await results(calls, { tools });
  assert.deepEqual(
    read.map(({ text }) => text),
    calls.map(() => "done"),
  );
  const server = await serve(reply({ calls }), reply({ calls }), reply({ text: "Done." }));
  const agent = await agentAt(server, { tools });
  const run = agent.run("Go");
  for await (const { type } of run) {
    if (type === "tool_call_end") break;
  }
  assert.equal((await run.result()).status, "interrupted");
  assert.equal((await agent.run("Go on").result()).status, "completed");
  assert.ok(toolResults(server.requests[2]).every(({ text }) => text === "done"));
  await agent.close();
  await server.close();
});

test("c5 an interruption ends a tool, and keeps what it has written", async () => {
  const script = `
    const f = std.open('left.txt', 'w'); f.puts('left'); f.close();
    std.out.puts('half'); std.out.flush(); while (true);
  `;
  const server = await serve(reply({ calls: [["probe", {}]] }), reply({ text: "Well." }));
  const agent = await agentAt(server, { tools: [await probe(script)] });
  const run = agent.run("Go");
  for await (const { type } of run) {
    if (type === "tool_call_output_delta") break;
  }
  assert.equal((await run.result()).status, "interrupted");
  assert.equal(agent.files.readText("left.txt"), "left");
  assert.equal((await agent.run("Go on").result()).text, "Well.");
  assert.match(JSON.stringify(server.requests[1].body), /Interrupted by the user/);
  await agent.close();
  await server.close();
});

test("c5 close waits for a tool that runs, and keeps what it has written", async () => {
  const script = `
    const f = std.open('left.txt', 'w'); f.puts('left'); f.close();
    std.out.puts('half'); std.out.flush(); while (true);
  `;
  const server = await serve(reply({ calls: [["probe", {}]] }));
  const events = [];
  const agent = await agentAt(server, {
    tools: [await probe(script)],
    onEvent: ({ type, outcome }) => {
      events.push(outcome?.error ? `${type}: ${outcome.error}` : type);
      if (type === "tool_call_output_delta") void agent.close();
    },
  });
  assert.equal((await agent.run("Go").result()).status, "interrupted");
  await agent.close();
  assert.equal(events.at(-1), "session_end");
  assert.ok(events.includes("tool_call_end: interrupted"), events.join());
  assert.equal(agent.files.readText("left.txt"), "left");
  assert.equal(agent.status().state, "closed");
  await server.close();
});

test("c5 a key that a tool prints is nowhere", async () => {
  const script = "std.out.puts(std.loadFile('.env')); std.err.puts(std.loadFile('.env'));";
  const options = { tools: [await probe(script)], files: { ".env": KEY }, apiKey: KEY, log: true };
  const { read, events, agent } = await results([["probe", {}]], options);
  assert.equal(starred(read[0].text), "***");
  assert.ok(!JSON.stringify(events).includes(KEY));
  assert.ok(!agent.log().includes(KEY));
});

test("c5 a subagent's tool works in its folder", async () => {
  const seen = "std.out.puts(os.readdir('.')[0].filter((name) => name[0] !== '.').join())";
  const write = `
    const f = std.open('made.txt', 'w'); f.puts('made'); f.close();
    const opened = ['../c.txt', '..\\\\c.txt'].map((name) => std.open(name, 'w'));
    const moved = os.rename('made.txt', '..\\\\c.txt');
    if (opened.some((file) => file !== null) || moved === 0) std.exit(1);
  `;
  const tool = await probe(`${write} ${seen}`);
  const task = "Work in the folder";
  const root = [
    reply({ calls: [["spawn_agent", { task, working_dir: "a" }]] }),
    reply({ calls: [["wait", { agent_id: "agent-1" }]] }),
    reply({ text: "Done." }),
  ];
  const child = [reply({ calls: [["probe", {}]] }), reply({ text: "Made." })];
  const asked = [];
  const step = (request, response) => {
    const { body } = server.requests.at(-1);
    const isChild = JSON.stringify(body.messages[0]).includes(task);
    if (isChild) asked.push(body);
    return (isChild ? child : root).shift()(request, response);
  };
  const server = await serve(step, step, step, step, step);
  const files = { "a/b.txt": "", "c.txt": "" };
  const agent = await agentAt(server, { tools: [tool], files, subagents: {} });
  await agent.run("Let somebody work").result();
  assert.equal(toolResults({ body: asked[1] })[0].text, "b.txt,made.txt");
  assert.deepEqual(agent.files.list(), ["a/b.txt", "a/made.txt", "c.txt"]);
  assert.equal(agent.files.readText("c.txt"), "");
  await agent.close();
  await server.close();
});

test("c6 tools are replaced while the agent lives, with what they are made of", async () => {
  const tool = await probe("std.out.puts('one')");
  const server = await serve(reply({ calls: [["other", {}]] }), reply({ text: "Done." }));
  const agent = await agentAt(server, { tools: [tool] });
  agent.tools.register({ ...tool, name: "other", args: ["--std", "-e", "std.out.puts('two')"] });
  assert.equal(agent.tools.get("other").module, tool.module);
  await agent.run("Go").result();
  assert.equal(toolResults(server.requests[1])[0].text, "two");
  await agent.close();
  await server.close();
});

test("c5 the definitions in the documentation make tools", async () => {
  const text = readFileSync(join(ROOT, "docs/custom-tools.md"), "utf8");
  const definitions = [...text.matchAll(/^```toml\n(.*?)^```$/gms)].map(([, block]) => block);
  const tools = await Promise.all(
    definitions.map((definition) => wasiTool({ definition, module })),
  );
  assert.deepEqual(
    tools.map(({ name, readOnly, timeoutMs }) => [name, readOnly, timeoutMs]),
    [
      ["word_count", true, undefined],
      ["probe", false, 5000],
    ],
  );
  assert.deepEqual(tools[1].limits, { outputMib: 1, diskMib: 0 });
});

test("c5 what makes no tool is refused, with the file and what to do", async () => {
  const good = { name: "probe", description: "Probes.", module: "qjs.wasm" };
  const library = Uint8Array.from([0, 97, 115, 109, 1, 0, 0, 0]);
  const component = Uint8Array.from([0, 97, 115, 109, 13, 0, 1, 0]);
  const cases = [
    [toml({ ...good, name: undefined }).replace("name = undefined\n", ""), /`name` is missing/],
    [toml({ ...good, readonly: true }), /tool\.toml: there is no field `readonly`; there is name/],
    [toml({ ...good, limits: { fuel: 1 } }), /there is no field `limits\.fuel`; there is timeout/],
    [toml({ ...good, limits: { timeout_ms: -1 } }), /limits\.timeout_ms: must be a whole number/],
    [toml({ ...good, limits: { disk_mib: 2 ** 30 } }), /limits\.disk_mib: a limit is at most/],
    [toml({ ...good, limits: 7 }), /limits: must be a table/],
    [toml({ ...good, args: "one" }), /args: must be a list of texts/],
    [toml({ ...good, args: [1] }), /args: must be a list of texts/],
    [toml({ ...good, read_only: "yes" }), /read_only: must be true or false/],
    [toml({ ...good, parameters: "schema.json" }), /parameters: must be a table/],
    [toml({ ...good, module: "../qjs.wasm" }), /must be the path of a file in the tool's folder/],
    [toml({ ...good, module: "/qjs.wasm" }), /must be the path of a file in the tool's folder/],
    [toml({ ...good, module: "" }), /must be the path of a file in the tool's folder/],
    [`${toml(good)}name = "b"\n`, /tool\.toml: line 4, column \d+: /],
    ["name = 'a\n", /tool\.toml: line 1, column \d+: /],
    [`${toml(good)}[parameters]\ndefault = 1979-05-27\n`, /parameters\.default: JSON, in which/],
    [`${toml(good)}[parameters]\nx = [{y = nan}]\n`, /parameters\.x\.0\.y: JSON, in which/],
  ];
  const deep = [`[parameters${".a".repeat(9000)}]\n`, `parameters = ${"[".repeat(9000)}\n`];
  cases.push(...deep.map((table) => [toml(good) + table, /tool\.toml: .*nested/]));
  const refused = (message) => ({ name: "AgentError", code: "bad_tool", message });
  for (const [definition, words] of cases) {
    await assert.rejects(wasiTool({ definition, module }), refused(words));
  }
  const modules = [
    [new Uint8Array(), /module: qjs\.wasm: /],
    [new TextEncoder().encode("no module at all"), /module: qjs\.wasm: /],
    [library, /it has no function `_start`: a tool is a program, not a library/],
    [component, /it is a component; build it for WASI preview 1, `wasm32-wasip1`/],
  ];
  for (const [bytes, words] of modules) {
    await assert.rejects(wasiTool({ definition: toml(good), module: bytes }), refused(words));
  }
  const tight = toml({ ...good, limits: { memory_mib: 0 } });
  await assert.rejects(wasiTool({ definition: tight, module }), refused(/may have 0 MiB/));
  for (const source of [undefined, null, 7, {}, { definition: "" }, { module }]) {
    await assert.rejects(wasiTool(source), refused(/give the place of a tool's folder/));
  }
  await assert.rejects(wasiTool(new URL("data:,x")), refused(/"data:,x" is no place: /));
  const at = join(folder, "tools/none");
  mkdirSync(at, { recursive: true });
  await assert.rejects(wasiTool(at), refused(/cannot read .*none\/tool\.toml: .*ENOENT/));
  cpSync(join(countLines(), "tool.toml"), join(at, "tool.toml"));
  await assert.rejects(wasiTool(at), refused(/cannot read .*none\/count-lines\.wasm: .*ENOENT/));
  writeFileSync(join(at, "tool.toml"), " ".repeat(2 ** 20 + 1));
  await assert.rejects(wasiTool(at), refused(/has more than 1048576 bytes/));
});

test("a tool with a module is checked as one", async () => {
  const tool = await probe("");
  const server = await serve();
  const cases = [
    [{ ...tool, module }, /`module` must be a WebAssembly\.Module; `wasiTool` makes one/],
    [{ ...tool, args: [7] }, /`args` must be a list of texts/],
    [{ ...tool, limits: { outputMib: -1 } }, /`probe\.limits\.outputMib` must be a whole number/],
    [{ ...tool, timeoutMs: 0.5 }, /`probe\.timeoutMs` must be a whole number/],
  ];
  for (const [wrong, message] of cases) {
    const error = await agentAt(server, { tools: [wrong] }).then(assert.fail, (thrown) => thrown);
    assert.ok(error instanceof AgentError, String(error));
    assert.equal(error.code, "bad_option");
    assert.match(error.message, message);
  }
  await server.close();
});
