// What the package costs in Node, in CPU time, beside its goals and beside the floor: what the
// platform and this bench take without any agent. With `--peers`, the packages that people use for
// the same are measured, too. Each figure is the least of several processes; peers take
// turns, so that all are measured on the same machine in the same minutes.
//
//     node bench.mjs [--peers] [WORKLOAD…]

import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { WORKLOADS } from "./workloads.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const PEERS = ["pi-agent-core", "ai-sdk", "openai-agents"];
const TIMES = 3;

const given = process.argv.slice(2);
const withPeers = given.includes("--peers");
const wanted = given.filter((word) => word !== "--peers");
const unknown = wanted.find((name) => !(name in WORKLOADS));
if (unknown !== undefined) {
  console.error(`there is no workload ${unknown}; there are ${Object.keys(WORKLOADS).join(", ")}`);
  process.exit(2);
}

/** A project that has the tarball, and the peers where they are wanted. */
function project() {
  const folder = mkdtempSync(join(tmpdir(), "innerloop-bench-"));
  for (const name of readdirSync(HERE)) {
    if (name !== "node_modules") cpSync(join(HERE, name), join(folder, name), { recursive: true });
  }
  const npm = (...words) => execFileSync("npm", [...words, "--silent"], { cwd: folder });
  if (withPeers) npm("ci");
  const built = join(HERE, "../../../target/npm/innerloop-0.1.0.tgz");
  const tarball = process.env.INNERLOOP_TARBALL ?? built;
  if (!existsSync(tarball)) throw new Error(`there is no ${tarball}: cargo xtask prepare makes it`);
  npm("install", "--no-save", "--no-package-lock", "--omit=dev", tarball);
  return folder;
}

const folder = project();
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

function measure(peer, workload) {
  const words = [...(WORKLOADS[workload].flags ?? []), "one.mjs", peer, workload];
  const stdio = ["ignore", "pipe", "pipe"];
  const options = { cwd: folder, encoding: "utf8", timeout: 600_000, stdio };
  try {
    const said = execFileSync(process.execPath, words, options);
    return JSON.parse(said.trim().split("\n").at(-1)).figure;
  } catch (error) {
    const said = String(error.stderr ?? error.message)
      .trim()
      .split("\n");
    const why = said.find((line) => /^\w*(Error|error\b).*:/.test(line)) ?? said[0];
    console.error(`${peer}, ${workload}: ${why}`);
    return Number.NaN;
  }
}

const shown = (figure) => {
  if (figure === undefined) return "";
  if (Number.isNaN(figure)) return "failed";
  return figure.toLocaleString("en-US", { maximumSignificantDigits: 3 });
};
const columns = ["innerloop", "floor", ...(withPeers ? PEERS : [])];
const row = (cells) =>
  console.log(cells.map((cell, at) => (at === 0 ? cell.padEnd(36) : cell.padStart(15))).join(""));

console.log(`node ${process.version}, CPU time, least of ${TIMES}`);
row(["", "unit", "goal", ...columns]);
let isFailed = false;
for (const [name, { title, unit, goal, isOurs }] of Object.entries(WORKLOADS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const figures = new Map();
  for (let time = 0; time < TIMES; time++) {
    for (const peer of columns) {
      if ((isOurs && peer !== "innerloop") || Number.isNaN(figures.get(peer))) continue;
      const figure = measure(peer, name);
      const least = Math.min(figure, figures.get(peer) ?? figure);
      figures.set(peer, Number.isNaN(figure) ? figure : least);
    }
  }
  isFailed ||= Number.isNaN(figures.get("innerloop"));
  row([
    title,
    unit,
    goal ? `≤ ${shown(goal)}` : "",
    ...columns.map((peer) => shown(figures.get(peer))),
  ]);
}
process.exit(isFailed ? 1 : 0);
