// Work is not lost and nothing is said that is not so: where the browser keeps nothing, or keeps it
// late; where files are in the way; where something is taken back, or another model goes on.

import assert from "node:assert/strict";
import { test } from "node:test";
import { reply, serve } from "../support/anthropic.mjs";
import { open } from "../support/browser.mjs";
import {
  askNothing,
  browser,
  checkClean,
  DONE,
  emptySession,
  finished,
  kept,
  lastReply,
  openPage,
  ownModel,
  paths,
  run,
  shoot,
  site,
  useModel,
  workspace,
} from "./support.mjs";

/** The page with a worker that begins with this script. */
async function openBehind(prelude) {
  site.faults.prelude = prelude;
  try {
    return await openPage();
  } finally {
    site.faults.prelude = "";
  }
}

const DENIED = `Object.defineProperty(self, "indexedDB", {
  get() { throw new DOMException("denied", "SecurityError"); } })`;

test("without a database the page works, and says once that it keeps nothing", async () => {
  for (const prelude of [
    DENIED,
    `Object.defineProperty(self, "indexedDB", { value: undefined })`,
  ]) {
    const opened = await openBehind(prelude);
    const { page, close } = opened;
    await page.getByText("This browser keeps nothing for this page").waitFor(DONE);
    assert.equal(await page.getByText("are there again tomorrow").count(), 0);
    await askNothing(page);
    await run(page);
    await finished(page, "Done");
    assert.match(await lastReply(page), /The tests pass: 11 of 11/);
    await page.getByRole("button", { name: "New", exact: true }).click();
    await page.getByRole("treeitem").first().waitFor({ state: "detached" });
    const sessions = page.getByRole("combobox", { name: "Session" });
    await sessions.selectOption({ label: "Fix the till" });
    await page.locator(".said").waitFor(DONE);
    checkClean(opened);
    await close();
  }
});

const FULL = `let isFull = false;
  const { put } = IDBObjectStore.prototype;
  IDBObjectStore.prototype.put = function (...args) {
    if (isFull && this.name === "told") throw new DOMException("full", "QuotaExceededError");
    return put.apply(this, args);
  };
  new BroadcastChannel("test").onmessage = ({ data }) => { isFull = data; }`;

test("what could not be kept is kept later, whole, and both are said", async () => {
  const opened = await openBehind(FULL);
  const { page, close } = opened;
  const setFull = (isFull) =>
    page.evaluate((isFull) => new BroadcastChannel("test").postMessage(isFull), isFull);
  await kept(page);
  await setFull(true);
  await askNothing(page);
  await run(page);
  await finished(page, "Done");
  await page.getByText(/does not keep the session now \(full\)/).waitFor(DONE);
  const said = await page.locator("#log").innerText();
  assert.equal(await page.locator("body").getAttribute("data-kept"), "false");
  await setFull(false);
  await page.getByText("The session is kept again.").waitFor(DONE);
  await kept(page);
  const before = await workspace(page);
  await page.reload();
  await page.locator("#run:enabled").waitFor(DONE);
  assert.equal(await page.locator("#log").innerText(), said);
  assert.deepEqual(await workspace(page), before);
  checkClean(opened);
  await close();
});

test("a page without encryption works as well, one tab for each session", async () => {
  const { port } = new URL(site.url);
  const opened = await open(browser, `http://playground.test:${port}/?pace=0`);
  const { page, close } = opened;
  await page.locator("#run:enabled").waitFor(DONE);
  assert.equal(await page.evaluate(() => window.isSecureContext), false);
  await askNothing(page);
  await run(page);
  await finished(page, "Done");
  await kept(page);
  const second = await page.context().newPage();
  await second.goto(page.url());
  await second.locator("#run:enabled").waitFor(DONE);
  assert.equal(await second.locator(".said").count(), 0, "a session of its own");
  await second.close();
  await page.reload();
  await page.locator(".said").waitFor(DONE);
  checkClean(opened);
  await close();
});

test("further tabs leave no examples behind", async () => {
  const context = await browser.newContext();
  const tabs = [];
  for (let at = 0; at < 3; at += 1) {
    const page = await context.newPage();
    await page.goto(`${site.url}?pace=0`);
    await page.locator("#run:enabled").waitFor(DONE);
    tabs.push(page);
  }
  await askNothing(tabs[1]);
  await run(tabs[1]);
  await finished(tabs[1], "Done");
  await kept(tabs[1]);
  for (const tab of tabs) await tab.close();
  const page = await context.newPage();
  await page.goto(`${site.url}?pace=0`);
  await page.locator("#run:enabled").waitFor(DONE);
  assert.equal(await page.locator(".said").count(), 1);
  assert.equal(await page.getByRole("combobox", { name: "Session" }).locator("option").count(), 1);
  await context.close();
});

test("the session that was shown last is there again after a reload", async () => {
  const opened = await openPage();
  const { page, close } = opened;
  await askNothing(page);
  await run(page);
  await finished(page, "Done");
  await kept(page);
  await page.getByRole("button", { name: "New", exact: true }).click();
  await page.getByRole("treeitem").first().waitFor({ state: "detached" });
  const sessions = page.getByRole("combobox", { name: "Session" });
  await sessions.selectOption({ label: "Fix the till" });
  await page.locator(".said").waitFor(DONE);
  await page.reload();
  await page.locator("#run:enabled").waitFor(DONE);
  assert.equal(await page.locator(".said").count(), 1);
  checkClean(opened);
  await close();
});

/** Answers the open question. */
async function say(page, name, text) {
  const dialog = page.getByRole("dialog");
  if (text !== undefined) await dialog.getByRole("textbox").fill(text);
  await dialog.getByRole("button", { name, exact: true }).click();
  await dialog.waitFor({ state: "detached" });
}

test("a new file leaves one that is there as it is", async () => {
  const opened = await openPage();
  const { page, close } = opened;
  const before = await workspace(page);
  for (const path of ["README.md", "./src/cart.js"]) {
    await page.getByRole("button", { name: "File", exact: true }).click();
    await say(page, "Create", path);
    await page.getByText(/There is already a “.*”/).waitFor(DONE);
  }
  assert.deepEqual(await workspace(page), before);
  await page.getByLabel("Content of src/cart.js", { exact: true }).waitFor(DONE);
  checkClean(opened);
  await close();
});

test("files that are added replace others only if that is meant, and that can be undone", async () => {
  const opened = await openPage();
  const { page, close } = opened;
  const before = await workspace(page);
  const file = (name, text) => ({ name, mimeType: "text/plain", buffer: Buffer.from(text) });
  const add = () =>
    page
      .locator("label", { hasText: "Add files" })
      .locator("input")
      .setInputFiles([file("README.md", "mine\n"), file("new.txt", "new\n")]);
  await add();
  await page.getByText("Replace README.md, which is there already?").waitFor(DONE);
  await say(page, "Cancel");
  await page.getByText("No file was added.").waitFor(DONE);
  assert.deepEqual(await workspace(page), before);
  await add();
  await say(page, "Replace");
  await page.getByText("2 files were added, 1 of them in place of what was there.").waitFor(DONE);
  const after = new Map(await workspace(page));
  assert.deepEqual([after.get("README.md"), after.get("new.txt")], ["mine\n", "new\n"]);
  await shoot(page, "replaced");
  await page.locator(".toast").getByRole("button", { name: "Undo" }).click();
  await page.getByText("It is as it was before.").waitFor(DONE);
  assert.deepEqual(await workspace(page), before);
  checkClean(opened);
  await close();
});

test("undo needs no key", async () => {
  const server = await serve(
    reply({ text: "One." }),
    reply({ text: "Two." }),
    reply({ text: "3" }),
  );
  const opened = await ownModel(server);
  const { page, close } = opened;
  for (const [input, text] of [
    ["First", "One."],
    ["Second", "Two."],
  ]) {
    await run(page, input);
    await page.locator(".reply").filter({ hasText: text }).waitFor(DONE);
    await finished(page, "Done");
  }
  await kept(page);
  await page.reload();
  await page.locator("#run:enabled").waitFor(DONE);
  await page.getByRole("button", { name: "Undo" }).last().click();
  await say(page, "Undo");
  await page.getByText("The session is as it was before that input.").waitFor(DONE);
  assert.equal(await page.locator(".said").count(), 1);
  await run(page, "Third");
  await page
    .getByText(/needs a key/)
    .first()
    .waitFor(DONE);
  await useModel(page, server);
  await run(page, "Third");
  await page.locator(".reply").filter({ hasText: "3" }).waitFor(DONE);
  const [said] = server.requests.slice(-1);
  const words = JSON.stringify(said.body.messages);
  assert.match(words, /First.*One\..*Third/);
  assert.doesNotMatch(words, /Second|Two/);
  await close();
  await server.close();
});

test("another provider goes on from what was said", async () => {
  const first = await serve(reply({ text: "I remember the number 7." }));
  const opened = await ownModel(first);
  const { page, close } = opened;
  await run(page, "Remember the number 7");
  await page.locator(".reply").filter({ hasText: "number 7" }).waitFor(DONE);
  await finished(page, "Done");
  const chat = (_request, response) => {
    const said = { choices: [{ index: 0, delta: { content: "It was 7." } }] };
    const end = { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const each of [said, end]) response.write(`data: ${JSON.stringify(each)}\n\n`);
    response.end("data: [DONE]\n\n");
  };
  const second = await serve(chat);
  await useModel(page, second, { provider: "openrouter", model: "other-1" });
  await page.getByText(/From here on other-1 of OpenRouter/).waitFor(DONE);
  await run(page, "Which one was it?");
  await page.locator(".reply").filter({ hasText: "It was 7." }).waitFor(DONE);
  const roles = second.requests[0].body.messages.map(({ role }) => role);
  assert.deepEqual(
    roles.filter((role) => role !== "system"),
    ["user", "assistant", "user"],
  );
  assert.match(second.requests[0].text, /I remember the number 7/);
  await page.getByRole("button", { name: "Undo" }).first().click();
  await say(page, "Undo");
  await page.locator(".said").first().waitFor({ state: "detached" });
  checkClean(opened);
  await close();
  await Promise.all([first.close(), second.close()]);
});

test("whoever is asked about edits is asked about command lines that edit, and only those", async () => {
  const line = (command) => reply({ calls: [["Bash", { command }]] });
  const server = await serve(
    line("ls -la; cat a.txt | head -3 2>&1 > /dev/null"),
    line("rm a.txt"),
    line("echo new > b.txt"),
    line("find . -name '*.txt' -delete"),
    reply({ text: "That was all." }),
  );
  const opened = await emptySession();
  const { page, close } = opened;
  await useModel(page, server);
  await page.getByRole("button", { name: "File", exact: true }).click();
  await say(page, "Create", "a.txt");
  await page.locator('[role=treeitem][data-path="a.txt"]').waitFor(DONE);
  await run(page, "Go");
  for (const command of ["rm a.txt", "echo new > b.txt", "find . -name"]) {
    const question = page.getByRole("alertdialog").filter({ hasText: command });
    await question.waitFor(DONE);
    assert.deepEqual(await paths(page), ["a.txt"], "nothing has happened yet");
    await question.getByRole("button", { name: "Deny…" }).click();
    await question.getByRole("button", { name: "Deny", exact: true }).click();
    await question.waitFor({ state: "detached" });
  }
  await finished(page, "Done");
  assert.deepEqual(await paths(page), ["a.txt"]);
  await close();
  await server.close();
});

test("a package that could not be loaded is tried again", async () => {
  const entry = "/innerloop/dist/index.web.js";
  const opened = await openPage();
  const { page, close } = opened;
  await page.waitForLoadState("networkidle");
  if (!site.asked.includes(entry)) site.faults.once.add(entry);
  await close();
  // Whatever asks for it first fails, and the next try does not.
  site.faults.once.add(entry);
  const again = await openPage();
  await askNothing(again.page);
  await run(again.page);
  const words = /The package could not be loaded|The tests pass: 11 of 11/;
  await again.page.getByText(words).first().waitFor(DONE);
  if ((await again.page.getByText(/The tests pass/).count()) === 0) {
    await run(again.page, "Make the tests pass");
  }
  await again.page.getByText(/The tests pass: 11 of 11/).waitFor(DONE);
  assert.equal(site.faults.once.size, 0, "it did fail once");
  await again.close();
});

test("the end of an answer is seen when ideas appear below it", async () => {
  const opened = await openPage();
  const { page, close } = opened;
  await page.setViewportSize({ width: 1100, height: 520 });
  await askNothing(page);
  await run(page);
  await finished(page, "Done");
  await page.getByRole("group", { name: "Ideas" }).waitFor(DONE);
  const isAtEnd = () => {
    const log = document.querySelector("#log");
    return log.scrollHeight - log.scrollTop - log.clientHeight < 2;
  };
  await page.waitForFunction(isAtEnd);
  // The page's own scrolling is told when something has grown already.
  await page.evaluate(() => {
    document.querySelector(".ideas").style.paddingBlockEnd = "120px";
    document.querySelector("#log").dispatchEvent(new Event("scroll"));
  });
  await page.waitForFunction(isAtEnd);
  await shoot(page, "ideas");
  await page.locator("#log").hover();
  await page.mouse.wheel(0, -200);
  await page.waitForFunction(() => {
    const log = document.querySelector("#log");
    return log.scrollHeight - log.scrollTop - log.clientHeight > 100;
  });
  await page.evaluate(() => (document.querySelector(".ideas").style.paddingBlockEnd = "0"));
  await page.waitForTimeout(200);
  assert.equal(await page.evaluate(isAtEnd), false, "who reads above stays there");
  checkClean(opened);
  await close();
});
