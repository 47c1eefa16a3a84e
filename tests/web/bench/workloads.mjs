// What is measured, and how much of it. Each gives the CPU time that it took in microseconds for
// one of its unit, or bytes.

import { calling, model, says } from "./model.mjs";

/** CPU time of this process, in microseconds. */
const cpu = () => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

const args = { path: "src/sum.js", limit: 20 };

function* sessions() {
  for (;;) {
    yield calling("look", args);
    yield says("The file adds two numbers, and nothing has to be done about that.");
  }
}

async function session(peer, fetch) {
  const agent = await peer.open({ fetch });
  const said = await agent.run("Look at src/sum.js");
  if (!said.startsWith("The file adds")) throw new Error(said);
  await agent.close();
}

/** Sessions with one call each, opened anew: microseconds for each of `count` after `before`. */
async function opened(peer, { before, count }) {
  const fetch = model(sessions());
  for (let n = 0; n < before; n++) await session(peer, fetch);
  const begun = cpu();
  for (let n = 0; n < count; n++) await session(peer, fetch);
  return (cpu() - begun) / count;
}

/** One run of so many replies with a call each: milliseconds. */
async function turns(peer, { count }) {
  function* script() {
    yield says("Hello.");
    for (let n = 1; n < count; n++) yield calling("look", args);
    yield says("Done.");
  }
  const agent = await peer.open({ fetch: model(script()) });
  await agent.run("Hello");
  const begun = cpu();
  await agent.run("Look a thousand times");
  const took = cpu() - begun;
  await agent.close();
  return took / 1000;
}

/** A reply in so many deltas: microseconds for each. */
async function deltas(peer, { count, together }) {
  const text = "word ".repeat(count);
  const script = [says("Hello."), says(text, count)].values();
  const agent = await peer.open({ fetch: model(script, { together }) });
  await agent.run("Hello");
  const begun = cpu();
  const said = await agent.run("Write");
  if (said.length !== text.length) throw new Error(`${said.length} characters`);
  const took = cpu() - begun;
  await agent.close();
  return took / count;
}

/** A call whose arguments come in pieces of 16 characters: milliseconds. */
async function largeCall(peer, { bytes }) {
  const content = "export const sum = (a, b) => a + b;\n".repeat(bytes / 36);
  const call = calling("make", { path: "sum.js", content });
  const agent = await peer.open({ fetch: model([says("Hello."), call, says("Done.")].values()) });
  await agent.run("Hello");
  const begun = cpu();
  await agent.run("Write it");
  const took = cpu() - begun;
  await agent.close();
  return took / 1000;
}

/** Memory in use: objects, and what they hold outside of the heap, the module's memory included. */
const live = ({ heapUsed, external }) => heapUsed + external;

/** What a session that has had a run and waits adds to a measure of memory: bytes. */
async function idle(peer, { count, measure }) {
  const measured = async () => {
    await new Promise((resolve) => setTimeout(resolve, 50));
    for (let n = 0; n < 4; n++) globalThis.gc();
    return measure(process.memoryUsage());
  };
  const fetch = model(sessions());
  const agents = [];
  const hold = async () => {
    const agent = await peer.open({ fetch });
    await agent.run("Look at src/sum.js");
    agents.push(agent);
  };
  for (let n = 0; n < 200; n++) await hold();
  const before = await measured();
  for (let n = 0; n < count; n++) await hold();
  const grown = (await measured()) - before;
  if (agents.length !== count + 200) throw new Error("the agents are gone");
  return grown / count;
}

/** From the start of the process to the first request: milliseconds of CPU, Node's own included. */
async function cold(peer) {
  let took;
  const onRequest = () => (took ??= cpu());
  await session(peer, model(sessions(), { onRequest }));
  return took / 1000;
}

/** A call of a built-in tool over files, after so many others: milliseconds. */
async function builtin(peer, task, before) {
  for (let n = 0; n < before; n++) await builtin(peer, task, 0);
  const { files, call, check } = task;
  const script = [says("Hello."), calling(...call(), 4000), says("Done.")].values();
  let seen;
  const onRequest = (body) => (seen = body);
  const fetch = model(script, { onRequest });
  const agent = await peer.open({ fetch, files: files(), builtins: "all", tools: [] });
  // The first response has Node load its `fetch`, which is no part of the tool.
  await agent.run("Hello");
  const begun = cpu();
  await agent.run("Do it");
  const took = cpu() - begun;
  if (!String(seen).includes(check)) throw new Error(String(seen).slice(-600));
  await agent.close();
  return took / 1000;
}

const manyFiles = () => {
  const line = (n) => `export const value${n} = compute(${n}, "some text of the file");\n`;
  const text = (n) => Array.from({ length: 40 }, (_, at) => line(n * 40 + at)).join("");
  return Object.fromEntries(
    Array.from({ length: 5000 }, (_, n) => [`src/dir${n % 100}/file${n}.js`, text(n)]),
  );
};

const manyLines = () => Array.from({ length: 50_000 }, (_, n) => `line ${n} of a long file`);

const hunks = () => {
  const lines = manyLines();
  const patch = ["*** Begin Patch", "*** Update File: long.txt"];
  for (let n = 0; n < 500; n++) {
    const at = n * 100 + 50;
    patch.push("@@", ` ${lines[at - 1]}`, `-${lines[at]}`, `+changed ${n}`, ` ${lines[at + 1]}`);
  }
  return [...patch, "*** End Patch"].join("\n");
};

const GREP = {
  files: manyFiles,
  call: () => ["grep", { pattern: "value19[0-9]{3}7 = compute" }],
  check: "src/dir",
};

const PATCH = {
  files: () => ({ "long.txt": `${manyLines().join("\n")}\n` }),
  call: () => ["apply_patch", { input: hunks() }],
  check: "Success",
};

/**
 * By name: what it is, its unit, its goal if it has one, whether only we can do it, and what Node
 * is told. With flags Node does without the compiled code that it brings, which costs 15 ms.
 */
export const WORKLOADS = {
  session: {
    title: "a session with one tool call",
    unit: "µs",
    goal: 350,
    run: (peer) => opened(peer, { before: 50, count: 200 }),
  },
  later: {
    title: "the same after 1,100 sessions",
    unit: "µs",
    goal: 350,
    run: (peer) => opened(peer, { before: 1100, count: 100 }),
  },
  turns: {
    title: "1,000 turns",
    flags: ["--max-old-space-size=4096"],
    unit: "ms",
    goal: 300,
    run: (peer) => turns(peer, { count: 1000 }),
  },
  delta: {
    title: "a text delta",
    unit: "µs",
    goal: 3.3,
    run: (peer) => deltas(peer, { count: 50_000, together: 1 }),
  },
  deltas: {
    title: "a text delta, ten in a piece",
    unit: "µs",
    goal: 3.3,
    run: (peer) => deltas(peer, { count: 50_000, together: 10 }),
  },
  call: {
    title: "a call with 1 MB of arguments",
    flags: ["--max-old-space-size=4096"],
    unit: "ms",
    goal: 350,
    run: (peer) => largeCall(peer, { bytes: 1_000_000 }),
  },
  idle: {
    title: "an idle session",
    flags: ["--expose-gc", "--max-old-space-size=4096"],
    unit: "bytes",
    goal: 4096,
    run: (peer) => idle(peer, { count: 3000, measure: live }),
  },
  resident: {
    title: "the same, with the room of the heap",
    flags: ["--expose-gc", "--max-old-space-size=4096"],
    unit: "bytes",
    run: (peer) => idle(peer, { count: 3000, measure: ({ rss }) => rss }),
  },
  cold: { title: "cold start to the first request", unit: "ms", goal: 60, run: cold },
  grep: {
    title: "grep over 5,000 files",
    unit: "ms",
    goal: 25,
    isOurs: true,
    run: (peer) => builtin(peer, GREP, 0),
  },
  patch: {
    title: "a patch of 500 hunks, 50,000 lines",
    unit: "ms",
    goal: 20,
    isOurs: true,
    run: (peer) => builtin(peer, PATCH, 0),
  },
  patchLater: {
    title: "the same after seven others",
    unit: "ms",
    goal: 20,
    isOurs: true,
    run: (peer) => builtin(peer, PATCH, 7),
  },
};
