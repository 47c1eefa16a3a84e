// Sessions: several, with names, and all of them there again after a reload, in mid-run, too.

import assert from "node:assert/strict";
import { test } from "node:test";
import { hanging, reply, serve } from "../support/anthropic.mjs";
import {
  allow,
  askNothing,
  browser,
  checkClean,
  DONE,
  finished,
  kept,
  lastReply,
  openFile,
  openPage,
  ownModel,
  paths,
  run,
  site,
  useModel,
  workspace,
} from "./support.mjs";

async function reload(page) {
  await page.reload();
  await page.locator("#run, .stop").first().waitFor(DONE);
  await page.locator("#status").filter({ hasNotText: "Loading" }).waitFor(DONE);
}

test("a session is there again after a reload, and goes on", async () => {
  const opened = await openPage();
  const { page, close } = opened;
  await askNothing(page);
  await run(page);
  await finished(page, "Done");
  const before = await workspace(page);
  const said = await page.locator("#log").innerText();
  await kept(page);
  await reload(page);
  assert.equal(await page.locator("#log").innerText(), said);
  assert.deepEqual(await workspace(page), before);
  assert.equal(await page.locator("[role=treeitem] .badge").textContent(), "changed");
  assert.equal(await page.getByLabel("Ask me before").inputValue(), "nothing");
  await run(page, "Begin a changelog");
  await page.locator('[role=treeitem][data-path="CHANGELOG.md"]').waitFor(DONE);
  await finished(page, "Done");
  assert.match(await lastReply(page), /Done: CHANGELOG\.md/);
  checkClean(opened);
  await close();
});

test("a reload while the agent waits for an answer asks again, and the run goes on", async () => {
  const opened = await openPage();
  const { page, close } = opened;
  await run(page);
  await page.getByRole("alertdialog").waitFor(DONE);
  await kept(page);
  await reload(page);
  await page.getByText("The page was loaded again; the run goes on.").waitFor(DONE);
  await allow(page);
  await finished(page, "Done");
  assert.match(await lastReply(page), /The tests pass: 11 of 11/);
  assert.equal(await page.locator(".call[data-tool=edit_file]").count(), 1);
  assert.match(new Map(await workspace(page)).get("src/discount.js"), /quantity >= from/);
  checkClean(opened);
  await close();
});

test("a reload in the middle of a reply has the model asked again", async () => {
  const opened = await openPage({ pace: 60 });
  const { page, close } = opened;
  await askNothing(page);
  await run(page);
  await page.locator(".reply").nth(1).waitFor(DONE);
  await kept(page);
  await reload(page);
  await finished(page, "Done");
  const replies = await page.locator(".reply").allTextContents();
  assert.equal(replies.filter((text) => /The test runs with/.test(text)).length, 1);
  assert.match(replies.at(-1), /The tests pass: 11 of 11/);
  checkClean(opened);
  await close();
});

test("what waits to be heard outlasts a look at another session, and a reload", async () => {
  const opened = await openPage();
  const { page, close } = opened;
  await run(page);
  await page.getByRole("alertdialog").waitFor(DONE);
  await page.locator("#prompt").fill("Begin a changelog");
  await page.getByRole("button", { name: "Queue" }).click();
  const unheard = page.getByRole("list", { name: "Not heard yet" }).getByRole("listitem");
  await unheard.waitFor(DONE);
  await page.getByRole("button", { name: "New", exact: true }).click();
  await unheard.waitFor({ state: "detached" });
  const sessions = page.getByRole("combobox", { name: "Session" });
  await sessions.selectOption({ label: "Fix the till" });
  await unheard.waitFor(DONE);
  await kept(page);
  await reload(page);
  await unheard.waitFor(DONE);
  await page.getByRole("button", { name: "Always" }).click();
  await unheard.waitFor({ state: "detached", ...DONE });
  await allow(page);
  await finished(page, "Done");
  assert.match(await page.locator("#log").innerText(), /I begin a changelog/);
  checkClean(opened);
  await close();
});

test("two sessions keep apart, work at the same time, and one can be deleted", async () => {
  const opened = await openPage();
  const { page, close } = opened;
  await run(page);
  await page.getByRole("alertdialog").waitFor(DONE);
  await page.getByRole("button", { name: "New", exact: true }).click();
  await page.getByRole("treeitem").first().waitFor({ state: "detached" });
  assert.equal(await page.getByRole("alertdialog").count(), 0);
  await askNothing(page);
  await run(page, "Write a page");
  await finished(page, "Done");
  assert.deepEqual(await paths(page), ["index.html"]);
  const names = await page
    .getByLabel("Session", { exact: true })
    .locator("option")
    .allTextContents();
  assert.deepEqual(names.sort(), ["Fix the till", "Write a page"]);

  await page.getByRole("button", { name: "Rename" }).first().click();
  await page.getByRole("dialog").getByRole("textbox").fill("My <b>page</b>");
  await page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
  await page.getByRole("option", { name: "My <b>page</b>" }).waitFor({ state: "attached" });

  const sessions = page.getByRole("combobox", { name: "Session" });
  await sessions.selectOption({ label: "Fix the till" });
  await allow(page);
  await finished(page, "Done");
  assert.match(await lastReply(page), /The tests pass/);
  await kept(page);
  await reload(page);
  await sessions.selectOption({ label: "My <b>page</b>" });
  await page.locator('[role=treeitem][data-path="index.html"]').waitFor();
  await page
    .getByRole("group", { name: "Session" })
    .getByRole("button", { name: "Delete" })
    .click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.locator('[role=treeitem][data-path="src/cart.js"]').waitFor();
  assert.equal(await sessions.locator("option").count(), 1);
  checkClean(opened);
  await close();
});

test("what was taken back is still taken back after a reload, and can be asked for again", async () => {
  const opened = await openPage();
  const { page, close } = opened;
  const before = await workspace(page);
  await askNothing(page);
  await run(page);
  await finished(page, "Done");
  await kept(page);
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Undo" }).click();
  await page.locator(".said").waitFor({ state: "detached" });
  await kept(page);
  await reload(page);
  assert.equal(await page.locator(".said").count(), 0);
  assert.deepEqual(await workspace(page), before);
  assert.equal(await page.locator(".badge").count(), 0);
  await run(page);
  await finished(page, "Done");
  assert.match(await lastReply(page), /The tests pass: 11 of 11/);
  await page.locator("[role=treeitem] .badge").waitFor();
  checkClean(opened);
  await close();
});

test("what is typed into a file belongs to its session", async () => {
  const opened = await openPage();
  const { page, close } = opened;
  const path = "src/discount.js";
  await openFile(page, path);
  await page.getByLabel(`Content of ${path}`, { exact: true }).click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.insertText("// mine\n");
  await page.getByText("not saved").waitFor();
  await page.getByRole("button", { name: "Example" }).click();
  await page.getByText("not saved").waitFor({ state: "detached" });
  const mine = page.locator(".cm-line").filter({ hasText: "// mine" });
  await mine.waitFor({ state: "detached" });
  const sessions = page.getByRole("combobox", { name: "Session" });
  await sessions.selectOption({ index: 1 });
  await mine.waitFor();
  await page.keyboard.press("Control+S");
  checkClean(opened);
  await close();
});

test("another tab does not get a session that is open in this one", async () => {
  const context = await browser.newContext();
  const first = await context.newPage();
  await first.goto(`${site.url}?pace=0`);
  await first.locator("#run:enabled").waitFor(DONE);
  await askNothing(first);
  await run(first);
  await finished(first, "Done");
  await kept(first);
  const second = await context.newPage();
  await second.goto(`${site.url}?pace=0`);
  await second.locator("#run:enabled").waitFor(DONE);
  assert.equal(await second.locator(".said").count(), 0, "a session of its own");
  await context.close();
});

test("without a key that is kept, a run goes on after a reload when the key is given again", async () => {
  const silence = hanging("It begins");
  const server = await serve(silence, reply({ text: "It is whole." }));
  const opened = await ownModel(server);
  const { page, close } = opened;
  await run(page, "Say something");
  await page.locator(".reply").filter({ hasText: "It begi" }).waitFor(DONE);
  await kept(page);
  await reload(page);
  await page.getByText(/The run could not go on: Anthropic needs a key/).waitFor(DONE);
  await useModel(page, server, { key: "sk-test-again-456789" });
  await page.locator(".reply").filter({ hasText: "It is whole." }).waitFor(DONE);
  await finished(page, "Done");
  assert.equal(await page.locator(".reply").count(), 1);
  assert.equal(server.requests[1].headers["x-api-key"], "sk-test-again-456789");
  checkClean(opened);
  await close();
  await server.close();
});

test("a run with one's own model goes on after a reload if the key is kept", async () => {
  const silence = hanging("It begins");
  const server = await serve(silence, reply({ text: "It is whole." }));
  const opened = await ownModel(server, { remember: true });
  const { page, close } = opened;
  await run(page, "Say something");
  await page.locator(".reply").filter({ hasText: "It begi" }).waitFor(DONE);
  await kept(page);
  await reload(page);
  await finished(page, "Done");
  assert.equal(await page.locator(".reply").count(), 1);
  assert.equal((await lastReply(page)).trim(), "It is whole.");
  checkClean(opened);
  await close();
  await server.close();
});
