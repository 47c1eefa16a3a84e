// Workers and a Durable Object in workerd, bundled as wrangler does it.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { check } from "../support/exercise.mjs";
import { bundle, project } from "../support/places.mjs";

/** Starts the worker of a folder, over what it has stored there before. */
async function start(folder) {
  const { Miniflare } = await import("miniflare");
  return new Miniflare({
    rootPath: folder,
    modules: true,
    modulesRoot: "out",
    scriptPath: "out/worker.js",
    modulesRules: [{ type: "CompiledWasm", include: ["**/*.wasm"] }],
    compatibilityDate: "2026-05-01",
    durableObjects: {
      KEPT: { className: "Kept", useSQLite: true },
      STORED: { className: "Stored", useSQLite: true },
    },
    durableObjectsPersist: join(folder, "stored"),
  });
}

async function ask(worker, path) {
  const response = await worker.dispatchFetch(`http://worker${path}`);
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  return response.json();
}

test("workerd runs agents, and a Durable Object keeps one and its files over a restart", async () => {
  const folder = project("workerd");
  mkdirSync(join(folder, "stored"));
  await bundle(folder, "worker.mjs", {
    outfile: undefined,
    outdir: join(folder, "out"),
    entryNames: "worker",
    conditions: ["workerd", "worker"],
    loader: { ".wasm": "copy" },
  });
  const first = await start(folder);
  try {
    check(await ask(first, "/"), { runs: false });
    const { failed } = await ask(first, "/programs");
    assert.match(failed, /programs run in a worker, and this platform has none/);
    const one = { status: "completed", text: "Wrote one.", paths: ["one.txt"], heard: 1 };
    assert.deepEqual(await ask(first, "/kept?say=one"), one);
    const stored = await ask(first, "/stored");
    check(stored, { runs: false });
    assert.deepEqual([stored.odd, stored.before, stored.after], [[], [], ["even.mjs"]]);
  } finally {
    await first.dispose();
  }
  const second = await start(folder);
  try {
    const { paths, heard } = await ask(second, "/kept?say=two");
    assert.deepEqual([paths, heard], [["one.txt", "two.txt"], 2]);
    assert.deepEqual((await ask(second, "/stored")).before, ["even.mjs"]);
  } finally {
    await second.dispose();
  }
});
