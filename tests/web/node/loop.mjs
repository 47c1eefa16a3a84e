// The loop as JavaScript sees it: events, steering, interruption, over real HTTP.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { hanging, reply, serve, stream } from "../support/anthropic.mjs";
import { Agent, agentAt, eventsOf, folder } from "../support/installed.mjs";

test("b10 events arrive as an async iterator, in order and without gaps", async () => {
  const server = await serve(reply({ thinking: "A greeting.", text: "Hello to you, too." }));
  const seen = [];
  const agent = await agentAt(server, { onEvent: (event) => seen.push(event) });
  const run = agent.run("Hello");
  const events = await eventsOf(run);
  const types = events.map((event) => event.type);
  assert.deepEqual([types[0], types.at(-1)], ["user_input", "processing_end"]);
  const text = (type) =>
    events
      .filter((event) => event.type === type)
      .map(({ text }) => text)
      .join("");
  assert.equal(text("assistant_text_delta"), "Hello to you, too.");
  assert.equal(text("assistant_reasoning_delta"), "A greeting.");
  assert.deepEqual((await run.result()).usage.outputTotal, 5);
  assert.deepEqual(await eventsOf(run), events, "a second look sees the same");
  await agent.close();
  assert.deepEqual(
    seen.map(({ seq }) => seq),
    seen.map((_, at) => at + 1),
  );
  assert.deepEqual(seen.slice(1, -1), events);
  await server.close();
});

test("b12 session_start and session_end bracket everything", async () => {
  const server = await serve(reply({ text: "Hi." }));
  const seen = [];
  const agent = await agentAt(server, { onEvent: (event) => seen.push(event) });
  await agent.run("Hello").result();
  await agent.close();
  await agent.close();
  assert.equal(seen[0].type, "session_start");
  assert.deepEqual([seen.at(-1).type, seen.at(-1).state], ["session_end", "closed"]);
  assert.equal(seen.filter(({ type }) => type.startsWith("session_")).length, 2);
  await server.close();
});

test("a10 one input follows another in one conversation", async () => {
  const server = await serve(reply({ text: "One." }), reply({ text: "Two." }));
  const agent = await agentAt(server);
  assert.equal((await agent.run("first").result()).text, "One.");
  assert.equal((await agent.run("second").result()).text, "Two.");
  assert.equal(server.requests[1].body.messages.length, 3);
  assert.deepEqual([agent.status().turns, agent.status().state], [4, "idle"]);
  await agent.close();
  await server.close();
});

test("a8 leaving the loop with break interrupts that run, and the agent goes on", async () => {
  const silence = hanging("This will never be finished, whatever happens.");
  const server = await serve(silence, reply({ text: "Here again." }));
  const agent = await agentAt(server);
  const run = agent.run("Hello");
  for await (const event of run) {
    if (event.type === "assistant_text_delta") break;
  }
  assert.equal((await run.result()).status, "interrupted");
  await silence.gone;
  assert.equal((await agent.run("Are you there?").result()).text, "Here again.");
  await agent.close();
  await server.close();
});

test("a run is interrupted by its signal, before or while it runs", async () => {
  const server = await serve(hanging("Never."), hanging("Never again."));
  const agent = await agentAt(server);
  const early = agent.run("Hello", { signal: AbortSignal.abort() });
  assert.equal((await early.result()).status, "interrupted");
  const late = agent.run("Hello", { signal: AbortSignal.timeout(30) });
  assert.equal((await late.result()).status, "interrupted");
  await agent.close();
  await server.close();
});

test("b1 a steer comes after the tool round, and a listener may call back in", async () => {
  const server = await serve(
    reply({ calls: [["list_dir", { path: "." }]] }),
    reply({ text: "As you wish." }),
  );
  const agent = await agentAt(server, { files: { "a.txt": "" } });
  const order = [];
  agent.subscribe(({ type, seq }) => order.push([seq, type]));
  agent.subscribe(({ type }) => type === "tool_call_start" && agent.steer("Be brief."));
  await agent.run("Look around").result();
  const seqs = order.map(([seq]) => seq);
  assert.deepEqual(
    seqs,
    seqs.toSorted((a, b) => a - b),
  );
  assert.ok(order.some(([, type]) => type === "steering_injected"));
  assert.match(JSON.stringify(server.requests[1].body.messages.at(-1)), /Be brief\./);
  await agent.close();
  await server.close();
});

test("b2 a follow-up begins when the input before is done, in the same run", async () => {
  const server = await serve(reply({ text: "One." }), reply({ text: "Two." }));
  const agent = await agentAt(server);
  const run = agent.run("first");
  agent.followUp("second");
  const events = await eventsOf(run);
  assert.equal(events.filter(({ type }) => type === "user_input").length, 2);
  assert.deepEqual([(await run.result()).text, (await run.result()).replies], ["Two.", 2]);
  await agent.close();
  await server.close();
});

test("a follow-up while idle is a run of its own", async () => {
  const server = await serve(reply({ text: "Yes?" }));
  const agent = await agentAt(server);
  agent.followUp("Hello");
  assert.equal((await agent.current.result()).text, "Yes?");
  assert.equal(agent.current, undefined);
  await agent.close();
  await server.close();
});

test("a5 the limit of rounds ends a run with its own status", async () => {
  const look = reply({ calls: [["list_dir", {}]] });
  const server = await serve(look, look, look);
  const agent = await agentAt(server, { limits: { maxToolRounds: 2 } });
  const run = agent.run("Look");
  const events = await eventsOf(run);
  assert.equal((await run.result()).status, "limit");
  const limit = events.find(({ type }) => type === "turn_limit");
  assert.deepEqual([limit.limit, limit.value], ["max_tool_rounds_per_input", 2]);
  await agent.close();
  await server.close();
});

test("a15 a change of the configuration counts from the next call on", async () => {
  const server = await serve(reply({ text: "One." }), reply({ text: "Two." }));
  const agent = await agentAt(server);
  await agent.run("first").result();
  agent.configure({ model: "mock-2", instructions: "Answer in one word." });
  await agent.run("second").result();
  const [before, after] = server.requests.map(({ body }) => body);
  assert.deepEqual([before.model, after.model], ["mock-1", "mock-2"]);
  assert.match(JSON.stringify(after.system), /Answer in one word\./);
  assert.doesNotMatch(JSON.stringify(before.system), /Answer in one word\./);
  await agent.close();
  await server.close();
});

// A process of its own: the test runner takes an uncaught error for a failed test.
test("a subscriber's mistake disturbs neither the run nor the other subscribers", async () => {
  const script = `
    import { Agent } from "innerloop";
    const caught = [];
    process.on("uncaughtException", (error) => caught.push(error.message));
    const fetch = async () => { throw new Error("no network"); };
    const retry = { maxRetries: 0 };
    const agent = await Agent.create({ provider: "anthropic", model: "m", fetch, retry });
    const seen = [];
    agent.subscribe(({ type }) => { if (type === "user_input") throw new Error("my mistake"); });
    agent.subscribe(({ type }) => seen.push(type));
    const { status } = await agent.run("Hello").result();
    await agent.close();
    console.log(JSON.stringify({ caught, status, seen }));`;
  const flags = ["--input-type=module", "-e", script];
  const { caught, status, seen } = JSON.parse(
    execFileSync(process.execPath, flags, { cwd: folder }),
  );
  assert.deepEqual([caught, status], [["my mistake"], "failed"]);
  assert.deepEqual([seen[0], seen.at(-1)], ["user_input", "session_end"]);
});

test("e13 the project's instruction files reach the model, those of its family only", async () => {
  const server = await serve(reply({ text: "Noted." }));
  const files = {
    "./AGENTS.md": "Use tabs.",
    "CLAUDE.md": new TextEncoder().encode("Be brief."),
    "GEMINI.md": "Not for this family.",
    "sub/AGENTS.md": "Only below sub.",
  };
  const agent = await agentAt(server, { files });
  await agent.run("Hello").result();
  const [{ text }] = server.requests[0].body.system;
  assert.ok(text.indexOf("Use tabs.") < text.indexOf("Be brief."), text);
  assert.ok(!text.includes("Not for this family.") && !text.includes("Only below sub."));
  await agent.close();
  await server.close();
});

test("b10 events are the same however a response is cut, numbered without gaps", async () => {
  const calls = [["look", { path: "a".repeat(40) }]];
  const wait = () => new Promise((resolve) => setTimeout(resolve));
  const cuts = {
    whole: (events) => [events.join("")],
    "event by event": (events) => events,
    "byte by byte": (events) => [...events.join("")],
    "event by event, with pauses": (events) => events.flatMap((event) => [wait, event]),
  };
  const told = {};
  for (const [name, cut] of Object.entries(cuts)) {
    const first = stream({ thinking: "Well.", text: "I look at it.", calls });
    const replies = [first, stream({ text: "Done." })];
    const fetch = async () => {
      const pieces = cut(replies.shift());
      const body = new ReadableStream({
        async pull(controller) {
          const piece = pieces.shift();
          if (piece === undefined) return controller.close();
          if (typeof piece === "function") return piece().then(() => this.pull(controller));
          controller.enqueue(new TextEncoder().encode(piece));
        },
      });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    };
    const look = { name: "look", description: "Look", execute: () => "nothing" };
    const agent = await Agent.create({ provider: "anthropic", model: "m", fetch, tools: [look] });
    const events = await eventsOf(agent.run("Look"));
    events.forEach(({ seq }, at) => assert.equal(seq, events[0].seq + at));
    assert.ok(events.every(({ session, wall, at }) => session !== "" && wall >= at));
    // Of a call, what comes together is told together.
    const others = events.filter(({ type }) => type !== "tool_call_delta");
    told[name] = others.map(({ type, agent, effect, text }) => ({ type, agent, effect, text }));
    await agent.close();
  }
  assert.equal(told.whole.filter(({ type }) => type === "assistant_text_delta").length, 3);
  for (const [name, events] of Object.entries(told)) assert.deepEqual(events, told.whole, name);
});
