// How the page looks and reads: in light, dark and on a phone, for screen readers and keyboards.
// Pictures of six states are compared with those in fixtures/screens; what differs is put into
// target/screenshots. INNERLOOP_SCREENS=write takes the new ones for right.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import pixelmatch from "pixelmatch";
import { PNG } from "pngjs";
import { ROOT } from "../support/package.mjs";
import {
  allow,
  askNothing,
  checkClean,
  DONE,
  finished,
  look,
  openPage,
  run,
  shoot,
} from "./support.mjs";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const SCREENS = join(ROOT, "tests/web/fixtures/screens");
/** How much of a picture may differ: letters are drawn a little differently by each browser. */
const MOST_DIFFERENT = 0.01;

const LIGHT = { colorScheme: "light", reducedMotion: "reduce" };
const DARK = { colorScheme: "dark", reducedMotion: "reduce" };
const PHONE = { ...DARK, viewport: { width: 390, height: 844 }, hasTouch: true };

/** Fails with what axe-core finds. */
async function checkAccess(page, state) {
  if (!(await page.evaluate(() => "axe" in window))) {
    await page.evaluate(readFileSync(AXE, "utf8"));
  }
  const found = await page.evaluate(async (tags) => {
    const { violations } = await window.axe.run(document, {
      runOnly: { type: "tag", values: tags },
    });
    return violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html.slice(0, 200))]);
  }, TAGS);
  assert.deepEqual(found, [], state);
}

/** Compares a picture of the page with the one that was looked at. */
async function compare(page, name) {
  // Times differ from run to run.
  await page.evaluate(() => {
    for (const node of document.querySelectorAll(".call .state")) {
      node.textContent = node.textContent.replace(/[\d.]+ m?s$/, "1 ms");
    }
    document.activeElement?.blur();
    getSelection()?.removeAllRanges();
  });
  await page.waitForTimeout(300);
  const picture = await shoot(page, name, { animations: "disabled", caret: "hide" });
  const path = join(SCREENS, `${name}.png`);
  if (process.env.INNERLOOP_SCREENS === "write") {
    mkdirSync(SCREENS, { recursive: true });
    writeFileSync(path, picture);
  }
  assert.ok(existsSync(path), `there is no ${path}: look at target/screenshots/${name}.png`);
  const [expected, found] = [PNG.sync.read(readFileSync(path)), PNG.sync.read(picture)];
  const { width, height } = expected;
  assert.deepEqual([found.width, found.height], [width, height], name);
  const differs = new PNG({ width, height });
  const count = pixelmatch(expected.data, found.data, differs.data, width, height, {
    threshold: 0.2,
  });
  if (count <= width * height * MOST_DIFFERENT) return;
  const place = join(ROOT, `target/screenshots/${name}-differs.png`);
  writeFileSync(place, PNG.sync.write(differs));
  assert.fail(`${name} differs in ${count} pixels: look at ${place}`);
}

/** Nothing is wider than the screen. */
async function checkWidth(page) {
  const [wide, inner] = await page.evaluate(() => [
    document.documentElement.scrollWidth,
    innerWidth,
  ]);
  assert.ok(wide <= inner, `${wide} pixels on a screen of ${inner}`);
}

for (const [scheme, options] of [
  ["light", LIGHT],
  ["dark", DARK],
]) {
  test(`nothing stands in anybody's way in ${scheme}: from the start to the change`, async () => {
    const opened = await openPage(options);
    const { page, close } = opened;
    await page.locator(".cm-line").filter({ hasText: "import" }).first().waitFor();
    await checkAccess(page, "start");
    if (scheme === "light") await compare(page, "start-light");
    await run(page);
    await page.getByRole("alertdialog").waitFor(DONE);
    await checkAccess(page, "approval");
    await compare(page, `approval-${scheme}`);
    await page.getByRole("button", { name: "Deny…" }).click();
    await checkAccess(page, "denial");
    await page.getByRole("button", { name: "Back", exact: true }).click();
    await allow(page);
    await finished(page, "Done");
    for (const summary of await page.locator(".call summary").all()) await summary.click();
    for (const tab of ["Changes", "Terminal", "Events", "Preview"]) {
      await look(page, tab);
      await page.locator(".panel .hint, .panel .bar").first().waitFor();
      await checkAccess(page, tab);
      if (tab === "Changes" && scheme === "dark") {
        await page.locator(".diff .added").waitFor();
        await page.locator("#log").evaluate((log) => log.scrollTo(0, 0));
        await compare(page, "change-dark");
      }
    }
    await page.locator("#model").click();
    const dialog = page.getByRole("dialog", { name: "Model" });
    await dialog.getByRole("option", { name: "Ollama" }).first().waitFor({ state: "attached" });
    await dialog.getByRole("combobox", { name: "Provider" }).selectOption("openai");
    await checkAccess(page, "model");
    if (scheme === "light") {
      // Calls were opened above, and how far the log has followed them is a matter of time.
      await page.locator("#log").evaluate((log) => log.scrollTo(0, log.scrollHeight));
      await compare(page, "model-light");
    }
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "New", exact: true }).click();
    await page.getByRole("treeitem").first().waitFor({ state: "detached" });
    await look(page, "Editor");
    await checkAccess(page, "empty");
    checkClean(opened);
    await close();
  });
}

test("a phone shows one pane at a time, all of it, and nothing stands in the way", async () => {
  const opened = await openPage(PHONE);
  const { page, close } = opened;
  await checkWidth(page);
  await checkAccess(page, "talk");
  await run(page);
  await allow(page);
  await finished(page, "Done");
  await checkWidth(page);
  await page.locator("#log").evaluate((log) => log.scrollTo(0, log.scrollHeight));
  await compare(page, "phone-talk");
  await page.getByRole("button", { name: "Files", exact: true }).click();
  await checkWidth(page);
  await checkAccess(page, "files");
  await page.locator('[data-path="src/discount.js"]').click();
  await page.getByRole("button", { name: "Work", exact: true }).click();
  await page.locator(".cm-line").filter({ hasText: "import" }).first().waitFor();
  await look(page, "Changes");
  await page.locator(".diff .added").waitFor();
  await checkWidth(page);
  await checkAccess(page, "work");
  checkClean(opened);
  await close();
});

test("the colours can be chosen, and the choice is kept", async () => {
  const { page, close } = await openPage(LIGHT);
  const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await back();
  await page.getByLabel("Colours").selectOption("dark");
  const dark = await back();
  assert.notEqual(dark, light);
  await page.reload();
  await page.locator("#run:enabled").waitFor(DONE);
  assert.equal(await back(), dark);
  await page.getByLabel("Colours").selectOption("auto");
  assert.equal(await back(), light);
  await close();
});

test("every control has a name, the keyboard reaches all panes, and focus is seen", async () => {
  const opened = await openPage(LIGHT);
  const { page, close } = opened;
  const log = page.getByRole("log", { name: "Transcript" });
  assert.equal(await log.getAttribute("aria-live"), "polite");
  const seen = [];
  await page.locator("#prompt").focus();
  for (let press = 0; press < 4; press += 1) {
    await page.keyboard.press("F6");
    seen.push(
      await page.evaluate(() => {
        const { activeElement } = document;
        return activeElement?.id || activeElement?.className;
      }),
    );
  }
  assert.deepEqual(seen, ["tree", "tab-Editor", "code", "prompt"]);
  await page.keyboard.press("Shift+Tab");
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  assert.equal(outline, "solid");
  checkClean(opened);
  await close();
});

test("while a text grows, readers of the screen wait for its end", async () => {
  const { page, close } = await openPage({ pace: 20 });
  const log = page.getByRole("log", { name: "Transcript" });
  await askNothing(page);
  await run(page);
  await page.locator("#log[aria-busy=true] .reply").first().waitFor(DONE);
  await finished(page, "Done");
  assert.equal(await log.getAttribute("aria-busy"), "false");
  await close();
});
