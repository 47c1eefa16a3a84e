// The configuration: options, presets, patches; and what needs them: limits, loops, final answers,
// subagents, forks, histories and logs.

import assert from "node:assert/strict";
import { test } from "node:test";
import { reply, serve } from "../support/anthropic.mjs";
import { Agent, agentAt, eventsOf, Session } from "../support/installed.mjs";

const READ = ["read_file", { file_path: "a.txt" }];
const FINE = { provider: "anthropic", model: "m", apiKey: "k" };

const FIELDS = [
  [{ limits: { maxTurns: 3, action: "error" } }, "limits.action", "error"],
  [{ loops: { sameArgs: 3, ladder: ["stop"] } }, "loops.ladder", ["stop"]],
  [{ loops: { onlyIfFailed: true } }, "loops.only_if_failed", true],
  [{ retry: { maxRetryAfterMs: 7 } }, "retry.max_retry_after_ms", 7],
  [{}, "subagents.max_depth", 0],
  [{ subagents: false }, "subagents.max_depth", 0],
  [{ subagents: {} }, "subagents.max_depth", 1],
  [{ subagents: { open: 2 } }, "subagents.max_depth", 1],
  [{ subagents: { depth: 2, open: 3 } }, "subagents.max_open", 3],
  [{ subagents: { batchMs: 5 } }, "subagents.batch_ms", 5],
  [{ subagents: { coordinate: true } }, "subagents.coordinate", true],
  [{ agents: { x: { maxTurns: 3 } } }, "agents.x.max_turns", 3],
  [{ agents: {} }, "subagents.max_depth", 1],
  [{ agents: {}, subagents: false }, "subagents.max_depth", 0],
  [{ config: { subagents: { max_depth: 2 } } }, "subagents.max_depth", 2],
  [{ answer: { schema: { type: "object" }, retries: 1 } }, "answer.retries", 1],
  [{ preset: "ironclaw" }, "approval.ask", "changes"],
  [{ preset: "ironclaw", config: { approval: { ask: "nothing" } } }, "approval.ask", "nothing"],
  [{ config: { timeouts: { grace_ms: 9 } } }, "timeouts.grace_ms", 9],
  [{ config: { model: { tool_choice: "required" } } }, "model.tool_choice", "required"],
  [{ betas: ["context-1m-2025-08-07"] }, "model.betas", ["context-1m-2025-08-07"]],
  [{ providerOptions: { user: "me" } }, "model.options.user", "me"],
  [{ config: { exec_modes: { shell: "parallel" } } }, "exec_modes.shell", "parallel"],
  [{ corrections: { faults: { echo: 3 } } }, "corrections.faults.echo", 3],
  [{ corrections: { maxPerRun: 3 } }, "corrections.faults.echo", 1],
  [{ corrections: false }, "corrections.faults", {}],
  [{ provider: "ollama" }, "limits.max_tool_rounds_per_input", 25],
  [{ provider: "ollama", preset: "modern" }, "limits.max_tool_rounds_per_input", 200],
  [{ model: "claude-sonnet-5" }, "facts.knowledge_cutoff", "2026-01"],
  [{ budget: { costUsd: 1 } }, "prices", {}],
  [{ budget: { costUsd: 1 }, subagents: {} }, "prices.claude-opus-5.output", 25_000_000],
  [{ config: { estimator: "words" } }, "estimator", "words"],
  [{ limits: { maxTurns: 3 }, config: { limits: { max_turns: 4 } } }, "limits.max_turns", 4],
  [{ facts: { knowledge_cutoff: "2026-01" } }, "facts.knowledge_cutoff", "2026-01"],
  [{ facts: { git: { branch: "topic" } } }, "facts.git.modified", null],
  [{ facts: { date: "a" }, config: { facts: { date: "b" } } }, "facts.date", "b"],
  [{}, "guard.read_before_write", true],
  [{ preset: "seed001" }, "guard.read_before_write", false],
];

test("every option comes to its field of the configuration", async () => {
  for (const [options, path, value] of FIELDS) {
    const config = await Session.config({ provider: "anthropic", model: "m", ...options });
    const found = path.split(".").reduce((at, name) => at[name], config);
    assert.deepEqual(found, value, `${JSON.stringify(options)}: ${path}`);
  }
});

test("c14 c16 betas are a header, the provider's options fields of each request", async () => {
  const server = await serve(reply({ text: "Done." }));
  const providerOptions = { metadata: { user_id: "u" }, service_tier: "auto" };
  const agent = await agentAt(server, { betas: ["one", "two"], providerOptions });
  await agent.run("Go").result();
  const [{ headers, body }] = server.requests;
  assert.equal(headers["anthropic-beta"], "one,two");
  assert.deepEqual([body.metadata, body.service_tier], [{ user_id: "u" }, "auto"]);
  await agent.close();
  await server.close();
  const safetySettings = [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }];
  const options = { provider: "gemini", model: "gemini-3.8-flash" };
  const grounded = { safetySettings, tools: [{ google_search: {} }] };
  const config = await Session.config({ ...options, providerOptions: grounded });
  assert.deepEqual(config.model.options, grounded);
});

test("a patch that does not fit names its field", async () => {
  const odd = [
    [{ config: { retry: { max_retries: "many" } } }, /config\.retry\.max_retries/],
    [{ config: { retri: {} } }, /config\.retri/],
    [{ config: { loops: { ladder: ["dance"] } } }, /config\.loops\.ladder.*dance/],
    [{ config: 7 }, /`config` must be an object/],
    [{ facts: 7 }, /`facts` must be an object/],
    [{ facts: [] }, /`facts`/],
    [{ facts: { dat: "2026-01-01" } }, /facts\.dat/],
    [{ facts: { git: { branch: 7 } } }, /facts\.git\.branch/],
    [{ limits: { action: "explode" } }, /limits\.action.*explode/],
    [{ loops: { sameArg: 1 } }, /no option `loops\.sameArg`/],
    [{ loops: { window: -1 } }, /`loops\.window`/],
    [{ loops: { againAfter: 1.5 } }, /`loops\.againAfter` must be a whole number/],
    [{ preset: "baroque" }, /baroque/],
    [{ subagents: true }, /`subagents` must be false, or an object with depth, open/],
    [{ subagents: null }, /`subagents` must be false, or an object/],
    [{ subagents: { maxDepth: 1 } }, /no option `subagents\.maxDepth`; there is depth, open/],
    [{ answer: { schema: { type: "string" } } }, /answer/],
  ];
  for (const [options, message] of odd) {
    const refused = { name: "AgentError", code: "bad_option", message };
    await assert.rejects(Agent.create({ ...FINE, ...options }), refused);
  }
});

test("e11 the option `facts` says what else the model is told of the place", async () => {
  const server = await serve(reply({ text: "Noted." }), reply({ text: "Noted." }));
  const files = { "AGENTS.md": "Use tabs." };
  const git = { branch: "topic", modified: 2, untracked: 0, recent_commits: ["Begin"] };
  const facts = { platform: "browser", os_version: "1.2", git, knowledge_cutoff: "2026-01" };
  const prompts = [];
  for (const project_docs of [undefined, [{ path: "RULES.md", text: "Use spaces." }]]) {
    const agent = await agentAt(server, { files, facts: { ...facts, project_docs } });
    await agent.run("Hello").result();
    prompts.push(server.requests.at(-1).body.system[0].text);
    await agent.close();
  }
  for (const line of [
    "Working directory: /",
    "Is git repository: true",
    'Git branch: "topic"',
    "Platform: browser",
    "OS version: 1.2",
    `Today's date: ${new Date().toISOString().slice(0, 10)}`,
    "Model: mock-1",
    "Knowledge cutoff: 2026-01",
    "Git status at the start: 2 modified, 0 untracked",
    'Recent commit: "Begin"',
  ]) {
    assert.ok(prompts[0].includes(`\n${line}\n`), `${line}: ${prompts[0]}`);
  }
  assert.ok(prompts[0].includes("Use tabs."));
  assert.ok(prompts[1].includes("--- RULES.md ---\nUse spaces."));
  assert.ok(!prompts[1].includes("Use tabs."));
  await server.close();
});

test("a limit ends a run as its action says", async () => {
  const cases = [
    [undefined, "limit"],
    ["error", "failed"],
  ];
  for (const [action, status] of cases) {
    const server = await serve(reply({ calls: [READ] }), reply({ calls: [READ] }));
    const agent = await agentAt(server, { limits: { maxToolRounds: 1, action } });
    const result = await agent.run("Go").result();
    assert.equal(result.status, status);
    assert.equal(result.error?.kind, action && "limit");
    await agent.close();
    await server.close();
  }
});

test("calls that repeat themselves end a run where the ladder says so", async () => {
  const server = await serve(...Array.from({ length: 4 }, () => reply({ calls: [READ] })));
  const agent = await agentAt(server, { loops: { sameArgs: 3, ladder: ["stop"] } });
  const run = agent.run("Go");
  const events = await eventsOf(run);
  assert.equal((await run.result()).status, "loop");
  assert.ok(events.some(({ type }) => type === "loop_detection"));
  await agent.close();
  await server.close();
});

test("a final answer is the result's value", async () => {
  const schema = { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] };
  const server = await serve(reply({ calls: [["final_answer", { sum: 42 }]] }));
  const agent = await agentAt(server, { answer: { schema } });
  const { status, answer } = await agent.run("6 times 7?").result();
  assert.deepEqual([status, answer], ["completed", { sum: 42 }]);
  const tools = server.requests[0].body.tools.map(({ name }) => name);
  assert.ok(tools.includes("final_answer"));
  await agent.close();
  await server.close();
  const plain = await serve(reply({ text: "42" }));
  const other = await agentAt(plain);
  assert.equal("answer" in (await other.run("6 times 7?").result()), false);
  await other.close();
  await plain.close();
});

/** An agent that starts another one, waits for it and sums up; the one that it starts reads. */
async function withAnother(options) {
  const usage = [1_000, 100];
  const others = [
    reply({ calls: [["list_dir", {}]], usage }),
    reply({ text: "Found nothing.", usage }),
  ];
  const own = [
    reply({ calls: [["spawn_agent", { task: "Look around" }]], usage }),
    reply({ calls: [["wait", { agent_id: "agent-1" }]], usage }),
    reply({ text: "There is nothing.", usage }),
  ];
  const step = (request, response) => {
    const { messages } = server.requests.at(-1).body;
    const isOther = JSON.stringify(messages[0]).includes("Look around");
    return (isOther ? others : own).shift()(request, response);
  };
  const server = await serve(...Array.from({ length: 5 }, () => step));
  const model = "claude-sonnet-4-5";
  const agent = await agentAt(server, { model, subagents: {}, ...options });
  return { server, agent };
}

test("f2 a run has the agent's own events, or all; subagents have numbers and histories", async () => {
  for (const agents of [undefined, "own", "all"]) {
    const { server, agent } = await withAnother();
    const heard = [];
    agent.subscribe((event) => heard.push(event));
    const events = await eventsOf(agent.run("Let somebody look", { agents }));
    const numbers = [...new Set(events.map((event) => event.agent))];
    assert.deepEqual(numbers.sort(), agents === "all" ? [0, 1] : [0]);
    const said = events.filter(({ type }) => type === "assistant_text_delta");
    const text = said.map((event) => event.text).join("");
    assert.equal(text.includes("Found nothing."), agents === "all");
    const started = heard.find(({ type }) => type === "agent_started");
    assert.deepEqual([started.agent, started.parent, started.task], [1, 0, "Look around"]);
    assert.equal(agent.history(1)[0].type, "user");
    assert.throws(() => agent.history(9), { code: "bad_option", message: /no agent 9/ });
    await agent.close();
    await server.close();
  }
});

test("f2 what subagents use counts in the result and in the status", async () => {
  const { server, agent } = await withAnother({ log: true });
  const { status, usage, costUsd, replies, toolCalls } = await agent.run("Look").result();
  assert.deepEqual([status, replies, toolCalls], ["completed", 3, 2]);
  assert.deepEqual([usage.inputTotal, usage.outputTotal], [5_000, 500]);
  assert.ok(Math.abs(costUsd - (5 * (1_000 * 3 + 100 * 15)) / 1e6) < 1e-12, `${costUsd}`);
  const now = agent.status();
  assert.deepEqual([now.usage, now.costUsd, now.toolCalls], [usage, costUsd, 2]);
  assert.deepEqual((await Agent.replay(agent.log())).status, now);
  await agent.close();
  assert.deepEqual(agent.status().usage, usage, "closed ones have not used less");
  await server.close();
});

test("f4 an agent starts others only if it is asked for", async () => {
  const server = await serve(reply({ calls: [["spawn_agent", { task: "x" }]] }), reply({}));
  const agent = await agentAt(server);
  await agent.run("Go").result();
  const [first, second] = server.requests;
  assert.doesNotMatch(JSON.stringify(first.body.tools), /agent/);
  assert.match(JSON.stringify(second.body.messages.at(-1)), /Unknown tool: spawn_agent/);
  assert.throws(() => agent.run("Go", { agents: "mine" }), { message: /"own" or "all"/ });
  await agent.close();
  await server.close();
});

test("a fork goes its own way, with the same options and a copy of the files", async () => {
  const server = await serve(
    reply({ text: "I'll remember." }),
    reply({ calls: [["write_file", { file_path: "a.txt", content: "fork\n" }]] }),
    reply({ text: "Forked." }),
    reply({ text: "I was never told." }),
  );
  const config = { guard: { read_before_write: false } };
  const agent = await agentAt(server, { files: { "a.txt": "mine\n" }, config });
  await agent.run("Remember 7").result();
  const seen = [];
  const fork = agent.fork({ onEvent: (event) => seen.push(event.type) });
  assert.equal(fork.history().length, 2);
  assert.equal((await fork.run("Write").result()).text, "Forked.");
  assert.equal(fork.files.readText("a.txt"), "fork\n");
  assert.equal(agent.files.readText("a.txt"), "mine\n");
  assert.equal(seen[0], "session_start");
  const early = agent.fork({ turns: 0, files: {} });
  assert.deepEqual([early.history(), early.files.size], [[], 0]);
  assert.equal((await early.run("What was it?").result()).text, "I was never told.");
  assert.throws(() => agent.fork({ turns: -1 }), { code: "bad_option", message: /turns/ });
  for (const each of [agent, fork, early]) await each.close();
  await server.close();
});

test("a log is kept if it is asked for, replayed, and gone on from", async () => {
  const server = await serve(reply({ text: "Noted." }), reply({ text: "Again." }));
  const agent = await agentAt(server, { log: true });
  const seen = [];
  agent.subscribe((event) => seen.push(event));
  await agent.run("Note this").result();
  const log = agent.log();
  const { events, history, status } = await Agent.replay(log);
  assert.equal(events[0].type, "session_start");
  assert.deepEqual(events.slice(1), seen);
  assert.deepEqual(history, agent.history());
  assert.deepEqual(status, agent.status());
  assert.deepEqual([history[1].type, history[1].text], ["assistant", "Noted."]);
  assert.deepEqual(history[1].usage, status.usage);
  await agent.close();
  const options = { provider: "anthropic", apiKey: "sk-test-0123456789", baseUrl: server.url };
  const again = await Agent.restore(log, options);
  assert.equal((await again.run("And now?").result()).text, "Again.");
  assert.throws(() => again.log(), { code: "unsupported", message: /`log: true`/ });
  await again.close();
  await server.close();
});

test("what a run cost is in its result, where the price is known", async () => {
  const server = await serve(reply({ text: "Hi.", usage: [1_000, 100] }));
  const agent = await agentAt(server, { model: "claude-sonnet-4-5" });
  const { costUsd, usage } = await agent.run("Hello").result();
  assert.deepEqual([usage.inputTotal, usage.outputTotal], [1_000, 100]);
  assert.equal(costUsd, (1_000 * 3 + 100 * 15) / 1e6);
  assert.equal(agent.status().costUsd, costUsd);
  await agent.close();
  await server.close();
});
