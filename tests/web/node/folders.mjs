// A subagent in a folder: what it writes, finds, runs and is told lies there.

import assert from "node:assert/strict";
import { test } from "node:test";
import { reply, serve, toolResults } from "../support/anthropic.mjs";
import { agentAt, eventsOf } from "../support/installed.mjs";
import { bash, qjs } from "../support/package.mjs";

const programs = { qjs: { wasm: await WebAssembly.compile(qjs()), description: "QuickJS" } };
const TASK = "Work in the folder";

/** The root's agent starts one in `folder`, which makes the calls at once; what came of it. */
async function inFolder(folder, calls, options) {
  const root = [
    reply({ calls: [["spawn_agent", { task: TASK, working_dir: folder }]] }),
    reply({ calls: [["wait", { agent_id: "agent-1" }]] }),
    reply({ text: "Both are done." }),
  ];
  const child = [reply({ calls }), reply({ text: "Done." })];
  const asked = [];
  // The two agents run side by side: each gets the reply that is meant for it.
  const step = (request, response) => {
    const { body } = server.requests.at(-1);
    const isChild = JSON.stringify(body.messages[0]).includes(TASK);
    if (isChild) asked.push(body);
    return (isChild ? child : root).shift()(request, response);
  };
  const server = await serve(step, step, step, step, step);
  const agent = await agentAt(server, { subagents: {}, ...options });
  const run = agent.run("Let somebody work", { agents: "all" });
  const events = await eventsOf(run);
  assert.equal((await run.result()).status, "completed");
  await agent.close();
  await server.close();
  return { agent, events, asked, read: toolResults({ body: asked[1] }) };
}

test("f2 a subagent's files, searches, programs and tools are those of its folder", async () => {
  const main = `import * as std from "qjs:std";
    console.log(std.loadFile("x.txt").trim(), std.open("../top.txt", "r") === null);
    const f = std.open("made.txt", "w"); f.puts("made"); f.close();`;
  const contexts = [];
  const where = {
    name: "where",
    description: "Where it works",
    parameters: { type: "object", properties: {} },
    execute: (_args, { folder }) => contexts.push(folder) && folder,
  };
  const calls = [
    ["write_file", { file_path: "x.txt", content: "mine\n" }],
    ["run_program", { program: "qjs", args: ["-m", "main.mjs"] }],
    ["glob", { pattern: "**/*.txt" }],
    ["read_file", { file_path: "../../top.txt" }],
    ["where", {}],
  ];
  const files = { "top.txt": "top\n", "packages/a/main.mjs": main };
  const { agent, read, events } = await inFolder("packages/a", calls, {
    files,
    programs,
    tools: [where],
  });
  assert.equal(agent.files.readText("packages/a/x.txt"), "mine\n");
  assert.equal(agent.files.readText("packages/a/made.txt"), "made");
  assert.equal(agent.files.has("x.txt"), false);
  assert.equal(read[1].text, "mine true\n");
  assert.deepEqual(read[2].text.split("\n").sort(), ["made.txt", "x.txt"]);
  assert.equal(read[3].isError, true);
  assert.deepEqual([read[4].text, contexts], ["packages/a", ["packages/a"]]);
  const started = events.find(({ type }) => type === "agent_started");
  assert.equal(started.folder, "packages/a");
  const changes = events.flatMap(({ outcome }) => outcome?.changes ?? []);
  assert.deepEqual(
    changes.map(({ path }) => path),
    ["packages/a/x.txt", "packages/a/made.txt"],
  );
});

test("f1 a subagent is told of its folder, and reads what leads to it", async () => {
  const files = {
    "AGENTS.md": "for all",
    "packages/a/AGENTS.md": "for a only",
    "packages/a/deep/AGENTS.md": "for deep",
    "packages/b/AGENTS.md": "for b",
  };
  const { asked } = await inFolder("packages/a", [["list_dir", { path: "." }]], { files });
  const told = JSON.stringify(asked[0].system);
  assert.match(told, /\/packages\/a/);
  assert.deepEqual(
    ["for all", "for a only", "for deep", "for b"].map((text) => told.includes(text)),
    [true, true, false, false],
  );
});

test("f1 a subagent cannot be started outside of the workspace", async () => {
  const server = await serve(
    reply({ calls: [["spawn_agent", { task: TASK, working_dir: "../else" }]] }),
    reply({ text: "I see." }),
  );
  const agent = await agentAt(server, { subagents: {} });
  assert.equal((await agent.run("Go").result()).status, "completed");
  const [{ text, isError }] = toolResults(server.requests[1]);
  assert.equal(isError, true);
  assert.match(text, /\.\.\/else is not in your working directory/);
  await agent.close();
  await server.close();
});

test("c11 a subagent's shell has its folder as /, and is its own", async () => {
  const lines = [
    "pwd; ls; x=1; echo made > made.txt; mkdir empty; ln -s made.txt link; cat ../top.txt",
    "echo $x; cat /link; ls -d empty; echo t > /tmp/t",
    "cat /tmp/t; qjs -m main.mjs",
  ];
  const main = 'import * as std from "qjs:std"; console.log(std.loadFile("made.txt"));';
  const files = { "top.txt": "top\n", "packages/a/main.mjs": main };
  const calls = lines.map((command) => ["shell", { command }]);
  const both = { bash: bash(), ...programs };
  const { agent, read, events } = await inFolder("packages/a", calls, { files, programs: both });
  const texts = read.map(({ text }) => text);
  assert.match(texts[0], /^\/\nmain\.mjs\n.*cat: \.\.\/top\.txt/s);
  assert.match(texts[1], /^1\nmade\nempty\n/);
  assert.match(texts[2], /^t\nmade\n/);
  assert.deepEqual(agent.files.list(), ["packages/a/made.txt", "packages/a/main.mjs", "top.txt"]);
  const { outcome } = events.find(({ name, type }) => type === "tool_call_end" && name === "shell");
  assert.deepEqual(outcome.changes, [
    { path: "packages/a/made.txt", kind: "created", after: "made\n" },
  ]);
});
