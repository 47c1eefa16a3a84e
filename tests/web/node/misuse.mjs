// Misuse throws an AgentError with a code, at once, and says what to do.

import assert from "node:assert/strict";
import { test } from "node:test";
import { hanging, reply, serve } from "../support/anthropic.mjs";
import { Agent, AgentError, agentAt, Session } from "../support/installed.mjs";

const FINE = { provider: "anthropic", model: "m", apiKey: "k" };

const FINE_CONFIG = { provider: "anthropic", model: "m" };

const tool = { name: "t", description: "d", execute() {} };

const REFUSED = [
  ["unknown_provider", { ...FINE, provider: "openay" }, /openay.*anthropic/],
  ["unknown_provider", { ...FINE, provider: undefined }, /`provider` is missing/],
  ["bad_option", { ...FINE, vocabulary: "latin" }, /`vocabulary`/],
  ["bad_option", { ...FINE, models: "{" }, /^`models`: its JSON ends too early$/],
  ["bad_option", { ...FINE, models: {} }, /^`models\.groups` is missing$/],
  ["bad_option", { ...FINE, models: { mine: 5 } }, /^`models\.mine`: there is no `mine`; there is/],
  ["bad_option", { ...FINE, config: [] }, /`config` must be an object/],
  ["bad_option", { ...FINE, limits: { maxTurns: 2 ** 40 } }, /limits\.maxTurns.*to 4294967295/],
  ["bad_option", { ...FINE, tools: [{ ...tool, readOnly: 1 }] }, /`t`: its `readOnly` must/],
  ["bad_option", { ...FINE, provider: "openrouter", model: undefined }, /`model` is missing/],
  ["bad_option", { ...FINE, provider: "azure" }, /`baseUrl` is missing.*openai\.azure\.com/],
  ["missing_key", { ...FINE, apiKey: undefined }, /apiKey/],
  ["missing_key", { ...FINE, apiKey: "" }, /apiKey/],
  ["bad_option", { ...FINE, model: "" }, /`model`/],
  ["bad_option", { ...FINE, apiKey: 7 }, /`apiKey`/],
  ["bad_option", { ...FINE, baseUrl: "api.example.com" }, /`baseUrl`/],
  ["bad_option", { ...FINE, baseUrl: "ftp://example.com" }, /`baseUrl`/],
  ["bad_option", { ...FINE, baseUrl: "https://example.com/?a=b" }, /`baseUrl`/],
  ["bad_option", { ...FINE, fetch: "fetch" }, /`fetch`/],
  ["bad_option", { ...FINE, modell: "m" }, /`modell`/],
  ["bad_option", { ...FINE, limits: { maxTurns: -1 } }, /limits\.maxTurns/],
  ["bad_option", { ...FINE, limits: { maxToolRounds: 1.5 } }, /limits\.maxToolRounds/],
  ["bad_option", { ...FINE, retry: { maxRetries: "many" } }, /retry\.maxRetries/],
  ["bad_option", { ...FINE, limits: { maxToolRound: 1 } }, /no option `limits\.maxToolRound`/],
  ["bad_option", { ...FINE, retry: { retries: 2 } }, /no option `retry\.retries`/],
  ["bad_option", { ...FINE, timeouts: { max: 2 } }, /no option `timeouts\.max`/],
  ["bad_option", { ...FINE, replay: { traffic: "", pace: 2 } }, /no option `replay\.pace`/],
  ["bad_option", { ...FINE, limits: "x" }, /`limits` must be an object/],
  ["bad_option", { ...FINE, limits: [] }, /`limits` must be an object/],
  ["bad_option", { ...FINE, limits: null }, /`limits` must be an object/],
  ["bad_option", { ...FINE, retry: null }, /`retry` must be an object/],
  ["bad_option", { ...FINE, timeouts: null }, /`timeouts` must be an object/],
  ["bad_option", { ...FINE, replay: null }, /`replay` must be the recording's text/],
  ["bad_option", { ...FINE, maxOutputTokens: 0 }, /max_output_tokens|maxOutputTokens/],
  ["bad_option", { ...FINE, instructions: 7 }, /instructions/],
  ["bad_option", { ...FINE, replay: 7 }, /`replay`/],
  ["bad_option", { ...FINE, files: { a: 7 } }, /`a`/],
  ["bad_option", { ...FINE, files: { "CLAUDE.md": 5 } }, /content of `CLAUDE\.md`/],
  ["bad_option", { ...FINE, files: [5] }, /list of pairs/],
  ["bad_option", { ...FINE, files: null }, /`files`/],
  ["bad_option", { ...FINE, onEvent: "x" }, /`onEvent` must be a function/],
  ["bad_option", { ...FINE, onEvent: null }, /`onEvent` must be a function/],
  ["bad_program", { ...FINE, programs: { qjs: null } }, /`qjs`.*give a Uint8Array/],
  ["bad_program", { ...FINE, programs: { qjs: "qjs.wasm" } }, /`qjs`.*give a Uint8Array/],
  ["bad_program", { ...FINE, programs: { qjs: { wasm: 5 } } }, /`qjs`.*give a Uint8Array/],
  ["bad_path", { ...FINE, files: { "../a": "" } }, /leads out/],
  ["bad_option", { ...FINE, tools: [{ ...tool, name: "no spaces" }] }, /name/],
  ["bad_option", { ...FINE, tools: [{ ...tool, description: undefined }] }, /description/],
  ["bad_option", { ...FINE, tools: [{ ...tool, execute: undefined }] }, /execute/],
  [
    "bad_option",
    { ...FINE, tools: [{ ...tool, parameters: { type: "string" } }] },
    /parameters|schema/,
  ],
  ["bad_option", { ...FINE, tools: [undefined] }, /name/],
  ["bad_option", { ...FINE, tools: 7 }, /`tools`/],
  ["bad_option", undefined, /options/],
  ["bad_option", null, /options/],
];

for (const [code, options, message] of REFUSED) {
  test(`refused with ${code}: ${message.source}`, async () => {
    const thrown = await Agent.create(options).then(assert.fail, (error) => error);
    assert.ok(thrown instanceof AgentError, String(thrown));
    assert.ok(thrown instanceof Error);
    assert.deepEqual([thrown.name, thrown.code], ["AgentError", code]);
    assert.match(thrown.message, message);
  });
}

test("restoring refuses odd options as creating does", async () => {
  const agent = await Agent.create(FINE);
  const snapshot = agent.snapshot();
  await agent.close();
  for (const [code, options, message] of REFUSED) {
    // What is left out is as in the snapshot.
    if (options?.provider === undefined || /`model` is missing/.test(message.source)) continue;
    await assert.rejects(Agent.restore(snapshot, options), { name: "AgentError", code, message });
  }
  for (const none of [undefined, null, 7]) {
    const refused = { name: "AgentError", code: "bad_option", message: /object of options/ };
    await assert.rejects(Agent.restore(snapshot, none), refused);
  }
});

test("a second run while one is under way is busy, and disturbs nothing", async () => {
  const server = await serve(reply({ text: "The first." }));
  const agent = await agentAt(server);
  const run = agent.run("first");
  assert.throws(() => agent.run("second"), { name: "AgentError", code: "busy" });
  assert.equal(agent.current, run);
  assert.equal((await run.result()).text, "The first.");
  await agent.close();
  await server.close();
});

test("an empty or odd input is refused", async () => {
  const server = await serve();
  const agent = await agentAt(server);
  for (const input of ["", "  \n", [], 7, undefined, [{ type: "sound" }], [{ text: "no type" }]]) {
    assert.throws(
      () => agent.run(input),
      { name: "AgentError", code: "bad_option" },
      String(input),
    );
    assert.throws(() => agent.steer(input), { name: "AgentError", code: "bad_option" });
  }
  assert.throws(() => agent.configure({ limits: { maxTurns: "x" } }), { code: "bad_option" });
  assert.throws(() => agent.configure({ modell: "m" }), { code: "bad_option" });
  assert.equal(agent.status().state, "idle");
  await agent.close();
  await server.close();
});

test("odd options of a run are refused before it starts", async () => {
  const server = await serve(reply({ text: "Fine." }));
  const agent = await agentAt(server);
  const odd = [
    [null, /options of `run`/],
    ["x", /options of `run`/],
    [{ signal: 5 }, /`signal` must be an AbortSignal/],
    [{ signal: null }, /`signal` must be an AbortSignal/],
    [{ signal: {} }, /`signal` must be an AbortSignal/],
    [{ sginal: AbortSignal.abort() }, /no option `sginal`; there is signal, agents/],
  ];
  for (const [options, message] of odd) {
    const refused = { name: "AgentError", code: "bad_option", message };
    assert.throws(() => agent.run("x", options), refused);
    assert.deepEqual([agent.status().state, agent.current], ["idle", undefined]);
  }
  assert.equal(server.requests.length, 0);
  const { signal } = new AbortController();
  assert.equal((await agent.run("x", { signal }).result()).text, "Fine.");
  await agent.close();
  await server.close();
});

test("no message is in the words of what reads JSON, whatever was handed in", async () => {
  const agent = await Agent.create(FINE);
  const { session } = await Session.open(await Session.config(FINE_CONFIG));
  for (const [does, message] of [
    [() => agent.files.perform({ action: "x" }), /^`action`: there is no `x`; give `read`/],
    [() => agent.files.perform({ action: "read" }), /^`path` is missing$/],
    [() => agent.files.perform(5), /^it must be an object, not 5$/],
    [() => agent.run([{ type: "sound" }]), /^`\[0\]\.type`: there is no `sound`; give `text`/],
    [() => session.handle({ tock: null }, 1), /there is no `tock`; give `command`/],
    [() => session.handle({ lost: {} }, 1), /^`lost\.id` is missing$/],
    [() => agent.fork({ turns: -1 }), /^`turns` must be a whole number/],
    [() => agent.fork({ turn: 1 }), /^there is no option `turn`$/],
    [() => agent.fork(null), /object of options/],
    [() => agent.history("x"), /there is no agent x/],
  ]) {
    assert.throws(does, { name: "AgentError", code: "bad_option", message });
  }
  const odd = Session.open({ limits: { max_turns: "x" } });
  const message = /^`config\.limits\.max_turns`: it must be a whole number.*, not "x"$/;
  await assert.rejects(odd, { name: "AgentError", code: "bad_option", message });
  await agent.close();
});

test("odd changes and listeners are refused", async () => {
  const agent = await Agent.create(FINE);
  const odd = [
    [undefined, /object of changes/],
    [null, /object of changes/],
    [7, /object of changes/],
    [{ limits: null }, /`limits` must be an object/],
    [{ limits: { maxToolRound: 1 } }, /no option `limits\.maxToolRound`/],
    [{ files: {} }, /no option `files` that can be changed/],
    [{ retry: { retries: 2 } }, /no option `retry\.retries`/],
  ];
  for (const [changes, message] of odd) {
    const refused = { name: "AgentError", code: "bad_option", message };
    assert.throws(() => agent.configure(changes), refused);
  }
  for (const listener of [undefined, null, "x"]) {
    const refused = { name: "AgentError", code: "bad_option", message: /must be a function/ };
    assert.throws(() => agent.subscribe(listener), refused);
  }
  agent.configure({});
  await agent.close();
});

test("after close everything is refused as closed, and closing again is fine", async () => {
  const silence = hanging("Never.");
  const server = await serve(silence);
  const agent = await agentAt(server);
  const run = agent.run("Hello");
  await silence.come;
  await agent.close();
  assert.equal((await run.result()).status, "interrupted");
  await silence.gone;
  const closed = { name: "AgentError", code: "closed" };
  assert.throws(() => agent.run("x"), closed);
  assert.throws(() => agent.steer("x"), closed);
  assert.throws(() => agent.followUp("x"), closed);
  assert.throws(() => agent.configure({}), closed);
  agent.interrupt();
  await agent.close();
  await agent[Symbol.asyncDispose]();
  assert.equal(agent.status().state, "closed");
  await server.close();
});

test("an agent and a session are not made with `new`", () => {
  const refused = (message) => ({ name: "AgentError", code: "bad_option", message });
  assert.throws(() => new Agent(), refused(/`await Agent\.create\(options\)`/));
  assert.throws(() => new Agent(FINE), refused(/`await Agent\.create\(options\)`/));
  assert.throws(() => new Session(), refused(/`await Session\.open\(config\)`/));
});

test("what contains itself is refused by its name, and disturbs nothing", async () => {
  const circle = { type: "object", properties: {} };
  circle.properties.me = circle;
  const deep = { one: { two: {} } };
  deep.one.two.three = deep.one;
  const refused = (message) => ({ name: "AgentError", code: "bad_option", message });
  const inTool = refused(/^`t`: its `parameters\.properties\.me`: it contains itself/);
  for (const [options, expected] of [
    [{ tools: [{ ...tool, parameters: circle }] }, inTool],
    [{ answer: { schema: circle } }, refused(/^`answer\.schema\.properties\.me`: it contains/)],
    [
      { config: { model: { options: deep } } },
      refused(/^`config\.model\.options\.one\.two\.three`/),
    ],
    [{ providerOptions: deep }, refused(/^`providerOptions\.one\.two\.three`: it contains itself/)],
    [{ facts: { git: deep } }, refused(/^`facts\.git\.one\.two\.three`: it contains itself/)],
    [{ models: deep }, refused(/^`models\.one\.two\.three`: it contains itself/)],
    [
      { providerOptions: { n: 5n } },
      refused(/^`providerOptions\.n`: JSON cannot say it: .*BigInt/),
    ],
  ]) {
    await assert.rejects(Agent.create({ ...FINE, ...options }), expected);
  }
  const agent = await Agent.create({ ...FINE, files: { a: "kept" } });
  assert.throws(() => agent.tools.register({ ...tool, parameters: circle }), inTool);
  assert.throws(() => agent.configure({ providerOptions: deep }), refused(/`providerOptions\.one/));
  const parts = [{ type: "text", text: "x", more: deep }];
  assert.throws(() => agent.run(parts), refused(/^`\[0\]\.more\.one\.two\.three`: it contains/));
  assert.throws(() => agent.import([{ type: "user", parts }]), { code: "bad_option" });
  assert.throws(() => agent.files.perform({ action: "read", path: deep }), { code: "bad_option" });
  assert.deepEqual([agent.tools.names(), agent.files.readText("a")], [[], "kept"]);
  await agent.close();
  const { session } = await Session.open(await Session.config(FINE_CONFIG));
  assert.throws(() => session.handle({ tick: deep }, 1), refused(/`tick\.one\.two\.three`/));
});
