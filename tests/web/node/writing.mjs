// What the model writes, told while it writes it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { reply, serve, typed } from "../support/anthropic.mjs";
import { agentAt, PartialArguments } from "../support/installed.mjs";

test("b9 a file can be shown while the model writes it, and each request is told", async () => {
  const content = "export const sum = (a, b) => a + b;\n".repeat(50);
  const input = { file_path: "sum.js", content };
  const paced = typed("write_file", input, { size: 300, ms: 5 });
  const server = await serve(paced, reply({ text: "Done." }));
  const agent = await agentAt(server);
  const call = new PartialArguments();
  const lengths = [];
  let starts = 0;
  for await (const event of agent.run("Write it")) {
    if (event.type === "request_start") starts += event.attempt;
    if (event.type !== "tool_call_delta") continue;
    assert.equal(event.name, "write_file");
    assert.equal(agent.files.has("sum.js"), false);
    const value = call.add(event.text).value;
    if (value.content !== undefined) assert.ok(content.startsWith(value.content));
    lengths.push(value.content?.length ?? 0);
  }
  assert.equal(starts, 2);
  assert.ok(lengths.length > 4, `${lengths}`);
  assert.deepEqual(call.value, input);
  assert.equal(agent.files.readText("sum.js"), content);
  await agent.close();
  await server.close();
});

test("b9 arguments are read as far as they have come, cut anywhere", () => {
  const value = {
    file_path: 'a"\\b/ü😀.js',
    n: [1, -2.5e3, true, null, { "": [] }, [[{}]]],
    content: "line\n\ttwo\u0007\u2028",
    last: false,
  };
  const texts = [
    JSON.stringify(value),
    JSON.stringify(value, null, 2),
    JSON.stringify(value).replace("😀", "\\ud83d\\ude00").replaceAll("/", "\\/"),
  ];
  for (const text of texts) {
    for (let size = 1; size < 12; size++) {
      const call = new PartialArguments();
      for (let at = 0; at < text.length; at += size) call.add(text.slice(at, at + size));
      assert.deepEqual(call.value, value, `${size}: ${text}`);
    }
  }
  const after = (text) => new PartialArguments().add(text).value;
  assert.deepEqual(after('{"a":"b\\u00f'), { a: "b" });
  assert.deepEqual(after('{"a":[1,2'), { a: [1] });
  assert.deepEqual(after('{"a":{"b":"c'), { a: { b: "c" } });
  assert.deepEqual(Object.keys(after('{"__proto__":{"x":1}}')), ["__proto__"]);
  assert.equal({}.x, undefined);
  for (const odd of ["", "]}", '"x', "[1,2]", '{"a" "b"}', "{,:}", '{"a":nope}', '{"a":"\\q"}']) {
    assert.equal(typeof after(odd), "object", odd);
  }
  assert.deepEqual(after("{".repeat(100_000)), {});
});
