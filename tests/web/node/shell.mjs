// Command lines: the shell of the package `innerloop-shell` in a worker thread, over the agent's
// files, with QuickJS as a command.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { reply, serve, toolResults } from "../support/anthropic.mjs";
import { BOMB_LINES, checkBombs } from "../support/bombs.mjs";
import { FAMILIES, replyOf } from "../support/families.mjs";
import { Agent, agentAt, eventsOf, folder, qjs, shell } from "../support/installed.mjs";
import { bash, ROOT } from "../support/package.mjs";
import { printed, programs, runLines } from "../support/shell.mjs";

test("c11 the model has the tool of its family, and reads output and exit status", async () => {
  const { requests } = await runLines(["echo out; echo err >&2; exit 3"]);
  const names = requests[0].body.tools.map(({ name }) => name);
  assert.ok(names.includes("shell"), names.join());
  const [{ text, isError }] = toolResults(requests[1]);
  assert.equal(isError, true);
  assert.match(text, /^out\n.*err\n.*3/s);
});

test("c11 what a line leaves is there for the next: variables, functions, folder, status", async () => {
  const lines = [
    "x=5; y=(a b); f() { echo f $1; }; cd src; export E=1; false",
    "echo $x ${y[1]}; f 1; pwd; qjs --std -e 'print(std.getenv(\"E\"))'",
    "exit 4",
    "echo $x",
  ];
  const { outcomes } = await runLines(lines, { files: { "src/a.txt": "a" } });
  const texts = outcomes.map(({ parts }) => parts[0].text);
  assert.equal(texts[1], "5 b\nf 1\n/src\n1\n");
  assert.deepEqual(
    outcomes.map(({ exit }) => exit),
    [1, 0, 4, 0],
  );
  assert.equal(texts[3], "5\n");
});

test("c11 what is nested too deeply is an error and no crash", async () => {
  const path = join(ROOT, "tests/fixtures/shell/nested.json");
  const { depth, lines } = JSON.parse(readFileSync(path, "utf8"));
  const wrong = [];
  for (const { name, before, open, inner, close, after, status, stdout, stderr } of lines) {
    const text = before + open.repeat(depth) + inner + close.repeat(depth) + after;
    const { outcomes } = await runLines(["kept=1", text, "echo $kept"]);
    const [, { exit, error, parts }, next] = outcomes;
    const [out, err = ""] = parts.map(({ text }) => text);
    const lives = next.parts[0].text === "1\n";
    if (exit !== status || out !== stdout || !err.includes(stderr) || !lives) {
      wrong.push({ name, exit, error, out, err: err.slice(0, 300), lives });
    }
  }
  assert.deepEqual(wrong, []);
});

test("c11 each agent has a shell of its own", async () => {
  const first = await printed(["x=1; echo $x > /tmp/x", "echo $x; cat /tmp/x"]);
  const second = await printed(["echo .$x; ls /tmp"]);
  assert.deepEqual([first[1], second[0]], ["1\n1\n|", ".\n|"]);
});

test("c11 programs take part in pipelines, in the shell's folder, with its variables", async () => {
  const files = {
    "src/double.js": `import * as std from "qjs:std";
      for (const line of std.in.readAsString().trim().split("\\n")) console.log(line * 2);`,
    "top.txt": "top\n",
  };
  const lines = [
    "cd src; seq 3 | qjs -m double.js | paste -sd, ; echo ${PIPESTATUS[@]}",
    'qjs --std -e \'print(std.loadFile("../top.txt"), std.loadFile("../../x"))\'',
    "qjs --std -e 'std.exit(200)'; echo $?; qjs --std -e 'std.err.puts(\"e\")' 2>&1 | tr e E",
    "x=$(qjs -e 'print(7)'); echo $((x * 6)) > ../n.txt; qjs -e 'print(1)' > one; cat one",
    'for i in 1 2 3; do qjs -e "print($i)"; done | sort -r | head -2',
  ];
  const { outcomes, agent } = await runLines(lines, { files });
  const texts = outcomes.map(({ parts }) => parts[0].text);
  assert.deepEqual(texts, ["2,4,6\n0 0 0\n", "top\n null\n", "200\nE", "1\n", "3\n2\n"]);
  assert.equal(agent.files.readText("n.txt"), "42\n");
});

test("c11 a program that prints or is given too much is ended, with a word", async () => {
  const lines = [
    "qjs -e 'for (;;) print(1)' | head -1; echo ${PIPESTATUS[@]}",
    "head -c 20000000 /dev/zero > z; cat z z z z z z z z z z z z z z z z z | qjs -e 1; echo $?",
  ];
  const { outcomes } = await runLines(lines);
  assert.match(outcomes[0].parts[0].text, /^1\n\d+ 0\n$/);
  assert.match(
    outcomes[0].parts[1].text,
    /^qjs: it was stopped because it printed more than 16 Mi/,
  );
  assert.equal(outcomes[1].parts[0].text, "137\n");
  assert.match(outcomes[1].parts[1].text, /qjs: it was stopped because it was given more to read/);
});

test("c11 at its time limit a line ends, and what it has left so far is kept", async () => {
  const endless = { command: "x=1; echo on; while :; do :; done", timeout_ms: 1000 };
  const sleeping = { command: "x=2; sleep 3600", timeout_ms: 1000 };
  const { outcomes, requests } = await runLines([endless, sleeping, "echo $x"]);
  assert.deepEqual(
    outcomes.map(({ timed_out: over = false }) => over),
    [true, true, false],
  );
  assert.equal(outcomes[0].parts[0].text, "on\n");
  assert.match(toolResults(requests[1])[0].text, /^on\n.*timed out after 1000ms/s);
  assert.equal(outcomes[2].parts[0].text, "2\n");
});

test("c11 a worker is terminated in the middle of a line, and the shell lives on", async () => {
  const lines = [
    "x=1; echo t > /tmp/t",
    {
      command:
        "x=2; echo new > n.txt; rm old.txt; > cut.txt; echo u > /tmp/u; echo on; sleep 0.01; awk 'BEGIN { while (1) {} }'",
      timeout_ms: 1000,
    },
    "echo $x; cat /tmp/t /tmp/u; ls",
  ];
  const { outcomes, agent } = await runLines(lines, {
    files: { "old.txt": "old", "cut.txt": "cut" },
  });
  assert.deepEqual([outcomes[1].timed_out, outcomes[1].parts[0].text], [true, "on\n"]);
  assert.deepEqual(outcomes[1].changes, [
    { path: "cut.txt", kind: "modified", before: "cut", after: "" },
    { path: "n.txt", kind: "created", after: "new\n" },
    { path: "old.txt", kind: "deleted", before: "old" },
  ]);
  assert.equal(outcomes[2].parts[0].text, "1\nt\nu\ncut.txt\nn.txt\n");
  assert.deepEqual(agent.files.list(), ["cut.txt", "n.txt"]);
});

test("c11 bombs end by their limits, with a word, and the shell lives on", async () => {
  checkBombs((await runLines(BOMB_LINES)).outcomes);
});

test("c11 what a line prints is out before a program begins", async () => {
  const endless = { command: "x=1; echo on | tr o O; qjs -e 'for (;;);'", timeout_ms: 1000 };
  const { outcomes } = await runLines(["x=0", endless, "echo $x"]);
  assert.deepEqual([outcomes[1].timed_out, outcomes[1].parts[0].text], [true, "On\n"]);
  assert.equal(outcomes[2].parts[0].text, "0\n");
});

test("c11 an interrupted line leaves its changes, and the next run has the shell", async () => {
  const steps = [
    reply({ calls: [["shell", { command: "x=1" }]] }),
    reply({ calls: [["shell", { command: "echo a > a.txt; yes on | cat" }]] }),
    reply({ calls: [["shell", { command: "echo $x; cat a.txt" }]] }),
    reply({ text: "Done." }),
  ];
  const server = await serve(...steps);
  const agent = await agentAt(server, { programs });
  const run = agent.run("Go");
  for await (const { type } of run) if (type === "tool_call_output_delta") break;
  assert.equal((await run.result()).status, "interrupted");
  const events = await eventsOf(agent.run("Go on"));
  const { outcome } = events.find(({ type }) => type === "tool_call_end");
  assert.equal(outcome.parts[0].text, "1\na\n");
  await agent.close();
  await server.close();
});

test("c11 output streams while a line runs", async () => {
  const { events } = await runLines(["echo one; sleep 0.5; echo two"]);
  const deltas = events.filter(({ type }) => type === "tool_call_output_delta");
  assert.deepEqual(
    deltas.map(({ text }) => text),
    ["one\n", "two\n"],
  );
  assert.ok(deltas[1].at - deltas[0].at >= 400, JSON.stringify(deltas));
});

test("c11 links, empty folders, times and moves are there for the next line", async () => {
  const lines = [
    "ln -s ../a.txt src/l && cat src/l && readlink src/l; mkdir -p e/f; touch -d 2020-01-02 a.txt",
    "cat src/l; echo more >> src/l; cat a.txt; ls -d e/f; date -r b.txt +%Y; cd e/f; pwd",
    "cd /; mv src moved; cat moved/l; ls; mv a.txt b.txt; cat moved/l; rmdir e/f e",
    "ls -R; ln -s /etc/passwd p; ln -s ../.. q; ls p q; ln -s loop loop; cat loop",
  ];
  const files = { "a.txt": "a\n", "b.txt": "b\n", "src/x": "x" };
  const { outcomes, agent } = await runLines(lines, { files });
  const [first, second, third, last] = outcomes.map(({ parts }) => parts);
  assert.equal(first[0].text, "a\n../a.txt\n");
  const year = new Date().getUTCFullYear();
  assert.equal(second[0].text, `a\na\nmore\ne/f\n${year}\n/e/f\n`);
  assert.equal(third[0].text, "a\nmore\na.txt\nb.txt\ne\nmoved\n");
  assert.match(third[1].text, /moved\/l/);
  assert.equal(last[0].text, ".:\nb.txt\nmoved\n\n./moved:\nl\nx\n");
  assert.equal(agent.files.readText("b.txt"), "a\nmore\n");
  assert.deepEqual(agent.files.list(), ["b.txt", "moved/x"]);
});

test("c11 times are known from line to line, also of what other tools write", async () => {
  const steps = [
    reply({ calls: [["shell", { command: "touch -d 2020-01-02 a.txt b.txt" }]] }),
    reply({ calls: [["read_file", { file_path: "b.txt" }]] }),
    reply({ calls: [["write_file", { file_path: "b.txt", content: "new" }]] }),
    reply({ calls: [["shell", { command: "date -r a.txt +%Y; date -r b.txt +%Y" }]] }),
    reply({ text: "Done." }),
  ];
  const server = await serve(...steps);
  const agent = await agentAt(server, { programs, files: { "a.txt": "a", "b.txt": "b" } });
  const events = await eventsOf(agent.run("Go"));
  const { outcome } = events.filter(({ type }) => type === "tool_call_end").at(-1);
  assert.equal(
    outcome.parts[0].text,
    `2020\n${new Date().getUTCFullYear()}\n`,
    JSON.stringify(outcome),
  );
  await agent.close();
  await server.close();
});

test("c11 /tmp is the agent's own, tmp/ the project's", async () => {
  const lines = ["echo t > /tmp/t; find . | sort", "cat /tmp/t; rm -rf /tmp/*; ls /tmp; ls -a /"];
  const { outcomes, agent } = await runLines(lines, { files: { "a.txt": "a" } });
  const texts = outcomes.map(({ parts }) => parts[0].text);
  assert.deepEqual(texts[0], ".\n./a.txt\n");
  assert.match(texts[1], /^t\n[^]*a\.txt\n$/);
  assert.doesNotMatch(texts[1], /tmp/);
  assert.deepEqual(agent.files.list(), ["a.txt"]);
  const own = await runLines(["cat /tmp/mine; echo t > /tmp/t; ls"], {
    files: { "tmp/mine": "m\n" },
  });
  assert.equal(own.outcomes[0].parts[0].text, "m\ntmp\n");
  assert.deepEqual(own.agent.files.list(), ["tmp/mine"]);
  const project = await runLines(
    [
      "echo log > /tmp/log",
      "awk '{ print $2 }' a.txt > tmp && mv tmp a.txt; cat a.txt",
      "mkdir tmp && echo x > tmp/a; cat tmp/a",
      "cp /tmp/log tmp/log2; cat /tmp/log tmp/a",
      "mkdir -p tmp/b && echo y > tmp/b/c; echo z > /tmp/z",
      "echo w > /tmp/w; cat /tmp/log /tmp/a",
    ],
    { files: { "a.txt": "a b\n" } },
  );
  const said = project.outcomes.map(({ parts }) => parts[0]?.text ?? "");
  assert.deepEqual(said, ["", "b\n", "x\n", "log\nx\n", "", "log\nx\n"]);
  const list = ["a.txt", "tmp/a", "tmp/b/c", "tmp/log2", "tmp/z"];
  assert.deepEqual(project.agent.files.list(), list);
});

test("c11 a patch is applied as a command", async () => {
  const patch = (path) => `*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch\n`;
  const lines = [
    `apply_patch <<'EOF'\n${patch("a.txt")}EOF`,
    `mkdir d; cd d && bash -lc "applypatch <<'EOF'\n${patch("b.txt")}EOF"`,
    `apply_patch '${patch("a.txt")}'`,
  ];
  const { outcomes, agent } = await runLines(lines, { files: {} });
  assert.match(outcomes[0].parts[0].text, /^Success. Updated the following files:\nA a.txt\n/);
  assert.equal(outcomes[1].exit, 0);
  assert.match(outcomes[2].parts[0].text, /^Success/);
  assert.deepEqual(agent.files.list(), ["a.txt", "d/a.txt", "d/b.txt"]);
});

test("c11 the limits hold for all programs of a line together", async () => {
  const write = `import * as std from "qjs:std"; const piece = "x".repeat(2 ** 20);
    for (let i = 0; i < 100; i += 1) { const f = std.open("f", "w"); f.puts(piece); f.close(); }`;
  const files = { "write.mjs": write };
  const line = "for i in 1 2 3; do qjs -m write.mjs; echo $?; done";
  const print = "for i in 1 2 3 4 5 6 7 8 9; do qjs -e 'print(\"x\".repeat(8e6))'; done";
  const { outcomes } = await runLines([line, print], { files });
  assert.match(outcomes[0].parts[0].text, /^0\n0\n137\n/);
  assert.match(outcomes[0].parts[1].text, /qjs: it was stopped because it wrote too much to files/);
  assert.equal(outcomes[1].error, "limit");
});

test("c11 nothing is loaded before the first line, and each program once", async () => {
  const asked = [];
  const lazy = (program) => ({
    ...program,
    wasm: () => {
      asked.push(program.name);
      return program.wasm();
    },
  });
  const options = {
    programs: [lazy(shell), lazy(qjs)],
    files: { "run.sh": "qjs -e 'print(5)'\n" },
  };
  const server = await serve(reply({ text: "Hi." }));
  const idle = await agentAt(server, options);
  await idle.run("Hello").result();
  await idle.close();
  await server.close();
  assert.deepEqual(asked, []);
  const bare = { ...options, files: {} };
  await printed(["echo 1", "echo 2"], bare);
  assert.deepEqual(asked, ["bash"], "QuickJS is not named");
  const texts = await printed(["bash run.sh", "qjs -e 'print(6)'"], options);
  assert.deepEqual(
    [texts, asked],
    [
      ["5\n|", "6\n|"],
      ["bash", "bash", "qjs"],
    ],
  );
  const hidden = await printed(
    ["p=q; ${p}js -e 1; echo $?", "sleep 1; ${p}js -e 'print(2)'"],
    bare,
  );
  assert.equal(hidden[0], "127\n|qjs: it is being loaded: run the command line again\n");
  assert.equal(hidden[1], "2\n|");
});

test("c11 a program that cannot be loaded is told when it is needed", async () => {
  const broken = { name: "broken", wasm: () => new Uint8Array([1, 2, 3]) };
  const { outcomes } = await runLines(["broken; echo $?"], { programs: [shell, broken] });
  assert.equal(outcomes[0].parts[0].text, "126\n");
  assert.match(outcomes[0].parts[1].text, /^broken: can't be run: .*`broken` could not be loaded/);
  const missing = { bash: () => new URL("missing.wasm", import.meta.url) };
  const none = await runLines(["echo 1"], { programs: missing });
  assert.equal(none.outcomes[0].error, "crashed");
  assert.match(none.outcomes[0].parts[2].text, /`bash` could not be loaded: ENOENT/);
});

test("c11 the shell is a program, too, under each of its names", async () => {
  const input = { program: "bash", args: ["-c", "cat; echo $1 $0", "name", "arg"], stdin: "in\n" };
  for (const named of [{ shell }, { bash: shell }, { sh: bash() }]) {
    const server = await serve(
      reply({ calls: [["run_program", input]] }),
      reply({ text: "Done." }),
    );
    const agent = await agentAt(server, { programs: { ...named, qjs } });
    const events = await eventsOf(agent.run("Go"));
    const { outcome } = events.find(({ type }) => type === "tool_call_end");
    assert.equal(outcome.parts[0].text, "in\narg name\n", JSON.stringify(outcome));
    await agent.close();
    await server.close();
  }
});

test("c11 a list of programs has names", async () => {
  const common = { provider: "anthropic", model: "m", apiKey: "k" };
  for (const program of [null, {}, { name: "a" }, { wasm: bash() }, shell.wasm]) {
    await assert.rejects(Agent.create({ ...common, programs: [program] }), { code: "bad_option" });
  }
});

test("c11 the packages hold their modules and the licences of what is in them", () => {
  assert.deepEqual([shell.name, qjs.name], ["bash", "qjs"]);
  for (const { wasm } of [shell, qjs]) assert.ok(existsSync(fileURLToPath(wasm())));
  const at = (path) => readFileSync(join(folder, "node_modules", path), "utf8");
  const list = at("innerloop-shell/dist/THIRD-PARTY.txt");
  for (const part of [/^bashkit 0\.\d+\.\d+: MIT/m, /jaq_json\/LICENSE-MIT/, /^tokio .*: MIT/m]) {
    assert.match(list, part);
  }
  assert.doesNotMatch(list, /innerloop|\/root|\/home/);
  assert.match(at("innerloop-qjs/THIRD-PARTY.txt"), /Fabrice Bellard/);
});

test("c11 a line that is given a folder leaves the shell where it stood", async () => {
  const [family] = FAMILIES;
  const calls = [
    { command: "cd a; x=1" },
    { command: "pwd; x=2", workdir: "b" },
    { command: "pwd; echo $x" },
  ];
  const steps = calls.map((call) => replyOf(family, { calls: [["shell_command", call]] }));
  const server = await serve(...steps, replyOf(family, { text: "Done." }));
  const { provider, model, below } = family;
  const files = { "a/x": "x", "b/x": "x" };
  const options = { provider, model, vocabulary: "native", baseUrl: server.url + below };
  const agent = await agentAt(server, { ...options, programs, files });
  const events = await eventsOf(agent.run("Go"));
  const ends = events.filter(({ type }) => type === "tool_call_end");
  const texts = ends.map(({ outcome }) => outcome.parts[0].text);
  assert.deepEqual(texts, ["", "/b\n", "/a\n2\n"]);
  await agent.close();
  await server.close();
});
