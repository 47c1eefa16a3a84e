// Tools whose arguments are schemas of other libraries: what the model is shown, what the tool
// gets, and what is said where something is missing.

import assert from "node:assert/strict";
import { test } from "node:test";
import { toJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import * as z from "zod";
import { zodToJsonSchema } from "zod-to-json-schema";
import * as z3 from "zod3";
import { reply, serve, toolResults } from "../support/anthropic.mjs";
import { agentAt, tool } from "../support/installed.mjs";

// Each says: a city of two letters or more, and how many days, one if nothing is said.
const LIBRARIES = {
  "zod 4": { parameters: z.object({ city: z.string().min(2), days: z.number().default(1) }) },
  "zod 4 by its function": {
    parameters: z.object({ city: z.string().min(2), days: z.number().default(1) }),
    toJsonSchema: z.toJSONSchema,
  },
  "zod 3": {
    parameters: z3.object({ city: z3.string().min(2), days: z3.number().default(1) }),
    toJsonSchema: zodToJsonSchema,
  },
  valibot: {
    parameters: v.object({
      city: v.pipe(v.string(), v.minLength(2)),
      days: v.optional(v.number(), 1),
    }),
    toJsonSchema,
  },
  arktype: { parameters: type({ city: "string >= 2", days: "number = 1" }) },
};

for (const [library, given] of Object.entries(LIBRARIES)) {
  test(`c5 a schema of ${library} describes a tool and checks its arguments`, async () => {
    const calls = [{ city: "Köln" }, { city: "Bonn", days: 3 }, { days: 2 }, { city: "K" }];
    const server = await serve(
      reply({ calls: calls.map((args) => ["weather", args]) }),
      reply({ text: "Done." }),
    );
    const got = [];
    const weather = tool({
      name: "weather",
      description: "The weather in a city",
      ...given,
      execute: (args) => void got.push(args),
    });
    const agent = await agentAt(server, { tools: [weather] });
    await agent.run("Go").result();
    const { input_schema: schema } = server.requests[0].body.tools.find(
      ({ name }) => name === "weather",
    );
    assert.deepEqual([schema.type, schema.required], ["object", ["city"]]);
    assert.equal(schema.properties.city.minLength, 2);
    assert.equal("$schema" in schema, false);
    assert.deepEqual(got, [
      { city: "Köln", days: 1 },
      { city: "Bonn", days: 3 },
    ]);
    const read = toolResults(server.requests[1]);
    assert.deepEqual(
      read.map(({ isError }) => isError),
      [false, false, true, true],
    );
    assert.match(read[2].text, /city/);
    await agent.close();
    await server.close();
  });
}

test("a tool gets what its schema makes of the arguments; what does not fit is told", async () => {
  const even = z.number().refine((n) => n % 2 === 0, "must be even");
  const parameters = z.object({
    at: z.string().transform((text) => new Date(text)),
    list: z.array(z.object({ n: even })),
  });
  const at = "2026-01-02T00:00:00Z";
  const server = await serve(
    reply({
      calls: [
        ["note", { at, list: [{ n: 2 }] }],
        ["note", { at, list: [{ n: 2 }, { n: 3 }] }],
      ],
    }),
    reply({ text: "Done." }),
  );
  const got = [];
  const note = {
    name: "note",
    description: "Notes",
    parameters,
    execute: (args) => got.push(args),
  };
  const agent = await agentAt(server, { tools: [note] });
  const ends = [];
  agent.subscribe((event) => event.type === "tool_call_end" && ends.push(event.outcome));
  await agent.run("Go").result();
  assert.equal(got.length, 1);
  assert.ok(got[0].at instanceof Date);
  const [, misfit] = toolResults(server.requests[1]);
  assert.match(misfit.text, /the arguments do not fit: list\.1\.n: must be even/);
  assert.equal(ends[1].error, "invalid_arguments");
  await agent.close();
  await server.close();
});

const tooLate = { name: "t", description: "d", execute() {} };
const standard = (more) => ({
  "~standard": { version: 1, vendor: "own", validate: (value) => ({ value }), ...more },
});
const MISSING = [
  [v.object({}), {}, /^`t`: this schema of valibot .*@valibot\/to-json-schema/],
  [z3.object({}), {}, /^`t`: this schema of zod .*`z\.toJSONSchema`.*`zodToJsonSchema`/],
  [standard(), {}, /^`t`: this schema of own .*: give the tool `toJsonSchema`/],
  [standard(), { toJsonSchema: () => "text" }, /`toJsonSchema` must return an object/],
  [standard(), { toJsonSchema: 7 }, /`t\.toJsonSchema` must be a function/],
  [standard(), { toJsonSchema: () => assert.fail("too odd") }, /JSON Schema: too odd/],
  [z.string(), {}, /^`t`: its `parameters`: the root .* "object"/],
];

test("a schema that cannot say itself as JSON Schema is refused with what is missing", async () => {
  const server = await serve();
  for (const [parameters, more, message] of MISSING) {
    const tools = [{ ...tooLate, parameters, ...more }];
    await assert.rejects(agentAt(server, { tools }), { code: "bad_option", message });
  }
  const input = ({ target }) =>
    target === "draft-07" ? { type: "object" } : assert.fail("unknown target");
  const tools = [{ ...tooLate, parameters: standard({ jsonSchema: { input } }) }];
  const agent = await agentAt(server, { tools });
  await agent.close();
  await server.close();
});

test("a field that no tool has is refused by name", async () => {
  const server = await serve();
  const odd = [
    [{ inputSchema: {} }, /^`t`: a tool has no field `inputSchema`; it has name, .*parameters/],
    [{ timeout: 5 }, /no field `timeout`; .*timeoutMs/],
    [{ handler() {} }, /no field `handler`/],
    [{ timeoutMs: 0 }, /^`t`: its `timeoutMs` must be 1 or more/],
    [{ timeoutMs: "1" }, /`t\.timeoutMs` must be a whole number/],
  ];
  const agent = await agentAt(server);
  for (const [more, message] of odd) {
    const tools = [{ ...tooLate, ...more }];
    await assert.rejects(agentAt(server, { tools }), { code: "bad_option", message });
    assert.throws(() => agent.tools.register(tools[0]), { code: "bad_option", message });
  }
  class Counter {
    name = "count";
    description = "Counts";
    count = 0;
    execute() {
      return (this.count += 1);
    }
  }
  agent.tools.register(new Counter());
  assert.deepEqual(agent.tools.names(), ["count"]);
  await agent.close();
  await server.close();
});

const valibotInput = (schema) => toJsonSchema(schema, { typeMode: "input", errorMode: "ignore" });

// Each says: where it rains, and from which day on, as a number that may come as text.
const ANSWERS = {
  "zod 4": z
    .object({ city: z.string().min(2), day: z.coerce.number(), sure: z.boolean().default(true) })
    .refine(({ city }) => city !== "Bonn", "there is no rain in Bonn"),
  valibot: v.pipe(
    v.object({
      city: v.pipe(v.string(), v.minLength(2)),
      day: v.pipe(v.string(), v.transform(Number)),
      sure: v.optional(v.boolean(), true),
    }),
    v.check(({ city }) => city !== "Bonn", "there is no rain in Bonn"),
  ),
};

for (const [library, schema] of Object.entries(ANSWERS)) {
  test(`the form of an answer may be a schema of ${library}, and the answer is as it means it`, async () => {
    const answer = (city) => reply({ calls: [["final_answer", { city, day: "3" }]] });
    const server = await serve(answer("Köln"), answer("Bonn"));
    const options = library === "valibot" ? { toJsonSchema: valibotInput } : {};
    const agent = await agentAt(server, { answer: { schema, ...options } });
    const { status, answer: first } = await agent.run("Where does it rain?").result();
    assert.deepEqual([status, first], ["completed", { city: "Köln", day: 3, sure: true }]);
    const shown = server.requests[0].body.tools.find(({ name }) => name === "final_answer");
    assert.equal(shown.input_schema.properties.city.minLength, 2);
    assert.equal("$schema" in shown.input_schema, false);
    const failed = await agent.run("And where else?").result();
    assert.deepEqual([failed.status, failed.answer], ["failed", undefined]);
    assert.equal(failed.error.kind, "answer");
    assert.match(failed.error.message, /there is no rain in Bonn/);
    await agent.close();
    await server.close();
  });
}

test("a schema of an answer that cannot say itself is refused in words", async () => {
  const schema = v.object({ city: v.string() });
  const message = /^`answer`: this schema of valibot does not say itself.*give it `toJsonSchema`/;
  const server = await serve();
  await assert.rejects(agentAt(server, { answer: { schema } }), { code: "bad_option", message });
  await server.close();
});
