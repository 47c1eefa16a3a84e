// The key: in the one header of the one origin, and nowhere else.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { inspect } from "node:util";
import { failure, reply, serve, stream } from "../support/anthropic.mjs";
import { Agent, agentAt } from "../support/installed.mjs";
import { starred } from "../support/masks.mjs";
import { qjs } from "../support/package.mjs";

const KEY = "sk-ant-secret-0123456789";

function leaks(agent, ...things) {
  const snapshot = new TextDecoder().decode(agent.snapshot());
  const all = [
    snapshot,
    inspect(agent, { depth: 9, showHidden: true }),
    ...things.map((thing) => inspect(thing, { depth: 9 })),
  ];
  return all.filter((text) => text.includes(KEY));
}

test("the key is in its header and in no event, result, snapshot or inspection", async () => {
  const server = await serve(reply({ text: "Hello." }));
  const seen = [];
  const agent = await agentAt(server, { apiKey: KEY, onEvent: (event) => seen.push(event) });
  const result = await agent.run("Hello").result();
  const [{ headers, text, url }] = server.requests;
  assert.equal(headers["x-api-key"], KEY);
  assert.ok(!text.includes(KEY) && !url.includes(KEY));
  await agent.close();
  assert.deepEqual(leaks(agent, seen, result), []);
  await server.close();
});

test("a key that the endpoint echoes is masked, wherever its bytes are cut", async () => {
  const words = `your key is ${KEY}, keep it`;
  const body = stream({ text: "x" }).join("").replace('"text":"x"', `"text":"${words}"`);
  const start = body.indexOf(KEY);
  const cuts = [1, 2, 9, KEY.length - 1].map((at) => (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream", "x-echo": KEY });
    response.write(body.slice(0, start + at));
    setTimeout(() => response.end(body.slice(start + at)), 30);
  });
  const refusal = failure(401, "authentication_error", `invalid key ${KEY}`);
  const server = await serve(...cuts, refusal);
  const seen = [];
  const agent = await agentAt(server, { apiKey: KEY, onEvent: (event) => seen.push(event) });
  for (const _ of cuts) {
    const { text } = await agent.run("What is my key?").result();
    assert.equal(starred(text), "your key is ***, keep it");
  }
  const { error } = await agent.run("And now?").result();
  assert.match(starred(error.message), /invalid key \*\*\*/);
  await agent.close();
  assert.deepEqual(leaks(agent, seen, error), []);
  await server.close();
});

test("the key is masked in all that comes in: words, files, deltas, answers, hooks, errors", async () => {
  const server = await serve(
    reply({ text: "I look.", calls: [["read_file", { file_path: "notes.env" }]] }),
    reply({ calls: [["say", { what: "it" }]] }),
    reply({ calls: [["ask_user", { question: "The key?" }]] }),
    failure(400, "invalid_request_error", `the key ${KEY} is not for this model`),
  );
  const seen = [];
  const say = {
    name: "say",
    description: "Says the key, in pieces and whole",
    execute(_args, { output }) {
      for (const letter of KEY) output(letter);
      output(` and ${KEY.slice(0, 9)}`);
      output(KEY.slice(9));
      return { said: [KEY], escaped: KEY.replaceAll("-", "\\u002d") };
    },
  };
  const agent = await agentAt(server, {
    apiKey: KEY,
    files: { "notes.env": `ANTHROPIC_API_KEY=${KEY}\n`, "CLAUDE.md": `Use ${KEY}.` },
    instructions: `The key is ${KEY}.`,
    tools: [say],
    ask: () => `It is ${KEY}.`,
    hooks: { afterTool: ({ text }) => ({ replace: `${text} (${KEY})` }) },
    config: { hooks: { points: ["after_tool"] } },
    log: true,
    onEvent: (event) => seen.push(event),
  });
  agent.steer(`By the way: ${KEY}`);
  const result = await agent.run(`My key is ${KEY}, look at notes.env`).result();
  assert.equal(result.status, "failed");
  assert.match(starred(result.error.message), /the key \*\*\* is not for this model/);
  assert.equal(server.requests.length, 4);
  const bodies = server.requests.map(({ text }) => text);
  const told = JSON.stringify([seen, result, agent.history(), agent.status()]);
  const log = agent.log();
  for (const text of [...bodies, told, log]) {
    assert.ok(!text.includes(KEY), text.slice(Math.max(0, text.indexOf(KEY) - 200)));
  }
  assert.match(starred(bodies[1]), /ANTHROPIC_API_KEY=\*\*\*/);
  const deltas = seen.filter(({ type }) => type === "tool_call_output_delta");
  assert.equal(starred(deltas.map(({ text }) => text).join("")), "*** and ***");
  const fork = agent.fork();
  assert.deepEqual(leaks(fork), []);
  assert.deepEqual(leaks(agent, seen, result, agent.history()), []);
  // The files are the user's, and stay as they are.
  assert.match(agent.files.readText("notes.env"), new RegExp(KEY));
  await fork.close();
  await agent.close();
  await server.close();
});

test("the key is masked in what a program prints, wherever it is cut", async () => {
  const script = `import * as std from "qjs:std";
    const key = std.loadFile("key.txt");
    for (const letter of key) { std.out.puts(letter); std.out.flush(); }
    std.err.puts("<" + key + ">");`;
  const run = { program: "qjs", args: ["-m", "main.mjs"] };
  const server = await serve(reply({ calls: [["run_program", run]] }), reply({ text: "Done." }));
  const seen = [];
  const agent = await agentAt(server, {
    apiKey: KEY,
    files: { "key.txt": KEY, "main.mjs": script },
    programs: { qjs: qjs() },
    log: true,
    onEvent: (event) => seen.push(event),
  });
  await agent.run("Print it").result();
  const { outcome } = seen.find(({ type }) => type === "tool_call_end");
  assert.deepEqual(
    outcome.parts.map(({ text }) => starred(text)),
    ["***", "<***>"],
  );
  assert.deepEqual(leaks(agent, seen, agent.log(), server.requests[1].text), []);
  await agent.close();
  await server.close();
});

test("a redirect is not followed, and the key goes to no other origin", async () => {
  const visits = [];
  const other = createServer((request, response) => {
    visits.push(request.headers);
    response.end();
  });
  await new Promise((resolve) => other.listen(0, "127.0.0.1", resolve));
  const location = `http://127.0.0.1:${other.address().port}/v1/messages`;
  for (const status of [301, 302, 303, 307, 308]) {
    const server = await serve((_request, response) => {
      response.writeHead(status, { location });
      response.end();
    });
    const agent = await agentAt(server, { apiKey: KEY });
    const { status: end, error } = await agent.run("Hello").result();
    assert.deepEqual([end, error.kind], ["failed", "host"]);
    assert.match(error.message, /redirect/);
    assert.equal(server.requests.length, 1);
    assert.deepEqual(leaks(agent, error), []);
    await agent.close();
    await server.close();
  }
  assert.deepEqual(visits, []);
  await new Promise((resolve) => other.close(resolve));
});

test("a key or an address that cannot be is refused without showing it", async () => {
  const common = { provider: "anthropic", model: "m" };
  for (const apiKey of [`${KEY}\n`, `${KEY} `, `${KEY}\u00e4`]) {
    const thrown = await Agent.create({ ...common, apiKey }).catch((error) => error);
    assert.equal(thrown.code, "bad_option");
    assert.ok(!inspect(thrown).includes(KEY));
  }
  const baseUrl = `https://user:${KEY}@example.com`;
  const thrown = await Agent.create({ ...common, apiKey: "k", baseUrl }).catch((error) => error);
  assert.equal(thrown.code, "bad_option");
  assert.ok(!inspect(thrown).includes(KEY));
});
