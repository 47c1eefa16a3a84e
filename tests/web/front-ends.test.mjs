// Rust front ends with an agent in the page: the crate `innerloop-web` as JavaScript calls it, and
// the chat on Leptos as a person uses it. `cargo xtask test Leptos` builds both.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { after, test } from "node:test";
import { failure, hanging, reply, serve, stream, toolResults } from "./support/anthropic.mjs";
import { launch, open } from "./support/browser.mjs";
import { ROOT } from "./support/package.mjs";

const BUILT = join(ROOT, "target/front-ends");
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };
const KEY = "sk-ant-test-0123456789";
const STARTED = `<!doctype html><link rel="icon" href="data:," />
<script type="module">
  import init, * as module from "./from_javascript.js";
  const why = await init().then(() => undefined, String);
  globalThis.module = { ...module, why };
</script>`;

const files = createServer((request, response) => {
  const { pathname } = new URL(request.url, "http://files");
  const path = join(BUILT, pathname.endsWith("/") ? `${pathname}index.html` : pathname);
  const type = TYPES[extname(path)];
  if (type === undefined) return response.writeHead(404).end();
  const body = type === TYPES[".html"] ? pageOf(pathname, path) : readFileSync(path);
  return response.writeHead(200, { "content-type": type }).end(body);
});

/** The page at a path: that of the chat with what Trunk puts there. */
function pageOf(pathname, path) {
  if (pathname === "/from-javascript/") return STARTED;
  const start = 'import init from "./leptos-chat.js"; init();';
  const script = `<link rel="icon" href="data:," /><script type="module">${start}</script>`;
  return readFileSync(path, "utf8").replace('<link data-trunk rel="rust" />', script);
}

await new Promise((resolve) => files.listen(0, "127.0.0.1", resolve));
const site = `http://127.0.0.1:${files.address().port}`;
const browser = await launch();

after(async () => {
  await browser.close();
  files.closeAllConnections();
  await new Promise((resolve) => files.close(resolve));
});

/** Waits until the module for JavaScript is there. */
async function loaded(page) {
  await page.waitForFunction(() => globalThis.module !== undefined);
  assert.equal(await page.evaluate(() => globalThis.module.why), undefined);
}

/** A page with the module for JavaScript, and `make(name, options)`, which makes an agent there. */
async function openModule() {
  const opened = await open(browser, `${site}/from-javascript/`);
  await loaded(opened.page);
  const make = (name, { tools = "[]", approve = "undefined", ...options }) => {
    const given = [JSON.stringify({ apiKey: KEY, ...options }), tools, approve];
    return opened.page.evaluate(`{ ${name} = new module.ScriptAgent(${given.join(", ")}); }`);
  };
  return { ...opened, make };
}

/** Runs a prompt: what came of it, and the events. */
function run(page, name, prompt) {
  return page.evaluate(
    async ([name, prompt]) => {
      const events = [];
      const result = await globalThis[name].run(prompt, (told) => void events.push(told.event));
      return { result, events };
    },
    [name, prompt],
  );
}

const typesOf = (events) => events.map(({ type }) => type);
const problemsBut = (opened, expected) =>
  opened.problems.filter((problem) => !expected.test(problem));

test("n34 an agent in the page has files, tools and plain events", async () => {
  const server = await serve(
    reply({
      text: "I look.",
      calls: [
        ["temperature", { city: "Oslo" }],
        ["Write", { file_path: "notes.md", content: "7 degrees\n" }],
      ],
    }),
    reply({ calls: [["final_answer", { degrees: 7, place: { city: "Oslo" } }]] }),
  );
  const opened = await openModule();
  const { page, make } = opened;
  const schema = {
    type: "object",
    properties: { degrees: { type: "number" }, place: { type: "object" } },
    required: ["degrees"],
  };
  await make("agent", {
    baseUrl: server.url,
    files: { "CLAUDE.md": "Be brief, says the project." },
    config: { answer: { schema } },
    tools: `[[{ name: "temperature", description: "How warm it is.", parameters: {
      type: "object", properties: { city: { type: "string" } }, required: ["city"] } },
      async ({ city }) => "7 in " + city]]`,
  });
  const { result, events } = await run(page, "agent", "How warm is it?");
  assert.deepEqual([result.end, result.toolCalls], ["Completed", 3]);
  const [first, second] = server.requests;
  assert.equal(first.headers["x-api-key"], KEY);
  assert.equal(first.headers["anthropic-dangerous-direct-browser-access"], "true");
  assert.match(JSON.stringify(first.body), /Be brief, says the project/);
  assert.deepEqual(toolResults(second)[0], { text: "7 in Oslo", isError: false });
  assert.equal(await page.evaluate(() => globalThis.agent.text("notes.md")), "7 degrees\n");
  const answer = events.find(({ type }) => type === "final_answer");
  assert.deepEqual(answer.value, { degrees: 7, place: { city: "Oslo" } });
  const history = await page.evaluate(() => globalThis.agent.history());
  assert.doesNotMatch(JSON.stringify([events, history]), /\$serde_json|RawValue/);
  assert.equal(history.length, 5);
  assert.doesNotMatch(JSON.stringify([events, history]), new RegExp(KEY));
  assert.deepEqual(opened.problems, []);
  await Promise.all([opened.close(), server.close()]);
});

test("n34 options of JavaScript that do not fit are refused by name", async () => {
  const opened = await openModule();
  const refusal = (options) =>
    opened.page.evaluate((options) => {
      try {
        return new globalThis.module.ScriptAgent(options, [], undefined) && "it was taken";
      } catch (error) {
        return error.message;
      }
    }, options);
  assert.match(
    await refusal({ apikey: KEY }),
    /no option "apikey"; known: provider, model, apiKey/,
  );
  assert.match(await refusal({ provider: 7 }), /options do not fit.*7/);
  assert.match(await refusal({ apiKey: KEY, config: { model: { nam: "x" } } }), /model.*nam/);
  assert.match(await refusal({ apiKey: KEY, config: "no object" }), /options do not fit/);
  assert.match(await refusal({ files: { "../out": "x" } }), /files: "\.\.\/out"/);
  assert.match(
    await refusal({}),
    /Anthropic wants a key: give one by `api_key`, or the `base_url`/,
  );
  assert.match(await refusal({ provider: "antropic" }), /unknown provider "antropic"/);
  assert.match(await refusal({ apiKey: KEY, snapshot: "text" }), /no Uint8Array/);
  assert.match(await refusal(null), /no object/);
  const unsaid = { model: undefined, config: { model: { name: undefined } }, files: undefined };
  assert.equal(await refusal({ apiKey: KEY, snapshot: undefined, ...unsaid }), "it was taken");
  assert.deepEqual(opened.problems, []);
  await opened.close();
});

test("n34 a tool that fails, one that takes too long and one denied are told to the model", async () => {
  const calls = ["broken", "slow", "denied"].map((name) => [name, {}]);
  const server = await serve(reply({ calls }), reply({ text: "So be it." }));
  const opened = await openModule();
  const tool = (name, more, code) =>
    `[{ name: "${name}", description: "A tool.", parameters: { type: "object" }, ${more} }, ${code}]`;
  await opened.make("agent", {
    baseUrl: server.url,
    tools: `[${[
      tool("broken", "read_only: true", '() => { throw new Error("out of order") }'),
      tool("slow", "read_only: true, timeout_ms: 50", "() => new Promise(() => {})"),
      tool("denied", "", '() => "done"'),
    ]}]`,
    approve: "async () => false",
  });
  const { result } = await run(opened.page, "agent", "Try them");
  assert.deepEqual([result.end, result.text], ["Completed", "So be it."]);
  const [broken, slow, denied] = toolResults(server.requests[1]);
  assert.match(broken.text, /The tool broken failed: out of order/);
  assert.match(slow.text, /timed out|time/i);
  assert.match(denied.text, /the page says no/);
  assert.ok(broken.isError && slow.isError && denied.isError);
  assert.deepEqual(opened.problems, []);
  await Promise.all([opened.close(), server.close()]);
});

test("n34 a connection that breaks in a reply is tried again", async () => {
  const cut = (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const piece of stream({ text: "Half a reply" }).slice(0, 4)) response.write(piece);
    setTimeout(() => response.destroy(), 50);
  };
  const server = await serve(cut, reply({ text: "A whole reply" }));
  const opened = await openModule();
  await opened.make("agent", { baseUrl: server.url });
  const { result, events } = await run(opened.page, "agent", "Hello");
  assert.deepEqual([result.end, result.text], ["Completed", "A whole reply"]);
  assert.ok(typesOf(events).includes("text_reset") && typesOf(events).includes("retry"));
  assert.deepEqual(problemsBut(opened, /ERR_|Failed to load/), []);
  await Promise.all([opened.close(), server.close()]);
});

test("n34 a key that is refused ends the run, and another one lets it go on", async () => {
  const server = await serve(
    failure(401, "authentication_error", "invalid x-api-key"),
    reply({ text: "Welcome" }),
  );
  const opened = await openModule();
  await opened.make("agent", { baseUrl: server.url });
  const { result } = await run(opened.page, "agent", "Hello");
  assert.equal(result.end, "Failed");
  assert.match(result.error, /invalid x-api-key/);
  await opened.page.evaluate(() => globalThis.agent.setApiKey("sk-ant-another-0123456789"));
  const again = await run(opened.page, "agent", "Hello again");
  assert.equal(again.result.text, "Welcome");
  assert.equal(server.requests[1].headers["x-api-key"], "sk-ant-another-0123456789");
  await opened.page.evaluate(() => globalThis.agent.setApiKey("no header\nholds this"));
  const unfit = await run(opened.page, "agent", "And again");
  assert.match(unfit.result.error, /the key cannot stand in a header/);
  assert.deepEqual(problemsBut(opened, /Failed to load resource.*401/), []);
  await Promise.all([opened.close(), server.close()]);
});

test("n34 a redirect is not followed, and a server that is not there is told", async () => {
  const elsewhere = await serve(reply({ text: "It came here" }));
  const server = await serve((_request, response) =>
    response.writeHead(307, { location: elsewhere.url }).end(),
  );
  const opened = await openModule();
  await opened.make("agent", { baseUrl: server.url });
  const { result } = await run(opened.page, "agent", "Hello");
  assert.match(result.error, /redirects are not followed/);
  assert.equal(elsewhere.requests.length, 0);
  await server.close();
  await opened.make("lost", { baseUrl: server.url, config: { retry: { max_retries: 0 } } });
  const lost = await run(opened.page, "lost", "Hello");
  assert.match(lost.result.error, /cannot reach http:\/\/127.*\(CORS\)/);
  assert.deepEqual(problemsBut(opened, /ERR_CONNECTION_REFUSED/), []);
  await Promise.all([opened.close(), elsewhere.close()]);
});

test("n34 two agents work side by side, and a second run of one is refused", async () => {
  const held = hanging("The first one thinks");
  const [one, other] = [await serve(held), await serve(reply({ text: "The other is done" }))];
  const opened = await openModule();
  const { page, make } = opened;
  await make("one", { baseUrl: one.url });
  await make("other", { baseUrl: other.url });
  await page.evaluate(() => {
    globalThis.first = globalThis.one.run("Hello", () => {});
  });
  await held.come;
  assert.equal((await run(page, "other", "Hello")).result.text, "The other is done");
  const refused = page.evaluate(() => globalThis.one.run("Now?", () => {}));
  await assert.rejects(refused, /a run is under way/);
  assert.equal((await page.evaluate(() => globalThis.one.status())).state, "processing");
  await page.evaluate(() => globalThis.one.interrupt());
  await held.gone;
  const { end } = await page.evaluate(() => globalThis.first);
  assert.equal(end, "Interrupted");
  assert.deepEqual(opened.problems, []);
  await Promise.all([opened.close(), one.close(), other.close()]);
});

test("n34 a run that is dropped is interrupted, and an agent that is dropped stops", async () => {
  const [first, second] = [hanging("Dropped run"), hanging("Dropped agent")];
  const server = await serve(first, second, reply({ text: "Never asked for" }));
  const opened = await openModule();
  const { page, make } = opened;
  await make("agent", { baseUrl: server.url });
  const dropped = await page.evaluate(() =>
    globalThis.agent.run("Hello", ({ event }) => event.type !== "assistant_text_delta"),
  );
  assert.equal(dropped, null);
  await first.gone;
  assert.equal((await page.evaluate(() => globalThis.agent.status())).state, "idle");
  // Whoever holds no run of it: the one that a restored session is in.
  const snapshot = await page.evaluate(async () => {
    const taken = new Promise((resolve) => {
      const hear = ({ event }) => {
        if (event.type === "assistant_text_delta") resolve([...globalThis.agent.snapshot()]);
      };
      globalThis.running = globalThis.agent.run("Go on", hear);
    });
    return taken;
  });
  await page.evaluate(() => globalThis.agent.interrupt());
  await second.gone;
  const third = hanging("Asked anew");
  const later = await serve(third, reply({ text: "Never asked for" }));
  await page.evaluate(
    ([snapshot, baseUrl, apiKey]) => {
      const options = { apiKey, baseUrl, snapshot: new Uint8Array(snapshot) };
      const agent = new globalThis.module.ScriptAgent(options, [], undefined);
      globalThis.restored = agent;
    },
    [snapshot, later.url, KEY],
  );
  await third.come;
  await page.evaluate(() => globalThis.restored.free());
  await third.gone;
  assert.equal(later.requests.length, 1);
  assert.deepEqual(opened.problems, []);
  await Promise.all([opened.close(), server.close(), later.close()]);
});

test("n34 a session goes on from a snapshot that was taken within a reply, and forks", async () => {
  const held = hanging("Half of it");
  const server = await serve(held);
  const opened = await openModule();
  const { page, make } = opened;
  await make("agent", { baseUrl: server.url });
  const snapshot = await page.evaluate(
    () =>
      new Promise((resolve) => {
        globalThis.agent.run("Count to three", ({ event }) => {
          if (event.type === "assistant_text_delta") resolve([...globalThis.agent.snapshot()]);
        });
      }),
  );
  await page.reload();
  await loaded(page);
  const later = await serve(reply({ text: "One, two, three" }), reply({ text: "Four" }));
  const end = await page.evaluate(
    ([snapshot, baseUrl, apiKey]) => {
      const options = { apiKey, baseUrl, snapshot: new Uint8Array(snapshot) };
      globalThis.agent = new globalThis.module.ScriptAgent(options, [], undefined);
      return globalThis.agent.nextEnd();
    },
    [snapshot, later.url, KEY],
  );
  assert.deepEqual([end.end, end.text], ["completed", "One, two, three"]);
  assert.deepEqual(later.requests[0].body.messages, server.requests[0].body.messages);
  await page.evaluate(() => {
    globalThis.agent.setApiKey("sk-ant-another-0123456789");
    globalThis.forked = globalThis.agent.fork();
  });
  assert.equal((await run(page, "forked", "And then?")).result.text, "Four");
  assert.equal(later.requests[1].headers["x-api-key"], "sk-ant-another-0123456789");
  const lengths = await page.evaluate(() =>
    [globalThis.agent, globalThis.forked].map((agent) => agent.history().length),
  );
  assert.deepEqual(lengths, [2, 4]);
  await page.evaluate(() => globalThis.agent.close());
  assert.equal(await page.evaluate(() => globalThis.agent.status()), null);
  await assert.rejects(run(page, "agent", "Hello?"), /closed/);
  assert.deepEqual(opened.problems, []);
  await Promise.all([opened.close(), server.close(), later.close()]);
});

test("n34 steering is read after the round", async () => {
  const server = await serve(
    reply({ calls: [["pause", {}]] }),
    reply({ text: "In Norwegian, then" }),
  );
  const opened = await openModule();
  await opened.make("agent", {
    baseUrl: server.url,
    tools: `[[{ name: "pause", description: "Waits.", parameters: { type: "object" } },
      async () => { globalThis.agent.steer("In Norwegian, please"); return "waited"; }]]`,
  });
  const { result } = await run(opened.page, "agent", "Say hello");
  assert.equal(result.text, "In Norwegian, then");
  assert.match(JSON.stringify(server.requests[1].body.messages), /In Norwegian, please/);
  assert.deepEqual(opened.problems, []);
  await Promise.all([opened.close(), server.close()]);
});

/** The chat on Leptos, over a server. */
async function openChat(server) {
  const opened = await open(browser, `${site}/leptos-chat/`);
  const { page } = opened;
  const connect = async (key = KEY) => {
    await page.getByPlaceholder("Key of Anthropic").fill(key);
    await page.getByPlaceholder("Another server, if any").fill(server.url);
  };
  await connect();
  const say = async (text) => {
    await page.getByPlaceholder("Say something").fill(text);
    await page.getByRole("button", { name: "Send" }).click();
  };
  const line = (kind, text) => page.locator(`li.${kind}`).filter({ hasText: text }).waitFor();
  const idle = () => page.locator("button:enabled", { hasText: "Send" }).waitFor();
  return { ...opened, connect, say, line, idle };
}

test("n34 the chat on Leptos streams, uses its tool and files, stops, and outlives a reload", async () => {
  const held = hanging("Let me think about it");
  const server = await serve(
    reply({
      text: "A calm one.",
      calls: [
        ["paint_page", { colour: "#e8f4ea" }],
        ["paint_page", { colour: "blue" }],
        ["Write", { file_path: "poem.md", content: "The page is green,\nas seldom seen.\n" }],
      ],
    }),
    reply({ text: "There it is: the page is pale green, and poem.md has your poem." }),
    held,
    reply({ text: "We spoke of a poem." }),
  );
  const opened = await openChat(server);
  const { page, say, line, idle, connect } = opened;
  await say("Paint the page, and write a poem about it");
  await line("agent", "There it is: the page is pale green");
  await line("tool", "paint_page");
  await idle();
  assert.equal(
    await page.locator("aside pre").textContent(),
    "The page is green,\nas seldom seen.\n",
  );
  const colour = await page.locator("main").evaluate((main) => getComputedStyle(main).background);
  assert.match(colour, /rgb\(232, 244, 234\)/);
  const [painted, unknown] = toolResults(server.requests[1]);
  assert.deepEqual(painted, { text: "The page has that colour now.", isError: false });
  assert.match(unknown.text, /give it as #rrggbb/);
  mkdirSync(join(ROOT, "target/screenshots"), { recursive: true });

  await say("Another one?");
  await line("agent", "Let me");
  assert.equal(await page.getByPlaceholder("Say something").inputValue(), "");
  await page.screenshot({ path: join(ROOT, "target/screenshots/leptos-chat.png") });
  await page.getByRole("button", { name: "Stop" }).click();
  await held.gone;
  await line("note", "Interrupted");
  await idle();

  await page.reload();
  await line("agent", "There it is");
  assert.equal(await page.locator("aside h2").textContent(), "poem.md");
  await connect();
  await say("What did we speak of?");
  await line("agent", "We spoke of a poem.");
  assert.match(JSON.stringify(server.requests[3].body.messages), /Paint the page.*pale green/);
  assert.deepEqual(opened.problems, []);
  await Promise.all([opened.close(), server.close()]);
});

test("n34 the chat on Leptos says what is wrong, and goes on", async () => {
  const server = await serve(
    failure(401, "authentication_error", "invalid x-api-key"),
    reply({ text: "Hello there" }),
  );
  const opened = await openChat(server);
  await opened.say("Hello");
  await opened.line("note", "invalid x-api-key");
  await opened.idle();
  await opened.connect("sk-ant-right-0123456789");
  await opened.say("Hello again");
  await opened.line("agent", "Hello there");
  assert.equal(server.requests[1].headers["x-api-key"], "sk-ant-right-0123456789");
  assert.deepEqual(problemsBut(opened, /Failed to load resource.*401/), []);
  await Promise.all([opened.close(), server.close()]);
});
