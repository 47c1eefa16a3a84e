// Steps are taken back and put back, with the files that they have changed, and conversations are
// taken over.

import assert from "node:assert/strict";
import { test } from "node:test";
import { reply, serve } from "../support/anthropic.mjs";
import { AgentError, agentAt } from "../support/installed.mjs";

const write = (path, content) => reply({ calls: [["write_file", { file_path: path, content }]] });
const inputs = (agent) => {
  return agent.seen().flatMap((turn) => (turn.type === "user" ? turn.parts[0].text : []));
};
const codeOf = (does) => {
  try {
    does();
  } catch (error) {
    assert.ok(error instanceof AgentError, error);
    return error.code;
  }
};

test("j3 steps are undone and redone, restored and cleared", async () => {
  const texts = ["One.", "Two.", "Other."].map((text) => reply({ text }));
  const server = await serve(...texts);
  const agent = await agentAt(server);
  const rewinds = [];
  agent.subscribe(({ type, why, to, undo_left, redo_left }) => {
    if (type === "rewound") rewinds.push([why, to, undo_left, redo_left]);
  });
  assert.equal(
    codeOf(() => agent.undo()),
    "nothing",
  );
  await agent.run("one").result();
  await agent.run("two").result();
  agent.undo();
  assert.deepEqual(inputs(agent), ["one"]);
  agent.redo();
  agent.undo(2);
  assert.deepEqual(inputs(agent), []);
  agent.redo(2);
  agent.clear();
  assert.deepEqual(agent.seen(), []);
  agent.restore(2);
  assert.deepEqual(inputs(agent), ["one"]);
  assert.deepEqual(rewinds, [
    ["undo", 2, 1, 1],
    ["redo", 4, 2, 0],
    ["undo", 0, 0, 2],
    ["redo", 6, 2, 0],
    ["clear", 0, 3, 0],
    ["restore", 2, 4, 0],
  ]);
  const run = agent.run("other");
  assert.equal(
    codeOf(() => agent.undo()),
    "busy",
  );
  await run.result();
  const said = server.requests[2].body.messages.map(({ content }) => content[0].text);
  assert.deepEqual(said, ["one", "One.", "other"]);
  for (const wrong of [-1, 1.5, "1"]) {
    assert.equal(
      codeOf(() => agent.undo(wrong)),
      "bad_option",
    );
    assert.equal(
      codeOf(() => agent.restore(wrong)),
      "bad_option",
    );
  }
  assert.deepEqual(
    agent.history().flatMap((turn) => (turn.type === "rewound" ? [[turn.why, turn.to]] : [])),
    rewinds.map(([why, to]) => [why, to]),
  );
  await agent.close();
  assert.deepEqual(inputs(agent), ["one", "other"], "a closed agent can still be looked at");
  await server.close();
});

test("j3 files of undone steps are as they were, unless they have changed since", async () => {
  const done = reply({ text: "Done." });
  const server = await serve(
    write("new.txt", "new"),
    done,
    reply({
      calls: [
        ["write_file", { file_path: "kept.txt", content: "theirs" }],
        ["write_file", { file_path: "old.txt", content: "changed" }],
      ],
    }),
    done,
  );
  const files = { "old.txt": "old", "kept.txt": "before" };
  const config = { guard: { read_before_write: false } };
  const agent = await agentAt(server, { files, config });
  await agent.run("Make a file").result();
  await agent.run("Change the others").result();
  agent.files.write("kept.txt", "mine");
  agent.undo();
  const kept = [{ path: "kept.txt", why: "it has been changed since" }];
  assert.deepEqual(agent.undoFiles(), { restored: ["old.txt"], kept });
  agent.undo();
  assert.deepEqual(agent.undoFiles(), { restored: ["new.txt"], kept: [] });
  assert.deepEqual(agent.undoFiles(), { restored: [], kept: [] });
  assert.deepEqual(
    [...agent.files].map(([path]) => [path, agent.files.readText(path)]),
    [
      ["kept.txt", "mine"],
      ["old.txt", "old"],
    ],
  );
  await agent.close();
  await server.close();
});

test("k1 a conversation is taken over from another agent, and from nowhere", async () => {
  const texts = ["Made.", "I know."].map((text) => reply({ text }));
  const server = await serve(write("a.txt", "a"), ...texts);
  const first = await agentAt(server);
  await first.run("Make it").result();
  const second = await agentAt(server);
  second.import(first.seen());
  assert.deepEqual(
    second.seen().map(({ type }) => type),
    first.seen().map(({ type }) => type),
  );
  second.import([{ type: "user", parts: [{ type: "text", text: "And I add this." }] }]);
  await second.run("What was made?").result();
  const roles = server.requests[2].body.messages.map(({ role }) => role);
  assert.deepEqual(roles, ["user", "assistant", "user", "assistant", "user"]);
  assert.equal(
    codeOf(() => second.import(first.seen())),
    "bad_option",
  );
  const [, call] = first.seen();
  second.clear();
  assert.equal(
    codeOf(() => second.import([call])),
    "bad_option",
  );
  second.import(first.seen());
  assert.deepEqual(inputs(second), ["Make it"]);
  await Promise.all([first.close(), second.close(), server.close()]);
});
