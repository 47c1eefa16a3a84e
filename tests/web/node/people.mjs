// People and hooks: approvals, questions, and functions that stand in the loop.

import assert from "node:assert/strict";
import { test } from "node:test";
import { reply, serve, toolResults } from "../support/anthropic.mjs";
import { Agent, agentAt } from "../support/installed.mjs";

const WRITE = ["write_file", { file_path: "a.txt", content: "new\n" }];
const READ = ["read_file", { file_path: "a.txt" }];
const QUESTION = ["ask_user", { question: "Which colour?" }];

/** A run whose model makes the calls, one a reply, and then ends. */
async function ran(calls, options) {
  const replies = calls.map((call) => reply({ calls: [call] }));
  const server = await serve(...replies, reply({ text: "Done." }));
  const agent = await agentAt(server, options);
  const result = await agent.run("Go").result();
  const told = server.requests.slice(1).flatMap((request) => toolResults(request));
  await agent.close();
  await server.close();
  return { result, told, agent, requests: server.requests };
}

test("b approve is asked about changes only, and its word counts", async () => {
  const asked = [];
  const approve = (call, context) => {
    asked.push([call, context.agent]);
    return Promise.resolve(true);
  };
  const { agent } = await ran([WRITE, READ], { approve });
  const where = { callId: "toolu_write_file_0", folder: "" };
  const call = { ...where, name: "write_file", arguments: WRITE[1] };
  assert.deepEqual(asked, [[call, 0]]);
  assert.equal(agent.files.readText("a.txt"), "new\n");
});

test("what approve says: no, no and why, other arguments, always, a rule, abort", async () => {
  const other = { file_path: "a.txt", content: "other\n" };
  const cases = [
    [false, /a person has denied/, undefined],
    [{ deny: "not in my house" }, /not in my house/, undefined],
    [{ arguments: other }, /a\.txt/, "other\n"],
  ];
  for (const [answer, message, content] of cases) {
    const { told, agent } = await ran([WRITE], { approve: () => answer });
    assert.match(told[0].text, message);
    assert.equal(agent.files.readText("a.txt"), content);
  }
  const rule = { tool: "write_file", starting: { file_path: "a" } };
  for (const answer of ["always", { rule }]) {
    let asked = 0;
    await ran([WRITE, WRITE], { approve: () => ((asked += 1), answer) });
    assert.equal(asked, 1);
  }
  const { result } = await ran([WRITE], { approve: () => "abort" });
  assert.ok(["interrupted", "denied"].includes(result.status), result.status);
});

test("an approve that throws, or says neither yes nor no, denies the call", async () => {
  const broken = [
    [() => Promise.reject(new Error("the window is gone")), /the window is gone/],
    [() => undefined, /neither yes nor no/],
    [() => ({}), /neither yes nor no/],
  ];
  for (const [approve, message] of broken) {
    const { told, agent } = await ran([WRITE], { approve });
    assert.match(told[0].text, message);
    assert.equal(told[0].isError, true);
    assert.equal(agent.files.has("a.txt"), false);
  }
});

test("an answer that does not fit denies the call, in the user's own words", async () => {
  const { told } = await ran([WRITE], { approve: () => ({ rule: 5 }) });
  const why = /what it returned does not fit: `rule`: it must be an object, not 5$/;
  assert.match(told[0].text, why);
});

test("without anybody to ask, the model reads why", async () => {
  const config = { approval: { ask: "changes" }, ask_user: true };
  const { told, result } = await ran([WRITE, QUESTION], { config });
  assert.match(told[0].text, /nobody is here to give it/);
  assert.match(told[1].text, /nobody is here to answer/);
  assert.equal(result.status, "completed");
});

test("what is asked about is the configuration's to say", async () => {
  const asked = [];
  const approve = ({ name }) => (asked.push(name), true);
  await ran([WRITE, READ], { approve, config: { approval: { ask: "everything" } } });
  assert.deepEqual(asked, ["write_file", "read_file"]);
});

test("ask answers the model's questions, and offers the tool for it", async () => {
  const asked = [];
  const ask = (question) => (asked.push(question), "Blue.");
  const { told, requests } = await ran([QUESTION], { ask });
  assert.deepEqual(asked, [{ text: "Which colour?" }]);
  assert.match(told[0].text, /Blue\./);
  const names = requests[0].body.tools.map(({ name }) => name);
  assert.ok(names.includes("ask_user"));
  const { told: untold } = await ran([QUESTION], { ask: () => Promise.reject(new Error("no")) });
  assert.match(untold[0].text, /could not be asked: no/);
});

test("a signal fires when the answer is no longer needed", async () => {
  for (const name of ["approve", "ask", "hook"]) {
    const server = await serve(reply({ calls: [name === "ask" ? QUESTION : WRITE] }));
    const fired = new Promise((resolve) => {
      const wait = (_said, { signal }) => {
        signal.addEventListener("abort", () => resolve(name));
        setTimeout(() => agent.interrupt(), 5);
        return new Promise(() => {});
      };
      const options = name === "hook" ? { hooks: { beforeTool: wait } } : { [name]: wait };
      var agent;
      agentAt(server, options).then((made) => {
        agent = made;
        made.run("Go");
      });
    });
    assert.equal(await fired, name);
    await server.close();
  }
});

test("hooks see what comes by, and let it pass", async () => {
  const seen = [];
  const see = (name) => (said) => void seen.push([name, said]);
  const names = ["submit", "beforeModel", "beforeTool", "afterTool", "beforeStop"];
  const hooks = Object.fromEntries(names.map((name) => [name, see(name)]));
  const { result } = await ran([WRITE], { hooks });
  assert.equal(result.status, "completed");
  const order = ["submit", "beforeModel", "beforeTool", "afterTool", "beforeModel", "beforeStop"];
  assert.deepEqual(
    seen.map(([name]) => name),
    order,
  );
  const said = (name) => seen.find(([other]) => other === name)[1];
  assert.deepEqual([said("submit"), said("beforeStop")], ["Go", "Done."]);
  const { callId, name, arguments: args } = said("beforeTool");
  assert.deepEqual([callId, name, JSON.parse(args)], ["toolu_write_file_0", ...WRITE]);
  const after = said("afterTool");
  assert.deepEqual([after.isError, typeof after.text], [false, "string"]);
});

test("hooks replace and deny", async () => {
  const other = { file_path: "b.txt", content: "other\n" };
  const { agent, told, requests } = await ran([WRITE], {
    hooks: {
      submit: () => ({ replace: "Go slowly" }),
      beforeTool: () => ({ replace: other }),
      afterTool: () => ({ replace: "It is written." }),
    },
  });
  assert.deepEqual(agent.files.list(), ["b.txt"]);
  // The model believes in its own arguments unless it is told what ran.
  const what = 'What ran: content = "other\\n", file_path = "b.txt"]';
  assert.ok(told[0].text.endsWith(`${what}\nIt is written.`), told[0].text);
  assert.match(JSON.stringify(requests[0].body.messages), /Go slowly/);
  const denied = await ran([WRITE], { hooks: { beforeTool: () => ({ deny: "not today" }) } });
  assert.match(denied.told[0].text, /not today/);
  const { result } = await ran([], { hooks: { submit: () => false } });
  assert.equal(result.status, "denied");
});

test("j7 a hook behind each round adds a word, or ends the run", async () => {
  const heard = [];
  const afterIteration = (text) => {
    heard.push(text);
    return heard.length === 1 ? { replace: "look elsewhere" } : { deny: "enough" };
  };
  const { result, requests } = await ran([WRITE, READ], { hooks: { afterIteration } });
  assert.equal(heard.length, 2);
  assert.equal(result.status, "denied");
  assert.equal(requests.length, 2);
  assert.match(JSON.stringify(requests[1].body.messages), /look elsewhere/);
});

test("a hook that throws fails open, or closed as configured", async () => {
  const beforeTool = () => Promise.reject(new Error("broken"));
  const open = await ran([WRITE], { hooks: { beforeTool } });
  assert.equal(open.agent.files.readText("a.txt"), "new\n");
  const closed = await ran([WRITE], { hooks: { beforeTool, failClosed: true } });
  assert.equal(closed.agent.files.has("a.txt"), false);
  assert.equal(closed.told[0].isError, true);
});

test("odd functions are refused before anything happens", async () => {
  const fine = { provider: "anthropic", model: "m", apiKey: "k" };
  const odd = [
    [{ approve: true }, /`approve` must be a function/],
    [{ ask: "x" }, /`ask` must be a function/],
    [{ hooks: { beforeTools: () => {} } }, /no hook `beforeTools`; there is submit/],
    [{ hooks: { submit: 7 } }, /`hooks\.submit` must be a function/],
    [{ hooks: { failClosed: 1 } }, /`hooks\.failClosed`/],
    [{ hooks: { maxDenials: -1 } }, /`hooks\.maxDenials` must be a whole number/],
    [{ hooks: { maxDenials: 2 ** 40 } }, /^`hooks\.maxDenials`: /],
    [{ hooks: null }, /`hooks` must be an object/],
  ];
  for (const [options, message] of odd) {
    const refused = { name: "AgentError", code: "bad_option", message };
    await assert.rejects(Agent.create({ ...fine, ...options }), refused);
  }
});
