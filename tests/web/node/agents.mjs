// Agents that are started by name, several that one call starts, and the roles of a council.

import assert from "node:assert/strict";
import { test } from "node:test";
import { reply, serve } from "../support/anthropic.mjs";
import { Agent, agentAt } from "../support/installed.mjs";

const reviewer = {
  description: "Reviews changes.",
  prompt: "You review.",
  model: "mock-2",
  tools: ["read_file"],
  maxTurns: 4,
};

/** A server whose model answers by the first words of each agent's conversation. */
async function scripted(scripts) {
  const step = (request, response) => {
    const first = JSON.stringify(server.requests.at(-1).body.messages[0]);
    const name = Object.keys(scripts).find((name) => first.includes(name));
    return scripts[name].shift()(request, response);
  };
  const server = await serve(...Array.from({ length: 9 }, () => step));
  return server;
}

test("n17 an agent that has a name works with its prompt, model and tools", async () => {
  const call = { task: "Check it", agent: "reviewer" };
  const server = await scripted({
    Lead: [
      reply({ calls: [["spawn_agent", call]] }),
      reply({ calls: [["wait", { agent_id: "agent-1" }]] }),
      reply({ text: "Done." }),
    ],
    Check: [reply({ text: "It is right." })],
  });
  const agent = await agentAt(server, { agents: { reviewer } });
  const names = [];
  agent.subscribe((event) => event.type === "agent_started" && names.push(event.name));
  assert.equal((await agent.run("Lead").result()).status, "completed");
  const bodies = server.requests.map(({ body }) => body);
  const own = bodies.find(({ model }) => model === "mock-2");
  assert.ok(own.system[0].text.startsWith("You review."));
  assert.deepEqual(
    own.tools.map(({ name }) => name),
    ["read_file"],
  );
  const spawn = bodies[0].tools.find(({ name }) => name === "spawn_agent");
  assert.match(spawn.description, /- reviewer: Reviews changes\./);
  assert.deepEqual(spawn.input_schema.properties.agent.enum, ["reviewer"]);
  assert.deepEqual([names, agent.agents()[0].name], [["reviewer"], "reviewer"]);
  agent.configure({ agents: { reviewer: null, tester: {} } });
  assert.deepEqual(Object.keys(agent.config().agents), ["tester"]);
  await agent.close();
  await server.close();
});

test("n17 what is wrong with an agent is said", async () => {
  const make = (agents) => {
    return Agent.create({
      provider: "anthropic",
      model: "m",
      apiKey: "sk-test-0123456789",
      agents,
    });
  };
  const refused = [
    ["reviewer", /`agents` must be an object/],
    [{ x: "y" }, /`agents\.x` must be an object/],
    [{ x: { tool: [] } }, /no option `agents\.x\.tool`/],
    [{ x: { maxTurns: -1 } }, /agents\.x\.maxTurns/],
    [{ x: { tools: ["nope"] } }, /agents\.x\.tools.*no tool "nope"/],
  ];
  for (const [agents, message] of refused) await assert.rejects(make(agents), { message });
});

test("k27 one call starts several and brings their results in order", async () => {
  const tasks = [{ task: "First part" }, { task: "Second part", working_dir: "../up" }];
  const server = await scripted({
    Lead: [reply({ calls: [["spawn_agents", { tasks }]] }), reply({ text: "Both." })],
    First: [reply({ text: "One." })],
  });
  const agent = await agentAt(server, { subagents: { batchMs: 60_000 } });
  const outcomes = [];
  agent.subscribe((event) => {
    if (event.type === "tool_call_end") outcomes.push(event.outcome.parts[0].text);
  });
  const result = await agent.run("Lead").result();
  assert.deepEqual([result.status, result.text], ["completed", "Both."]);
  const [first, second] = JSON.parse(outcomes[0]);
  assert.deepEqual([first.status, first.output, second.status], ["completed", "One.", "failed"]);
  assert.equal(agent.config().subagents.batch_ms, 60_000);
  await agent.close();
  await server.close();
});

test("i10 a member of a council reasons without tools", async () => {
  const server = await serve(reply({ text: "Spaces." }));
  const agent = await agentAt(server, { preset: "council_member" });
  assert.equal((await agent.run("Tabs or spaces?").result()).text, "Spaces.");
  const { tools, system } = server.requests[0].body;
  assert.equal(tools, undefined);
  assert.ok(system[0].text.startsWith("You sit on a council"));
  assert.ok(!/tool|workspace/i.test(system[0].text), system[0].text);
  await agent.close();
  await server.close();
});
