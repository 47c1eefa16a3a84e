// Half a character is no text: wherever it comes in, U+FFFD stands in its place.

import assert from "node:assert/strict";
import { test } from "node:test";
import { stream } from "../support/anthropic.mjs";
import { Agent, Files, Session } from "../support/installed.mjs";

const HALF = "cut \ud83d here, \udc00\udc01 there, \\ud83d as it is, 😀";
const WHOLE = "cut \ufffd here, \ufffd\ufffd there, \\ud83d as it is, 😀";
const FINE = { provider: "anthropic", model: "m", apiKey: "sk-test-0123456789" };

/** Answers with these replies, and remembers what was asked. */
function scripted(...replies) {
  const bodies = [];
  const headers = { "content-type": "text/event-stream" };
  const fetch = async (_url, { body }) => {
    bodies.push(typeof body === "string" ? body : new TextDecoder().decode(body));
    return new Response(stream(replies.shift() ?? { text: "Done." }).join(""), { headers });
  };
  return { fetch, bodies };
}

test("a text with half a character is said with a mark in its place, wherever it comes in", async () => {
  const call = { calls: [["look", {}]] };
  const { fetch, bodies } = scripted(call, { text: "Fine." });
  const agent = await Agent.create({
    ...FINE,
    fetch,
    instructions: `instructions ${HALF}`,
    facts: { git: { branch: HALF } },
    tools: [
      {
        name: "look",
        description: `description ${HALF}`,
        parameters: { type: "object", properties: { [`name ${HALF}`]: { type: "string" } } },
        execute: () => ({ [`key ${HALF}`]: `value ${HALF}` }),
      },
    ],
    files: { [`file ${HALF}`]: HALF },
  });
  agent.import([{ type: "user", parts: [{ type: "text", text: `import ${HALF}` }] }]);
  agent.steer(`steer ${HALF}`);
  const run = agent.run(`run ${HALF}`);
  agent.followUp([{ type: "text", text: `afterwards ${HALF}` }]);
  const { status, error } = await run.result();
  assert.equal(status, "completed", error?.message);
  agent.configure({ instructions: `changed ${HALF}` });
  assert.equal((await agent.run("again", { paths: [HALF] }).result()).status, "completed");
  const asked = bodies.join("\n");
  const json = JSON.stringify(WHOLE).slice(1, -1);
  for (const what of ["instructions", "description", "name", "import", "steer", "run"]) {
    assert.ok(asked.includes(`${what} ${json}`), what);
  }
  for (const what of ["afterwards", "changed"]) assert.ok(asked.includes(`${what} ${json}`), what);
  // What a tool returns is JSON in JSON.
  assert.ok(asked.includes(`value ${JSON.stringify(json).slice(1, -1)}`), "value");
  assert.ok(asked.includes(`key ${JSON.stringify(json).slice(1, -1)}`), "key");
  assert.doesNotMatch(asked, /(?<!\\)(?:\\\\)*\\ud[89a-f]/i);
  assert.equal(agent.files.readText(`file ${WHOLE}`), WHOLE);
  assert.deepEqual(agent.history()[0].parts, [{ type: "text", text: `import ${WHOLE}` }]);
  await agent.close();
});

test("a bare session and a workspace take it, too", async () => {
  const config = await Session.config({ provider: "anthropic", model: "m", instructions: HALF });
  assert.equal(config.instructions, WHOLE);
  const { session } = await Session.open({ ...config, id: "s" });
  session.say(HALF, 0);
  assert.deepEqual(session.history()[0].kind, { user: [{ type: "text", text: WHOLE }] });
  const files = new Files({ a: "" });
  files.perform({ action: "write", path: "a", content: HALF });
  assert.equal(files.readText("a"), WHOLE);
});
