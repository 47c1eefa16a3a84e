// The packed package, installed as a user would: into an empty project, from the tarball alone.

import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** The repository. */
export const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** The tarball: `INNERLOOP_TARBALL`, absolute or from the repository, or where xtask packs it. */
export function tarball() {
  const given = process.env.INNERLOOP_TARBALL || "target/npm/innerloop-0.1.0.tgz";
  const path = resolve(ROOT, given);
  if (!existsSync(path)) {
    throw new Error(`there is no ${path}: build it with \`cargo xtask prepare\``);
  }
  return path;
}

/** A new project with the package installed: its folder, and `remove()`. */
export function install() {
  const folder = mkdtempSync(join(tmpdir(), "innerloop-web-"));
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  const flags = ["--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"];
  execFileSync("npm", ["install", ...flags, tarball()], { cwd: folder, stdio: "pipe" });
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Imports the package by its name, as a module of that project would. */
export function importFrom(folder) {
  const entry = createRequire(join(folder, "index.js")).resolve("innerloop");
  return import(pathToFileURL(entry));
}

/** The example project: path to text. */
export function exampleFiles() {
  const root = join(ROOT, "example/project");
  const paths = readdirSync(root, { recursive: true }).map((path) => path.replaceAll("\\", "/"));
  const files = paths.filter((path) => statSync(join(root, path)).isFile()).sort();
  return Object.fromEntries(files.map((path) => [path, readFileSync(join(root, path), "utf8")]));
}

/** The recorded traffic that mends it. */
export function exampleTraffic() {
  return readFileSync(join(ROOT, "example/traffic.jsonl"), "utf8");
}

/** QuickJS as a WASI program. */
export function qjs() {
  const path = join(ROOT, "target/programs/qjs.wasm");
  if (!existsSync(path)) throw new Error(`there is no ${path}: run \`cargo xtask prepare\``);
  return readFileSync(path);
}
