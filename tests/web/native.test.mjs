// The native program against the third-party mock of the protocol, over real HTTP. Run with
// `node --test native.test.mjs`; INNERLOOP_BIN names another program.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { LLMock } from "@copilotkit/aimock";

const BESIDE = fileURLToPath(new URL("../../target/debug/innerloop", import.meta.url));
const PROGRAM = process.env.INNERLOOP_BIN || BESIDE;
const KEY = "sk-ant-test-0123456789abcdef";

/** Runs the agent on an empty folder against a mock with these fixtures. */
async function run(t, prompt, fixtures) {
  const mock = new LLMock({ port: 0 });
  fixtures(mock);
  await mock.start();
  const folder = mkdtempSync(join(tmpdir(), "innerloop-native-"));
  t.after(async () => {
    rmSync(folder, { recursive: true });
    await mock.stop();
  });
  const args = ["run", prompt, "--apply", "--json", "-C", folder, "--base-url", mock.url];
  args.push("--vocabulary", "seed");
  const env = { ...process.env, ANTHROPIC_API_KEY: KEY };
  const program = spawn(PROGRAM, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) {
    program[name].setEncoding("utf8").on("data", (text) => (output[name] += text));
  }
  const code = await new Promise((resolve, reject) => {
    program.on("error", reject).on("close", resolve);
  });
  const events = output.stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
  const result = events.pop();
  assert.equal(result.type, "result", output.stdout);
  assert.ok(!(output.stdout + output.stderr).includes(KEY));
  return { code, events, result, folder, stderr: output.stderr };
}

test("aimock: the program writes a file, looks at it, and is done", async (t) => {
  const ran = await run(t, "Please keep a note", (mock) => {
    const call = { file_path: "notes/today.md", content: "Sunny, \"mostly\".\n" };
    mock.addFixture({
      match: { userMessage: "keep a note", hasToolResult: false },
      response: {
        content: "I write it down and look.",
        toolCalls: [
          { name: "write_file", arguments: JSON.stringify(call) },
          { name: "list_dir", arguments: JSON.stringify({ path: ".", depth: 2 }) },
        ],
      },
    });
    mock.addFixture({
      match: { userMessage: "keep a note", toolResultContains: "notes/today.md" },
      response: { content: "Noted: sunny." },
    });
  });
  assert.deepEqual([ran.code, ran.result.text], [0, "Noted: sunny."], ran.stderr);
  assert.equal(readFileSync(join(ran.folder, "notes/today.md"), "utf8"), 'Sunny, "mostly".\n');
  const ends = ran.events.filter(({ type }) => type === "tool_call_end");
  assert.deepEqual(ends.map(({ name }) => name).sort(), ["list_dir", "write_file"]);
  assert.ok(ends.every(({ outcome }) => outcome.error === undefined));
});

test("aimock: a 429 is tried again and the run goes on", async (t) => {
  const ran = await run(t, "Say hello", (mock) => {
    mock.addFixture({ match: { userMessage: "hello" }, response: { content: "Hello." } });
    mock.nextRequestError(429, { message: "slow down", type: "rate_limit_error" });
  });
  assert.deepEqual([ran.code, ran.result.text], [0, "Hello."], ran.stderr);
  const retries = ran.events.filter(({ type }) => type === "retry");
  assert.deepEqual(retries.map(({ attempt }) => attempt), [2]);
  assert.match(retries[0].message, /slow down/);
});

test("aimock: a stream that is cut is taken back and asked for again", async (t) => {
  const text = "This answer is long enough to be cut in the middle of its stream.";
  const ran = await run(t, "Go on", (mock) => {
    const match = (sequenceIndex) => ({ userMessage: "Go on", sequenceIndex });
    const response = { content: text };
    mock.addFixture({ match: match(0), response, truncateAfterChunks: 4, chunkSize: 8 });
    mock.addFixture({ match: match(1), response });
  });
  assert.deepEqual([ran.code, ran.result.text], [0, text], ran.stderr);
  const types = ran.events.map(({ type }) => type);
  assert.ok(types.includes("retry"), types.join(" "));
});
