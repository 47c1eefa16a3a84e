// Vitest in its environments: its own, jsdom, and jsdom in contexts of `node:vm`, where the values
// of the platform are of another realm.

import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { project, run } from "../support/places.mjs";
import { programPath, without } from "./programs.mjs";

const PLACES = {
  node: ["--environment", "node"],
  jsdom: ["--environment", "jsdom"],
  "jsdom in contexts": ["--environment", "jsdom", "--pool", "vmThreads"],
};

for (const [name, flags] of Object.entries(PLACES)) {
  test(`Vitest tests with the package in ${name}`, { skip: without("node-24") }, () => {
    const folder = project(`vitest-${name.replaceAll(" ", "-")}`, "vitest");
    const vitest = dirname(createRequire(import.meta.url).resolve("vitest/package.json"));
    const env = { HAS_DOCUMENT: name === "node" ? "0" : "1" };
    const args = [join(vitest, "vitest.mjs"), "run", "--root", folder, ...flags];
    run(programPath("node-24"), args, folder, { env });
  });
}
