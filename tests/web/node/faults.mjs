// Faults of the module itself, and what closed agents leave behind. Each in a process of its own:
// a module is loaded once.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folder } from "../support/installed.mjs";

const support = (name) => JSON.stringify(new URL(`../support/${name}.mjs`, import.meta.url).href);

/** What every script has: agents that are answered by a script of their own, in little memory. */
const PRELUDE = `
  import assert from "node:assert/strict";
  import { capped, instances, memoryOf } from ${support("capped")};
  import { stream } from ${support("anthropic")};
  import { Agent, Files, Session, init } from "innerloop";

  const MIB = 2 ** 20;
  const made = instances();
  const load = (most) =>
    init({ module: capped("node_modules/innerloop/dist/innerloop_wasm_bg.wasm", most) });
  const headers = { "content-type": "text/event-stream" };
  const says = (content) => new Response(stream(content).join(""), { headers });
  /** More than the module has memory for. */
  const tooMuch = () => {
    const delta = { type: "content_block_delta", index: 0 };
    const text = "x".repeat(24 * MIB);
    const piece = JSON.stringify({ ...delta, delta: { type: "text_delta", text } });
    const [start, block] = stream({ text: "" });
    return new Response(start + block + "data: " + piece + "\\n\\n", { headers });
  };
  const asked = [];
  const agentOf = (answers, options) => {
    const fetch = async (_url, { body }) => {
      asked.push(body);
      const next = answers.shift();
      return typeof next === "function" ? next() : says(next);
    };
    const common = { provider: "anthropic", model: "m", retry: { maxRetries: 0 } };
    return Agent.create({ ...common, ...options, fetch });
  };
`;

function run(script, ...flags) {
  writeFileSync(join(folder, "fault.mjs"), PRELUDE + script);
  const child = spawnSync(process.execPath, [...flags, "fault.mjs"], { cwd: folder });
  assert.equal(child.status, 0, `${child.stdout}${child.stderr}`);
  return child.stdout.toString();
}

test("a trap ends the agent's run as internal, and the agent is made again", () => {
  run(`
    await load(32 * MIB);
    let release;
    const later = () => new Promise((resolve) => (release = () => resolve(says({ text: "B1" }))));
    const other = await agentOf([later, { text: "B2" }]);
    const running = other.run("Take your time");
    const events = [];
    const agent = await agentOf([{ text: "I'll remember." }, tooMuch, { text: "It was 7." }], {
      files: { "a.txt": "kept" },
      onEvent: ({ type }) => events.push(type),
    });
    assert.equal((await agent.run("Remember 7").result()).status, "completed");
    agent.configure({ instructions: "Be brief, by all means." });
    const run = agent.run("Say much");
    const seen = [];
    for await (const { type } of run) seen.push(type);
    const { status, error, usage } = await run.result();
    assert.deepEqual([status, error.kind, error.retryable], ["failed", "internal", false]);
    assert.match(error.message, /a fault of innerloop's own; the agent goes on/);
    assert.deepEqual(seen.slice(-2), ["error", "processing_end"]);
    assert.deepEqual(events.slice(-2), ["error", "processing_end"]);
    assert.equal(made.length, 2, "another instance");
    assert.equal(agent.status().state, "idle");
    assert.equal(agent.files.readText("a.txt"), "kept");
    assert.deepEqual(agent.history().map(({ type }) => type), ["user", "assistant"]);
    const { text } = await agent.run("What was it?").result();
    assert.equal(text, "It was 7.");
    assert.match(asked.at(-1), /Remember 7/);
    assert.match(asked.at(-1), /Be brief, by all means/);
    assert.doesNotMatch(asked.at(-1), /Say much/);
    release();
    assert.equal((await running.result()).text, "B1", "others go on where they are");
    assert.equal((await other.run("And now?").result()).text, "B2");
    const fork = other.fork();
    assert.equal(fork.history().length, 4, "a fork of one in the old instance");
    const third = await agentOf([{ text: "C" }]);
    assert.equal((await third.run("Hi").result()).text, "C");
    assert.equal(made.length, 2);
    for (const each of [agent, other, fork, third]) await each.close();
  `);
});

test("an agent that breaks in its first run, or again and again, can be closed", () => {
  run(`
    await load(32 * MIB);
    const agent = await agentOf([tooMuch, tooMuch, tooMuch, tooMuch, tooMuch]);
    const kinds = [];
    for (let at = 0; at < 4; at += 1) kinds.push((await agent.run("Go").result()).error.kind);
    assert.deepEqual(kinds, Array(4).fill("internal"));
    assert.throws(() => agent.run("Go"), { name: "AgentError", code: "closed" });
    await agent.close();
    const known = await agentOf([{ text: "I'll remember." }, tooMuch, tooMuch, tooMuch, tooMuch]);
    assert.equal((await known.run("Remember 7").result()).status, "completed");
    for (let at = 0; at < 4; at += 1) await known.run("Go").result();
    assert.throws(() => known.run("Go"), { name: "AgentError", code: "closed" });
    assert.deepEqual(known.history().map(({ type }) => type), ["user", "assistant"]);
    const after = await agentOf([{ text: "Fine." }]);
    assert.equal((await after.run("Go").result()).text, "Fine.");
    await after.close();
  `);
});

test("a trap outside of a run is told, and what is made afterwards is well", () => {
  run(`
    await load(32 * MIB);
    const agent = await agentOf([{ text: "Well." }, { text: "Again." }]);
    await agent.run("Go").result();
    const refused = { name: "AgentError", code: "internal" };
    assert.throws(() => agent.configure({ instructions: "x".repeat(40 * MIB) }), refused);
    assert.equal((await agent.run("Go").result()).text, "Again.");
    assert.match(asked.at(-1), /Well\\./);
    const files = new Files();
    assert.throws(() => files.write("big", new Uint8Array(40 * MIB)), refused);
    const { session } = await Session.open(await Session.config({ provider: "anthropic" }));
    assert.throws(() => session.say("x".repeat(40 * MIB), 0), refused);
    const other = await agentOf([{ text: "Fine." }]);
    assert.equal((await other.run("Go").result()).text, "Fine.");
    for (const each of [agent, other]) await each.close();
  `);
});

test("agents that share files with one that breaks go on, with the files", () => {
  const shelf = support("shelf");
  run(`
    const { shelf } = await import(${shelf});
    await load(32 * MIB);
    const call = (name, args) => ({ calls: [[name, args]] });
    for (const system of [undefined, shelf({ "a.txt": "kept" })]) {
      let release;
      const later = () => new Promise((resolve) => (release = () => resolve(says({ text: "B1" }))));
      const reads = call("Read", { file_path: "b.txt" });
      const first = await agentOf([{ text: "A1" }, tooMuch, reads, { text: "A3" }], {
        files: system ?? { "a.txt": "kept" },
      });
      assert.equal((await first.run("Go").result()).text, "A1");
      const writes = call("Write", { file_path: "b.txt", content: "of B" });
      const other = await agentOf([later, later, writes, { text: "B2" }], { files: first.files });
      const running = other.run("Take your time");
      await new Promise((resolve) => setTimeout(resolve, 20));
      const requests = asked.length;
      const count = made.length;
      assert.equal((await first.run("Say much").result()).error.kind, "internal");
      await new Promise((resolve) => setTimeout(resolve, 20));
      assert.equal(made.length, count + 1);
      assert.equal(asked.length, requests + 2, "the other's request is sent again");
      release();
      assert.equal((await running.result()).text, "B1");
      assert.equal((await other.run("Write").result()).text, "B2");
      assert.equal(first.files.readText("b.txt"), "of B");
      assert.equal((await first.run("Read").result()).text, "A3");
      assert.match(asked.at(-1), /of B/);
      if (system) assert.deepEqual(system.all(), { "a.txt": "kept", "b.txt": "of B" });
      await first.close();
      const third = await agentOf([{ text: "C" }], { files: other.files });
      assert.deepEqual(third.files.list(), ["a.txt", "b.txt"]);
      for (const each of [other, third]) await each.close();
      assert.deepEqual(third.files.list(), ["a.txt", "b.txt"]);
    }
  `);
});

test("an agent over files of an instance that is broken begins with them in a fresh one", () => {
  run(`
    await load(32 * MIB);
    const first = await agentOf([{ text: "A1" }, { text: "A2" }], { files: { "a.txt": "kept" } });
    const broken = await agentOf([tooMuch]);
    await broken.run("Say much").result();
    const other = await agentOf([{ text: "B1" }], { files: first.files });
    assert.equal((await other.run("Go").result()).text, "B1");
    first.files.write("a.txt", "new");
    assert.equal(other.files.readText("a.txt"), "new");
    assert.equal((await first.run("Go").result()).text, "A1");
    for (const each of [first, broken, other]) await each.close();
    assert.equal(made.length, 2);
  `);
});

test("close frees everything: memory stays flat, and what was stays readable", () => {
  const script = `
    await load(256 * MIB);
    const file = new Uint8Array(MIB).fill(97);
    const one = async () => {
      const calls = [["Write", { file_path: "a.txt", content: "a\\n" }]];
      const answers = [{ calls }, { text: "One." }, { text: "Two." }];
      const agent = await agentOf(answers, { files: { "big.bin": file } });
      asked.length = 0;
      await agent.run("Go").result();
      await agent.run("Go on").result();
      await agent.close();
      return agent;
    };
    const agent = await one();
    assert.deepEqual(agent.files.list(), ["a.txt", "big.bin"]);
    assert.equal(agent.files.read("big.bin").length, MIB);
    assert.deepEqual([agent.status().state, agent.status().toolCalls], ["closed", 1]);
    assert.equal(agent.history().length, 6);
    const { restore } = Agent;
    const again = await restore(agent.snapshot(), { provider: "anthropic", apiKey: "k" });
    assert.equal(again.history().length, 6);
    await again.close();
    const fork = agent.fork();
    assert.equal(fork.history().length, 6);
    await fork.close();
    const many = async (count) => {
      for (let at = 0; at < count; at += 1) await one();
      await new Promise((resolve) => setTimeout(resolve, 20));
      gc();
      gc();
      const { heapUsed, arrayBuffers } = process.memoryUsage();
      return [memoryOf(made[0]), heapUsed, arrayBuffers];
    };
    const before = await many(50);
    const after = await many(950);
    console.log(JSON.stringify([before, after]));
    assert.equal(made.length, 1);
    assert.ok(after[0] <= before[0], "the module's memory");
    assert.ok(after[1] < before[1] + 2 * MIB, "objects");
    assert.ok(after[2] < before[2] + 4 * MIB, "buffers");
  `;
  run(script, "--expose-gc");
});

test("an agent that waits weighs 4 KB at most, its files not counted", () => {
  const script = `
    await load(256 * MIB);
    const kept = [];
    const held = async (count) => {
      for (let at = 0; at < count; at += 1) {
        const agent = await agentOf([{ text: "One." }]);
        await agent.run("Go").result();
        kept.push(agent);
      }
      asked.length = 0;
      await new Promise((resolve) => setTimeout(resolve, 20));
      gc();
      gc();
      return memoryOf(made[0]) + process.memoryUsage().heapUsed;
    };
    const before = await held(500);
    const each = ((await held(3000)) - before) / 3000;
    assert.ok(each <= 4096, \`\${each} bytes\`);
    await Promise.all(kept.map((agent) => agent.close()));
  `;
  run(script, "--expose-gc");
});
