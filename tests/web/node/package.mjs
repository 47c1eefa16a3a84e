// What is in the tarball, and whether it serves modules, require and TypeScript.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { Agent, Files, folder, providers, Session } from "../support/installed.mjs";
import { ROOT } from "../support/package.mjs";

const installed = join(folder, "node_modules/innerloop");
const MODULE = "dist/innerloop_wasm_bg.wasm";

test("the package holds its parts, its licences and nothing else", () => {
  const files = readdirSync(installed, { recursive: true })
    .filter((path) => statSync(join(installed, path)).isFile())
    .map((path) => path.replaceAll("\\", "/").replace(/-\w{8}\.js/, ".js"))
    .filter((path) => !path.startsWith("dist/types/"))
    .sort();
  assert.deepEqual(
    [...new Set(files)],
    [
      "LICENSE-APACHE",
      "LICENSE-MIT",
      "README.md",
      "dist/NOTICE.txt",
      "dist/chunk.js",
      "dist/files.durable.js",
      "dist/files.node.js",
      "dist/files.opfs.js",
      "dist/glue.js",
      "dist/index.edge.js",
      "dist/index.inline.node.js",
      "dist/index.inline.web.js",
      "dist/index.node.js",
      "dist/index.web.js",
      "dist/index.workerd.js",
      "dist/innerloop_supervisor.wasm",
      MODULE,
      "dist/program.node.js",
      "dist/program.web.js",
      "dist/supervisor.edge.js",
      "dist/supervisor.node.js",
      "dist/supervisor.web.js",
      "dist/supervisor.workerd.js",
      "dist/toml.js",
      "dist/zip.js",
      "files/durable/package.json",
      "files/node/package.json",
      "files/opfs/package.json",
      "inline/package.json",
      "package.json",
      "supervisor/package.json",
    ],
  );
  const { exports, dependencies } = JSON.parse(readFileSync(join(installed, "package.json")));
  assert.equal(dependencies, undefined);
  for (const entry of Object.values(exports)) {
    for (const path of typeof entry === "string" ? [entry] : Object.values(entry)) {
      assert.ok(statSync(join(installed, path)).isFile(), path);
    }
  }
});

test("what does not know `exports` finds the same parts", () => {
  const { exports } = JSON.parse(readFileSync(join(installed, "package.json")));
  for (const part of ["inline", "files/node", "files/opfs", "files/durable", "supervisor"]) {
    const own = JSON.parse(readFileSync(join(installed, part, "package.json")));
    const { types, node, default: other } = exports[`./${part}`];
    const found = (path) => path && join(part, path);
    const expected = [types, node ?? other, node && other].map((path) => path && join(path));
    assert.deepEqual([found(own.types), found(own.main), found(own.module)], expected, part);
  }
});

// Jest's environment `jsdom` is such a place: a page in Node, without these.
test("the entry of pages works in Node without `fetch` and `TextDecoder`", () => {
  const entry = JSON.stringify(join(installed, "dist/index.web.js"));
  const gone = ["TextDecoder", "TextEncoder", "fetch", "Response", "Request", "Headers"];
  const script = `for (const name of ${JSON.stringify(gone)}) delete globalThis[name];
    const { Agent } = await import(${entry});
    const options = { provider: "anthropic", model: "m", apiKey: "k", files: { "ä.txt": "ö" } };
    const agent = await Agent.create(options);
    console.log(agent.files.list()[0], agent.files.readText("ä.txt"));
    await agent.close();`;
  const flags = ["--input-type=module", "-e", script];
  const { getBuiltinModule } = process;
  if (getBuiltinModule === undefined) return;
  assert.equal(execFileSync(process.execPath, flags, { cwd: folder }).toString(), "ä.txt ö\n");
});

test("the package holds no eval and no path of the machine that built it", (context) => {
  const module = readFileSync(join(installed, MODULE));
  const [raw, gzip] = [module.length, gzipSync(module, { level: 9 }).length];
  context.diagnostic(`wasm: ${raw} raw, ${gzip} gzip, ${brotliCompressSync(module).length} brotli`);
  const paths = module.toString("latin1").match(/[\w./-]*\/src\/[\w./-]+\.rs/g);
  assert.equal(paths, null, "paths of the machine that built it");
  for (const name of readdirSync(join(installed, "dist"))) {
    if (!name.endsWith(".js")) continue;
    const text = readFileSync(join(installed, "dist", name), "utf8");
    assert.doesNotMatch(text, /\bnew Function\b|\beval\(/, name);
    assert.doesNotMatch(text, /^await |;\s*await init/m, `${name} has a top-level await`);
  }
});

test("the package can be required where Node requires modules", {
  skip: process.features.require_module ? false : "this Node cannot require modules",
}, () => {
  const script = `const { Agent } = require("innerloop");
    Agent.create({ provider: "anthropic", model: "m", apiKey: "k" })
      .then((agent) => { console.log(agent.status().state); return agent.close(); });`;
  const flags = ["--no-warnings", "--input-type=commonjs", "-e", script];
  assert.equal(execFileSync(process.execPath, flags, { cwd: folder }).toString(), "idle\n");
});

test("an agent shows itself under its name", async () => {
  const agent = await Agent.create({ provider: "anthropic", model: "m", apiKey: "k" });
  const { session } = await Session.open(await Session.config({ provider: "ollama", model: "m" }));
  assert.match(inspect(agent), /^Agent \{/);
  assert.match(inspect(agent.files), /^Files /);
  assert.match(inspect(session), /^Session /);
  assert.deepEqual([Agent.name, Files.name, Session.name], ["Agent", "Files", "Session"]);
  await agent.close();
});

test("the types name the providers that there are", async () => {
  const types = readFileSync(join(installed, "dist/types/options/provider.d.ts"), "utf8");
  const union = /type ProviderName = ([^;]*);/u.exec(types)[1];
  const typed = [...union.matchAll(/"([^"]+)"/gu)].map(([, name]) => name);
  const all = await providers();
  assert.deepEqual(
    all.map(({ name }) => name),
    typed,
  );
  const of = (wanted) => all.find(({ name }) => name === wanted);
  assert.equal(of("ollama").needsKey, false);
  assert.equal(of("azure").baseUrl, undefined);
  assert.equal(of("openai").baseUrl, "https://api.openai.com/v1");
});

// The golden outputs are what the native core makes of the golden log.
const golden = (name) => readFileSync(join(ROOT, "tests/fixtures", name), "utf8");

test("one log gives the same bytes natively and in wasm", async () => {
  const { initSync, RawSession } = await import(join(ROOT, "wasm/npm/dist/innerloop_wasm.js"));
  initSync({ module: readFileSync(join(installed, MODULE)) });
  const replayed = RawSession.replay(golden("golden.log.jsonl"));
  assert.equal(replayed.opening(), golden("golden.outputs.jsonl"));
});

test("a log is replayed into what happened, what was said and where it ended", async () => {
  const { events, history, status } = await Agent.replay(golden("golden.log.jsonl"));
  const lines = golden("golden.outputs.jsonl").trim().split("\n");
  const outputs = lines.flatMap((line) => JSON.parse(line));
  assert.deepEqual(
    events,
    outputs.flatMap((output) => output.event ?? []),
  );
  assert.equal(status.state, "idle");
  assert.equal(history[0].type, "user");
  assert.ok(history[0].at instanceof Date);
  const calls = history.flatMap(({ toolCalls = [] }) => toolCalls);
  const results = history.flatMap(({ results = [] }) => results);
  assert.deepEqual(
    calls.map(({ callId }) => callId),
    results.map(({ callId }) => callId),
  );
  const refused = { name: "AgentError", code: "bad_log", message: /^line 1 of the log/ };
  await assert.rejects(Agent.replay("rubbish\n"), refused);
  await assert.rejects(Agent.replay(7), { name: "AgentError", code: "bad_log" });
});

/** Type-checks files of the project that installed the package. */
function typeCheck(files, ...more) {
  const tsc = fileURLToPath(new URL("../node_modules/typescript/bin/tsc", import.meta.url));
  const flags = "--noEmit --strict --target es2022 --module nodenext --noUnusedLocals".split(" ");
  const lib = ["--lib", "es2023,dom,dom.iterable,esnext.disposable"];
  try {
    execFileSync(process.execPath, [tsc, ...flags, ...lib, ...more, ...files], { cwd: folder });
  } catch (error) {
    assert.fail(String(error.stdout));
  }
}

test("the types hold what the core says, and fit how the package is used", () => {
  const lines = golden("golden.outputs.jsonl").trim().split("\n");
  const outputs = lines.flatMap((line) => JSON.parse(line));
  const events = outputs.flatMap((output) => output.event ?? []);
  assert.ok(events.length > 10);
  const consumer = readFileSync(new URL("../fixtures/consumer.ts", import.meta.url), "utf8");
  const sample = `export const sample: AgentEvent[] = ${JSON.stringify(events, null, 1)};\n`;
  writeFileSync(join(folder, "consumer.ts"), `${consumer}\n${sample}`);
  typeCheck(["consumer.ts"]);
});

const readme = readFileSync(join(installed, "README.md"), "utf8");
const examples = [...readme.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code);

test("the examples of the package's README fit its types", () => {
  assert.equal(examples.length, 20);
  const files = examples.map((_, at) => `readme-${at}.mts`);
  files.forEach((file, at) => writeFileSync(join(folder, file), examples[at]));
  const node = `declare const process: {
      env: Record<string, string | undefined>;
      stdin: object;
      stdout: { write(text: string): void };
    };
    declare module "node:readline/promises" {
      export function createInterface(options: object): {
        question(text: string, options: { signal: AbortSignal }): Promise<string>;
      };
    }
    declare module "zod";
    declare module "node:fs/promises" {
      export function readFile(path: string): Promise<Uint8Array>;
      export function writeFile(path: string, content: Uint8Array): Promise<void>;
    }`;
  writeFileSync(join(folder, "node.d.ts"), node);
  // The examples are JavaScript: their functions' parameters have no types.
  const loose = ["--noImplicitAny", "false", "--noUnusedLocals", "false"];
  typeCheck([...files, "node.d.ts"], ...loose);
});

test("examples of the package's README run as they stand", () => {
  const haiku = examples.findIndex((example) => example.includes("haiku.txt"));
  const replies = {
    0: [
      { calls: [["Read", { file_path: "sum.js" }]] },
      { calls: [["Edit", { file_path: "sum.js", old_string: "a - b", new_string: "a + b" }]] },
      { text: "It adds now." },
    ],
    1: [{ text: "Written." }],
    [haiku]: [
      { calls: [["Write", { file_path: "haiku.txt", content: "Autumn\n" }]] },
      { text: "It is written." },
    ],
  };
  const printed = {
    0: /^\n> Read \{.*\}\n\n> Edit \{.*\}\nIt adds now\.export const sum = \(a, b\) => a \+ b;\n\n$/,
    1: /^Written\. 5\n$/,
    [haiku]: /^It is written\.\nAutumn\n\n$/,
  };
  const script = new URL("../support/anthropic.mjs", import.meta.url).href;
  for (const at of [0, 1, haiku]) {
    const stub = `import { stream } from ${JSON.stringify(script)};
      const replies = ${JSON.stringify(replies[at])};
      const headers = { "content-type": "text/event-stream" };
      globalThis.fetch = async () => new Response(stream(replies.shift()).join(""), { headers });`;
    writeFileSync(join(folder, "stub.mjs"), stub);
    writeFileSync(join(folder, `readme-${at}.mjs`), examples[at]);
    const env = { ...process.env, ANTHROPIC_API_KEY: "sk-test-0123456789" };
    const flags = ["--import", "./stub.mjs", `readme-${at}.mjs`];
    const output = execFileSync(process.execPath, flags, { cwd: folder, env });
    assert.match(output.toString(), printed[at]);
  }
});
