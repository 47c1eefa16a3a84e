// A folder of the device: opened, worked on, and written back when the person says so. The picker
// is the browser's; in its place stands a folder that the browser keeps for the page.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  askNothing,
  checkClean,
  DONE,
  finished,
  openFile,
  openPage,
  paths,
  run,
  shoot,
} from "./support.mjs";

/** A page whose picker hands out a folder with these files. */
async function openFolder(files) {
  const opened = await openPage();
  const { page } = opened;
  await page.evaluate(async (files) => {
    const root = await navigator.storage.getDirectory();
    const folder = await root.getDirectoryHandle("till", { create: true });
    window.putThere = async (path, text) => {
      const steps = path.split("/");
      const name = steps.pop();
      let at = folder;
      for (const step of steps) at = await at.getDirectoryHandle(step, { create: true });
      const stream = await (await at.getFileHandle(name, { create: true })).createWritable();
      await stream.write(text);
      await stream.close();
    };
    for (const [path, text] of Object.entries(files)) await window.putThere(path, text);
    window.showDirectoryPicker = async () => folder;
  }, files);
  await page.getByRole("button", { name: "Open folder…" }).click();
  await page.getByText("From the folder till").waitFor(DONE);
  return opened;
}

/** What is in the folder, by path. */
function there(page) {
  return page.evaluate(async () => {
    const found = {};
    const walk = async (folder, above) => {
      for await (const [name, entry] of folder.entries()) {
        if (entry.kind === "directory") await walk(entry, `${above}${name}/`);
        else found[above + name] = await (await entry.getFile()).text();
      }
    };
    const root = await navigator.storage.getDirectory();
    await walk(await root.getDirectoryHandle("till"), "");
    return found;
  });
}

const FILES = {
  "README.md": "# Mine\n",
  "src/a.js": "let a;\n",
  "node_modules/x/index.js": "x",
  ".git/HEAD": "ref",
};

async function type(page, path, text) {
  await openFile(page, path);
  await page.getByLabel(`Content of ${path}`, { exact: true }).click();
  await page.keyboard.press("Control+A");
  await page.keyboard.insertText(text);
  await page.keyboard.press("Control+S");
  await page.getByText("not saved").waitFor({ state: "detached" });
}

test("a folder is opened as a session, and changes go back when the person says so", async () => {
  const opened = await openFolder(FILES);
  const { page, close } = opened;
  assert.deepEqual(await paths(page), ["README.md", "src/a.js"]);
  await page.getByText("Read 2 files of “till”. Left out:").waitFor();
  const session = page.getByRole("combobox", { name: "Session" });
  assert.equal(await session.locator("option:checked").textContent(), "till");

  await type(page, "README.md", "# Mine too\n");
  await askNothing(page);
  await run(page, "Write a page");
  await finished(page, "Done");
  await openFile(page, "src/a.js");
  await page.locator(".file-head").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.locator('[data-path="src/a.js"]').waitFor({ state: "detached" });
  assert.deepEqual(await there(page), FILES, "nothing is written unasked");

  // It outlives a reload.
  await page.waitForTimeout(1000);
  await page.reload();
  await page.locator("#run:enabled").waitFor(DONE);
  await page.getByRole("button", { name: "Write back…" }).click();
  const dialog = page.getByRole("dialog");
  const question = await dialog.locator(".question").textContent();
  assert.match(question, /^Change 3 files in “till”\?/);
  for (const line of ["write README.md", "delete src/a.js", "write index.html"]) {
    assert.ok(question.split("\n").includes(line), line);
  }
  await shoot(page, "write-back");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  assert.deepEqual(await there(page), FILES);
  await page.getByRole("button", { name: "Write back…" }).click();
  await dialog.getByRole("button", { name: "Write" }).click();
  await page.getByText("Changed 3 files in “till”.").waitFor(DONE);
  const now = await there(page);
  assert.equal(now["README.md"], "# Mine too\n");
  assert.match(now["index.html"], /<!doctype html>/);
  assert.deepEqual(Object.keys(now).sort(), [
    ".git/HEAD",
    "README.md",
    "index.html",
    "node_modules/x/index.js",
  ]);
  await page.getByRole("button", { name: "Write back…" }).click();
  await page.getByText("There is nothing to write back.").waitFor();
  checkClean(opened);
  await close();
});

test("what others have changed in the folder meanwhile is said before it is overwritten", async () => {
  const opened = await openFolder({ "a.txt": "a\n", "b.txt": "b\n" });
  const { page, close } = opened;
  await type(page, "a.txt", "mine\n");
  await page.evaluate(() => window.putThere("a.txt", "theirs\n"));
  await page.evaluate(() => window.putThere("b.txt", "theirs\n"));
  await page.getByRole("button", { name: "Write back…" }).click();
  const question = page.getByRole("dialog").locator(".question");
  assert.equal(
    await question.textContent(),
    "Change one file in “till”?\n\nwrite a.txt (changed there meanwhile!)",
  );
  await page.keyboard.press("Escape");
  await question.waitFor({ state: "detached" });
  assert.deepEqual(await there(page), { "a.txt": "theirs\n", "b.txt": "theirs\n" });
  checkClean(opened);
  await close();
});
