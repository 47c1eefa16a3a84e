// Node in three versions, Deno and Bun.

import { test } from "node:test";
import { check } from "../support/exercise.mjs";
import { project, run } from "../support/places.mjs";
import { programPath, without } from "./programs.mjs";

const SCRIPTS = ["main.mjs", "named.mjs", "inline.mjs", "required.cjs", "files.mjs"];

// Deno asks for what it may, and takes npm's packages from where they are.
const FLAGS = {
  "node-20": ["--no-warnings"],
  "node-22": ["--no-warnings"],
  "node-24": ["--no-warnings"],
  deno: ["run", "--quiet", "--allow-all", "--node-modules-dir=manual"],
  bun: ["run"],
};

for (const [name, flags] of Object.entries(FLAGS)) {
  for (const script of SCRIPTS) {
    test(`${name} runs ${script}`, { skip: without(name) }, () => {
      const said = run(programPath(name), [...flags, script], project(`${name}-${script}`, "node"));
      check(JSON.parse(said), { runs: true });
    });
  }
}
