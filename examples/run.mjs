// Runs the examples against a model that stands in mock.mjs, and looks at what they say:
//
//     node examples/run.mjs [NAME…]
//
// What an example needs and is not there is named, and the example is left out; under a name that
// was asked for that is a failure.

import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { serve } from "./mock.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const CORE = join(HERE, "../target/core/innerloop_core.wasm");
const QUESTION = "Is it warm in Lima?";
const ANSWER = "In Lima: 21 °C and sunny in Lima";

const HEADERS = ["-E", "-include", "jansson.h", "-include", "curl/curl.h", "-x", "c", "/dev/null"];

/** Each with what it needs: what is tried, and how to get it. */
const EXAMPLES = {
  c: {
    needs: [
      ["wasm2c", ["--version"], "apt-get install wabt"],
      ["cc", HEADERS, "apt-get install gcc libjansson-dev libcurl4-openssl-dev"],
    ],
    commands: [
      ["make", "--silent"],
      ["./weather", QUESTION],
    ],
  },
  java: {
    needs: [
      ["javac", ["--version"], "apt-get install openjdk-17-jdk-headless"],
      ["mvn", ["--version"], "apt-get install maven"],
    ],
    commands: [["mvn", "-q", "-B", "-Dstyle.color=never", "compile", "exec:java", `-Dexec.args='${QUESTION}'`]],
  },
};

const there = (program, args) => spawnSync(program, args, { stdio: "ignore" }).status === 0;

/** Runs a command to its end; comes to what it prints on standard output. */
function output([program, ...args], cwd, env) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "inherit"] });
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (piece) => (said += piece));
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve(said);
      else reject(new Error(`${program} ended with ${code}: ${said}`));
    });
  });
}

async function run(name) {
  const { needs, commands } = EXAMPLES[name];
  const missing = needs.filter(([program, args]) => !there(program, args));
  if (missing.length > 0) {
    const how = missing.map(([program, , get]) => `${program} (${get})`).join(", ");
    console.log(`${name}: left out, it needs ${how}`);
    return process.argv.length <= 2;
  }
  const model = await serve();
  try {
    const env = { ...process.env, CORE, MODEL_URL: model.url };
    let said = "";
    for (const command of commands) said = await output(command, join(HERE, name), env);
    if (!said.includes(ANSWER)) throw new Error(`it said ${JSON.stringify(said)}`);
    console.log(`${name}: ${said.trim()}`);
    return true;
  } catch (error) {
    console.error(`${name}: ${error.message}`);
    return false;
  } finally {
    model.close();
  }
}

if (!existsSync(CORE)) {
  console.error("there is no target/core/innerloop_core.wasm yet: run `cargo xtask prepare`");
  process.exit(1);
}
const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(EXAMPLES);
const strange = names.find((name) => !Object.hasOwn(EXAMPLES, name));
if (strange !== undefined) {
  console.error(`there is no example ${strange}; there are ${Object.keys(EXAMPLES).join(", ")}`);
  process.exit(2);
}
for (const name of names) if (!(await run(name))) process.exitCode = 1;
