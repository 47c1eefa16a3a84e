// The examples of engines, as `cargo xtask test` installs them, and processes that can be killed.

import { execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ROOT } from "../support/package.mjs";
import { SAID } from "./world.mjs";

// A test that takes too long is ended so: what it has started ends with it.
process.once("SIGTERM", () => process.exit(1));

/** Asks again and again until there is an answer. */
export async function until(ask) {
  for (const end = Date.now() + 60_000; Date.now() < end; await sleep(50)) {
    const answer = await ask();
    if (answer !== undefined) return answer;
  }
  throw new Error("a minute has passed");
}

/** The folder of an installed example. */
export function installed(name) {
  const folder = join(ROOT, "target/examples", name);
  if (existsSync(join(folder, "node_modules"))) return folder;
  throw new Error(`there is no ${folder}: \`cargo xtask test\` installs it`);
}

/** Fails unless the example's types fit. */
export function checkTypes(folder) {
  execFileSync("npm", ["run", "--silent", "check"], { cwd: folder, stdio: "inherit" });
}

/** What the README's command prints; the person says yes. */
export function demo(folder, env) {
  const mock = join(ROOT, "examples/mock.py");
  const words = [mock, "npm", "start", "--silent", "--", SAID];
  const options = { cwd: folder, input: "y\n", env: { ...process.env, ...env }, timeout: 120_000 };
  return execFileSync("python3", words, options).toString();
}

/**
 * Starts a script of an example, in a group of its own, and waits until it prints what `ready`
 * matches: that, and `kill`, which ends the whole group at once.
 */
export function start(folder, script, options) {
  return startProgram(folder, [process.execPath, "--import", "tsx", script], options);
}

/** The same for any program. */
export async function startProgram(folder, [program, ...words], { env, ready }) {
  const options = { cwd: folder, env: { ...process.env, ...env }, detached: true };
  const child = spawn(program, words, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const end = () => child.exitCode === null && process.kill(-child.pid, "SIGKILL");
  // A test that fails leaves nothing behind.
  process.once("exit", end);
  let printed = "";
  const found = new Promise((resolve) => {
    for (const output of [child.stdout, child.stderr]) {
      output.on("data", (bytes) => {
        printed += bytes;
        const match = ready.exec(printed);
        if (match !== null) resolve(match[0]);
      });
    }
  });
  const match = await Promise.race([found, ended, sleep(60_000, undefined, { ref: false })]);
  if (typeof match !== "string") throw new Error(`${words.at(-1)} did not start: ${printed}`);
  const kill = async () => {
    process.off("exit", end);
    end();
    await ended;
  };
  return { match, kill };
}
