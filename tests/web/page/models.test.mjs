// One's own model: real requests, the key and where it goes, endpoints that refuse or break.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { endless, failure, hanging, reply, serve, toolResults } from "../support/anthropic.mjs";
import {
  allow,
  askNothing,
  checkClean,
  DONE,
  finished,
  lastReply,
  look,
  openPage,
  ownModel,
  run,
  useModel,
} from "./support.mjs";

/** All that the page has stored anywhere, as text. */
function stored(page) {
  return page.evaluate(async () => {
    const open = indexedDB.open("innerloop-playground");
    const db = await new Promise((resolve) => {
      open.onsuccess = () => resolve(open.result);
    });
    const found = [JSON.stringify(localStorage), JSON.stringify(sessionStorage), document.cookie];
    for (const name of db.objectStoreNames) {
      const all = db.transaction(name).objectStore(name).getAll();
      await new Promise((resolve) => {
        all.onsuccess = resolve;
      });
      const asText = (_key, value) =>
        value instanceof Uint8Array ? new TextDecoder().decode(value) : value;
      found.push(JSON.stringify(all.result, asText));
    }
    return found.join("\n");
  });
}

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
  const opened = await openPage();
  const { page, close } = opened;
  await useModel(page, server, { key });
  await run(page, "Write hello.txt");
  await allow(page);
  await page.locator('[role=treeitem][data-path="hello.txt"] .badge').waitFor(DONE);
  await page.locator("#prompt").fill("Say it in one line");
  await page.getByRole("button", { name: "Steer" }).click();
  while (answer === undefined) await new Promise((resolve) => setTimeout(resolve, 10));
  answer();
  await finished(page, "Done");
  assert.equal((await lastReply(page)).trim(), "It is written.");
  assert.equal(await page.locator(".thinking").count(), 1);
  assert.match(await page.locator(".said").last().textContent(), /^Say it in one line/);
  assert.equal(await page.locator('[data-path="hello.txt"] .badge').textContent(), "new");

  const posts = server.requests;
  assert.deepEqual(
    posts.map(({ headers }) => headers["x-api-key"]),
    [key, key, key],
  );
  assert.equal(posts[0].headers["anthropic-dangerous-direct-browser-access"], "true");
  assert.equal(toolResults(posts[1])[0].isError, false);
  assert.match(JSON.stringify(posts[2].body.messages.at(-1)), /Say it in one line/);
  assert.ok(posts.every(({ text }) => !text.includes(key)));
  await page.waitForTimeout(1000);
  assert.ok(!(await page.content()).includes(key));
  const kept = await stored(page);
  assert.match(kept, /Hello from the page/);
  assert.ok(!kept.includes(key), "the key is not stored unless the person says so");
  checkClean(opened);
  await close();
  await server.close();
});

test("a key that is kept is there after a reload, and forgotten when the person says so", async () => {
  const key = "sk-test-kept-0123456789";
  const server = await serve(reply({ text: "First." }), reply({ text: "Second." }));
  const opened = await ownModel(server, { key, remember: true });
  const { page, close } = opened;
  await run(page, "Hello");
  await finished(page, "Done");
  await page.waitForTimeout(1000);
  await page.reload();
  await page.locator("#run:enabled").waitFor(DONE);
  await run(page, "Again");
  await page.locator(".reply").filter({ hasText: "Second." }).waitFor(DONE);
  assert.equal(server.requests[1].headers["x-api-key"], key);
  assert.match(await stored(page), new RegExp(key));
  await page.locator("#model").click();
  await page.getByRole("button", { name: "Forget the key" }).click();
  await page.getByRole("button", { name: "Forget the key" }).waitFor({ state: "detached" });
  assert.ok(!(await stored(page)).includes(key));
  checkClean(opened);
  await close();
  await server.close();
});

test("a refused key is told with what to do, and the next run works with another", async () => {
  const server = await serve(
    failure(401, "authentication_error", "invalid x-api-key"),
    reply({ text: "Now I can." }),
  );
  const { page, close } = await ownModel(server);
  await run(page, "Hello");
  await finished(page, "Failed");
  const told = await page.locator(".note.bad").textContent();
  assert.match(told, /invalid x-api-key.*Check the key under Model/);
  await useModel(page, server, { key: "sk-test-better-456789" });
  await page
    .getByText(/From here on mock-1 of Anthropic at .* answers/)
    .last()
    .waitFor();
  await run(page, "Hello again");
  await page.locator(".reply").filter({ hasText: "Now I can." }).waitFor(DONE);
  assert.equal(server.requests[1].headers["x-api-key"], "sk-test-better-456789");
  assert.match(server.requests[1].text, /"Hello"/, "it goes on");
  await close();
  await server.close();
});

test("a 429 is tried again, and the wait is told", async () => {
  const busy = failure(429, "rate_limit_error", "slow down", { "retry-after": "1" });
  const server = await serve(busy, reply({ text: "Here I am." }));
  const { page, close } = await ownModel(server);
  await run(page, "Hello");
  await page
    .locator(".note")
    .filter({ hasText: /slow down.*trying again in/ })
    .waitFor(DONE);
  await finished(page, "Done");
  assert.equal((await lastReply(page)).trim(), "Here I am.");
  await close();
  await server.close();
});

test("an endpoint that lets no page in is told at once, in words, and once", async () => {
  const server = createServer((_request, response) => response.writeHead(200).end("no CORS"));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  const url = `http://127.0.0.1:${server.address().port}`;
  const { page, close } = await ownModel({ url });
  await run(page, "Hello");
  const told = page.locator(".note.bad").filter({ hasText: /does it let this page in\?/ });
  await told.waitFor({ timeout: 5_000 });
  assert.match(await told.textContent(), /OLLAMA_ORIGINS=http:\/\/127\.0\.0\.1:\d+/);
  await page
    .locator(".note")
    .filter({ hasText: /trying again/ })
    .first()
    .waitFor(DONE);
  assert.equal(await told.count(), 1);
  await page.getByRole("button", { name: "Stop" }).click();
  await finished(page, "Stopped");
  await close();
  server.closeAllConnections();
  server.close();
});

test("a stream that is cut is begun again, and only the whole reply is left", async () => {
  const cut = (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const start = { type: "text", text: "" };
    const delta = { type: "text_delta", text: "This is only ha" };
    const message = { id: "m", role: "assistant", content: [], usage: { input_tokens: 1 } };
    const events = [
      { type: "message_start", message },
      { type: "content_block_start", index: 0, content_block: start },
      { type: "content_block_delta", index: 0, delta },
    ];
    for (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`);
    setTimeout(() => response.destroy(), 300);
  };
  const server = await serve(cut, reply({ text: "This is whole." }));
  const { page, close } = await ownModel(server);
  await run(page, "Hello");
  await page.locator(".reply").filter({ hasText: "only ha" }).waitFor(DONE);
  await finished(page, "Done");
  assert.deepEqual(
    (await page.locator(".reply").allTextContents()).map((text) => text.trim()),
    ["This is whole."],
  );
  await close();
  await server.close();
});

test("a reply without end ends at its limit, and the page goes on", async () => {
  const times = Array.from({ length: 1_000 }, (_, at) => `All work and no play, ${at} times. `);
  const flood = endless(times.join(""));
  const server = await serve(flood, reply({ text: "Better now." }));
  const opened = await ownModel(server);
  const { page, close } = opened;
  await run(page, "Hello");
  await finished(page, "Failed");
  assert.match(await page.locator(".note.bad").textContent(), /response\.max_kept_bytes/);
  assert.ok((await flood.gone) > 0);
  await run(page, "And now?");
  await finished(page, "Done");
  assert.equal((await lastReply(page)).trim(), "Better now.");
  checkClean(opened);
  await close();
  await server.close();
});

test("leaving a model that hangs with Stop closes the connection", async () => {
  const silence = hanging("A beginning without an end.");
  const server = await serve(silence);
  const opened = await ownModel(server);
  const { page, close } = opened;
  await run(page, "Hello");
  await page.locator(".reply").waitFor(DONE);
  await page.getByRole("button", { name: "Stop" }).click();
  await finished(page, "Stopped");
  await silence.gone;
  checkClean(opened);
  await close();
  await server.close();
});

test("another model takes over at once, says so, and knows what was said", async () => {
  const server = await serve(reply({ text: "I took over." }), reply({ text: "As mock-2." }));
  const opened = await openPage();
  const { page, close } = opened;
  await run(page);
  await page.getByRole("alertdialog").waitFor(DONE);
  await useModel(page, server);
  await page.getByText(/The run was stopped\. From here on mock-1 of Anthropic/).waitFor(DONE);
  assert.equal(await page.getByRole("alertdialog").count(), 0);
  await askNothing(page);
  await run(page, "Go on");
  await page.locator(".reply").filter({ hasText: "I took over." }).waitFor(DONE);
  const [first] = server.requests[0].body.messages;
  assert.deepEqual([first.role, first.content[0].text], ["user", "Make the tests pass"]);
  assert.equal(server.requests[0].body.model, "mock-1");
  await useModel(page, server, { model: "mock-2" });
  await page.getByText(/From here on mock-2 of Anthropic/).waitFor(DONE);
  await run(page, "Still there?");
  await page.locator(".reply").filter({ hasText: "As mock-2." }).waitFor(DONE);
  assert.equal(server.requests[1].body.model, "mock-2");
  assert.match(JSON.stringify(server.requests[1].body.messages), /I took over\./);
  checkClean(opened);
  await close();
  await server.close();
});

/** A server with a list of models, and what it is asked. */
async function listing(answers) {
  const asked = [];
  const server = createServer((request, response) => {
    const { method, url, headers } = request;
    response.setHeader("access-control-allow-origin", "*");
    response.setHeader("access-control-allow-headers", "*");
    if (method === "OPTIONS") {
      const named = request.headers["access-control-request-headers"] ?? "";
      return response.writeHead(204, { "access-control-allow-headers": named }).end();
    }
    asked.push({ url, headers });
    const [status, body] = answers.shift() ?? [500, {}];
    return response
      .writeHead(status, { "content-type": "application/json" })
      .end(JSON.stringify(body));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, asked, close };
}

test("a connection is tested: its models are listed, or what is in the way is said", async () => {
  const tags = { models: [{ name: "qwen3:8b" }, { name: "llama4:scout" }] };
  const server = await listing([
    [200, tags],
    [401, {}],
    [404, {}],
    [200, "no list"],
  ]);
  const { page, close } = await openPage();
  await page.locator("#model").click();
  const dialog = page.getByRole("dialog", { name: "Model" });
  await dialog.getByRole("option", { name: "Ollama" }).first().waitFor({ state: "attached" });
  await dialog.getByRole("combobox", { name: "Provider" }).selectOption("ollama");
  await dialog.getByLabel("Base URL, if not the provider's").fill(server.url);
  const test = async (words) => {
    await dialog.getByRole("button", { name: "Test" }).click();
    await dialog.locator(".note").filter({ hasText: words }).waitFor(DONE);
  };
  await test(/answers, and has 2 models/);
  assert.equal(server.asked[0].url, "/api/tags");
  const models = await dialog
    .locator("datalist option")
    .evaluateAll((all) => all.map((one) => one.value));
  assert.deepEqual(models, ["llama4:scout", "qwen3:8b"]);
  await test(/refuses the key \(401\)/);
  await test(/no list of models at this address \(404\)/);
  await test(/is not/);
  server.close();
  await test(/Is the server running/);
  await dialog.getByRole("combobox", { name: "Provider" }).selectOption("anthropic");
  await test(/needs a key/);
  await close();
});

test("a local Ollama works on the files, asked for with headers that it lets in", async () => {
  const turns = [
    { tool_calls: [{ function: { name: "write_file", arguments: {} } }], content: "" },
    { content: "It is written." },
  ];
  const input = { file_path: "local.txt", content: "from here\n" };
  turns[0].tool_calls[0].function.arguments = input;
  const asked = [];
  const server = createServer(async (request, response) => {
    response.setHeader("access-control-allow-origin", "*");
    if (request.method === "OPTIONS") {
      asked.push(request.headers["access-control-request-headers"] ?? "");
      return response.writeHead(204, { "access-control-allow-headers": "content-type" }).end();
    }
    let text = "";
    for await (const chunk of request) text += chunk;
    if (request.url === "/api/show") return response.writeHead(200).end("{}");
    const tools = JSON.parse(text).tools?.map((tool) => tool.function.name) ?? [];
    const write = tools.find((name) => /write/i.test(name));
    const message = { role: "assistant", ...turns.shift() };
    for (const call of message.tool_calls ?? []) call.function.name = write;
    const head = { model: "qwen3:8b", created_at: "2026-01-01T00:00:00Z" };
    const lines = [
      { ...head, message, done: false },
      { ...head, message: { role: "assistant", content: "" }, done: true, done_reason: "stop" },
    ];
    response.writeHead(200, { "content-type": "application/x-ndjson" });
    return response.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  const opened = await openPage();
  const { page, close } = opened;
  await page.locator("#model").click();
  const dialog = page.getByRole("dialog", { name: "Model" });
  await dialog.getByRole("option", { name: "Ollama" }).first().waitFor({ state: "attached" });
  await dialog.getByRole("combobox", { name: "Provider" }).selectOption("ollama");
  await dialog.getByLabel("Model", { exact: true }).fill("qwen3:8b");
  const url = `http://127.0.0.1:${server.address().port}`;
  await dialog.getByLabel("Base URL, if not the provider's").fill(url);
  await dialog.getByRole("button", { name: "Use" }).click();
  await dialog.waitFor({ state: "detached" });
  await run(page, "Write local.txt");
  await allow(page);
  await finished(page, "Done");
  assert.equal((await lastReply(page)).trim(), "It is written.");
  assert.equal(await page.locator('[data-path="local.txt"] .badge').textContent(), "new");
  assert.ok(
    asked.every((headers) => headers === "content-type"),
    asked.join("; "),
  );
  checkClean(opened);
  await close();
  server.closeAllConnections();
  server.close();
});

test("what was looked at before it changed is shown as it is now", async () => {
  const write = (content) => reply({ calls: [["Write", { file_path: "n.txt", content }]] });
  const server = await serve(write("one\n"), write("two\n"), reply({ text: "Done." }));
  const opened = await ownModel(server);
  const { page, close } = opened;
  await run(page, "Count");
  await finished(page, "Done");
  await page.locator('[role=treeitem][data-path="n.txt"]').click();
  await page.locator(".cm-line").filter({ hasText: "two" }).waitFor();
  await look(page, "Events");
  await page.getByRole("region", { name: "Raw events" }).filter({ hasText: "two" }).waitFor();
  checkClean(opened);
  await close();
  await server.close();
});
