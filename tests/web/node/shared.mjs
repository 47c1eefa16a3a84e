// Files that several agents work on: what one changes the others see, each with guards of its own.

import assert from "node:assert/strict";
import { test } from "node:test";
import { reply, serve, toolResults } from "../support/anthropic.mjs";
import { agentAt, Files, init } from "../support/installed.mjs";
import { qjs } from "../support/package.mjs";
import { shelf } from "../support/shelf.mjs";

await init();

const READ = (file_path) => ["read_file", { file_path }];
const WRITE = (file_path, content) => ["write_file", { file_path, content }];
const EDIT = (file_path, old_string, new_string) => [
  "edit_file",
  { file_path, old_string, new_string },
];
const GUARDED = { config: { guard: { read_before_write: true } } };

/** An agent with calls of its own, one a run: `does()` says what the model read of the next. */
async function worker(calls, options) {
  const server = await serve(
    ...calls.flatMap((call) => [reply({ calls: [call] }), reply({ text: "Done." })]),
  );
  const agent = await agentAt(server, { ...GUARDED, ...options });
  const does = async () => {
    assert.equal((await agent.run("Go").result()).status, "completed");
    return toolResults(server.requests.at(-1))[0];
  };
  const close = async () => {
    await agent.close();
    await server.close();
  };
  return { agent, does, close };
}

for (const kind of ["memory", "a file system of one's own"]) {
  test(`two agents share files in ${kind}`, async () => {
    const given = { "a.txt": "one\n" };
    const system = shelf(given);
    const first = await worker([READ("a.txt"), EDIT("a.txt", "one", "two"), READ("a.txt")], {
      files: kind === "memory" ? given : system,
    });
    const heard = { first: [], second: [] };
    first.agent.files.watch(({ path, kind }) => heard.first.push(`${kind} ${path}`));
    const second = await worker(
      [READ("a.txt"), EDIT("a.txt", "one", "three"), READ("a.txt"), EDIT("a.txt", "two", "three")],
      { files: first.agent.files },
    );
    second.agent.files.watch(({ path, kind }) => heard.second.push(`${kind} ${path}`));
    assert.match((await first.does()).text, /one/);
    assert.match((await second.does()).text, /one/);
    assert.equal((await first.does()).isError, false);
    assert.equal(second.agent.files.readText("a.txt"), "two\n");
    const refused = await second.does();
    assert.match(refused.text, /has changed since you read it/, "each has a guard of its own");
    assert.match((await second.does()).text, /two/);
    assert.equal((await second.does()).isError, false);
    assert.match((await first.does()).text, /three/);
    assert.deepEqual(heard.first, ["modified a.txt", "modified a.txt"]);
    assert.deepEqual(heard.second, heard.first);
    await first.close();
    assert.equal(first.agent.files.readText("a.txt"), "three\n");
    assert.equal(second.agent.files.readText("a.txt"), "three\n");
    await second.close();
    if (kind !== "memory") assert.deepEqual(system.all(), { "a.txt": "three\n" });
  });
}

test("the files go on when the agent that had them first is closed", async () => {
  const first = await worker([WRITE("a.txt", "1")], { files: {} });
  const second = await worker([READ("a.txt"), WRITE("b.txt", "2")], { files: first.agent.files });
  await first.does();
  await first.close();
  assert.match((await second.does()).text, /1/);
  assert.equal((await second.does()).isError, false);
  assert.deepEqual(first.agent.files.list(), ["a.txt", "b.txt"]);
  await second.close();
  const third = await worker([READ("b.txt")], { files: second.agent.files });
  assert.match((await third.does()).text, /2/);
  await third.close();
});

test("a copy is shared with nobody: of a plain object, and in a fork", async () => {
  const first = await worker([WRITE("a.txt", "1")], { files: { "a.txt": "0" }, ...{ config: {} } });
  const second = await worker([], { files: first.agent.files.export() });
  const fork = first.agent.fork();
  const beside = first.agent.fork({ files: first.agent.files });
  first.agent.files.write("a.txt", "1");
  const texts = [second.agent, fork, beside].map(({ files }) => files.readText("a.txt"));
  assert.deepEqual(texts, ["0", "0", "1"]);
  for (const each of [fork, beside]) await each.close();
  for (const each of [first, second]) await each.close();
});

test("a call that is stopped while it waits for another's does no harm", async () => {
  const system = shelf({ "a.txt": "a\n" });
  const first = await worker([WRITE("b.txt", "b"), READ("a.txt")], { files: system });
  const second = await worker([READ("a.txt"), READ("b.txt")], { files: first.agent.files });
  const events = [];
  second.agent.subscribe(({ type }) => events.push(type));
  let release;
  let begin;
  const begun = new Promise((resolve) => (begin = resolve));
  system.before = (name) => {
    if (name !== "write") return;
    begin();
    return new Promise((resolve) => (release = resolve));
  };
  const writes = first.does();
  await begun;
  const run = second.agent.run("Go");
  for await (const { type } of run) if (type === "tool_call_start") break;
  assert.equal((await run.result()).status, "interrupted");
  release();
  assert.equal((await writes).isError, false);
  system.before = () => undefined;
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.ok(!events.includes("error"), events.join());
  assert.match((await first.does()).text, /a/);
  for (const each of [first, second]) await each.close();
});

test("a program sees what another agent has written meanwhile", async () => {
  const files = new Files({
    "p.mjs": 'import * as std from "qjs:std"; print(std.loadFile("a.txt"));',
  });
  const run = ["run_program", { program: "qjs", args: ["-m", "p.mjs"] }];
  const first = await worker([run, run], { files, programs: { qjs: qjs() } });
  const second = await worker([WRITE("a.txt", "second")], { files });
  assert.match((await first.does()).text, /null/);
  await second.does();
  assert.match((await first.does()).text, /second/);
  for (const each of [first, second]) await each.close();
});
