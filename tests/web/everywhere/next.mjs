// Next: a client component, a route handler in Node, and one in the edge runtime.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { after, test } from "node:test";
import { launch } from "../support/browser.mjs";
import { check } from "../support/exercise.mjs";
import { outcomeIn, project, run } from "../support/places.mjs";

const next = createRequire(import.meta.url).resolve("next/dist/bin/next");
const env = { NEXT_TELEMETRY_DISABLED: "1", CI: "1" };

const browser = await launch();
after(() => browser.close());

/** A port that nobody uses now. */
async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Starts what was built: its address, and how it is ended. */
async function start(folder) {
  const port = await freePort();
  const args = [next, "start", "--hostname", "127.0.0.1", "--port", String(port)];
  const server = spawn(process.execPath, args, { cwd: folder, env: { ...process.env, ...env } });
  const said = [];
  const stop = async () => {
    const gone = new Promise((resolve) => server.once("exit", resolve));
    if (server.kill()) await gone;
  };
  server.stderr.on("data", (data) => said.push(data));
  await new Promise((resolve, reject) => {
    server.stdout.on("data", (data) => {
      said.push(data);
      if (/Ready/.test(said.join(""))) resolve();
    });
    server.once("exit", () => reject(new Error(`next start has ended: ${said.join("")}`)));
  });
  return { url: `http://127.0.0.1:${port}`, said, stop };
}

test("Next builds a client, a route handler and an edge route", async () => {
  const folder = project("next");
  run(process.execPath, [next, "build"], folder, { env });
  const { url, said, stop } = await start(folder);
  try {
    const answers = { "/api/run": { runs: true }, "/api/edge": { runs: false } };
    for (const [path, what] of Object.entries(answers)) {
      const text = await (await fetch(url + path)).text();
      assert.match(text, /^\{/, `${path}: ${text.slice(0, 500)}\n${said.join("")}`);
      check(JSON.parse(text), what);
    }
    const { outcome, problems } = await outcomeIn(browser, url);
    check(outcome, { runs: true });
    assert.deepEqual(problems, []);
  } finally {
    await stop();
  }
});
