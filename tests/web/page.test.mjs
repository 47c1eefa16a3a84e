// The playground in Chromium, served from the packed package under its content security policy.
// Run with `node --test page.test.mjs`; INNERLOOP_TARBALL and CHROMIUM name others.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import {
  endless,
  failure,
  hanging,
  reply,
  serve,
  stream,
  toolResults,
} from "./support/anthropic.mjs";
import { BOMB_LINES, checkBombs } from "./support/bombs.mjs";
import { launch, open } from "./support/browser.mjs";
import { runExampleTest } from "./support/example.mjs";
import { TASKS, carryOut, checkAnswers } from "./support/lines.mjs";
import { ROOT, exampleFiles } from "./support/package.mjs";
import { serveSite } from "./support/site.mjs";

const SCREENSHOTS = join(ROOT, "target/screenshots");
mkdirSync(SCREENSHOTS, { recursive: true });

const site = await serveSite();
const browser = await launch();
after(async () => {
  await browser.close();
  await site.close();
});

const DONE = { timeout: 60_000 };

function shoot(page, name) {
  return page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
}

async function finished(page, text) {
  await page.locator("#status").filter({ hasText: text }).waitFor(DONE);
}

/** The workspace as the page shows it: each file's text, by opening one after the other. */
async function shownFiles(page) {
  const files = [];
  for (const button of await page.locator("#tree button").all()) {
    await button.click();
    const path = await button.getAttribute("data-path");
    files.push([path, await page.locator("#file-content").textContent()]);
  }
  return files.sort(([a], [b]) => (a < b ? -1 : 1));
}

/** The page talking to a scripted server instead of the recording. */
async function ownModel(server, key = "sk-test-0123456789") {
  const opened = await open(browser, site.url);
  const { page } = opened;
  await page.getByText("Your own, with a key").click();
  await page.getByLabel("Model", { exact: true }).fill("mock-1");
  await page.getByLabel("Key", { exact: true }).fill(key);
  await page.getByLabel("Base URL, if not the provider's").fill(server.url);
  return opened;
}

test("the demo mends the example in the page: red before, green after", async () => {
  const { page, problems, close } = await open(browser, site.url);
  await page.locator("#tree button").first().waitFor();
  const before = await shownFiles(page);
  assert.deepEqual(before, Object.entries(exampleFiles()), "the page's list is the project's");
  assert.equal(runExampleTest(before).status, 1);

  await page.getByRole("button", { name: "Run" }).click();
  await page.locator(".call").first().waitFor(DONE);
  assert.equal(await page.getByRole("button", { name: "Stop" }).isEnabled(), true);
  assert.equal(await page.locator("#steer-form").isVisible(), true);
  await finished(page, "Done");
  await page.locator(".failed summary").filter({ hasText: "run_program" }).first().waitFor();
  await page.locator(".done summary").filter({ hasText: "run_program" }).click();
  const output = page.locator(".done[data-tool=run_program] pre[aria-label=Output]");
  assert.match(await output.textContent(), /11 of 11 passed/);
  assert.match(await page.locator(".reply").last().textContent(), /tests pass/i);

  const diff = page.locator('.diff[data-path="src/discount.js"]');
  assert.equal(await page.locator(".diff").count(), 1);
  assert.match(await diff.locator(".removed").textContent(), /^-.*quantity > from/);
  assert.match(await diff.locator(".added").textContent(), /^\+.*quantity >= from/);
  assert.equal(await page.locator("#tree .badge").textContent(), "changed");
  await page.locator('#tree [data-path="src/discount.js"]').click();
  assert.equal(await page.locator("#steer-form").isVisible(), false);
  await page.locator("#log").evaluate((log) => log.scrollTo(0, log.scrollHeight));
  await shoot(page, "page");

  const mended = await shownFiles(page);
  const green = runExampleTest(mended);
  assert.equal(green.status, 0, green.output);
  assert.equal(await output.textContent(), green.output);
  assert.deepEqual(problems, []);
  assert.deepEqual(site.missing, []);
  await close();
});

test("the demo runs again from the start, and starting over restores the project", async () => {
  const { page, problems, close } = await open(browser, site.url);
  for (let round = 0; round < 2; round += 1) {
    await page.getByRole("button", { name: "Run" }).click();
    await page.locator("#status").filter({ hasText: "Working" }).waitFor();
    await finished(page, "Done");
    assert.equal(await page.locator(".said").count(), 1);
  }
  await page.getByRole("button", { name: "Start over" }).click();
  await page.locator(".diff").waitFor({ state: "detached" });
  assert.equal(await page.locator(".call").count(), 0);
  assert.deepEqual(await shownFiles(page), Object.entries(exampleFiles()));
  assert.deepEqual(problems, []);
  await close();
});

test("every end of a run is told in words", async () => {
  const { page, close } = await open(browser, site.url);
  const samples = JSON.parse(readFileSync(join(ROOT, "tests/fixtures/samples.json"), "utf8"));
  const usage = { input_total: 12, output_total: 3 };
  const ended = samples.RunEnd.map((end) => ({ end, replies: 3, tool_calls: 1, usage }));
  const told = await page.evaluate(async (events) => {
    const { summary } = await import("./transcript.js");
    return events.map(summary);
  }, ended);
  const tail = ": 3 replies, 1 tool call, 12 tokens in, 3 out.";
  assert.deepEqual(told, [
    `Done${tail}`,
    `Stopped at a limit${tail}`,
    `Stopped: its calls repeated themselves${tail}`,
    `Stopped${tail}`,
    `Stopped: denied${tail}`,
    `Failed${tail}`,
  ]);
  await close();
});

test("Stop ends a run, and the page goes on", async () => {
  const { page, problems, close } = await open(browser, site.url);
  await page.getByRole("button", { name: "Run" }).click();
  await page.locator(".reply").first().waitFor(DONE);
  await page.getByRole("button", { name: "Stop" }).click();
  await finished(page, "Stopped");
  assert.equal(await page.getByRole("button", { name: "Run" }).isEnabled(), true);
  await page.getByRole("button", { name: "Run" }).click();
  await finished(page, "Done");
  assert.deepEqual(problems, []);
  await close();
});

test("one's own model gets real requests, a steer, and the key in its header only", async () => {
  const key = "sk-test-page-0123456789";
  const input = { file_path: "hello.txt", content: "Hello from the page\n" };
  let answer;
  const held = (request, response) => {
    answer = () => reply({ calls: [["Glob", { pattern: "**/*" }]] })(request, response);
  };
  const server = await serve(
    reply({ calls: [["Write", input]] }),
    held,
    reply({ thinking: "Wrap up.", text: "It is written." }),
  );
  const { page, problems, close } = await ownModel(server, key);
  await page.getByLabel("What to do").fill("Write hello.txt");
  await page.getByRole("button", { name: "Run" }).click();
  await page.locator('.diff[data-path="hello.txt"]').waitFor(DONE);
  await page.getByLabel("Tell it something while it works").fill("Say it in one line");
  await page.getByRole("button", { name: "Steer" }).click();
  while (answer === undefined) await new Promise((resolve) => setTimeout(resolve, 10));
  answer();
  await finished(page, "Done");
  assert.equal(await page.locator(".reply").last().textContent(), "It is written.");
  assert.equal(await page.locator(".thinking").count(), 1);
  assert.equal(await page.locator(".said").last().textContent(), "Say it in one line");
  assert.equal(await page.locator('#tree [data-path="hello.txt"] .badge').textContent(), "new");

  const posts = server.requests;
  assert.deepEqual(
    posts.map(({ headers }) => headers["x-api-key"]),
    [key, key, key],
  );
  assert.equal(posts[0].headers["anthropic-dangerous-direct-browser-access"], "true");
  assert.equal(toolResults(posts[1])[0].isError, false);
  assert.match(JSON.stringify(posts[2].body.messages.at(-1)), /Say it in one line/);
  assert.ok(posts.every(({ text }) => !text.includes(key)));
  const markup = await page.content();
  assert.ok(!markup.includes(key));
  const stored = await page.evaluate(() => [
    localStorage.length,
    sessionStorage.length,
    document.cookie,
  ]);
  assert.deepEqual(stored, [0, 0, ""]);
  assert.deepEqual(problems, []);
  await close();
  await server.close();
});

test("a refused key is shown as an error, and the next run starts anew", async () => {
  const server = await serve(
    failure(401, "authentication_error", "invalid x-api-key"),
    reply({ text: "Now I can." }),
  );
  const { page, close } = await ownModel(server);
  await page.getByLabel("What to do").fill("Hello");
  await page.getByRole("button", { name: "Run" }).click();
  await finished(page, "Failed");
  assert.match(await page.locator(".note.bad").textContent(), /invalid x-api-key/);
  await page.getByRole("button", { name: "Run" }).click();
  await finished(page, "Done");
  await close();
  await server.close();
});

test("a reply without end ends at its limit, and the page goes on", async () => {
  const flood = endless("All work and no play. ".repeat(1_000));
  const server = await serve(flood, reply({ text: "Better now." }));
  const { page, problems, close } = await ownModel(server);
  await page.getByLabel("What to do").fill("Hello");
  await page.getByRole("button", { name: "Run" }).click();
  await finished(page, "Failed");
  assert.match(await page.locator(".note.bad").textContent(), /response\.max_kept_bytes/);
  assert.ok((await flood.gone) > 0);
  await page.getByRole("button", { name: "Run" }).click();
  await finished(page, "Done");
  assert.equal(await page.locator(".reply").last().textContent(), "Better now.");
  assert.deepEqual(problems, []);
  await close();
  await server.close();
});

test("leaving a model that hangs with Stop closes the connection", async () => {
  const silence = hanging("A beginning without an end.");
  const server = await serve(silence);
  const { page, problems, close } = await ownModel(server);
  await page.getByLabel("What to do").fill("Hello");
  await page.getByRole("button", { name: "Run" }).click();
  await page.locator(".reply").waitFor(DONE);
  await page.getByRole("button", { name: "Stop" }).click();
  await finished(page, "Stopped");
  await silence.gone;
  assert.deepEqual(problems, []);
  await close();
  await server.close();
});

test("the page works by keyboard, names its parts, and fits a phone in the dark", async () => {
  const dark = { colorScheme: "dark", viewport: { width: 390, height: 844 } };
  const { page, problems, close } = await open(browser, site.url, dark);
  const log = page.getByRole("log", { name: "Transcript" });
  assert.equal(await log.getAttribute("aria-live"), "polite");
  await page.locator("#run").focus();
  await page.keyboard.press("Enter");
  await finished(page, "Done");
  assert.equal(await log.getAttribute("aria-busy"), "false");
  await page.getByRole("button", { name: "cart.js" }).focus();
  await page.keyboard.press("Enter");
  assert.equal(await page.locator("#file-name").textContent(), "src/cart.js");
  const nameless = await page
    .locator("button, input, select, textarea")
    .evaluateAll((all) =>
      all
        .filter((one) => !one.labels?.length && !one.textContent.trim())
        .map((one) => one.outerHTML),
    );
  assert.deepEqual(nameless, []);
  const [wide, inner] = await page.evaluate(() => [
    document.documentElement.scrollWidth,
    innerWidth,
  ]);
  assert.ok(wide <= inner, `${wide} pixels on a screen of ${inner}`);
  await page.screenshot({ path: join(SCREENSHOTS, "phone.png"), fullPage: true });
  assert.deepEqual(problems, []);
  await close();
});

/** Lets an agent of the page carry out lines, commands or whole inputs: the outcomes. */
function carryOutLines(page, lines, files = {}) {
  const inputs = lines.map((line) => (typeof line === "string" ? { command: line } : line));
  const calls = inputs.map((input) => stream({ calls: [["shell", input]] }).join(""));
  // What prints the line "stop" is interrupted; the next run goes on.
  return page.evaluate(
    async ({ files, replies }) => {
      const { Agent } = await import("./innerloop/dist/index.web.js");
      const { PROGRAMS, SHELL } = await import("./demo.js");
      const headers = { "content-type": "text/event-stream" };
      const agent = await Agent.create({
        provider: "anthropic",
        model: "mock-1",
        vocabulary: "seed",
        fetch: async () => new Response(replies.shift(), { headers }),
        files,
        programs: { ...PROGRAMS, ...SHELL },
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
  const { page, problems, close } = await open(browser, site.url);
  const said = await page.evaluate(`(async () => {
    const { Agent } = await import("./innerloop/dist/index.web.js");
    const bash = await WebAssembly.compileStreaming(fetch("programs/bash.wasm"));
    return (${carryOut})(Agent, { bash }, ${JSON.stringify(TASKS)});
  })()`);
  checkAnswers(said);
  assert.deepEqual(problems, []);
  await close();
});

test("c11 bombs end by their limits in the page, with a word, and the shell lives on", async () => {
  const { page, problems, close } = await open(browser, site.url);
  checkBombs(await carryOutLines(page, BOMB_LINES));
  assert.deepEqual(problems, []);
  await close();
});

test("c11 a line is interrupted in the page wherever it is, and the shell lives on", async () => {
  const { page, problems, close } = await open(browser, site.url);
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
  assert.deepEqual(problems, []);
  await close();
});

test("c11 the playground has python: in pipelines, loaded when it is first used", async () => {
  const { page, problems, close } = await open(browser, site.url);
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
  assert.deepEqual(problems, []);
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
  const { page, problems, close } = await ownModel(server);
  await page.getByLabel("What to do").fill("Look around");
  await page.getByRole("button", { name: "Run" }).click();
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
  assert.deepEqual(problems, []);
  assert.deepEqual(site.missing, []);
  await server.close();
  await close();
});

test("c5 a folder with a tool.toml is a tool in the page", async () => {
  const { page, problems, close } = await open(browser, site.url);
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
  assert.deepEqual(problems, []);
  assert.deepEqual(site.missing, []);
  await close();
});
