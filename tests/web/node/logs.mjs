// The session's log: what is kept of it in memory, and its lines as they come.

import assert from "node:assert/strict";
import { test } from "node:test";
import { reply, serve, stream } from "../support/anthropic.mjs";
import { Agent, agentAt } from "../support/installed.mjs";

const FINE = { provider: "anthropic", model: "m", apiKey: "sk-test-0123456789" };
const headers = { "content-type": "text/event-stream" };
const fetch = async () => new Response(stream({ text: "Noted." }).join(""), { headers });

/** How many lines of a log are snapshots. */
const snapshots = (log) => log.split("\n").filter((line) => line.startsWith('{"snapshot"')).length;

test("the log of a thousand inputs grows as the conversation does", async () => {
  const agent = await Agent.create({ ...FINE, fetch, log: true });
  const sizes = [];
  for (let at = 1; at <= 1_000; at += 1) {
    await agent.run(`Note the number ${String(at).padStart(4, "0")} and no other.`).result();
    if (at % 250 === 0) sizes.push(agent.log().length);
  }
  const [quarter, half, , whole] = sizes;
  const log = agent.log();
  assert.equal(snapshots(log), 1);
  assert.ok(log.length < agent.snapshot().length + 50_000, `${log.length} bytes`);
  assert.ok(whole - half < 2 * (half - quarter) + 50_000, `it grows by more and more: ${sizes}`);
  const { history, status } = await Agent.replay(log);
  assert.deepEqual([history, status], [agent.history(), agent.status()]);
  await agent.close();
  assert.equal(snapshots(agent.log()), 1, "a closed agent still has it");
});

test("each line of the log is told before what follows from it is done", async () => {
  const [said, sent] = [[], []];
  const onLine = (line, kind) => said.push([line, kind]);
  const asked = async (...request) => {
    sent.push(said.length);
    return fetch(...request);
  };
  const agent = await Agent.create({ ...FINE, fetch: asked, onLine });
  assert.deepEqual(
    said.map(([, kind]) => kind),
    ["first"],
  );
  const seen = [];
  agent.subscribe((event) => seen.push(event));
  await agent.run("One").result();
  assert.equal(sent[0], 2, "the input's line was there before its request");
  assert.deepEqual([said[1][1], said.at(-1)[1]], ["input", "snapshot"]);
  await agent.run("Two").result();
  assert.ok(said.every(([line]) => line.endsWith("\n") && line.indexOf("\n") === line.length - 1));
  const log = said.map(([line]) => line).join("");
  const { events, history } = await Agent.replay(log);
  assert.deepEqual([events.slice(1), history], [seen, agent.history()]);
  assert.throws(() => agent.log(), { code: "unsupported" }, "nothing is kept beside");
  const short = said.filter(([, kind], at) => kind === "first" || at >= said.length - 1);
  const again = await Agent.restore(short.map(([line]) => line).join(""), { ...FINE, fetch });
  assert.deepEqual(
    again.history(),
    agent.history(),
    "what stands before a snapshot may be dropped",
  );
  await again.close();
  await agent.close();
});

test("a log whose requests come to more than a string holds is replayed", async () => {
  const lines = [];
  const onLine = (line, kind) => kind !== "snapshot" && lines.push(line);
  const agent = await Agent.create({ ...FINE, fetch, onLine });
  const long = "x".repeat(20_000);
  for (let at = 0; at < 250; at += 1) await agent.run(`${at} ${long}`).result();
  const { events, history } = await Agent.replay(lines.join(""));
  assert.deepEqual(history, agent.history());
  assert.equal(events.filter(({ type }) => type === "processing_end").length, 250);
  await agent.close();
});

test("who takes lines may call back in, and what follows waits for its turn", async () => {
  const server = await serve(reply({ text: "One." }), reply({ text: "Two." }));
  const kinds = [];
  let agent;
  const onLine = (line, kind) => {
    kinds.push(kind);
    if (line.includes('"submit"')) agent.followUp("And then?");
  };
  agent = await agentAt(server, { onLine });
  const { status, text } = await agent.run("Go").result();
  assert.deepEqual([status, text], ["completed", "Two."]);
  assert.equal(kinds.filter((kind) => kind === "first").length, 1);
  await agent.close();
  await server.close();
});
