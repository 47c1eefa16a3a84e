// The main job: the example project is fixed from recorded traffic, with real tools.

import assert from "node:assert/strict";
import { test } from "node:test";
import { runExampleTest } from "../support/example.mjs";
import { Agent, eventsOf } from "../support/installed.mjs";
import { exampleFiles, exampleTraffic, qjs } from "../support/package.mjs";

const PROMPT = "Make the tests pass";

function example(options = {}) {
  const traffic = exampleTraffic();
  return Agent.create({
    files: exampleFiles(),
    programs: { qjs: qjs() },
    replay: traffic,
    vocabulary: "seed",
    ...options,
  });
}

test("the example is fixed: its test was red before and is green after", async () => {
  const before = runExampleTest(Object.entries(exampleFiles()));
  assert.equal(before.status, 1, before.output);
  const agent = await example();
  const run = agent.run(PROMPT);
  const events = await eventsOf(run);
  const result = await run.result();
  assert.equal(result.status, "completed", JSON.stringify(result.error));
  assert.match(result.text, /tests pass/i);
  const after = runExampleTest(agent.files);
  assert.equal(after.status, 0, after.output);

  const runs = events.filter(
    (event) => event.type === "tool_call_end" && event.name === "run_program",
  );
  assert.deepEqual(
    runs.map((event) => event.outcome.exit),
    [1, 0],
  );
  assert.equal(runs.at(-1).outcome.parts[0].text, after.output);
  const printed = events.filter((event) => event.type === "tool_call_output_delta");
  assert.ok(printed.some((event) => event.text.includes("not ok 5")));
  const changed = events.flatMap((event) => event.outcome?.changes ?? []);
  assert.deepEqual(
    changed.map(({ path, kind }) => [path, kind]),
    [["src/discount.js", "modified"]],
  );
  assert.equal(changed[0].before, exampleFiles()["src/discount.js"]);
  assert.equal(changed[0].after, agent.files.readText("src/discount.js"));
  const { toolCalls, replies, usage } = result;
  const last = events.at(-1);
  assert.equal(last.type, "processing_end");
  assert.deepEqual([toolCalls, replies], [last.tool_calls, last.replies]);
  const { input_total, output_total, cache_read, cache_write, reasoning } = last.usage;
  assert.deepEqual(usage, {
    inputTotal: input_total,
    outputTotal: output_total,
    cacheRead: cache_read,
    cacheWrite: cache_write,
    reasoning,
  });
  await agent.close();
});

test("a replay stops where a tool works differently, and shows both texts", async () => {
  const sabotage = {
    name: "grep",
    description: "Finds nothing, whatever it is asked",
    parameters: { type: "object" },
    execute: () => "no matches",
  };
  const agent = await example({ tools: [sabotage] });
  const result = await agent.run(PROMPT).result();
  assert.equal(result.status, "failed");
  const { code, call, expected, found, message, kind } = result.error;
  assert.deepEqual([code, kind], ["replay_mismatch", "host"]);
  assert.ok(call > 1);
  assert.match(expected, /src\/discount\.js:13/);
  assert.match(found, /no matches/);
  assert.ok(message.includes(expected) && message.includes(found));
  assert.equal(runExampleTest(agent.files).status, 1);
  await agent.close();
});

test("a replay takes no other words", async () => {
  const agent = await example();
  const { status, error } = await agent.run("Make coffee").result();
  assert.deepEqual([status, error.code, error.call], ["failed", "replay_mismatch", 1]);
  assert.match(error.expected, /Make the tests pass/);
  assert.match(error.found, /Make coffee/);
  await agent.close();
});

test("an exhausted recording says which call it lacks", async () => {
  const lines = exampleTraffic().trim().split("\n");
  const agent = await example({ replay: lines.slice(0, 2).join("\n") });
  const { status, error } = await agent.run(PROMPT).result();
  assert.deepEqual([status, error.code, error.call], ["failed", "replay_exhausted", 3]);
  await agent.close();
});

test("an unreadable recording is refused with its line", async () => {
  const [first] = exampleTraffic().split("\n");
  for (const [replay, line] of [
    ["", 1],
    ["{}", 1],
    [`${first}\nrubbish\n`, 2],
    // What a recording was made with is not looked at, and counts as a line.
    [`{"recording":1,"provider":"anthropic"}\n${first}\nrubbish\n`, 3],
  ]) {
    const message = new RegExp(`^line ${line} of the recording cannot be read`);
    await assert.rejects(example({ replay }), { code: "replay_unreadable", message });
  }
});

test("a recorded failure has its status and its request's id", async () => {
  const [first] = exampleTraffic()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const body = JSON.stringify({ error: { type: "not_found_error", message: "no such model" } });
  const headers = [
    ["content-type", "application/json"],
    ["Request-Id", "req_7"],
  ];
  const replay = `${JSON.stringify({ ...first, status: 404, headers, body })}\n`;
  const lines = [];
  for (const onLine of [undefined, (line) => lines.push(line)]) {
    const agent = await example({ replay, onLine });
    const { status, error } = await agent.run(PROMPT).result();
    assert.deepEqual([status, error.status, error.requestId], ["failed", 404, "req_7"]);
    assert.match(error.message, /no such model/);
    await agent.close();
  }
  assert.ok(
    lines.some((line) => line.includes('"status":404')),
    "the lines are told, too",
  );
});

test("a replay can be watched at a pace, and stopped in the middle", async () => {
  const agent = await example({ replay: { traffic: exampleTraffic(), paceMs: 20 } });
  let deltas = 0;
  const run = agent.run(PROMPT);
  for await (const event of run) {
    if (event.type === "assistant_text_delta") deltas += 1;
    if (deltas === 2) break;
  }
  assert.equal((await run.result()).status, "interrupted");
  await agent.close();
});
