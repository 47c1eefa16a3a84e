// The bare session: JSON in, JSON out, and an engine of one's own around it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { stream } from "../support/anthropic.mjs";
import { AgentError, Files, RejectedError, Session } from "../support/installed.mjs";

const OPTIONS = { provider: "anthropic", model: "mock-1", vocabulary: "seed", id: "engine" };
const WALL = 1_800_000_000_000;
const CALL = [["write_file", { file_path: "a.txt", content: "new\n" }]];

const effects = (outputs) => outputs.flatMap((output) => output.effect ?? []);
const events = (outputs) => outputs.flatMap((output) => output.event ?? []);

/** Answers every effect of the outputs, replies of the model from the script; returns all steps. */
function carryOut(session, outputs, script, files) {
  const steps = [];
  const queue = effects(outputs);
  const tell = (step) => {
    steps.push(step);
    queue.push(...effects(step.outputs));
  };
  for (let at = 10; queue.length > 0; at += 10) {
    const { http, run_tool } = queue.shift();
    if (http !== undefined) {
      const { id } = http;
      const head = { status: 200, headers: [["content-type", "text/event-stream"]], at: WALL };
      tell(session.handle({ http: { id, input: { head } } }, at));
      const body = new TextEncoder().encode(stream(script.shift()).join(""));
      // Cut within a character or wherever: bytes are bytes.
      for (let from = 0; from < body.length; from += 101) {
        tell(session.chunk(id, body.slice(from, from + 101), at));
      }
      tell(session.handle({ http: { id, input: { end: null } } }, at));
    } else if (run_tool !== undefined) {
      const { id, run } = run_tool;
      const done = files.perform(run.job.builtin);
      tell(session.handle({ tool: { id, input: { done } } }, at));
    }
  }
  return steps;
}

async function open(options = {}) {
  const config = await Session.config(OPTIONS);
  return Session.open(config, { wall: WALL, ...options });
}

test("an engine of one's own carries a session's effects out", async () => {
  const { session, step } = await open();
  assert.deepEqual(
    events(step.outputs).map(({ type }) => type),
    ["session_start"],
  );
  assert.deepEqual([session.id, session.now, session.deadline()], ["engine", 0, null]);
  const files = new Files({ "b.txt": "old\n" });
  const begun = session.say("Write ünïcode into a.txt", 10);
  const [{ http }] = effects(begun.outputs);
  assert.equal(http.request.endpoint, "anthropic");
  assert.equal(http.purpose, "model");
  assert.deepEqual(begun.deadline, session.deadline());
  assert.equal(begun.deadline.reason, "model_idle");
  const script = [{ calls: CALL }, { text: "Geschrieben: ünïcode 😀." }];
  const steps = carryOut(session, begun.outputs, script, files);
  assert.equal(files.readText("a.txt"), "new\n");
  const last = events(steps.flatMap(({ outputs }) => outputs)).at(-1);
  assert.deepEqual([last.type, last.end], ["processing_end", "completed"]);
  assert.equal(last.text, "Geschrieben: ünïcode 😀.");
  assert.equal(session.status().tool_calls, 1);
  assert.deepEqual(
    session.history({ from: 1 }).map(({ kind }) => Object.keys(kind)[0]),
    ["assistant", "tool_results", "assistant"],
  );
  assert.deepEqual([session.status(9), session.history({ agent: 9 })], [null, null]);
});

test("a session goes on from a snapshot in the middle of a run, and from its log", async () => {
  const { session, step } = await open({ log: true });
  const begun = session.say("Hello", 10);
  const log = step.line + begun.line;
  assert.match(step.line, /^\{"format":"innerloop-log"[^\n]*\n$/);
  assert.match(begun.line, /^\{"at":10,"input":[^\n]*\n$/);
  const restored = await Session.restore(session.snapshot(), { wall: WALL + 5 });
  const resumed = await Session.resume(log, { wall: WALL + 5, log: true });
  const { session: replayed, outputs } = await Session.replay(log);
  assert.deepEqual(outputs, [step.outputs, begun.outputs]);
  for (const again of [restored, resumed, replayed]) {
    assert.deepEqual(again.owed(), session.owed());
    assert.equal(again.now, 10);
    const steps = carryOut(again, again.owed(), [{ text: "Hello." }], new Files());
    assert.equal(events(steps.flatMap((step) => step.outputs)).at(-1).text, "Hello.");
  }
  assert.match(resumed.snapshotLine(), /^\{"snapshot":\{[^\n]*\n$/);
  const shortened = step.line + resumed.snapshotLine();
  assert.equal((await Session.resume(shortened)).history().length, 2);
});

test("a fork has heard what it is told to, under an id of its own", async () => {
  const { session } = await open();
  carryOut(session, session.say("Hello", 10).outputs, [{ text: "Hello." }], new Files());
  const { session: fork, step } = session.fork("other", { turns: 1, wall: WALL });
  assert.equal(events(step.outputs)[0].type, "session_start");
  assert.deepEqual([fork.id, fork.now, fork.history().length], ["other", 0, 1]);
  assert.equal(session.fork("whole").session.history().length, 2);
  assert.throws(() => session.fork("engine"), { code: "bad_option", message: /id/ });
});

test("a refusal gives back the input and the reason, and the session is as it was", async () => {
  const { session } = await open();
  const begun = session.say("Hello", 10);
  const before = session.snapshot();
  const submit = { submit: { parts: [{ type: "text", text: "x" }] } };
  const { id } = begun.outputs.at(-1).effect.http;
  const refused = [
    [{ command: { agent: 0, command: submit } }, { busy: null }],
    [{ lost: { id: 99 } }, { unknown_effect: 99 }],
    [{ command: { agent: 7, command: { interrupt: null } } }, { unknown_agent: 7 }],
    [{ hook: { id, reply: { allow: null } } }, { wrong_kind: id }],
  ];
  for (const [input, reason] of refused) {
    assert.throws(
      () => session.handle(input, 20),
      (error) => {
        assert.ok(error instanceof RejectedError && error instanceof AgentError);
        assert.deepEqual([error.code, error.name], ["rejected", "RejectedError"]);
        assert.equal(Object.keys(error.input)[0], Object.keys(input)[0]);
        assert.deepEqual(error.reason, reason);
        return true;
      },
    );
  }
  assert.deepEqual(session.snapshot(), before);
});

test("what is no input, configuration, snapshot or log is refused with what is wrong", async () => {
  const { session } = await open();
  for (const input of [undefined, null, 7, {}, { tock: null }, { lost: {} }]) {
    assert.throws(() => session.handle(input, 1), { name: "AgentError", code: "bad_option" });
  }
  const config = await Session.config(OPTIONS);
  const bad = { name: "AgentError", code: "bad_option" };
  await assert.rejects(Session.open({ ...config, id: "" }), { ...bad, message: /id/ });
  await assert.rejects(Session.open({ ...config, limit: {} }), { ...bad, message: /limit/ });
  await assert.rejects(Session.config({ ...OPTIONS, config: { retry: { max_retries: "x" } } }), {
    ...bad,
    message: /config\.retry\.max_retries/,
  });
  await assert.rejects(Session.config({ ...OPTIONS, apiKey: "k" }), { ...bad, message: /apiKey/ });
  await assert.rejects(Session.config({ provider: "nobody" }), { code: "unknown_provider" });
  await assert.rejects(Session.restore(new Uint8Array(3)), { code: "bad_snapshot" });
  await assert.rejects(Session.restore("x"), { code: "bad_snapshot" });
  await assert.rejects(Session.resume("x\n"), { code: "bad_log" });
  await assert.rejects(Session.replay(""), { code: "bad_log" });
});

test("files do what built-in tools do, and programs are left to agents", async () => {
  await Session.config(OPTIONS);
  const files = new Files([["a.txt", "one\ntwo\n"]]);
  const read = files.perform({ action: "read", path: "a.txt", numbering: "pipe" });
  assert.match(read.parts[0].text, /2 \| two/);
  const missing = files.perform({ action: "read", path: "b.txt", numbering: "none" });
  assert.equal(missing.error, "not_found");
  const edit = { action: "edit", path: "a.txt", old: "two", new: "three", all: false };
  assert.deepEqual(files.perform(edit).changes[0].kind, "modified");
  assert.equal(files.readText("a.txt"), "one\nthree\n");
  assert.throws(() => files.perform({ action: "dance" }), { code: "bad_option" });
  const program = { action: "run_program", program: "qjs", args: [] };
  assert.throws(() => files.perform(program), { code: "unsupported" });
});

test("a tick fires what is due", async () => {
  const { session } = await open();
  const { deadline } = session.say("Hello", 0);
  assert.deepEqual(session.handle({ tick: null }, deadline.at - 1).outputs, []);
  const { outputs } = session.handle({ tick: null }, deadline.at);
  assert.deepEqual(Object.keys(effects(outputs)[0]), ["cancel"]);
});
