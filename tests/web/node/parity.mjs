// The specification's parity matrix through the package: fifteen rows for the families of OpenAI,
// Anthropic and Gemini, each over its own protocol and HTTP, with real tools over the files in
// memory. In place of a shell stands QuickJS, which runs scripts, and where a row
// needs to know what goes on at the same time, a tool of the user's own.

import assert from "node:assert/strict";
import { test } from "node:test";
import { serve } from "../support/anthropic.mjs";
import { FAMILIES, replyOf } from "../support/families.mjs";
import { Agent, eventsOf } from "../support/installed.mjs";
import { qjs } from "../support/package.mjs";

const programs = { qjs: { wasm: await WebAssembly.compile(qjs()), description: "QuickJS" } };

/** A call that runs a script. */
const run = (script, more = {}) => [
  "run_program",
  { program: "qjs", args: ["-m", script], ...more },
];

/** A row of the matrix: `cell` is played for each family. */
function row(name, cell) {
  for (const family of FAMILIES) test(`g7 ${family.provider}: ${name}`, () => cell(family));
}

/**
 * Lets a family's model do what `script` says, each item one reply: a text, or a list of calls.
 * Tells the bodies of the requests, the events, and what became of the files.
 */
async function play(family, prompt, script, { files = {}, tools = [] } = {}) {
  const content = (item) => (typeof item === "string" ? { text: item } : { calls: item });
  const server = await serve(...script.map((item) => replyOf(family, content(item))));
  const { provider, model, below } = family;
  const common = { apiKey: "sk-test-0123456789", baseUrl: server.url + below };
  const own = { tools: tools.map((tool) => tool(() => agent)), subagents: {} };
  const agent = await Agent.create({ ...common, provider, model, files, programs, ...own });
  const running = agent.run(prompt, { agents: "all" });
  const events = await eventsOf(running);
  const { status, text } = await running.result();
  const bodies = server.requests.map(({ body }) => body);
  const has = (path) => agent.files.list().includes(path);
  const read = (path) => (has(path) ? agent.files.readText(path) : undefined);
  await agent.close();
  await server.close();
  assert.deepEqual([status, text], ["completed", script.at(-1)], JSON.stringify(events.at(-2)));
  assert.equal(bodies.length, script.length, "each reply was asked for");
  const ends = events.filter(({ type }) => type === "tool_call_end");
  const errors = ends.map(({ outcome }) => outcome.error);
  const results = (at) => family.results(bodies[at]).map((result) => result.text);
  return { bodies, events, ends, errors, results, read };
}

const schema = { type: "object", properties: { n: { type: "integer" } } };

/** A read-only tool of the user's own that does something with the agent. */
const own = (name, execute) => (agent) => ({
  name,
  description: "Does something.",
  parameters: schema,
  readOnly: true,
  execute: (input) => execute(agent(), input),
});

row("simple file creation", async (family) => {
  const text = "print('Hello World')\n";
  const script = [[family.write("hello.py", text)], "Done."];
  const { read, errors } = await play(family, "Create hello.py that prints Hello World", script);
  assert.deepEqual([read("hello.py"), errors], [text, [undefined]]);
});

row("read a file, then edit it", async (family) => {
  const files = { "a.js": "let a = 1;\nlet b = 2;\n" };
  const edit = family.edit("a.js", "let b = 2;", "let b = 3;");
  const script = [[family.read("a.js")], [edit], "Done."];
  const { read, results, errors } = await play(family, "Set b to 3", script, { files });
  assert.match(results(1)[0], /let a = 1;[^]*let b = 2;/);
  assert.deepEqual(errors, [undefined, undefined], results(2)[0]);
  assert.equal(read("a.js"), "let a = 1;\nlet b = 3;\n");
});

row("edit several files in one session", async (family) => {
  const files = { a: "one\n", "b/c": "one\n" };
  const reads = [family.read("a"), family.read("b/c")];
  const edits = [family.edit("a", "one", "two"), family.edit("b/c", "one", "two")];
  const script = [reads, edits, "Done."];
  const { read, results } = await play(family, "one becomes two", script, { files });
  assert.equal(results(2).length, 2);
  assert.deepEqual([read("a"), read("b/c")], ["two\n", "two\n"]);
});

row("run a command", async (family) => {
  const files = {
    "hi.mjs": "console.log('hi there');",
    "fail.mjs": "console.log('so far'); throw new Error('boom');",
  };
  const script = [[run("hi.mjs")], [run("fail.mjs")], "One of them fails."];
  const { ends, results } = await play(family, "Run both", script, { files });
  assert.match(results(1)[0], /hi there/);
  assert.match(results(2)[0], /so far[^]*boom/);
  const told = ends.map(({ outcome: { exit, error } }) => [exit, error]);
  assert.deepEqual(told, [
    [0, undefined],
    [1, "exit"],
  ]);
});

row("a command's timeout is told with what came before", async (family) => {
  const files = { "sleep.mjs": "console.log('begun'); for (;;);" };
  const script = [[run("sleep.mjs", { timeout_ms: 900 })], "It takes too long."];
  const { results, errors } = await play(family, "Sleep for 30 seconds", script, { files });
  const [told] = results(1);
  assert.deepEqual(errors, ["timeout"]);
  assert.ok(told.indexOf("begun") >= 0, told);
  assert.match(told, /\[ERROR: Command timed out after 900ms\./);
});

row("grep and glob find files", async (family) => {
  const files = { "src/a.ts": "needle\n", "src/b.ts": "hay\n", "c.md": "needle\n" };
  const script = [[family.glob("**/*.ts")], [family.grep("need.e")], "Found."];
  const { results } = await play(family, "Find it", script, { files });
  const [[globbed], [grepped]] = [results(1), results(2)];
  assert.ok(/src\/a\.ts/.test(globbed) && /src\/b\.ts/.test(globbed), globbed);
  assert.doesNotMatch(globbed, /c\.md/);
  assert.ok(/src\/a\.ts/.test(grepped) && /c\.md/.test(grepped), grepped);
  assert.ok(/needle/.test(grepped) && !/hay/.test(grepped), grepped);
});

row("read, analyze, edit in several steps", async (family) => {
  const wrong = "export const total = (a, b) => a - b;";
  const right = "export const total = (a, b) => a + b;";
  const main = `import { total } from "./cart.mjs";
    if (total(1, 2) !== 3) throw new Error("not 3");
    console.log("ok");`;
  const files = { "cart.mjs": `${wrong}\n`, "test.mjs": main };
  const edit = family.edit("cart.mjs", wrong, right);
  const script = [
    [run("test.mjs")],
    [family.read("cart.mjs")],
    [edit],
    [run("test.mjs")],
    "Fixed.",
  ];
  const { read, results, errors } = await play(family, "Make the test pass", script, { files });
  assert.match(results(1)[0], /not 3/);
  assert.ok(results(2)[0].includes(wrong));
  assert.match(results(4)[0], /ok/);
  assert.deepEqual(errors, ["exit", undefined, undefined, undefined]);
  assert.equal(read("cart.mjs"), `${right}\n`);
});

row("a large file is truncated for the model and whole in the event", async (family) => {
  const files = { "big.txt": `${"x".repeat(99)}\n`.repeat(1000) };
  const script = [[family.read("big.txt")], "It is all x."];
  const { results, ends } = await play(family, "Read big.txt", script, { files });
  const [told] = results(1);
  assert.ok(told.includes("[WARNING: Tool output was truncated."), told.slice(0, 200));
  assert.ok(told.length < 60_000, String(told.length));
  assert.equal(ends[0].outcome.parts[0].text.match(/x/g).length, 99_000);
});

row("parallel calls run side by side and are answered in order", async (family) => {
  let begun = 0;
  const [all, ...may] = [0, 1, 2, 3].map(resolvable);
  const meet = own("meet", async (_agent, { n }) => {
    begun += 1;
    if (begun === 3) all.resolve();
    await all.promise;
    // The last one ends first.
    if (n < 2) await may[n].promise;
    setTimeout(() => may[n - 1]?.resolve());
    return `met ${n}`;
  });
  const calls = [0, 1, 2].map((n) => ["meet", { n }]);
  const { results, ends } = await play(family, "Meet", [calls, "Met."], { tools: [meet] });
  assert.deepEqual(results(1), ["met 0", "met 1", "met 2"]);
  const order = ends.map(({ outcome }) => outcome.parts[0].text);
  assert.deepEqual(order, ["met 2", "met 1", "met 0"]);
});

/** A promise that somebody else resolves. */
function resolvable() {
  const made = {};
  made.promise = new Promise((resolve) => {
    made.resolve = resolve;
  });
  return made;
}

row("steering in mid-task", async (family) => {
  const steer = "Only a /health endpoint";
  const pause = own("pause", (agent) => {
    agent.steer(steer);
    return "over";
  });
  const script = [[["pause", {}]], [family.write("app.py", "/health\n")], "One endpoint."];
  const options = { tools: [pause] };
  const { bodies, results, read } = await play(family, "Create a Flask app", script, options);
  assert.deepEqual(results(1), ["over"]);
  assert.equal(family.said(bodies[1]), steer, "behind the round's results");
  assert.equal(read("app.py"), "/health\n");
});

row("a change of the reasoning effort", async (family) => {
  const efforts = ["high", "low", null];
  const think = own("think", (agent) => {
    agent.configure({ reasoningEffort: efforts.shift() });
    return "changed";
  });
  const script = [...Array(3).fill([["think", {}]]), "Done."];
  const { bodies } = await play(family, "Think", script, { tools: [think] });
  assert.deepEqual(bodies.map(family.effort), [undefined, "high", "low", undefined]);
});

row("spawn another agent and wait for it", async (family) => {
  const calls = [
    ["spawn_agent", { task: "Write tests" }],
    ["wait", { agent_id: "agent-1" }],
  ];
  // From the calls on it is the other one's turn, until it is done.
  const script = [calls, [family.write("test.js", "ok\n")], "Written.", "All done."];
  const { results, events, read } = await play(family, "Have tests written", script);
  assert.equal(read("test.js"), "ok\n");
  const { output, success, turns_used } = JSON.parse(results(3)[1]);
  assert.deepEqual([output, success, turns_used], ["Written.", true, 3]);
  const starts = events.filter(({ type }) => type === "tool_call_start");
  const [write] = family.write("test.js", "");
  const told = starts.map(({ agent, name }) => [agent, name]);
  assert.deepEqual(told, [
    [0, "spawn_agent"],
    [0, "wait"],
    [1, write],
  ]);
});

row("loop detection warns the model", async (family) => {
  const script = [...Array(10).fill([family.look()]), "I stop here."];
  const { bodies, events } = await play(family, "go", script, { files: { a: "x" } });
  const warning = family.said(bodies[10]);
  assert.match(warning, /^Loop detected: the last 10 tool calls/);
  const told = events.filter(({ type }) => type === "loop_detection");
  assert.deepEqual(
    told.map(({ message }) => message),
    [warning],
  );
});

row("a failing tool is recovered from", async (family) => {
  const script = [
    [family.read("b.js")],
    [family.read("a.js")],
    [family.edit("a.js", "nowhere", "y")],
    [family.edit("a.js", "x", "y")],
    "Done.",
  ];
  const files = { "a.js": "x\n" };
  const { bodies, errors, read } = await play(family, "x becomes y", script, { files });
  assert.deepEqual(errors, ["not_found", undefined, "edit_conflict", undefined]);
  for (const [at, path] of [
    [1, "b.js"],
    [3, "a.js"],
  ]) {
    const [{ text, isError }] = family.results(bodies[at]);
    assert.ok(text.includes(path), text);
    assert.notEqual(isError, false);
  }
  assert.equal(read("a.js"), "y\n");
});

row("the family's own way to edit", async (family) => {
  const files = { a: "1\n2\n3\n", old: "x\n" };
  const own = family.edit("a", "2", "two");
  const script = [[family.read("a"), family.read("old")], [own], "Done."];
  const moved = `*** Add File: new\n+n\n*** Delete File: old\n*** Update File: a
*** Move to: b\n@@\n 1\n-two\n+zwei\n 3\n`;
  if (family.patch !== undefined) script.splice(2, 0, [family.patch(moved)]);
  const { bodies, errors, read } = await play(family, "two", script, { files });
  const shown = family.tools(bodies[0]);
  for (const tool of ["apply_patch", "edit_file", "Edit", "replace"]) {
    assert.equal(shown.includes(tool), tool === own[0], `${tool} in ${shown.join(" ")}`);
  }
  assert.ok(errors.every((error) => error === undefined));
  const texts = ["a", "b", "new", "old"].map(read);
  const patched = [undefined, "1\nzwei\n3\n", "n\n", undefined];
  const edited = ["1\ntwo\n3\n", undefined, undefined, "x\n"];
  assert.deepEqual(texts, family.patch !== undefined ? patched : edited);
});
