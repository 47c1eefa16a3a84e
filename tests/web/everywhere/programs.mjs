// The programs that npm has for this machine.

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const MODULES = fileURLToPath(new URL("node_modules/", import.meta.url));

// Where a program is in the one of its packages that is for this machine.
const PLACES = {
  deno: ["@deno", "deno"],
  bun: ["@oven", "bin/bun"],
  "node-20": ["", "bin/node"],
  "node-22": ["", "bin/node"],
  "node-24": ["", "bin/node"],
};

/** The path of a program, or `undefined`. */
export function programPath(name) {
  const [scope, path] = PLACES[name];
  if (scope === "") return there(join(MODULES, name, path));
  const folder = join(MODULES, scope);
  const packages = existsSync(folder) ? readdirSync(folder) : [];
  return packages.map((each) => there(join(folder, each, path))).find((found) => found);
}

/** The option `skip` of a test that needs a program. */
export function without(name) {
  if (programPath(name) !== undefined) return false;
  return `${name}: npm has none for ${process.platform}-${process.arch}, or \`npm ci\` was not run`;
}

function there(path) {
  return existsSync(path) ? path : undefined;
}
