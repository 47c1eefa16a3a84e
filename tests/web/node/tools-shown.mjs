// Many tools, few at a time; and outputs that are too long, kept whole.

import assert from "node:assert/strict";
import { test } from "node:test";
import { reply, serve } from "../support/anthropic.mjs";
import { agentAt } from "../support/installed.mjs";

/** A tool that says so many characters. */
const own = (name, length = 1) => ({
  name,
  description: `Looks at the ${name}.`,
  parameters: { type: "object" },
  run: () => "0123456789".repeat(length),
});

/** Runs a scripted model; gives the result, and what each request held. */
async function play(replies, options = {}) {
  const server = await serve(...replies);
  const agent = await agentAt(server, { builtins: "none", ...options });
  const kept = [];
  agent.subscribe((event) => event.type === "result_kept" && kept.push(event));
  const result = await agent.run("Go").result();
  const bodies = server.requests.map(({ body }) => body);
  await agent.close();
  await server.close();
  const tools = bodies.map((body) => (body.tools ?? []).map(({ name }) => name));
  return { result, kept, tools, said: bodies.map((body) => JSON.stringify(body.messages)) };
}

test("n4 tools beyond a number are found by a search", async () => {
  const search = reply({ calls: [["tool_search", { query: "weather" }]] });
  const script = [search, reply({ calls: [["weather", {}]] }), reply({ text: "Done." })];
  const tools = [own("stocks"), own("weather")];
  const played = await play(script, { tools, toolsShown: { deferred: 1 } });
  assert.equal(played.result.text, "Done.");
  assert.deepEqual(played.tools[0], ["stocks", "tool_search"]);
  assert.deepEqual(played.tools[2], played.tools[0]);
  assert.ok(played.said[1].includes("Looks at the weather"));
});

test("k18 in stages a kind of tools is chosen first", async () => {
  const select = reply({ calls: [["select_category", { category: "run" }]] });
  const tools = [own("stocks")];
  const played = await play([select, reply({ text: "Done." })], { tools, toolsShown: "staged" });
  assert.deepEqual(played.tools, [["select_category"], ["stocks", "select_category"]]);
});

test("k27 the model reads on in an output that was cut", async () => {
  const look = reply({ calls: [["stocks", {}]] });
  const read = reply({ calls: [["read_result", { id: "result-1", offset: 30_001, limit: 3 }]] });
  const script = [look, read, reply({ text: "Done." })];
  const options = { tools: [own("stocks", 6_000)], results: { previewChars: 100 } };
  const played = await play(script, options);
  assert.ok(played.said[1].includes("[whole output: result-1, 60,000 characters; read_result]"));
  assert.ok(played.said[1].length < 1_500);
  assert.ok(played.said[2].includes("[result-1: 30001 to 30004 of 60,000 characters]\\n123"));
  assert.deepEqual(
    played.kept.map(({ id, name, chars, text }) => [id, name, chars, text]),
    [["result-1", "stocks", 60_000, undefined]],
  );
});

test("k19 options that do not fit are refused", async () => {
  await assert.rejects(play([], { toolsShown: "some" }), /toolsShown/);
  await assert.rejects(play([], { results: { most: 1 } }), /previewChars/);
});
