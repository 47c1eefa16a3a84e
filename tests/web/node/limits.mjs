// What may be spent, what holds for one input only, and who sees the result before it goes out.

import assert from "node:assert/strict";
import { test } from "node:test";
import { reply, serve, toolResults } from "../support/anthropic.mjs";
import { Agent, agentAt } from "../support/installed.mjs";

const list = (id) => reply({ calls: [["list_dir", {}, id]], usage: [100, 10] });

test("i9 a run that has spent its tokens ends with what there is, and the next one begins anew", async () => {
  const server = await serve(list(), reply({ text: "Done.", usage: [100, 10] }));
  const agent = await agentAt(server, { budget: { tokens: 110 } });
  const told = [];
  agent.subscribe((event) => event.type === "budget_limit" && told.push(event));
  assert.equal((await agent.run("Look").result()).status, "budget");
  const [{ which, used, limit }] = told;
  assert.deepEqual([which, used, limit], ["run.tokens", 110, 110]);
  assert.equal((await agent.run("Go on").result()).status, "completed");
  await agent.close();
  await server.close();
});

test("i9 a session that has spent all goes on once it may spend more", async () => {
  const server = await serve(list(), reply({ text: "Done." }));
  const agent = await agentAt(server, { budget: { session: { tokens: 110 } } });
  assert.equal((await agent.run("Look").result()).status, "budget");
  assert.equal((await agent.run("Go on").result()).status, "budget");
  assert.throws(() => agent.configure({ budget: { money: 1 } }), { code: "bad_option" });
  agent.configure({ budget: { session: { tokens: 10_000 } } });
  assert.equal((await agent.run("Go on").result()).status, "completed");
  assert.equal(server.requests.length, 2);
  await agent.close();
  await server.close();
});

test("i9 a budget that cannot be kept is refused in the option's own name", async () => {
  const create = (budget) => Agent.create({ provider: "ollama", model: "m", budget });
  for (const wrong of [7, { tokens: -1 }, { money: 1 }, { session: 1 }, { costUsd: 1 }]) {
    const refused = { name: "AgentError", code: "bad_option", message: /budget|price|cost/ };
    await assert.rejects(create(wrong), refused, JSON.stringify(wrong));
  }
});

test("k1 what holds for one input is gone with its run", async () => {
  const done = reply({ text: "Done." });
  const server = await serve(list(), done, list(), done);
  const agent = await agentAt(server, { files: { a: "" } });
  assert.throws(() => agent.run("Look", { tools: ["nope"] }), { code: "bad_option" });
  await agent.run("Look", { tools: ["read_file"], temperature: 0 }).result();
  const [refused] = toolResults(server.requests[1]);
  assert.equal(refused.isError, true, JSON.stringify(refused));
  assert.equal(server.requests[0].body.temperature, 0);
  await agent.run("Look again").result();
  const [listed] = toolResults(server.requests[3]).slice(-1);
  assert.notEqual(listed.isError, true, JSON.stringify(listed));
  assert.equal(server.requests[2].body.temperature, undefined);
  await agent.close();
  await server.close();
});

test("j21 a hook sees the result before it goes out", async () => {
  const server = await serve(reply({ text: "The key is 7." }));
  const hooks = { outbound: () => ({ replace: "The key is hidden." }) };
  const agent = await agentAt(server, { hooks });
  assert.equal((await agent.run("Which key?").result()).text, "The key is hidden.");
  await agent.close();
  await server.close();
});

test("l6 `againAfter` says after how many more rounds the next step of the ladder follows", async () => {
  for (const [againAfter, calls] of [
    [1, 3],
    [2, 4],
    [undefined, 4],
  ]) {
    const server = await serve(...Array.from({ length: calls }, () => list()));
    const loops = { sameArgs: 2, againAfter, ladder: ["warn", "stop"] };
    const agent = await agentAt(server, { preset: "seed001", loops });
    const { status, rounds, toolCalls } = await agent.run("Look").result();
    assert.deepEqual([status, rounds, toolCalls], ["loop", calls, calls], `${againAfter}`);
    await agent.close();
    await server.close();
  }
});

test("l16 `maxDenials` says how often the model is sent back to work", async () => {
  for (const maxDenials of [0, 2, undefined]) {
    const most = maxDenials ?? 3;
    const server = await serve(...Array.from({ length: most + 1 }, () => reply({ text: "Done." })));
    let asked = 0;
    const beforeStop = () => {
      asked += 1;
      return { deny: "The tests fail." };
    };
    const agent = await agentAt(server, { hooks: { beforeStop, maxDenials } });
    const { status, rounds } = await agent.run("Make them pass").result();
    assert.deepEqual([status, asked, rounds], ["unverified", most + 1, 0], `${maxDenials}`);
    await agent.close();
    await server.close();
  }
});
