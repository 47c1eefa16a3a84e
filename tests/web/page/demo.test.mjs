// The demo: it fixes the project, answers to what a visitor does, and never fails for it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { runExampleTest } from "../support/example.mjs";
import { exampleFiles } from "../support/package.mjs";
import {
  allow,
  askNothing,
  checkClean,
  DONE,
  finished,
  kept,
  lastReply,
  look,
  openPage,
  paths,
  run,
  workspace,
} from "./support.mjs";

const FIXED = '[data-path="src/discount.js"]';

test("the demo fixes the example in the page: red before, green after", async () => {
  const opened = await openPage();
  const { page, close } = opened;
  const before = await workspace(page);
  assert.deepEqual(before, Object.entries(exampleFiles()), "the page's list is the project's");
  assert.equal(runExampleTest(before).status, 1);

  await run(page);
  await allow(page);
  await finished(page, "Done");
  await page.locator(".call.failed[data-tool=run_program]").waitFor();
  await page.locator(".call.done[data-tool=run_program] summary").click();
  const output = page.locator(".call.done[data-tool=run_program] .output");
  assert.match(await lastReply(page), /The tests pass: 11 of 11/);

  await look(page, "Changes");
  const diff = page.locator(`.diff${FIXED}`);
  assert.match(await diff.locator(".removed").textContent(), /^- .*quantity > from/);
  assert.match(await diff.locator(".added").textContent(), /^\+ .*quantity >= from/);
  assert.equal(await page.locator(".diff").count(), 1);
  assert.equal(await page.locator(`[role=treeitem]${FIXED} .badge`).textContent(), "changed");

  // How full the context window is, by part.
  const meter = page.locator(".totals meter[title*='Tool results']");
  await meter.waitFor({ state: "attached" });
  assert.match(
    await meter.getAttribute("title"),
    /^\d+ per cent.*\nSystem prompt: [1-9].*\nFree: /s,
  );

  const fixed = await workspace(page);
  const green = runExampleTest(fixed);
  assert.equal(green.status, 0, green.output);
  assert.equal(await output.textContent(), green.output);
  checkClean(opened);
  await close();
});

test("an edit is allowed by keyboard alone", async () => {
  const opened = await openPage();
  const { page, close } = opened;
  await page.locator("#run").focus();
  await page.keyboard.press("Enter");
  await page.getByRole("alertdialog", { name: /edit_file wants to run/ }).waitFor(DONE);
  const focused = page.locator(":focus");
  assert.equal(await focused.textContent(), "Allow once");
  await page.keyboard.press("Tab");
  assert.equal(await focused.textContent(), "Always");
  await page.keyboard.press("Enter");
  await finished(page, "Done");
  assert.match(await lastReply(page), /The tests pass/);
  checkClean(opened);
  await close();
});

test("a denied edit, by keyboard alone, leaves the file, and the demo says why it stopped", async () => {
  const opened = await openPage();
  const { page, close } = opened;
  await page.locator("#prompt").focus();
  await page.keyboard.press("Enter");
  const focused = page.locator(":focus");
  for (const reason of ["Too hasty", "Ask the owner first"]) {
    await focused.filter({ hasText: "Allow once" }).waitFor(DONE);
    for (let press = 0; press < 3; press += 1) await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.keyboard.type(reason);
    if (reason === "Too hasty") await page.keyboard.press("Escape");
  }
  await page.keyboard.press("Enter");
  await finished(page, "Done");
  assert.match(await lastReply(page), /I leave src\/discount\.js as it is\..*Ask the owner first/s);
  await look(page, "Changes");
  await page.getByText("Nothing has changed.").waitFor();
  checkClean(opened);
  await close();
});

test("an edit runs with the arguments that the person has changed", async () => {
  const opened = await openPage();
  const { page, close } = opened;
  await run(page);
  await allow(page, "Edit…");
  const box = page.getByLabel("Arguments, as JSON");
  const args = JSON.parse(await box.inputValue());
  await box.fill("{ no JSON");
  await page.getByRole("button", { name: "Run with these" }).click();
  await page.locator(".approval .bad").waitFor();
  await box.fill(JSON.stringify({ ...args, new_string: "!(quantity < from)" }));
  await page.keyboard.press("Control+Enter");
  await finished(page, "Done");
  assert.match(await lastReply(page), /The tests pass/);
  const files = new Map(await workspace(page));
  assert.match(files.get("src/discount.js"), /!\(quantity < from\)/);
  checkClean(opened);
  await close();
});

test("the demo hears a steer, a file that is added meanwhile, and a word for afterwards", async () => {
  const opened = await openPage({ pace: 1 });
  const { page, close } = opened;
  await run(page);
  await page.getByRole("alertdialog").waitFor(DONE);
  await page.locator("#prompt").fill("Please add a comment about the rule");
  await page.getByRole("button", { name: "Steer" }).click();
  await page.locator("#prompt").fill("Begin a changelog");
  await page.getByRole("button", { name: "Queue" }).click();
  const unheard = page.getByRole("list", { name: "Not heard yet" }).getByRole("listitem");
  await unheard.nth(1).waitFor(DONE);
  const added = { name: "IDEAS.md", mimeType: "text/markdown", buffer: Buffer.from("# Ideas\n") };
  await page.getByLabel("Add files").setInputFiles(added);
  await page.locator('[role=treeitem][data-path="IDEAS.md"]').waitFor();
  await page.getByRole("button", { name: "Always" }).click();
  await page.locator('.said[data-kind="steer"]').waitFor(DONE);
  await allow(page);
  await finished(page, "Done");
  assert.equal(await unheard.count(), 0);
  const said = await page.locator("#log").innerText();
  assert.match(said, /You say: “Please add a comment about the rule”/);
  assert.match(said, /you have added IDEAS\.md/);
  assert.match(said, /I begin a changelog/);
  const files = new Map(await workspace(page));
  assert.match(files.get("src/discount.js"), /The first quantity of a tier\n \* belongs to it/);
  assert.match(files.get("src/discount.js"), /quantity >= from/);
  assert.match(files.get("CHANGELOG.md"), /# Changelog/);
  const green = runExampleTest([...files]);
  assert.equal(green.status, 0, green.output);
  checkClean(opened);
  await close();
});

test("a visitor who touches everything does not break the demo", async () => {
  const opened = await openPage();
  const { page, close } = opened;
  const touched = [
    ["test.mjs", "throw new Error('mine');\n", /The test still fails/],
    ["src/discount.js", "export const discountPercent = 1;\n", /still fails|not the fault/],
    ["test.mjs", "console.log('1 of 1 passed');\n", /There is nothing to fix/],
  ];
  await askNothing(page);
  for (const [path, text, answer] of touched) {
    await page.getByRole("button", { name: "Example" }).click();
    await page.locator(`[role=treeitem][data-path="${path}"]`).click();
    const editor = page.getByLabel(`Content of ${path}`, { exact: true });
    await editor.click();
    await page.keyboard.press("Control+A");
    await page.keyboard.insertText(text);
    await page.keyboard.press("Control+S");
    await page.getByText("not saved").waitFor({ state: "detached" });
    await askNothing(page);
    await run(page, "Make the tests pass");
    await finished(page, "Done");
    assert.match(await lastReply(page), answer);
    await run(page, "gibberish, please");
    await page.locator(".said").nth(1).waitFor();
    await finished(page, "Done");
    assert.match(await lastReply(page), /I am a script/);
  }
  checkClean(opened);
  await close();
});

test("in an empty workspace the demo begins a page, and later words change it", async () => {
  const opened = await openPage();
  const { page, close } = opened;
  await page.getByRole("button", { name: "New", exact: true }).click();
  await page.getByRole("treeitem").first().waitFor({ state: "detached" });
  await run(page, "Begin something");
  await allow(page);
  await finished(page, "Done");
  assert.deepEqual(await paths(page), ["index.html"]);
  assert.match(await lastReply(page), /The tab Preview shows it/);
  checkClean(opened);
  await close();
});

test("Stop and Esc end a run, and the page goes on", async () => {
  const opened = await openPage({ pace: 5 });
  const { page, close } = opened;
  await run(page);
  await page.locator(".reply").first().waitFor(DONE);
  await page.getByRole("button", { name: "Stop" }).click();
  await finished(page, "Stopped");
  await run(page, "Make the tests pass");
  await page.locator(".said").nth(1).waitFor(DONE);
  await page.keyboard.press("Escape");
  await finished(page, "Stopped");
  await askNothing(page);
  await run(page, "Make the tests pass");
  await finished(page, "Done");
  checkClean(opened);
  await close();
});

test("undo takes the session back to before an input, with its files", async () => {
  const opened = await openPage();
  const { page, close } = opened;
  await askNothing(page);
  await run(page);
  await finished(page, "Done");
  await run(page, "Begin a changelog");
  await page.locator('[role=treeitem][data-path="CHANGELOG.md"]').waitFor(DONE);
  await finished(page, "Done");
  await page.getByRole("button", { name: "Undo" }).last().click();
  await page.getByRole("dialog").getByRole("button", { name: "Undo" }).click();
  await page.locator('[role=treeitem][data-path="CHANGELOG.md"]').waitFor({ state: "detached" });
  assert.equal(await page.locator(".said").count(), 1);
  assert.equal(await page.locator(`[role=treeitem]${FIXED} .badge`).textContent(), "changed");
  await run(page, "Write a page");
  await page.locator('[role=treeitem][data-path="index.html"]').waitFor(DONE);
  await finished(page, "Done");
  await page.getByRole("button", { name: "Undo" }).first().click();
  await page.getByRole("dialog").getByRole("button", { name: "Undo" }).click();
  await page.locator(".said").first().waitFor({ state: "detached" });
  assert.deepEqual(await workspace(page), Object.entries(exampleFiles()));
  checkClean(opened);
  await close();
});

test("what was undone is put back, input by input, until something else happens", async () => {
  const opened = await openPage();
  const { page, close } = opened;
  const undoLast = async () => {
    await page.getByRole("button", { name: "Undo" }).last().click();
    await page.getByRole("dialog").getByRole("button", { name: "Undo" }).click();
  };
  const redo = page.getByRole("button", { name: "Redo" });
  const changelog = page.locator('[role=treeitem][data-path="CHANGELOG.md"]');
  await askNothing(page);
  await run(page);
  await finished(page, "Done");
  await run(page, "Begin a changelog");
  await changelog.waitFor(DONE);
  await finished(page, "Done");
  const whole = await workspace(page);
  const steps = () => page.getByLabel("Step of the session").getAttribute("max");
  const before = await steps();
  await undoLast();
  await changelog.waitFor({ state: "detached" });
  await undoLast();
  await page.locator(".said").first().waitFor({ state: "detached" });
  assert.deepEqual(await workspace(page), Object.entries(exampleFiles()));
  await redo.click();
  await page.locator(`[role=treeitem]${FIXED} .badge`).waitFor();
  assert.equal(await page.locator(".said").count(), 1);
  await redo.click();
  await changelog.waitFor();
  assert.equal(await page.locator(".said").count(), 2);
  assert.equal(await redo.count(), 0);
  assert.deepEqual(await workspace(page), whole);
  assert.equal(await steps(), before);

  // What is kept is the same.
  await kept(page);
  await page.reload();
  await changelog.waitFor(DONE);
  assert.equal(await page.locator(".said").count(), 2);
  await run(page, "Write a page");
  await page.locator('[role=treeitem][data-path="index.html"]').waitFor(DONE);
  await finished(page, "Done");
  await undoLast();
  await page.locator(".said").nth(2).waitFor({ state: "detached" });
  await redo.waitFor();
  await run(page, "Write a page");
  await redo.waitFor({ state: "detached" });
  await finished(page, "Done");
  checkClean(opened);
  await close();
});

test("the timeline shows the session as it was at each step, its files, too", async () => {
  const opened = await openPage();
  const { page, close } = opened;
  await askNothing(page);
  await run(page);
  await finished(page, "Done");
  const slider = page.getByLabel("Step of the session");
  const last = Number(await slider.getAttribute("max"));
  assert.ok(last >= 15, `${last} steps`);
  await slider.focus();
  await page.keyboard.press("Home");
  await page.locator(".said").first().waitFor({ state: "detached" });
  await page.keyboard.press("ArrowRight");
  await page.locator(".said").first().waitFor();
  assert.equal(await page.locator(".said").count(), 1);
  assert.equal(await page.locator(".call").count(), 0);
  await page.locator(`[role=treeitem]${FIXED}`).click();
  await page.locator(".cm-line").filter({ hasText: "quantity > from" }).waitFor();
  await page.getByRole("button", { name: "One step on" }).click();
  await page.getByRole("button", { name: "Back to now" }).click();
  await page.locator(".cm-line").filter({ hasText: "quantity >= from" }).waitFor();
  assert.match(await lastReply(page), /The tests pass/);
  checkClean(opened);
  await close();
});
