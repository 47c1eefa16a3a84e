// File systems of the user's own: what tools read and write there, what has changed there, and what
// becomes of a run where they fail.

import assert from "node:assert/strict";
import { test } from "node:test";
import { reply, serve, toolResults } from "../support/anthropic.mjs";
import { Agent, agentAt, Files, init, wasiTool } from "../support/installed.mjs";
import { countLines, qjs } from "../support/package.mjs";
import { failure, shelf } from "../support/shelf.mjs";

await init();

const READ = (file_path) => ["read_file", { file_path }];
const WRITE = (file_path, content) => ["write_file", { file_path, content }];
const EDIT = (file_path, old_string, new_string) => [
  "edit_file",
  { file_path, old_string, new_string },
];
const GREP = (pattern, path) => ["grep", { pattern, path }];
const FREE = { config: { guard: { read_before_write: false } } };

/**
 * Has an agent over a file system make these calls, one a reply: what the model read,
 * the events, and the agent, which is closed.
 */
async function called(system, calls, options = {}) {
  const steps = calls.map((call) => reply({ calls: [call].flat(0) }));
  const server = await serve(...steps, reply({ text: "Done." }));
  const agent = await agentAt(server, { files: system, ...FREE, ...options });
  const heard = [];
  agent.files.watch(({ path, kind }) => heard.push(`${kind} ${path}`));
  const events = [];
  agent.subscribe((event) => events.push(event));
  const { status } = await agent.run("Go").result();
  assert.equal(status, "completed");
  await agent.close();
  await server.close();
  const read = server.requests.slice(1).map((request) => toolResults(request)[0]);
  return { read, events, heard, agent };
}

test("built-in tools work on a file system of the user's own", async () => {
  const system = shelf({ "src/a.ts": "one\ntwo\n", "README.md": "# Hello\n" });
  const { read, heard, agent } = await called(system, [
    READ("src/a.ts"),
    EDIT("src/a.ts", "two", "three"),
    WRITE("new/b.ts", "const three = 3;\n"),
    GREP("three"),
    ["glob", { pattern: "**/*.ts" }],
  ]);
  assert.deepEqual(
    read.map(({ isError }) => isError),
    Array(5).fill(false),
  );
  assert.match(read[0].text, /two/);
  assert.match(read[3].text, /src\/a\.ts.*three/s);
  assert.match(read[3].text, /new\/b\.ts/);
  assert.deepEqual(read[4].text.trim().split("\n").sort(), ["new/b.ts", "src/a.ts"]);
  const all = {
    "README.md": "# Hello\n",
    "new/b.ts": "const three = 3;\n",
    "src/a.ts": "one\nthree\n",
  };
  assert.deepEqual(system.all(), all);
  assert.deepEqual(agent.files.export(), all, "the copy can be read when the agent is closed");
  assert.deepEqual(heard, ["modified src/a.ts", "created new/b.ts"]);
});

test("what a tool changes is outside before the model reads its result, in order", async () => {
  const system = shelf({ "a.txt": "a\n", "b.txt": "b" });
  const atRequest = [];
  const patch = [
    "*** Begin Patch",
    "*** Add File: c.txt",
    "+c",
    "*** Update File: a.txt",
    "@@",
    "-a",
    "+A",
    "*** Delete File: b.txt",
    "*** End Patch",
  ].join("\n");
  const says = (content) => (request, response) => {
    atRequest.push(system.all());
    reply(content)(request, response);
  };
  const call = ["apply_patch", { patch }];
  const server = await serve(says({ calls: [call] }), says({ text: "Done." }));
  const options = {
    files: system,
    ...FREE,
    config: { ...FREE.config, model: { profile: "openai" } },
  };
  const agent = await agentAt(server, options);
  system.before = (name) => {
    if (name === "write") return new Promise((resolve) => setTimeout(resolve, 20));
  };
  await agent.run("Go").result();
  assert.deepEqual(atRequest, [
    { "a.txt": "a\n", "b.txt": "b" },
    { "a.txt": "A\n", "c.txt": "c\n" },
  ]);
  const changes = system.did.filter((each) => /^(write|remove|rename)/.test(each));
  assert.deepEqual(changes, ["write c.txt", "write a.txt", "remove b.txt"]);
  await agent.close();
  await server.close();
});

test("a file that only goes elsewhere is moved", async () => {
  const system = shelf({ "a.txt": "a\n" });
  const patch =
    "*** Begin Patch\n*** Update File: a.txt\n*** Move to: d/b.txt\n@@\n a\n*** End Patch";
  const profile = { config: { ...FREE.config, model: { profile: "openai" } } };
  const { read } = await called(system, [["apply_patch", { patch }]], profile);
  assert.equal(read[0].isError, false, read[0].text);
  assert.deepEqual(system.all(), { "d/b.txt": "a\n" });
  assert.ok(system.did.includes("rename a.txt d/b.txt"));
});

test("what changes outside the next tool sees, and nobody overwrites it unseen", async () => {
  const system = shelf({ "a.txt": "old\n", "gone.txt": "x", "d/e.txt": "x" });
  const steps = [
    [
      READ("a.txt"),
      () => {
        system.put("a.txt", "new\n");
        system.put("more/m.txt", "new\n");
        system.drop("gone.txt");
        system.drop("d/e.txt");
        system.put("d", "a file now");
      },
    ],
    [READ("a.txt"), () => {}],
    [GREP("new"), () => {}],
    [READ("gone.txt"), () => {}],
    [READ("d"), () => system.put("a.txt", "newer\n")],
    [EDIT("a.txt", "new\n", "mine\n"), () => system.put("a.txt", "newest\n")],
  ];
  const replies = steps.map(([call], at) => (request, response) => {
    if (at > 0) steps[at - 1][1]();
    reply({ calls: [call] })(request, response);
  });
  const server = await serve(...replies, reply({ text: "Done." }));
  const agent = await agentAt(server, { files: system });
  const heard = [];
  agent.files.watch(({ path, kind }) => heard.push(`${kind} ${path}`));
  await agent.run("Go").result();
  const read = server.requests.slice(1).map((request) => toolResults(request)[0]);
  assert.match(read[0].text, /old/);
  assert.match(read[1].text, /new/);
  assert.match(read[2].text, /a\.txt.*more\/m\.txt/s);
  assert.ok(read[3].isError);
  assert.match(read[4].text, /a file now/);
  assert.deepEqual([read[5].isError, system.text("a.txt")], [true, "newer\n"]);
  assert.match(read[5].text, /has changed since you read it/);
  const noticed = ["modified a.txt", "created more/m.txt", "deleted gone.txt", "deleted d/e.txt"];
  for (const each of [...noticed, "created d"]) assert.ok(heard.includes(each), each);
  system.put("later.txt", "x");
  assert.equal(agent.files.has("later.txt"), false);
  await agent.files.refresh();
  assert.equal(agent.files.readText("later.txt"), "x");
  await agent.close();
  await server.close();
});

test("a change outside in the middle of a tool is not overwritten", async () => {
  const system = shelf({ "a.txt": "old\n" });
  let looks = Infinity;
  system.before = (name) => {
    // Between the tool's look and its write.
    if (name === "stat" && (looks += 1) === 2) system.put("a.txt", "theirs\n");
  };
  const server = await serve(
    reply({ calls: [READ("a.txt")] }),
    (request, response) => {
      looks = 0;
      reply({ calls: [EDIT("a.txt", "old", "mine")] })(request, response);
    },
    reply({ calls: [READ("a.txt")] }),
    reply({ text: "Done." }),
  );
  const agent = await agentAt(server, { files: system });
  await agent.run("Go").result();
  const [edited] = toolResults(server.requests[2]);
  assert.deepEqual([edited.isError, system.text("a.txt")], [true, "theirs\n"]);
  assert.match(edited.text, /a\.txt could not be written: ESTALE/);
  assert.match(toolResults(server.requests[3])[0].text, /theirs/);
  await agent.close();
  await server.close();
});

test("a failure of a file system is a tool's error with its code, and loses nothing", async () => {
  const broken = [
    [
      "write",
      () => {
        throw failure("ENOSPC", "no space is left");
      },
      WRITE("a.txt", "B"),
      /a\.txt could not be written: ENOSPC: no space is left/,
    ],
    [
      "write",
      () => Promise.reject(failure("EACCES")),
      WRITE("b.txt", "B"),
      /b\.txt could not be written: EACCES/,
    ],
    [
      "write",
      () => Promise.reject(failure("EROFS", "EROFS: read-only")),
      EDIT("a.txt", "A", "B"),
      /written: EROFS: read-only\./,
    ],
    [
      "write",
      () => {
        throw "a text";
      },
      WRITE("a.txt", "B"),
      /EIO: a text/,
    ],
    [
      "write",
      () => {
        throw undefined;
      },
      WRITE("a.txt", "B"),
      /EIO: it failed without a word/,
    ],
    [
      "write",
      () => new Promise(() => {}),
      WRITE("a.txt", "B"),
      /ETIMEDOUT: the file system did not answer in 40 ms/,
    ],
    [
      "stat",
      () => {
        throw failure("EACCES");
      },
      READ("a.txt"),
      /a\.txt cannot be used: EACCES/,
    ],
    ["stat", () => "a file", READ("a.txt"), /EIO: `stat` returned neither/],
    [
      "stat",
      () => new Promise(() => {}),
      EDIT("a.txt", "A", "B"),
      /a\.txt cannot be used: ETIMEDOUT/,
    ],
    [
      "list",
      () => {
        throw failure("EMFILE");
      },
      GREP("A"),
      /the workspace cannot be used: EMFILE/,
    ],
    ["list", () => [{ name: 7 }], GREP("A"), /EIO: `list` returned no list/],
    ["list", () => new Promise(() => {}), GREP("A"), /ETIMEDOUT/],
    [
      "read",
      () => {
        throw failure("EIO", "the disk is old");
      },
      READ("a.txt"),
      /a\.txt cannot be used: EIO: the disk is old/,
    ],
    ["read", () => "text", READ("a.txt"), /EIO: `read` returned no Uint8Array/],
    ["read", () => new Promise(() => {}), GREP("A"), /ETIMEDOUT/],
  ];
  for (const [method, breaks, call, words] of broken) {
    const system = Object.assign(shelf({ "a.txt": "A", "z.txt": "Z" }), { timeoutMs: 40 });
    let isBroken = false;
    system.before = (name) => (isBroken && name === method ? breaks() : undefined);
    const server = await serve(
      (request, response) => {
        // What was read before is read again.
        for (const path of ["a.txt", "z.txt"]) system.put(path, system.text(path));
        isBroken = true;
        reply({ calls: [call] })(request, response);
      },
      (request, response) => {
        isBroken = false;
        reply({ calls: [READ("a.txt")] })(request, response);
      },
      reply({ text: "Done." }),
    );
    const agent = await agentAt(server, { files: system, ...FREE });
    const { status } = await agent.run("Go").result();
    const [failed] = toolResults(server.requests[1]);
    assert.deepEqual([status, failed.isError], ["completed", true], `${method}: ${failed.text}`);
    assert.match(failed.text, words);
    const [after] = toolResults(server.requests[2]);
    assert.deepEqual(
      [after.isError, /A/.test(after.text)],
      [false, true],
      `${method}: ${after.text}`,
    );
    assert.deepEqual(system.all(), { "a.txt": "A", "z.txt": "Z" });
    assert.deepEqual(agent.files.export(), { "a.txt": "A", "z.txt": "Z" });
    await agent.close();
    await server.close();
  }
});

test("of a patch that is written in part the model reads which part that is", async () => {
  const system = shelf({ "a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n" });
  const change = (path, line) => `*** Update File: ${path}\n@@\n-${line}\n+${line.toUpperCase()}\n`;
  const files = change("a.txt", "a") + change("b.txt", "b") + change("c.txt", "c");
  const patch = `*** Begin Patch\n${files}*** End Patch`;
  system.before = (name, path) => {
    if (name === "write" && path === "b.txt") throw failure("ENOSPC", "no space is left");
  };
  const profile = { config: { ...FREE.config, model: { profile: "openai" } } };
  const { read, agent, events } = await called(system, [["apply_patch", { patch }]], profile);
  assert.match(
    read[0].text,
    /: b\.txt could not be written: ENOSPC: no space is left\. Nor was c\.txt\./,
  );
  assert.deepEqual(system.all(), { "a.txt": "A\n", "b.txt": "b\n", "c.txt": "c\n" });
  assert.deepEqual(agent.files.export(), system.all());
  const { outcome } = events.find(({ type }) => type === "tool_call_end");
  assert.deepEqual(
    outcome.changes.map(({ path }) => path),
    ["a.txt"],
  );
});

test("an interrupted tool leaves both alike, and closing waits for what is written", async () => {
  const system = shelf({ "a.txt": "A" });
  const server = await serve(reply({ calls: [WRITE("a.txt", "B")] }));
  const agent = await agentAt(server, { files: system, ...FREE });
  let begun;
  const begins = new Promise((resolve) => (begun = resolve));
  system.before = async (name) => {
    if (name !== "write") return;
    begun();
    await new Promise((resolve) => setTimeout(resolve, 60));
  };
  const run = agent.run("Go");
  await begins;
  run.interrupt();
  assert.equal((await run.result()).status, "interrupted");
  assert.equal(system.text("a.txt"), "A");
  await agent.close();
  assert.equal(system.text("a.txt"), "B");
  assert.equal(agent.files.readText("a.txt"), "B");
  await server.close();
});

test("closing an agent whose file system hangs takes no longer than that may", async () => {
  const system = Object.assign(shelf({ "a.txt": "A" }), { timeoutMs: 80 });
  const server = await serve(reply({ calls: [WRITE("a.txt", "B"), WRITE("b.txt", "B")] }));
  const agent = await agentAt(server, { files: system, ...FREE });
  let begun;
  const begins = new Promise((resolve) => (begun = resolve));
  system.before = (name) => (name === "write" ? (begun(), new Promise(() => {})) : undefined);
  agent.run("Go");
  await begins;
  // The file system never answers.
  await agent.close();
  await server.close();
});

test("programs and WASI tools work on it, and what they cannot write they are told", async () => {
  const count = await wasiTool(countLines());
  const script =
    'import * as std from "qjs:std"; for (const n of ["x.txt", "y.txt"]) ' +
    '{ const f = std.open(n, "w"); f.puts("written"); f.close(); } print("ran");';
  const system = shelf({ "main.mjs": script, "d/three.txt": "1\n2\n3\n" });
  const options = { programs: { qjs: qjs() }, tools: [count] };
  const run = ["run_program", { program: "qjs", args: ["-m", "main.mjs"] }];
  const well = await called(system, [run, [count.name, { path: "d/three.txt" }]], options);
  assert.match(well.read[0].text, /ran/);
  assert.match(well.read[1].text, /3/);
  assert.equal(system.text("y.txt"), "written");
  assert.deepEqual(well.heard, ["created x.txt", "created y.txt"]);
  for (const path of ["x.txt", "y.txt"]) system.drop(path);
  system.before = (name, path) => {
    if (name === "write" && path === "y.txt") throw failure("ENOSPC", "no space is left");
  };
  const { read, agent } = await called(system, [run], options);
  assert.deepEqual([read[0].isError, system.text("x.txt")], [true, "written"]);
  assert.match(read[0].text, /ran.*y\.txt could not be written: ENOSPC/s);
  assert.deepEqual([agent.files.has("x.txt"), agent.files.has("y.txt")], [true, false]);
});

test("files that are too large are left out, and a tool that names one says so", async () => {
  const system = shelf({ "a.txt": "needle" });
  const large = { type: "file", size: 65 * 2 ** 20, version: 1 };
  system.before = (name, path) => {
    if (path === "big.bin" && name === "stat") return large;
    if (path === "" && name === "list") {
      return [
        { name: "big.bin", ...large },
        { name: "a.txt", type: "file", size: 6 },
      ];
    }
  };
  const calls = [GREP("needle"), READ("big.bin"), WRITE("big.bin", "x")];
  const { read } = await called(system, calls);
  assert.match(read[0].text, /a\.txt/);
  for (const each of read.slice(1)) assert.match(each.text, /big\.bin cannot be used: EFBIG/);
  const many = Array.from({ length: 5 }, (_, n) => ({
    ...large,
    size: 60 * 2 ** 20,
    name: `${n}`,
  }));
  system.before = (name) =>
    name === "list" ? many : name === "read" ? new Uint8Array(60 * 2 ** 20) : undefined;
  const message = /`files` cannot be read: EFBIG: the files have more than 256 MiB together/;
  await assert.rejects(Files.open(system), { code: "bad_option", message });
});

test("what cannot be read at all is no workspace", async () => {
  const system = shelf();
  system.before = () => {
    throw failure("ENOENT", "there is no such disk");
  };
  const options = { provider: "anthropic", model: "m", apiKey: "k", files: system };
  const message = /^`files` cannot be read: ENOENT: there is no such disk$/;
  const error = await Agent.create(options).then(assert.fail, (error) => error);
  assert.deepEqual(
    [error.name, error.code, error.cause.code],
    ["AgentError", "bad_option", "ENOENT"],
  );
  assert.match(error.message, message);
});

test("the copy is only read, and what is imported is written outside first", async () => {
  const system = shelf({ "a.txt": "A" });
  const files = await Files.open(system);
  const refused = {
    name: "AgentError",
    code: "unsupported",
    message: /a copy of your file system's/,
  };
  assert.throws(() => files.write("a.txt", "B"), refused);
  assert.throws(() => files.remove("a.txt"), refused);
  assert.throws(() => files.rename("a.txt", "b.txt"), refused);
  assert.deepEqual(await files.import({ "b/c.txt": "C" }), ["b/c.txt"]);
  assert.deepEqual([system.text("b/c.txt"), files.readText("b/c.txt")], ["C", "C"]);
  system.before = (name) => {
    if (name === "write") throw failure("ENOSPC");
  };
  await assert.rejects(files.import({ "d.txt": "D" }), { code: "ENOSPC" });
  assert.equal(files.has("d.txt"), false);
  assert.throws(() => new Files(system), { code: "bad_option", message: /Files\.open/ });
});

test("instruction files of a file system are read, and a fork works in memory", async () => {
  const system = shelf({ "AGENTS.md": "Use tabs." });
  const server = await serve(
    reply({ text: "Yes." }),
    reply({ calls: [WRITE("x.txt", "x")] }),
    reply({ text: "Done." }),
  );
  const agent = await agentAt(server, { files: system, ...FREE });
  await agent.run("Go").result();
  assert.match(server.requests[0].text, /Use tabs\./);
  const fork = agent.fork();
  await fork.run("Write").result();
  assert.deepEqual([fork.files.readText("x.txt"), system.text("x.txt")], ["x", undefined]);
  assert.throws(() => agent.fork({ files: system }), {
    code: "bad_option",
    message: /Files\.open/,
  });
  for (const each of [fork, agent]) await each.close();
  await server.close();
});
