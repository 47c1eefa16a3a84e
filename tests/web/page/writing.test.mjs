// What the model writes is seen in the editor while it writes it, and until the call is over.

import assert from "node:assert/strict";
import { test } from "node:test";
import { reply, serve, typed } from "../support/anthropic.mjs";
import { FAMILIES, replyOf } from "../support/families.mjs";
import {
  allow,
  checkClean,
  DONE,
  editorText,
  emptySession,
  finished,
  look,
  openFile,
  openPage,
  ownModel,
  paths,
  run,
  useModel,
  workspace,
} from "./support.mjs";

const CONTENT = Array.from({ length: 60 }, (_, at) => `const n${at} = ${at};\n`).join("");
const HEAD = "#file-name";

test("a file grows in the editor while the model writes it, and is there when it is allowed", async () => {
  const input = { file_path: "src/many.js", content: CONTENT };
  const server = await serve(typed("Write", input, { size: 30, ms: 40 }), reply({ text: "Done." }));
  const opened = await emptySession();
  const { page, close } = opened;
  await useModel(page, server);
  await run(page, "Write it");
  await page.locator(HEAD).filter({ hasText: "src/many.jsbeing written" }).waitFor(DONE);
  const row = page.locator('[role=treeitem][data-path="src/many.js"]');
  assert.equal(await row.locator(".badge").textContent(), "writing");
  const card = page.locator(".call.running[data-tool=Write]");
  await card.filter({ hasText: /\d+ characters so far/ }).waitFor();
  const lines = page.locator(".cm-line");
  await lines.filter({ hasText: "const n5 = 5;" }).waitFor(DONE);
  assert.equal(await lines.filter({ hasText: "const n40 = 40;" }).count(), 0);
  assert.deepEqual(await workspace(page), [], "nothing is written before the reply is whole");
  // The view goes along with what grows.
  await lines.filter({ hasText: "const n59 = 59;" }).waitFor(DONE);

  await page.getByRole("alertdialog").waitFor(DONE);
  await page.locator(HEAD).filter({ hasText: "proposed" }).waitFor();
  await lines.first().click();
  await page.keyboard.type("not mine yet");
  assert.equal(await page.getByText("not saved").count(), 0);
  await allow(page);
  await finished(page, "Done");
  assert.equal(await row.locator(".badge").textContent(), "new");
  assert.equal(await page.locator(".call").count(), 1);
  assert.deepEqual(await workspace(page), [["src/many.js", CONTENT]]);
  await page.keyboard.press("Control+Home");
  await page.getByLabel("Content of src/many.js", { exact: true }).click();
  await page.keyboard.type("mine");
  await page.getByText("not saved").waitFor();
  await page.keyboard.press("Control+S");
  checkClean(opened);
  await close();
  await server.close();
});

for (const family of FAMILIES) {
  const { provider, model, below } = family;
  test(`${provider}: what a call would write is seen while the person is asked`, async () => {
    const server = await serve(
      replyOf(family, { calls: [family.write("/src/b.js", "let b = 1;\nlet c = 2;\n")] }),
      replyOf(family, { text: "Done." }),
    );
    const opened = await openPage();
    const { page, close } = opened;
    await useModel(page, server, { provider, model, below });
    await run(page, "Write it");
    await page.getByRole("alertdialog").waitFor(DONE);
    await page.locator(HEAD).filter({ hasText: "src/b.jsproposed" }).waitFor(DONE);
    assert.equal(await editorText(page), "let b = 1;\nlet c = 2;\n");
    await allow(page);
    await finished(page, "Done");
    assert.equal(new Map(await workspace(page)).get("src/b.js"), "let b = 1;\nlet c = 2;\n");
    checkClean(opened);
    await close();
    await server.close();
  });
}

test("an edit is seen in its file while the person is asked, and gone when it is denied", async () => {
  const opened = await openPage();
  const { page, close } = opened;
  await run(page);
  await page.getByRole("alertdialog").waitFor(DONE);
  await page.locator(HEAD).filter({ hasText: "proposed" }).waitFor();
  assert.match(await editorText(page), /quantity >= from/);
  await allow(page, "Deny…");
  await page.getByRole("button", { name: "Deny", exact: true }).click();
  await page.locator(".cm-line").filter({ hasText: "quantity > from" }).waitFor();
  await finished(page, "Done");
  assert.equal(await page.locator(HEAD).textContent(), "src/discount.js");
  checkClean(opened);
  await close();
});

test("a file whose writing is stopped is gone, its call, too, and the one before is open", async () => {
  const input = { file_path: "many.js", content: CONTENT };
  const server = await serve(typed("Write", input, { size: 10, ms: 40, held: 5 }));
  const opened = await ownModel(server);
  const { page, close } = opened;
  await run(page, "Write it");
  await page.locator(HEAD).filter({ hasText: "many.js" }).waitFor(DONE);
  await page.keyboard.press("Escape");
  await finished(page, "Stopped");
  await page.locator(HEAD).filter({ hasText: "src/discount.js" }).waitFor();
  assert.equal(await page.locator(".call").count(), 0);
  assert.ok(!(await paths(page)).includes("many.js"));
  assert.match(await editorText(page), /quantity > from/);
  checkClean(opened);
  await close();
  await server.close();
});

test("whoever types or looks at something else is not disturbed by a file that grows", async () => {
  const write = (content) => typed("Write", { file_path: "a.js", content }, { size: 100, ms: 10 });
  const done = reply({ text: "Done." });
  const server = await serve(write(CONTENT), done, write(`${CONTENT}// more\n`), done);
  const opened = await ownModel(server);
  const { page, close } = opened;
  await look(page, "Changes");
  await run(page, "Write it");
  await finished(page, "Done");
  await page.getByRole("tab", { name: "Changes", selected: true }).waitFor();
  await look(page, "Editor");
  assert.equal(await page.locator(HEAD).textContent(), "src/discount.js");
  await openFile(page, "a.js");
  await page.locator(".cm-line").first().click();
  await page.keyboard.type("// mine ");
  await run(page, "Write it again");
  await page.locator(".call").nth(1).waitFor(DONE);
  await page.locator("#status").filter({ hasText: "Done" }).waitFor(DONE);
  assert.match(await editorText(page), /^.*\/\/ mine /);
  await page.getByText("The file has changed meanwhile.").waitFor();
  await page.getByRole("button", { name: "Take the new one" }).click();
  await page.getByText("not saved").waitFor({ state: "detached" });
  checkClean(opened);
  await close();
  await server.close();
});
