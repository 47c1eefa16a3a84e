// Programs in the page: the shell, Python, tools that are WASI modules; and the terminal.

import assert from "node:assert/strict";
import { test } from "node:test";
import { reply, serve, stream, toolResults } from "../support/anthropic.mjs";
import { BOMB_LINES, checkBombs } from "../support/bombs.mjs";
import { carryOut, checkAnswers, TASKS } from "../support/lines.mjs";
import {
  checkClean,
  DONE,
  finished,
  look,
  openPage,
  ownModel,
  run,
  shoot,
  site,
} from "./support.mjs";

/** Lets an agent of the page carry out lines, commands or whole inputs: the outcomes. */
function carryOutLines(page, lines, files = {}) {
  const inputs = lines.map((line) => (typeof line === "string" ? { command: line } : line));
  const calls = inputs.map((input) => stream({ calls: [["shell", input]] }).join(""));
  // What prints the line "stop" is interrupted; the next run goes on.
  return page.evaluate(
    async ({ files, replies }) => {
      const { Agent } = await import("./innerloop/dist/index.web.js");
      const at = (name) => new URL(`programs/${name}`, document.baseURI);
      const headers = { "content-type": "text/event-stream" };
      const agent = await Agent.create({
        provider: "anthropic",
        model: "mock-1",
        vocabulary: "seed",
        fetch: async () => new Response(replies.shift(), { headers }),
        files,
        programs: {
          qjs: { wasm: at("qjs.wasm") },
          bash: { wasm: () => at("bash.wasm") },
          python: {
            wasm: () => at("python.wasm.gz"),
            aliases: ["python3"],
            env: { PYTHONDONTWRITEBYTECODE: "1" },
          },
        },
      });
      const outcomes = [];
      while (replies.length > 0) {
        for await (const { type, text, outcome } of agent.run("Go")) {
          if (outcome) outcomes.push(outcome);
          if (type === "tool_call_output_delta" && text === "stop\n") agent.interrupt();
        }
      }
      await agent.close();
      return outcomes;
    },
    { files, replies: [...calls, stream({ text: "Done." }).join("")] },
  );
}

/** Steps of a model that has these command lines carried out. */
function lineSteps(lines) {
  return lines.map((line) => reply({ calls: [["Bash", line]] }));
}

test("c11 lines that agents type are answered in the page as by bash", async () => {
  const opened = await openPage();
  const { page, close } = opened;
  const said = await page.evaluate(`(async () => {
    const { Agent } = await import("./innerloop/dist/index.web.js");
    const bash = await WebAssembly.compileStreaming(fetch("programs/bash.wasm"));
    return (${carryOut})(Agent, { bash }, ${JSON.stringify(TASKS)});
  })()`);
  checkAnswers(said);
  checkClean(opened);
  await close();
});

test("c11 bombs end by their limits in the page, with a word, and the shell lives on", async () => {
  const opened = await openPage();
  const { page, close } = opened;
  checkBombs(await carryOutLines(page, BOMB_LINES));
  checkClean(opened);
  await close();
});

test("c11 a line is interrupted in the page wherever it is, and the shell lives on", async () => {
  const opened = await openPage();
  const { page, close } = opened;
  const outcomes = await carryOutLines(page, [
    "mkdir d; cd d; v=1; f() { echo f $1; }; echo t > /tmp/t",
    "v=2; cd /; echo left > left; echo stop; sleep 0.05; awk 'BEGIN { while (1); }'",
    "f $v; pwd; cat /left /tmp/t; cd ..",
    "v=3; echo stop; python -c 'while True: pass' | cat",
    "v=4; echo stop; sleep 1000",
    "f $v; pwd",
  ]);
  const told = outcomes.map(({ error, parts }) => error ?? parts[0].text);
  const [first, last] = ["f 1\n/d\nleft\nt\n", "f 1\n/\n"];
  assert.deepEqual(told, ["", "interrupted", first, "interrupted", "interrupted", last]);
  checkClean(opened);
  await close();
});

test("c11 the playground has python: in pipelines, loaded when it is first used", async () => {
  const opened = await openPage();
  const { page, close } = opened;
  const asked = () => site.asked.filter((path) => /python/.test(path)).length;
  const before = asked();
  const files = {
    "shop.py": "def total(prices):\n    return sum(prices)\n",
    "test_shop.py":
      "import unittest\nfrom shop import total\n\nclass Shop(unittest.TestCase):\n" +
      "    def test_total(self):\n        self.assertEqual(total([1, 2]), 3)\n",
  };
  const carried = async (lines) => {
    const outcomes = await carryOutLines(page, lines, files);
    return outcomes.map(({ parts }) => parts.map(({ text }) => text));
  };
  assert.deepEqual(await carried(["echo 1"]), [["1\n", ""]]);
  assert.equal(asked(), before, "not before it is used");
  const [first, tests, error, last] = await carried([
    "x=1; python -c 'for n in (3, 1, 2): print(n)' | sort | head -2; python3 --version",
    "python -m unittest 2>&1 | tail -1; python -c 'import shop; print(shop.total([4, 5]))' > sum",
    { command: "x=2; echo on; python -c 'while True: pass'", timeout_ms: 3000 },
    "cat sum; echo $x; ls; python -c 'import sys; sys.exit(\"no\")'; echo $?",
  ]);
  assert.deepEqual(first, ["1\n2\nPython 3.12.0\n", ""]);
  assert.deepEqual(tests, ["OK\n", ""]);
  assert.equal(error[0], "on\n");
  assert.deepEqual(last, ["9\n1\nshop.py\nsum\ntest_shop.py\n1\n", "no\n"]);
  assert.equal(asked(), before + 1, "once for both names");
  checkClean(opened);
  await close();
});

test("c11 the playground has the shell: a worker is terminated, and it lives on", async () => {
  const lines = [
    { command: "x=1; node=qjs; cd src; grep -c export *.js | sort -t: -k2 -rn | head -3" },
    {
      command: "x=2; echo left > left.txt; sleep 0.01; awk 'BEGIN { while (1) {} }'",
      timeout: 1000,
    },
    {
      command:
        "echo x is $x in $PWD; cat left.txt; cd /; qjs -m test.mjs | tail -1; " +
        "wc -l src/*.js | tail -1; ls -l",
    },
  ];
  const server = await serve(...lineSteps(lines), reply({ text: "The shell lives on." }));
  const opened = await ownModel(server);
  const { page, close } = opened;
  await run(page, "Look around");
  await finished(page, "Done");
  const results = [1, 2, 3].map((at) => toolResults(server.requests[at])[0].text);
  assert.match(results[0], /^\w+\.js:\d\n\w+\.js:\d\n\w+\.js:\d/);
  assert.match(results[1], /timed out after 1000ms/);
  assert.match(results[2], /^x is 1 in \/src\nleft\n/);
  assert.match(results[2], /\d+ total\n/);
  assert.match(results[2], /left\.txt|package\.json/);
  for (const summary of await page.locator(".call summary").all()) await summary.click();
  await page.locator("#log").evaluate((log) => log.scrollTo(0, log.scrollHeight));
  await shoot(page, "shell");
  checkClean(opened);
  await server.close();
  await close();
});

test("c5 a folder with a tool.toml is a tool in the page", async () => {
  const opened = await openPage();
  const { page, close } = opened;
  for (const place of ["tools/count-lines", "/tools/count-lines/tool.toml"]) {
    const server = await serve(reply({ calls: [["count_lines", {}]] }), reply({ text: "Done." }));
    await page.evaluate(
      async ({ baseUrl, place }) => {
        const { Agent, wasiTool } = await import("./innerloop/dist/index.web.js");
        const options = { provider: "anthropic", model: "mock-1", apiKey: "sk-test-0123456789" };
        const files = { "a.js": "1;\n2;\n", "b.md": "# B\n" };
        const tools = [await wasiTool(place)];
        const agent = await Agent.create({ ...options, baseUrl, files, tools });
        await agent.run("Count").result();
        await agent.close();
      },
      { baseUrl: server.url, place },
    );
    const [{ text, isError }] = toolResults(server.requests[1]);
    assert.equal(isError, false, text);
    assert.match(text, /^ +1 +2 +2 +6 {2}JavaScript\n +1 +1 +2 +4 {2}Markdown\n/m);
    await server.close();
  }
  checkClean(opened);
  await close();
});

test("a person types lines into the terminal, and what they change is in the files", async () => {
  const opened = await openPage();
  const { page, close } = opened;
  await look(page, "Terminal");
  const log = page.getByRole("log", { name: "Output of the terminal" });
  const type = async (line, said) => {
    await page.getByLabel("Command line").fill(line);
    await page.keyboard.press("Enter");
    await log.filter({ hasText: said }).waitFor(DONE);
    await page.getByRole("button", { name: "Enter", exact: true }).waitFor(DONE);
  };
  await type("x=5; qjs -m test.mjs | tail -1; cd src", /8 of 11 passed|of 11 passed/);
  await type("echo x is $x > made.txt; ls; rm money.js", /cart\.js\s+discount\.js\s+made\.txt/);
  await page.locator('[role=treeitem][data-path="src/made.txt"]').waitFor(DONE);
  await page.locator('[role=treeitem][data-path="src/money.js"]').waitFor({ state: "detached" });
  await type("cat made.txt; exit 3", /x is 5/);
  await page.getByLabel("Command line").fill("while :; do :; done");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Stop line" }).click();
  await log.filter({ hasText: /It ended: interrupted/ }).waitFor(DONE);
  checkClean(opened);
  await close();
});
