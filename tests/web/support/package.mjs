// The packed package, installed as a user would: into an empty project, from the tarball alone.

import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
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

/** The tarballs of the programs' packages, beside the main one. */
export function programTarballs() {
  return ["innerloop-shell", "innerloop-qjs", "innerloop-python"].map((name) => {
    const path = join(dirname(tarball()), `${name}-0.1.0.tgz`);
    if (!existsSync(path)) throw new Error(`there is no ${path}: run \`cargo xtask prepare\``);
    return path;
  });
}

/** A new project with the package installed, and others: its folder, and `remove()`. */
export function install(others = []) {
  const folder = mkdtempSync(join(tmpdir(), "innerloop-web-"));
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  const flags = ["--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"];
  execFileSync("npm", ["install", ...flags, tarball(), ...others], { cwd: folder, stdio: "pipe" });
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Imports a package by its name, as a module of that project would. */
export function importFrom(folder, name = "innerloop") {
  const entry = createRequire(join(folder, "index.js")).resolve(name);
  return import(pathToFileURL(entry));
}

/** The example project: path to text. */
export function exampleFiles() {
  const root = join(ROOT, "example/project");
  const paths = readdirSync(root, { recursive: true }).map((path) => path.replaceAll("\\", "/"));
  const files = paths.filter((path) => statSync(join(root, path)).isFile()).sort();
  return Object.fromEntries(files.map((path) => [path, readFileSync(join(root, path), "utf8")]));
}

/** The recorded traffic that fixes it. */
export function exampleTraffic() {
  return readFileSync(join(ROOT, "example/traffic.jsonl"), "utf8");
}

/** QuickJS as a WASI program. */
export function qjs() {
  return program("qjs.wasm");
}

/** The folder of the example's tool. */
export function countLines() {
  const path = join(ROOT, "target/example/count-lines");
  if (!existsSync(path)) throw new Error(`there is no ${path}: run \`cargo xtask prepare\``);
  return path;
}

/** The shell as a WASI program. */
export function bash() {
  return program("bash.wasm");
}

/** Python as a WASI program, compressed by gzip. */
export function python() {
  return program("python.wasm.gz");
}

function program(name) {
  const path = join(ROOT, "target/programs", name);
  if (!existsSync(path)) throw new Error(`there is no ${path}: run \`cargo xtask prepare\``);
  return readFileSync(path);
}
