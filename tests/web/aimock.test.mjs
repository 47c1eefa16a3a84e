// Whole runs over real HTTP against a third-party mock, in each of the five protocols, by the
// native program and by the packed package in Node. Run with `node --test aimock.test.mjs`;
// INNERLOOP_BIN and INNERLOOP_TARBALL name another program and another tarball.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { HOSTS, KEY, PROTOCOLS, startingProgram, startMock } from "./support/aimock.mjs";

// Where the protocol streams the arguments of calls, and not calls as a whole.
const STREAMS_CALLS = ["openai", "openai-chat", "anthropic"];

// A test that takes longer hangs.
const TIMEOUT = { timeout: 60_000 };

for (const protocol of PROTOCOLS) {
  for (const { host, run } of HOSTS) {
    const check = (name, steps) => test(name, TIMEOUT, (t) => steps(t, { protocol, run }));
    describe(`${protocol.provider}, ${host}`, { concurrency: 4 }, () => {
      check("calls, results and thinking go there and back", toolRun);
      check("the tools that the family knows", ownTools);
      check("a 429 is waited for as long as it says", patience);
      check("a 429 for an hour ends the run", noPatience);
      check("a stream that is cut is taken back", cutText);
      check("a key that is refused ends the run", refusedKey);
      if (!STREAMS_CALLS.includes(protocol.provider)) return;
      check("a call that is cut never runs", cutCall);
    });
  }
}

for (const protocol of PROTOCOLS) {
  describe(`${protocol.provider}, the command line`, { concurrency: 4 }, () => {
    test("a run as people and scripts see it", TIMEOUT, (t) => asSeen(t, protocol));
    test("a session that was kept goes on", TIMEOUT, (t) => goesOn(t, protocol));
  });
}

// The answer alone on standard output; what was done, a line each, on standard error.
async function asSeen(t, protocol) {
  const mock = await startMock(t);
  const program = startingProgram(t, { protocol, mock, given: { "given.txt": "forty-two\n" } });
  const run = ["run", "Please keep a note", "--apply", "--vocabulary", "seed", ...program.where];
  const { code, stdout, stderr } = await program.start(run);
  assert.deepEqual([code, stdout.trimEnd()], [0, "Noted: sunny."], stderr);
  assert.equal(program.read("notes/today.md"), 'Sunny, "mostly": 21 °C\n');
  const told = [
    "Look first, then write.",
    "I look at it and write it down.",
    "• read given.txt",
    "forty-two",
    "• write notes/today.md",
    '+Sunny, "mostly": 21 °C',
    "applied: 1 file",
  ];
  const places = told.map((words) => stderr.indexOf(words));
  assert.ok(!places.includes(-1), `${told[places.indexOf(-1)]} is not in ${stderr}`);
  assert.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
    stderr,
  );
}

// What was said stays as it is, to the byte, in the request of another process.
async function goesOn(t, protocol) {
  const mock = await startMock(t);
  const answer = (userMessage, content) => ({ match: { userMessage }, response: { content } });
  mock.script(answer("the second word", "Two."), answer("the first word", "One."));
  const program = startingProgram(t, { protocol, mock });
  const first = await program.start(["run", "Say the first word", "--apply", ...program.where]);
  assert.deepEqual([first.code, first.stdout], [0, "One.\n"], first.stderr);
  const again = ["resume", "last", "And the second word", "--base-url"];
  const second = await program.start([...again, program.where.at(-1), "--apply"]);
  assert.deepEqual([second.code, second.stdout], [0, "Two.\n"], second.stderr);
  const [before, after] = mock.requests().map(({ body }) => body.messages);
  assert.deepEqual(after.slice(0, before.length), before);
  const added = after.slice(before.length).map(({ role, content }) => [role, textOf(content)]);
  assert.deepEqual(added, [
    ["assistant", "One."],
    ["user", "And the second word"],
  ]);
}

function textOf(content) {
  return typeof content === "string" ? content : content.map(({ text }) => text).join("");
}

async function toolRun(t, { protocol, run }) {
  const mock = await startMock(t);
  const given = { "given.txt": "forty-two\n" };
  const prompt = "Please keep a note";
  const { events, text, read, ...end } = await run(t, { protocol, mock, prompt, given });
  assertDone(events, end);
  assert.equal(text, "Noted: sunny.");
  assert.equal(read("notes/today.md"), 'Sunny, "mostly": 21 °C\n');
  assert.equal(joined(events, "assistant_reasoning_delta"), "Look first, then write.");
  const ends = only(events, "tool_call_end");
  assert.deepEqual(ends.map(({ name }) => name).sort(), ["read_file", "write_file"]);
  assert.ok(ends.every(({ outcome }) => outcome.error === undefined));

  const requests = mock.requests();
  assert.deepEqual(
    requests.map(({ response }) => response.status),
    [200, 200],
  );
  for (const { path, body } of requests) {
    assert.equal(path.split("?")[0], protocol.path);
    assert.deepEqual([body.model, body.stream], [protocol.model, true]);
    const tools = body.tools.map((tool) => tool.function.name);
    assert.ok(tools.includes("write_file"), tools.join(" "));
  }
  const [first, second] = requests.map(({ body }) => body.messages);
  assert.deepEqual(second.slice(0, first.length), first, "what was said stays as it is");
  assertPaired(protocol, second.slice(first.length));
  assertUsage(protocol, only(events, "processing_end")[0].usage);
}

// What the mock reads behind the first request: two calls, then their results in order.
function assertPaired({ provider }, messages) {
  const calls = messages.flatMap(({ tool_calls = [] }) => tool_calls);
  assert.deepEqual(
    calls.map(({ function: { name } }) => name),
    ["read_file", "write_file"],
  );
  assert.equal(JSON.parse(calls[1].function.arguments).content, 'Sunny, "mostly": 21 °C\n');
  const results = messages.filter(({ role }) => role === "tool");
  assert.match(String(results[0].content), /forty-two/);
  assert.match(String(results[1].content), /notes\/today\.md/);
  assert.deepEqual(messages.slice(-2), results);
  // Ollama's results have no ids: they stand in the order of the calls. Gemini's calls have none
  // where the server gives none, and aimock pairs them by name.
  if (provider === "ollama") return;
  assert.deepEqual(
    results.map(({ tool_call_id }) => tool_call_id),
    calls.map(({ id }) => id),
  );
  assert.ok(new Set(calls.map(({ id }) => id)).size === 2);
}

function assertUsage({ provider }, { input_total, output_total }) {
  switch (provider) {
    case "openai-chat":
      // Aimock counts what was said by its own rules.
      return assert.ok(input_total > 0 && output_total > 0, `${input_total} ${output_total}`);
    case "ollama":
      // Aimock says 0, whatever the fixture has.
      return assert.deepEqual([input_total, output_total], [0, 0]);
    default:
      return assert.deepEqual([input_total, output_total], [320, 35]);
  }
}

async function ownTools(t, { protocol, run }) {
  const mock = await startMock(t);
  const [name, given] = protocol.own;
  const toolCalls = [{ name, arguments: JSON.stringify(given) }];
  const match = (hasToolResult) => ({ userMessage: "your own words", hasToolResult });
  mock.script(
    { match: match(false), response: { toolCalls } },
    { match: match(true), response: { content: "Said." } },
  );
  const prompt = "Write it in your own words";
  const { events, text, read, ...end } = await run(t, {
    protocol,
    mock,
    prompt,
    vocabulary: "native",
  });
  assertDone(events, end);
  assert.deepEqual([text, read("own.txt")], ["Said.", "In my own words.\n"]);
  assert.deepEqual(
    only(events, "tool_call_end").map((call) => call.name),
    [name],
  );
  assert.equal(mock.requests().length, 2);
}

async function patience(t, { protocol, run }) {
  const mock = await startMock(t);
  const { events, text, ...end } = await run(t, { protocol, mock, prompt: "Please be patient" });
  assertDone(events, end);
  assert.equal(text, "Thank you for waiting.");
  const retries = only(events, "retry").map(({ attempt, delay_ms }) => [attempt, delay_ms]);
  assert.deepEqual(retries, [[2, 1000]]);
  assert.match(only(events, "retry")[0].message, /slow down/);
  const [refused, answered] = mock.requests();
  assert.deepEqual([refused.response.status, answered.response.status], [429, 200]);
  assert.deepEqual(answered.body, refused.body);
  const waited = answered.timestamp - refused.timestamp;
  assert.ok(waited >= 990, `only ${waited} ms`);
}

async function noPatience(t, { protocol, run }) {
  const mock = await startMock(t);
  const prompt = "Please come back tomorrow";
  const { events, ...end } = await run(t, { protocol, mock, prompt });
  assertFailed(events, end, "rate_limit", /the day's requests are used up/);
  if ("code" in end) assert.equal(end.code, 1);
  assert.equal(only(events, "retry").length, 0);
  assert.equal(mock.requests().length, 1);
}

async function cutText(t, { protocol, run }) {
  const mock = await startMock(t);
  const prompt = "Please speak at length";
  const { events, text, ...end } = await run(t, { protocol, mock, prompt });
  assertDone(events, end);
  assert.equal(text, "These words are whole.");
  const reset = events.findIndex(({ type }) => type === "text_reset");
  const before = joined(events.slice(0, reset), "assistant_text_delta");
  const whole = "These words are going to be cut off in the middle of their stream.";
  assert.ok(before.length > 0 && before.length < whole.length && whole.startsWith(before), before);
  assert.equal(joined(events.slice(reset), "assistant_text_delta"), text);
  assert.deepEqual(
    only(events, "retry").map(({ attempt }) => attempt),
    [2],
  );
  const [cut, again] = mock.requests();
  assert.equal(cut.response.interrupted, true);
  assert.deepEqual(again.body, cut.body);
}

async function cutCall(t, { protocol, run }) {
  const mock = await startMock(t);
  const prompt = "Please write at length";
  const { events, text, read, ...end } = await run(t, { protocol, mock, prompt });
  assertDone(events, end);
  assert.equal(text, "Written.");
  assert.deepEqual([read("long.txt"), read("short.txt")], [undefined, "Whole.\n"]);
  assert.equal(only(events, "tool_call_start").length, 1);
  assert.equal(only(events, "retry").length, 1);
  const requests = mock.requests();
  const cut = requests.map(({ response }) => response.interrupted === true);
  assert.deepEqual(cut, [true, false, false]);
  assert.ok(!JSON.stringify(requests[2].body.messages).includes("long.txt"));
}

async function refusedKey(t, { protocol, run }) {
  const mock = await startMock(t);
  const key = `${KEY}-of-yesterday`;
  const { events, ...end } = await run(t, { protocol, mock, prompt: "Hello", key });
  assertFailed(events, end, "authentication", /Invalid API key/);
  if ("code" in end) assert.equal(end.code, 3);
  assert.equal(only(events, "retry").length, 0);
  // What aimock turns away at the door it does not write down.
  assert.equal(mock.requests().length, 0);
}

function assertDone(events, { code, status, said, error }) {
  const word = [said, JSON.stringify(error), JSON.stringify(only(events, "error"))].join("\n");
  assert.deepEqual([code ?? 0, status ?? "completed"], [0, "completed"], word);
  assert.deepEqual(
    only(events, "processing_end").map(({ end }) => end),
    ["completed"],
  );
}

function assertFailed(events, { status = "failed", error, said }, kind, message) {
  const [failure] = only(events, "error");
  assert.deepEqual([failure?.kind, status], [kind, "failed"], JSON.stringify(events));
  assert.match(failure.message, message);
  // The program says it to people in one line, the package in the run's result.
  if (said !== undefined) assert.match(said, message);
  if (error !== undefined) assert.match(error.message, message);
}

function only(events, type) {
  return events.filter((event) => event.type === type);
}

function joined(events, type) {
  return only(events, type)
    .map(({ text }) => text)
    .join("");
}
