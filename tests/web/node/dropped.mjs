// Agents that nobody holds any more and nobody has closed, and memory that was needed once.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { folder } from "../support/installed.mjs";

const script = new URL("../support/stream.mjs", import.meta.url).href;

/** What a script prints, as JSON, in a Node of its own that collects garbage when it is told to. */
function printed(body) {
  const text = `import { Agent } from "innerloop";
    import { stream } from ${JSON.stringify(script)};
    const headers = { "content-type": "text/event-stream" };
    const answer = () => new Response(stream({ text: "Done." }).join(""), { headers });
    const options = { provider: "anthropic", model: "m", apiKey: "sk-test-0123456789" };
    const turn = () => new Promise((resolve) => setTimeout(resolve, 5));
    async function collect() {
      for (let tries = 0; tries < 20; tries += 1) { await turn(); gc(); }
    }
    const out = await (async () => { ${body} })();
    console.log(JSON.stringify(out));`;
  const flags = ["--expose-gc", "--input-type=module", "-e", text];
  return JSON.parse(execFileSync(process.execPath, flags, { cwd: folder }).toString());
}

test("an agent that is dropped without being closed goes, and its memory with it", () => {
  const { left, bytes } = printed(`
    const gone = [];
    const sizes = [];
    const text = "x".repeat(2 ** 20);
    async function use() {
      let agent;
      agent = await Agent.create({ ...options, fetch: async () => answer(),
        files: { "a.txt": text }, onEvent: () => void agent });
      await agent.run("Go").result();
      gone.push(new WeakRef(agent));
      sizes.push(process.memoryUsage().external + process.memoryUsage().arrayBuffers);
    }
    for (let at = 0; at < 60; at += 1) { await use(); await collect(); }
    return { left: gone.filter((each) => each.deref() !== undefined).length,
      bytes: [sizes[9], sizes.at(-1)] };`);
  assert.ok(left <= 2, `${left} of 60 are still there`);
  assert.ok(bytes[1] < bytes[0] + 20 * 2 ** 20, `memory has grown: ${bytes}`);
});

test("an agent that is at work stays, whoever holds it", () => {
  const { status, text } = printed(`
    let release;
    const held = new Promise((resolve) => { release = resolve; });
    const begin = async () => {
      const agent = await Agent.create({ ...options, fetch: () => held });
      return agent.run("Go").result();
    };
    const result = begin();
    await collect();
    release(answer());
    return result;`);
  assert.deepEqual([status, text], ["completed", "Done."]);
});

test("the memory of a spike is given back when the last agent closes", () => {
  const { before, peak, after } = printed(`
    const all = () => { gc(); const { external, arrayBuffers } = process.memoryUsage();
      return external + arrayBuffers; };
    const run = async (files) => {
      const agent = await Agent.create({ ...options, fetch: async () => answer(), files });
      await agent.run("Go").result();
      const size = all();
      await agent.close();
      return size;
    };
    await run({});
    await collect();
    const before = all();
    const peak = await run({ "large.bin": new Uint8Array(100 * 2 ** 20) });
    await run({});
    await collect();
    return { before, peak, after: all() };`);
  assert.ok(peak > before + 100 * 2 ** 20, `${peak}`);
  assert.ok(after < before + 20 * 2 ** 20, `${before} before, ${after} after`);
});
