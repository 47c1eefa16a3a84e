// Fills dist/: the module without its functions' names, as the first argument says where it is, and
// the licences of all that is compiled into it, by what cargo knows. Run by `cargo xtask`.

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const CRATE = "innerloop-shell";
const HERE = fileURLToPath(new URL(".", import.meta.url));
// What a crate says of itself whose folder holds no text: this one, with its authors.
const MIT = readFileSync(new URL("LICENSE-MIT", import.meta.url), "utf8")
  .replace(/^.*\n/, "")
  .trim();
const RULE = `\n${"-".repeat(80)}\n\n`;

/** A module without its custom sections, which nothing needs at run time. */
function stripped(module) {
  const kept = [module.subarray(0, 8)];
  for (let at = 8; at < module.length;) {
    const begin = at;
    const id = module[at];
    at += 1;
    let size = 0;
    for (let shift = 0, byte = 0x80; byte & 0x80; shift += 7, at += 1) {
      byte = module[at];
      size += (byte & 0x7f) * 2 ** shift;
    }
    at += size;
    if (id !== 0) kept.push(module.subarray(begin, at));
  }
  return Buffer.concat(kept);
}

/** The crates that are linked into the module, other than the repository's own. */
function linkedCrates() {
  const flags = ["--format-version", "1", "--locked", "--filter-platform", "wasm32-wasip1"];
  const options = { cwd: HERE, encoding: "utf8", maxBuffer: 2 ** 28 };
  const metadata = JSON.parse(execFileSync("cargo", ["metadata", ...flags], options));
  const packages = new Map(metadata.packages.map((each) => [each.id, each]));
  const nodes = new Map(metadata.resolve.nodes.map((node) => [node.id, node]));
  const linked = new Set();
  const isMacro = (id) => packages.get(id).targets.some(({ kind }) => kind.includes("proc-macro"));
  const follow = (id) => {
    if (linked.has(id) || isMacro(id)) return;
    linked.add(id);
    for (const { pkg, dep_kinds } of nodes.get(id).deps) {
      if (dep_kinds.some(({ kind }) => kind === null)) follow(pkg);
    }
  };
  follow(metadata.packages.find(({ name }) => name === CRATE).id);
  const all = [...linked].map((id) => packages.get(id)).filter(({ source }) => source !== null);
  return all.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The licences in a crate's folder, those of its vendored parts too: file and text. */
function licences(crate) {
  const folder = dirname(crate.manifest_path);
  const isLicence = (name) => /^(licen[cs]e|copying|notice|unlicense)([-._].*)?$/i.test(name);
  const found = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => entry.isFile() && isLicence(entry.name));
  const paths = files.map((entry) => join(entry.parentPath ?? entry.path, entry.name)).sort();
  const texts = paths.map((path) => [relative(folder, path), readFileSync(path, "utf8").trim()]);
  if (texts.some(([file]) => !/[/\\]/.test(file))) return texts;
  if (!/\bMIT\b/.test(crate.license ?? "")) {
    throw new Error(`${crate.name} holds no licence, and is not under MIT`);
  }
  const holders = crate.authors.join(", ") || `the authors of ${crate.name}`;
  return [["MIT", `Copyright (c) ${holders}\n\n${MIT}`], ...texts];
}

const crates = linkedCrates();
const texts = new Map();
const list = crates.map((crate) => {
  const { name, version, license, authors } = crate;
  const own = licences(crate);
  for (const [file, text] of own) {
    const key = text.replaceAll(/\s+/g, " ");
    const entry = texts.get(key) ?? { text, of: [] };
    entry.of.push(`${name} ${version}: ${file}`);
    texts.set(key, entry);
  }
  const by = authors.length > 0 ? `, by ${authors.join(", ")}` : "";
  return `${name} ${version}: ${license ?? "see below"}${by}`;
});
const head = `bash.wasm contains these crates of crates.io, and the standard library of Rust
(MIT OR Apache-2.0) with wasi-libc (MIT OR Apache-2.0 OR Apache-2.0 WITH LLVM-exception).

`;
const parts = [...texts.values()].map(({ text, of }) => `${of.join("\n")}\n\n${text}\n`);

mkdirSync(join(HERE, "dist"), { recursive: true });
writeFileSync(
  join(HERE, "dist/THIRD-PARTY.txt"),
  head + [`${list.join("\n")}\n`, ...parts].join(RULE),
);
const module = stripped(readFileSync(process.argv[2]));
writeFileSync(join(HERE, "dist/bash.wasm"), module);
console.log(`bash.wasm: ${module.length} bytes; ${crates.length} crates, ${texts.size} texts`);
