// What an agent tells of itself while it works: what waits, whom it has started, the configuration
// in force, and what fills its context window; and after it has closed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ending, reply, serve } from "../support/anthropic.mjs";
import { Agent, agentAt } from "../support/installed.mjs";

const text = (said) => [{ type: "text", text: said }];

test("a2 what waits to be read is told, until it is read", async () => {
  let asked = 0;
  const server = await serve(
    reply({ calls: [["list_dir", {}]] }),
    reply({ text: "First." }),
    reply({ text: "Second." }),
    reply({ text: "Third." }),
  );
  const seen = [];
  const agent = await agentAt(server, {
    hooks: {
      beforeTool() {
        asked += 1;
        agent.steer("soon");
        agent.steer([{ type: "text", text: "and soon" }]);
        agent.followUp("later", { tools: [], toolChoice: "none", temperature: 0.5 });
        agent.followUp("at last");
        seen.push(agent.pending());
      },
    },
    onEvent: ({ type }) => type === "steering_injected" && seen.push(agent.pending()),
  });
  const nothing = { steering: [], followUps: [] };
  assert.deepEqual(agent.pending(), nothing);
  assert.equal((await agent.run("Go").result()).text, "Third.");
  const options = { tools: [], toolChoice: "none", temperature: 0.5 };
  const followUps = [{ parts: text("later"), options }, { parts: text("at last") }];
  assert.deepEqual(seen[0], { steering: [text("soon"), text("and soon")], followUps });
  assert.deepEqual([asked, seen.at(-1)], [1, { steering: [], followUps }]);
  assert.deepEqual(agent.pending(), nothing);
  assert.throws(() => agent.pending(1), { code: "bad_option", message: /no agent 1/ });
  await agent.close();
  await server.close();
});

test("a2 what waited is told of a restored agent, and of a closed one", async () => {
  const server = await serve(reply({ text: "Read." }));
  const agent = await agentAt(server);
  agent.steer("for the next run");
  const waits = { steering: [text("for the next run")], followUps: [] };
  assert.deepEqual(agent.pending(), waits);
  const saved = agent.snapshot();
  await agent.close();
  assert.equal(agent.status().state, "closed");
  assert.deepEqual([agent.agents(), agent.config().model.name], [[], "mock-1"]);
  const options = { provider: "anthropic", apiKey: "sk-test-0123456789", baseUrl: server.url };
  const again = await Agent.restore(saved, options);
  assert.deepEqual(again.pending(), waits);
  await again.run("Go").result();
  assert.match(JSON.stringify(server.requests[0].body.messages), /for the next run/);
  assert.deepEqual(again.pending().steering, []);
  await again.close();
  await server.close();
});

/** Two agents: one that is cut and goes on, one that fails, each with its replies by its task. */
async function withOthers() {
  const scripts = {
    Lead: [
      reply({ calls: [["spawn_agent", { task: "Look around", working_dir: "src" }]] }),
      reply({ calls: [["spawn_agent", { task: "Break", model: "mock-2" }]] }),
      reply({ calls: [["wait", { agent_id: "agent-1" }]] }),
      reply({ calls: [["wait", { agent_id: "agent-2" }]] }),
      reply({ calls: [["close_agent", { agent_id: "agent-1" }]] }),
      reply({ text: "Led." }),
    ],
    Look: [ending("There is ", "max_tokens"), reply({ text: "nothing." })],
    Break: [ending("No.", "refusal")],
  };
  const step = (request, response) => {
    const first = JSON.stringify(server.requests.at(-1).body.messages[0]);
    const name = Object.keys(scripts).find((name) => first.includes(name));
    return scripts[name].shift()(request, response);
  };
  const server = await serve(...Array.from({ length: 9 }, () => step));
  const agent = await agentAt(server, { subagents: {}, files: { "src/a.txt": "a" } });
  return { server, agent };
}

test("a2 agents that were started are told with task, state and output", async () => {
  const { server, agent } = await withOthers();
  const told = [];
  agent.subscribe(({ type }) => type === "tool_call_end" && told.push(agent.agents()));
  assert.deepEqual(agent.agents(), []);
  const { status, rounds } = await agent.run("Lead").result();
  assert.deepEqual([status, rounds], ["completed", 5]);
  const [first] = told;
  const look = { id: 1, parent: 0, task: "Look around", folder: "src" };
  assert.deepEqual(first, [{ ...look, state: "running", output: "" }]);
  const waited = told.find((agents) => agents[0].state === "completed");
  assert.deepEqual(waited[0], { ...look, state: "completed", output: "There is nothing." });
  const broke = { id: 2, parent: 0, task: "Break", folder: "", model: "mock-2" };
  const last = [
    { ...look, state: "closed", output: "There is nothing." },
    { ...broke, state: "failed", output: "No." },
  ];
  assert.deepEqual(agent.agents(), last);
  // What the model reads of an agent's end is the same.
  const results = JSON.stringify(agent.history());
  assert.ok(results.includes(JSON.stringify(JSON.stringify("There is nothing.")).slice(1, -1)));
  assert.deepEqual(agent.pending(1), { steering: [], followUps: [] });
  await agent.close();
  assert.deepEqual(agent.agents(), last, "a closed session still tells");
  await server.close();
});

test("a2 the configuration in force is told, with what was changed and without the key", async () => {
  const apiKey = "sk-ant-0123456789-secret";
  const options = { provider: "anthropic", model: "claude-sonnet-4-5", apiKey, id: "mine" };
  const agent = await Agent.create({ ...options, limits: { maxToolRounds: 7 } });
  const { id, model, limits } = agent.config();
  assert.deepEqual([id, model.endpoint, model.name], ["mine", "anthropic", "claude-sonnet-4-5"]);
  assert.equal(limits.max_tool_rounds_per_input, 7);
  agent.configure({
    model: "claude-opus-4-5",
    limits: { maxTurns: 3 },
    providerOptions: { user: apiKey },
  });
  const now = agent.config();
  assert.deepEqual([now.model.name, now.limits.max_turns], ["claude-opus-4-5", 3]);
  assert.ok(!JSON.stringify(now).includes(apiKey), JSON.stringify(now.model));
  now.limits.max_turns = 99;
  assert.equal(agent.config().limits.max_turns, 3, "what is told is a copy");
  agent.configure({ config: { limits: agent.config().limits } });
  await agent.close();
  assert.equal(agent.config().limits.max_turns, 3);
});

/** The parts of a context, which add up to its total. */
function partsOf({ total, window, free, ...parts }) {
  const sum = Object.values(parts).reduce((all, tokens) => all + tokens, 0);
  assert.deepEqual([sum, free], [total, window - total]);
  return parts;
}

test("n19 what fills the context window is told by part, also of a closed agent", async () => {
  const server = await serve(
    reply({ calls: [["read_file", { file_path: "long.txt" }]], usage: [4_000, 100] }),
    reply({ text: "Read.", usage: [9_000, 1_000] }),
  );
  const files = {
    "long.txt": "a line of text\n".repeat(500),
    "AGENTS.md": "Be brief. ".repeat(99),
  };
  const agent = await agentAt(server, { files });
  const before = partsOf(agent.context());
  assert.deepEqual(Object.keys(before), ["system", "documents", "tools", "history", "results"]);
  assert.ok(before.system > 0 && before.tools > 0, JSON.stringify(before));
  assert.ok(before.documents >= 200 && before.documents <= 300, JSON.stringify(before));
  assert.deepEqual([before.history, before.results], [0, 0]);
  const parts = [];
  agent.subscribe(({ type }) => type === "tool_call_end" && parts.push(partsOf(agent.context())));
  await agent.run("Read it").result();
  const after = agent.context();
  const { results, history } = partsOf(after);
  assert.equal(parts.length, 1);
  assert.ok(results > history && history > 0, JSON.stringify(after));
  assert.equal(after.total, 10_000, "as the provider has counted it");
  assert.throws(() => agent.context(1), { code: "bad_option", message: /no agent 1/ });
  assert.throws(() => agent.context(0.5), { code: "bad_option" });
  await agent.close();
  assert.deepEqual(agent.context(), after);
  await server.close();
});
