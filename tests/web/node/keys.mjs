// Keys that are given anew or asked for with each request, and sessions that go on after their end.

import assert from "node:assert/strict";
import { test } from "node:test";
import { failure, reply, serve, stream } from "../support/anthropic.mjs";
import { Agent, agentAt, eventsOf } from "../support/installed.mjs";
import { starred } from "../support/masks.mjs";

const FIRST = "sk-first-0123456789";
const SECOND = "sk-second-0123456789";
const refusal = () => failure(401, "authentication_error", "invalid x-api-key");
/** Says it in one piece: across several, nothing knows a key. */
const says = (words) => (_request, response) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(stream({ text: "x" }).join("").replace('"text":"x"', `"text":"${words}"`));
};
const sent = ({ requests }) => requests.map(({ headers }) => headers["x-api-key"]);

test("a refused key is given anew, and both stay masked", async () => {
  const told = `${FIRST} was wrong, ${SECOND} is right`;
  const server = await serve(refusal(), says(told));
  const agent = await agentAt(server, { apiKey: FIRST });
  assert.equal((await agent.run("Hello").result()).error.kind, "authentication");
  agent.configure({ apiKey: SECOND });
  const run = agent.run(`Use ${FIRST}`);
  const events = await eventsOf(run);
  assert.equal(starred((await run.result()).text), "*** was wrong, *** is right");
  assert.deepEqual(sent(server), [FIRST, SECOND]);
  const kept = new TextDecoder().decode(agent.snapshot()) + JSON.stringify(events);
  assert.ok(!kept.includes(FIRST) && !kept.includes(SECOND));
  const fork = agent.fork();
  await fork.run("And you?").result();
  assert.equal(sent(server).at(-1), SECOND, "a fork has the key of now");
  for (const each of [agent, fork]) await each.close();
  await server.close();
});

test("a key is asked for with each request, at once or later", async () => {
  const server = await serve(
    reply({ calls: [["read_file", { file_path: "a.txt" }]] }),
    says("The key was key-number-2."),
    reply({ text: "Again." }),
  );
  let count = 0;
  const next = () => `key-number-${(count += 1)}`;
  const agent = await agentAt(server, { apiKey: async () => next(), files: { "a.txt": "a" } });
  assert.equal(starred((await agent.run("Go").result()).text), "The key was ***.");
  agent.configure({ apiKey: next });
  assert.equal((await agent.run("Go").result()).text, "Again.");
  assert.deepEqual(sent(server), ["key-number-1", "key-number-2", "key-number-3"]);
  agent.configure({ apiKey: FIRST });
  await agent.run("Go").result();
  assert.equal(sent(server).at(-1), FIRST);
  await agent.close();
  await server.close();
});

test("a key asked for has the form of its provider, and goes through an own fetch", async () => {
  const keys = [];
  const fetch = async (_url, { headers }) => {
    keys.push(headers.authorization);
    return new Response("no", { status: 403 });
  };
  const options = { provider: "openai", apiKey: () => ` ${FIRST}\n`, fetch };
  const agent = await Agent.create(options);
  const { error } = await agent.run("Hello").result();
  assert.equal(error.status, 403);
  assert.deepEqual(keys, [`Bearer ${FIRST}`]);
  await agent.close();
});

const FAILING = [
  ["throws", () => assert.fail("no vault"), /^the function `apiKey` failed: no vault/],
  ["rejects without an error", () => Promise.reject(7), /`apiKey` failed: it failed with 7/],
  ["returns nothing", () => undefined, /returned no key/],
  ["returns an empty text", () => "  ", /returned no key/],
  ["returns what no header holds", () => "two words", /characters that no key has/],
];

for (const [what, apiKey, message] of FAILING) {
  test(`a function for the key that ${what} fails the run, once`, async () => {
    const server = await serve();
    let asked = 0;
    const counted = () => {
      asked += 1;
      return apiKey();
    };
    const agent = await agentAt(server, { apiKey: counted });
    const { status, error } = await agent.run("Hello").result();
    assert.deepEqual([status, error.retryable, asked], ["failed", false, 1]);
    assert.match(error.message, message);
    assert.deepEqual([server.requests.length, agent.status().state], [0, "idle"]);
    await agent.close();
    await server.close();
  });
}

test("a function for the key that never answers holds up nothing", async () => {
  const server = await serve();
  const agent = await agentAt(server, { apiKey: () => new Promise(() => {}) });
  const run = agent.run("Hello");
  await new Promise((resolve) => setTimeout(resolve, 10));
  agent.interrupt();
  assert.equal((await run.result()).status, "interrupted");
  agent.run("Again");
  await agent.close();
  await server.close();
});

test("what is no key is refused, and changes nothing", async () => {
  const server = await serve(reply({ text: "Fine." }));
  const agent = await agentAt(server, { apiKey: FIRST });
  for (const apiKey of [7, null, "two words", "a\nb", 'quo"ted', "ünlaut"]) {
    const refused = { name: "AgentError", code: "bad_option", message: /`apiKey`/ };
    assert.throws(() => agent.configure({ apiKey, instructions: "unheard of" }), refused);
    await assert.rejects(agentAt(server, { apiKey }), refused);
  }
  await agent.run("Hello").result();
  assert.deepEqual(sent(server), [FIRST]);
  assert.doesNotMatch(server.requests[0].text, /unheard of/);
  await agent.close();
  await server.close();
});

test("a closed session's snapshot opens again, as a session that has heard the same", async () => {
  const server = await serve(refusal(), reply({ text: "Now." }), reply({ text: "And now." }));
  const config = { retry: { refusal_closes: true } };
  const seen = [];
  const first = await agentAt(server, { config, log: true, onEvent: (event) => seen.push(event) });
  await first.run("Remember 7").result();
  assert.equal(first.status().state, "closed");
  for (const saved of [first.snapshot(), first.log()]) {
    const events = [];
    const options = { provider: "anthropic", apiKey: SECOND, baseUrl: server.url };
    const onEvent = (event) => events.push(event);
    const again = await Agent.restore(saved, { ...options, onEvent });
    assert.equal(again.status().state, "idle");
    assert.deepEqual(again.history(), first.history());
    assert.equal((await again.run("What was it?").result()).status, "completed");
    assert.match(server.requests.at(-1).text, /Remember 7/);
    assert.notEqual(events[0].session, seen[0].session);
    await again.close();
  }
  await first.close();
  await server.close();
});
