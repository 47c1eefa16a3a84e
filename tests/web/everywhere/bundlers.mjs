// What bundlers make of the package, as they come: Vite's build and server, webpack, Parcel and
// Rollup. Each page runs the agent in itself and in a worker of its own.

import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, test } from "node:test";
import { launch } from "../support/browser.mjs";
import { check } from "../support/exercise.mjs";
import { outcomeIn, project, run, runPage } from "../support/places.mjs";

const browser = await launch();
after(() => browser.close());

const ALL = { runs: true };

/** What a page and its worker said. */
function checkBoth({ outcome, problems, missing = [] }) {
  for (const each of outcome) check(each, ALL);
  assert.deepEqual([problems, missing], [[], []]);
}

test("Vite builds a page with a worker", async () => {
  const { build } = await import("vite");
  const root = project("vite");
  await build({ root, logLevel: "warn", worker: { format: "es" } });
  checkBoth(await runPage(browser, join(root, "dist")));
});

test("Vite serves the same while it is worked on", async () => {
  const { createServer } = await import("vite");
  const root = project("vite-dev", "vite");
  const server = await createServer({ root, logLevel: "warn", server: { port: 0 } });
  try {
    await server.listen();
    // Vite bundles what it meets, and may load the page again then.
    checkBoth(await outcomeIn(browser, server.resolvedUrls.local[0]));
  } finally {
    await server.close();
  }
});

/** Runs webpack; its warnings and errors. */
async function pack(folder, options) {
  const { default: webpack } = await import("webpack");
  const output = { path: join(folder, "dist"), filename: "main.js" };
  const whole = { context: folder, entry: "./main.js", mode: "production", output, ...options };
  const stats = await new Promise((resolve, reject) => {
    webpack(whole, (error, done) => (error ? reject(error) : resolve(done)));
  });
  const { errors, warnings } = stats.toJson({ errors: true, warnings: true });
  return [...errors, ...warnings].map(({ message }) => message);
}

test("webpack builds a page with a worker", async () => {
  const folder = project("webpack");
  assert.deepEqual(await pack(folder, { performance: false }), []);
  cpSync(join(folder, "index.html"), join(folder, "dist/index.html"));
  checkBoth(await runPage(browser, join(folder, "dist")));
});

test("webpack builds for Node", async () => {
  const folder = project("webpack-node", "node");
  const output = { path: join(folder, "dist"), filename: "main.cjs" };
  const options = { entry: "./main.mjs", target: "node", output, performance: false };
  assert.deepEqual(await pack(folder, options), []);
  check(JSON.parse(run(process.execPath, ["dist/main.cjs"], folder)), ALL);
});

test("Parcel builds a page with a worker, by default", async () => {
  const folder = project("parcel");
  const parcel = createRequire(import.meta.url).resolve("parcel/lib/bin.js");
  const flags = ["--no-cache", "--cache-dir", "cache", "--no-source-maps", "--dist-dir", "dist"];
  run(process.execPath, [parcel, "build", "index.html", ...flags], folder);
  checkBoth(await runPage(browser, join(folder, "dist")));
});

/** Rolls a script up into another. */
async function rollUp(folder, [input, file], options) {
  const { rollup } = await import("rollup");
  const { default: resolve } = await import("@rollup/plugin-node-resolve");
  const problems = [];
  const onwarn = ({ message }) => problems.push(message);
  const plugins = [resolve(options)];
  const external = /^node:/;
  const bundle = await rollup({ input: join(folder, input), plugins, external, onwarn });
  await bundle.write({ file: join(folder, file), format: "es", inlineDynamicImports: true });
  await bundle.close();
  return problems;
}

test("Rollup builds `innerloop/inline` for a page, and for Node", async () => {
  const folder = project("rollup");
  assert.deepEqual(await rollUp(folder, ["inline.mjs", "out.js"], { browser: true }), []);
  const { outcome, problems, missing } = await runPage(browser, folder);
  check(outcome, ALL);
  assert.deepEqual([problems, missing], [[], []]);
  const conditions = { exportConditions: ["node"] };
  assert.deepEqual(await rollUp(folder, ["printed.mjs", "out.mjs"], conditions), []);
  check(JSON.parse(run(process.execPath, ["out.mjs"], folder)), ALL);
});
