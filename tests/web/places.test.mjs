// The packed package in the places that are cheap to try: the machine's Node, esbuild, a plain
// page, a page of another origin, and what checks packages. `everywhere/` has the others.

import assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { launch } from "./support/browser.mjs";
import { check } from "./support/exercise.mjs";
import {
  archiveOf,
  bundle,
  outcomeIn,
  project,
  run,
  runPage,
  serveFolder,
} from "./support/places.mjs";

const browser = await launch();
after(() => browser.close());

const ALL = { runs: true };
const FILES = { runs: false };

test("the machine's Node imports the package, and requires it where Node can", () => {
  const folder = project("node");
  const scripts = ["main.mjs", "named.mjs", "inline.mjs"];
  if (process.features.require_module) scripts.push("required.cjs");
  for (const script of scripts) {
    check(JSON.parse(run(process.execPath, ["--no-warnings", script], folder)), ALL);
  }
});

test("a plain page loads the package as it is, and programs by their names", async () => {
  for (const fixture of ["page", "named"]) {
    const { outcome, problems, missing } = await runPage(browser, project(fixture));
    check(outcome, ALL);
    assert.deepEqual([problems, missing], [[], []]);
  }
});

test("a page's agent works on the browser's own files", async () => {
  const { outcome, problems, missing } = await runPage(browser, project("opfs"));
  check(outcome, ALL);
  assert.deepEqual([outcome.odd, outcome.names], [[], ["a.txt"]]);
  assert.deepEqual([problems, missing], [[], []]);
});

test("an agent of the machine's Node works in a folder", () => {
  const outcome = JSON.parse(
    run(process.execPath, ["--no-warnings", "files.mjs"], project("node")),
  );
  check(outcome, ALL);
  assert.deepEqual(outcome.odd, []);
});

test("a program whose package is not there is missed with a word on what to do", () => {
  const folder = project("nameless", "node");
  rmSync(join(folder, "node_modules/innerloop-qjs"), { recursive: true });
  const { failed } = JSON.parse(run(process.execPath, ["named.mjs"], folder));
  assert.match(failed, /"qjs" is in the package innerloop-qjs.*`npm install innerloop-qjs`/);
});

test("a page uses the package from another origin, workers and all", async () => {
  const page = await serveFolder(project("origin"));
  const modules = join(project("page"), "node_modules");
  const packages = await serveFolder(modules, { "access-control-allow-origin": "*" });
  const address = `${page.url}?packages=${encodeURIComponent(packages.url)}`;
  const { outcome, problems } = await outcomeIn(browser, address);
  check(outcome, ALL);
  assert.deepEqual([problems, page.missing, packages.missing], [[], [], []]);
  await Promise.all([page.close(), packages.close()]);
});

test("esbuild bundles `innerloop/inline` for a page", async () => {
  for (const options of [{}, { format: "iife", minify: true, target: "es2022" }]) {
    const folder = project("esbuild");
    const { warnings } = await bundle(folder, "inline.mjs", options);
    const { outcome, problems, missing } = await runPage(browser, folder);
    check(outcome, ALL);
    assert.deepEqual([warnings, problems, missing], [[], [], []]);
  }
});

test("esbuild carries the module along where it is told to", async () => {
  const folder = project("esbuild-files", "esbuild");
  await bundle(folder, "files.mjs", { loader: { ".wasm": "file" } });
  const { outcome, problems, missing } = await runPage(browser, folder);
  check(outcome, FILES);
  assert.deepEqual([problems, missing], [[], []]);
});

test("esbuild bundles `innerloop/inline` for Node, as a module and not", async () => {
  const folder = project("esbuild-node", "esbuild");
  const away = project("alone", "page");
  for (const [format, file] of [
    ["esm", "out.mjs"],
    ["cjs", "out.cjs"],
  ]) {
    await bundle(folder, "printed.mjs", { format, platform: "node", outfile: join(away, file) });
    check(JSON.parse(run(process.execPath, ["--no-warnings", file], away)), ALL);
  }
});

test("what a bundler has left behind is missed with a word on what to do", async () => {
  const folder = project("esbuild-lost", "esbuild");
  await bundle(folder, "lost.mjs");
  const { outcome } = await runPage(browser, folder);
  const message = /could not be loaded from http.*404.*`innerloop\/inline`.*`init\(/s;
  assert.match(outcome.failed, message);
});

test("a policy that forbids WebAssembly is named", async () => {
  const policy = "script-src 'self' 'unsafe-inline'";
  const site = await serveFolder(project("page"), { "content-security-policy": policy });
  const { outcome } = await outcomeIn(browser, site.url);
  assert.match(outcome.failed, /could not be loaded.*must have `script-src 'wasm-unsafe-eval'`/s);
  await site.close();
});

test("a worker that does not start says why", async () => {
  const policy = "worker-src 'none'";
  const site = await serveFolder(project("page"), { "content-security-policy": policy });
  const { outcome } = await outcomeIn(browser, site.url);
  assert.match(outcome.said?.[2] ?? outcome.failed, /worker.*did not start.*`worker-src`/s);
  await site.close();
});

const PACKAGES = ["innerloop", "innerloop-qjs", "innerloop-shell", "innerloop-python"];

test("publint finds nothing in the packages", async () => {
  for (const name of PACKAGES) {
    const { buffer } = new Uint8Array(readFileSync(archiveOf(name)));
    const { messages, pkg } = await publint({ pack: { tarball: buffer }, strict: true });
    const found = messages.map((message) => formatMessage(message, pkg));
    assert.deepEqual(found, [], name);
  }
});

test("are-the-types-wrong finds nothing in the packages", () => {
  const script = "node_modules/@arethetypeswrong/cli/dist/index.js";
  const attw = fileURLToPath(new URL(script, import.meta.url));
  for (const name of PACKAGES) {
    const flags = ["--profile", "esm-only", "--format", "ascii", "--no-emoji"];
    const said = run(process.execPath, [attw, archiveOf(name), ...flags], tmpdir());
    assert.match(said, /^node16 \(from ESM\): OK/m);
    assert.doesNotMatch(said, /^(node16 \(from ESM\)|bundler): (?!OK)/m);
  }
});
