// What is in the tarball, and whether it serves modules, require and TypeScript.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { folder } from "../support/installed.mjs";
import { ROOT } from "../support/package.mjs";

const installed = join(folder, "node_modules/innerloop");
const MODULE = "dist/innerloop_wasm_bg.wasm";

test("the package holds its parts, its licences and nothing else", () => {
  const files = readdirSync(installed, { recursive: true })
    .filter((path) => statSync(join(installed, path)).isFile())
    .map((path) => path.replaceAll("\\", "/").replace(/chunk-\w+\.js/, "chunk.js"))
    .filter((path) => !path.startsWith("dist/types/"))
    .sort();
  assert.deepEqual(files, [
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "dist/NOTICE.txt",
    "dist/chunk.js",
    "dist/index.node.js",
    "dist/index.web.js",
    "dist/index.workerd.js",
    "dist/innerloop_wasm.d.ts",
    "dist/innerloop_wasm.js",
    MODULE,
    "dist/program.node.js",
    "dist/program.web.js",
    "package.json",
  ]);
  const { exports, dependencies } = JSON.parse(readFileSync(join(installed, "package.json")));
  assert.equal(dependencies, undefined);
  for (const entry of Object.values(exports)) {
    for (const path of typeof entry === "string" ? [entry] : Object.values(entry)) {
      assert.ok(statSync(join(installed, path)).isFile(), path);
    }
  }
});

test("the package is small and clean of eval", (context) => {
  const module = readFileSync(join(installed, MODULE));
  const [raw, gzip] = [module.length, gzipSync(module, { level: 9 }).length];
  context.diagnostic(`wasm: ${raw} raw, ${gzip} gzip, ${brotliCompressSync(module).length} brotli`);
  assert.ok(raw <= 900_000, `${raw} bytes raw`);
  assert.ok(gzip <= 350_000, `${gzip} bytes gzip`);
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

// The golden outputs are what the native core makes of the golden log.
const golden = (name) => readFileSync(join(ROOT, "tests/fixtures", name), "utf8");

test("one log gives the same bytes natively and in wasm", async () => {
  const { initSync, replayLog } = await import(join(installed, "dist/innerloop_wasm.js"));
  initSync({ module: readFileSync(join(installed, MODULE)) });
  assert.equal(replayLog(golden("golden.log.jsonl")), golden("golden.outputs.jsonl"));
  assert.throws(() => replayLog("rubbish\n"), { code: "bad_option", message: /^line 1 of the log/ });
});

test("the types hold what the core says, and fit how the package is used", () => {
  const outputs = golden("golden.outputs.jsonl").trim().split("\n").flatMap((line) => JSON.parse(line));
  const events = outputs.flatMap((output) => output.event ?? []);
  assert.ok(events.length > 10);
  const consumer = readFileSync(new URL("../fixtures/consumer.ts", import.meta.url), "utf8");
  const sample = `export const sample: AgentEvent[] = ${JSON.stringify(events, null, 1)};\n`;
  writeFileSync(join(folder, "consumer.ts"), `${consumer}\n${sample}`);
  const tsc = fileURLToPath(new URL("../node_modules/typescript/bin/tsc", import.meta.url));
  const flags = "--noEmit --strict --target es2022 --module nodenext --noUnusedLocals";
  const lib = ["--lib", "es2023,dom,dom.iterable,esnext.disposable"];
  try {
    execFileSync(process.execPath, [tsc, ...flags.split(" "), ...lib, "consumer.ts"], { cwd: folder });
  } catch (error) {
    assert.fail(String(error.stdout));
  }
});
