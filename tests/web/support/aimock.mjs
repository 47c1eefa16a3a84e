// A third-party mock that speaks all five protocols, and one way to run an agent against it: by
// the native program or by the package in Node. What it saw is told in its own words.
//
// Where aimock is not as the providers are: Gemini's finish reason of calls is FUNCTION_CALL, and
// the status of its 429 is not RESOURCE_EXHAUSTED; Ollama's errors are objects; what aimock turns
// away for its key has one form in all protocols. All of this is read as it comes. A stream that
// it cuts without a `latency` is cut before its head is sent: the fixtures give one.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { LLMock } from "@copilotkit/aimock";
import { Agent, eventsOf } from "./installed.mjs";
import { ROOT } from "./package.mjs";

const FIXTURES = fileURLToPath(new URL("../fixtures/protocols.json", import.meta.url));
const PROGRAM = process.env.INNERLOOP_BIN || join(ROOT, "target/debug/innerloop");

/** The key that the mock asks for, wherever the protocol carries it. */
export const KEY = "sk-test-0123456789abcdef";

const PATCH = ["*** Begin Patch", "*** Add File: own.txt", "+In my own words.", "*** End Patch"];
const OWN = { file_path: "own.txt", content: "In my own words.\n" };

/**
 * Each protocol: who speaks it, under which path below the mock, where requests must go, and the
 * call that writes `own.txt` with the tool that the model's family knows.
 */
export const PROTOCOLS = [
  {
    provider: "openai",
    model: "gpt-5.2",
    below: "/v1",
    path: "/v1/responses",
    variable: "OPENAI_API_KEY",
    own: ["apply_patch", { input: PATCH.join("\n") }],
  },
  {
    provider: "openai-chat",
    model: "gpt-5.2",
    below: "/v1",
    path: "/v1/chat/completions",
    variable: "OPENAI_API_KEY",
    own: ["apply_patch", { input: PATCH.join("\n") }],
  },
  {
    provider: "anthropic",
    model: "claude-sonnet-5-5",
    below: "",
    path: "/v1/messages",
    variable: "ANTHROPIC_API_KEY",
    own: ["Write", OWN],
  },
  {
    provider: "gemini",
    model: "gemini-3-flash",
    below: "",
    path: "/v1beta/models/gemini-3-flash:streamGenerateContent",
    variable: "GEMINI_API_KEY",
    own: ["write_file", OWN],
  },
  {
    provider: "ollama",
    model: "qwen3:8b",
    below: "",
    path: "/api/chat",
    variable: "OLLAMA_API_KEY",
    own: ["write_file", OWN],
  },
];

/**
 * Starts the mock for one test: its address, the requests that it took, as it reads them, and
 * `script` for further fixtures.
 */
export async function startMock(t) {
  const mock = new LLMock({ port: 0, auth: { apiKeys: [KEY] } });
  mock.loadFixtureFile(FIXTURES);
  // Ollama calls thinking `thinking`, and so does every client of it; aimock borrows the name
  // that Chat Completions has.
  mock.mount("/api/chat", {
    async handleRequest(_request, response) {
      const write = response.write.bind(response);
      response.write = (line) => write(line.replace('"reasoning_content":', '"thinking":'));
      return false;
    },
  });
  await mock.start();
  t.after(() => mock.stop());
  const script = (...fixtures) => mock.addFixtures(fixtures);
  return { url: mock.url, requests: () => mock.getRequests(), script };
}

/**
 * Both hosts. `run` lets one work on a folder that holds `given`, and tells its events, how it
 * ended and what `read` finds in a file afterwards.
 */
export const HOSTS = [
  { host: "native", run: runProgram },
  { host: "Node", run: runPackage },
];

async function runProgram(t, job) {
  const program = startingProgram(t, job);
  const { vocabulary = "seed" } = job;
  const args = ["run", job.prompt, "--apply", "--json", "--vocabulary", vocabulary];
  const { code, stdout, stderr } = await program.start([...args, ...program.where]);
  const lines = stdout.trimEnd().split("\n");
  const events = lines.map((line) => JSON.parse(line));
  const result = events.pop();
  assert.deepEqual([result.type, result.exit_code], ["result", code], stderr);
  return { events, read: program.read, text: result.text, code, said: stderr };
}

/**
 * The native program on a folder that holds `given`: `start` starts it there and gives its exit
 * code and output, `where` are the arguments that lead it to the mock, and `read` finds what is in
 * a file. What it keeps is kept for this test alone.
 */
export function startingProgram(t, { protocol, mock, given = {}, key = KEY }) {
  const place = mkdtempSync(join(tmpdir(), "innerloop-aimock-"));
  t.after(() => rmSync(place, { recursive: true }));
  const folder = join(place, "project");
  mkdirSync(folder);
  for (const [path, content] of Object.entries(given)) writeFileSync(join(folder, path), content);
  const { provider, model, below, variable } = protocol;
  const address = ["--base-url", mock.url + below];
  const where = ["--provider", provider, "--preset", "modern", "--model", model, ...address];
  const { PATH, HOME } = process.env;
  const [XDG_CONFIG_HOME, XDG_STATE_HOME] = ["config", "state"].map((name) => join(place, name));
  const env = { PATH, HOME, XDG_CONFIG_HOME, XDG_STATE_HOME, [variable]: key };
  const start = async (args) => {
    const options = { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] };
    const program = spawn(PROGRAM, args, options);
    t.after(() => program.kill());
    const output = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"]) {
      program[name].setEncoding("utf8").on("data", (text) => (output[name] += text));
    }
    const code = await new Promise((resolve, reject) => {
      program.on("error", reject).on("close", resolve);
    });
    assert.ok(!(output.stdout + output.stderr).includes(key), "the key is shown");
    return { code, ...output };
  };
  const read = (path) => {
    const file = join(folder, path);
    return existsSync(file) ? readFileSync(file, "utf8") : undefined;
  };
  return { start, where, read };
}

async function runPackage(t, job) {
  const { protocol, mock, prompt, given = {}, key = KEY, vocabulary = "seed" } = job;
  const { provider, model, below } = protocol;
  const baseUrl = mock.url + below;
  // Ollama's own preset does not stream.
  const place = { provider, preset: "modern", model, baseUrl, apiKey: key };
  const options = { ...place, files: given, vocabulary };
  const agent = await Agent.create(options);
  t.after(() => agent.close());
  const run = agent.run(prompt);
  const events = await eventsOf(run);
  const { status, text, error } = await run.result();
  assert.ok(!JSON.stringify([events, error]).includes(key), "the key is shown");
  return { events, read: (path) => agent.files.readText(path), text, status, error };
}
