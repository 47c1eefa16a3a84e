// Commands that people type, read by the supervisor's module in Node, in pages and in workers.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { gzipSync } from "node:zlib";
import { folder } from "../support/installed.mjs";
import { importFrom } from "../support/package.mjs";

const dist = join(folder, "node_modules/innerloop/dist");
const { parseCommand } = await importFrom(folder, "innerloop/supervisor");

test("j12 a text is a command, an answer or text, as everywhere", async (context) => {
  const module = readFileSync(join(dist, "innerloop_supervisor.wasm"));
  const gzip = gzipSync(module, { level: 9 }).length;
  context.diagnostic(`the supervisor's module: ${module.length} raw, ${gzip} gzip`);
  assert.deepEqual(WebAssembly.Module.imports(new WebAssembly.Module(module)), []);
  const pending = { approval: true };
  const custom = [{ name: "fix", template: "Fix $1: $ARGUMENTS" }, { name: "theme" }];
  const rows = [
    ["/UNDO 2", {}, { type: "undo", steps: 2 }],
    ["/?", {}, { type: "system", name: "help", args: "" }],
    ["ok", {}, { type: "text", text: "ok" }],
    ["ok", { pending }, { type: "approve", always: false }],
    ["ok", { pending: { credential: true } }, { type: "secret" }],
    ["/clera", {}, { type: "unknown", name: "clera", near: "clear" }],
    ["/undo it", {}, { type: "unknown", name: "undo", usage: "/undo [N] | /undo files" }],
    ["/etc/hosts ist falsch ä", {}, { type: "text", text: "/etc/hosts ist falsch ä" }],
    ["/Fix 7 now", { custom }, { type: "text", text: "Fix 7: 7 now" }],
    ["/theme dark", { custom }, { type: "own", name: "theme", args: "dark" }],
    ["/undo", { without: ["undo"] }, { type: "unknown", name: "undo" }],
    ["\ufeffa\ud800b😀", {}, { type: "text", text: "\ufeffa\ufffdb😀" }],
    [`/job ${"x".repeat(3_000_000)}`, {}, { type: "create_job", text: "x".repeat(3_000_000) }],
    ["", {}, { type: "text", text: "" }],
  ];
  for (const [text, options, word] of rows) {
    assert.deepEqual(await parseCommand(text, options), word, text.slice(0, 40));
  }
  const both = await Promise.all([parseCommand("/redo"), parseCommand("/stop")]);
  assert.deepEqual(both, [{ type: "redo", steps: 1 }, { type: "interrupt" }]);
});

test("j12 a wrong option says which", async () => {
  const wrong = { pending: { aproval: true } };
  await assert.rejects(parseCommand("ok", wrong), { name: "TypeError", message: /aproval/ });
  await assert.rejects(parseCommand(7), { name: "TypeError" });
});

test("j12 pages and workers read commands as Node does", async () => {
  const entry = pathToFileURL(join(dist, "supervisor.web.js")).href;
  const script = `const { parentPort } = require("node:worker_threads");
    const { readFileSync } = require("node:fs");
    let tries = 0;
    globalThis.fetch = async (url) => {
      tries += 1;
      return new Response(readFileSync(url), { status: tries === 1 ? 503 : 200 });
    };
    import(${JSON.stringify(entry)}).then(async ({ parseCommand }) => {
      const first = await parseCommand("/UNDO").catch(({ message }) => message);
      parentPort.postMessage([first, await parseCommand("/UNDO"), await parseCommand("/?"), tries]);
    });`;
  const worker = new Worker(script, { eval: true });
  const told = await new Promise((tell, fail) => worker.once("message", tell).once("error", fail));
  await worker.terminate();
  const help = { type: "system", name: "help", args: "" };
  const why = "innerloop_supervisor.wasm: the server answers 503";
  assert.deepEqual(told, [why, { type: "undo", steps: 1 }, help, 2]);
});
