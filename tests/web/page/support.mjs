// What the page's tests share: the site, the browser, and the steps of a person. Run one with
// `node --test page/demo.test.mjs`; INNERLOOP_SITE and CHROMIUM name others.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after } from "node:test";
import { unzipSync } from "fflate";
import { launch, open, PATIENCE_MS } from "../support/browser.mjs";
import { ROOT } from "../support/package.mjs";
import { serveSite } from "../support/site.mjs";

const SCREENSHOTS = join(ROOT, "target/screenshots");
mkdirSync(SCREENSHOTS, { recursive: true });

/** The site, as it is published. */
export const site = await serveSite();
/** The browser. */
export const browser = await launch();

after(async () => {
  await browser.close();
  await site.close();
});

/** How long anything may take. */
export const DONE = { timeout: PATIENCE_MS };

/** The page, loaded; the demo answers without a pause unless `pace` says otherwise. */
export async function openPage({ pace = 0, ...options } = {}) {
  const opened = await open(browser, `${site.url}?pace=${pace}`, options);
  await opened.page.locator("#run:enabled").waitFor(DONE);
  return opened;
}

/** Fails if anything went wrong in the page beyond what the test expects. */
export function checkClean({ problems }) {
  assert.deepEqual(problems, []);
  assert.deepEqual(site.missing, []);
}

/** A picture, to look at. */
export function shoot(page, name, options = {}) {
  return page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), ...options });
}

/** Waits for an end of the run. */
export async function finished(page, text) {
  await page.locator("#status").filter({ hasText: text }).waitFor(DONE);
}

/** Says what to do. */
export async function run(page, text) {
  if (text !== undefined) await page.locator("#prompt").fill(text);
  await page.locator("#run").click();
}

/** Waits for a question and answers it by a button. */
export async function allow(page, button = "Allow once") {
  await page.getByRole("alertdialog").first().waitFor(DONE);
  await page.getByRole("button", { name: button, exact: true }).first().click();
}

/** Runs without being asked. */
export function askNothing(page) {
  return page.getByLabel("Ask me before").selectOption("nothing");
}

/** A tab of the workspace. */
export function look(page, tab) {
  return page.getByRole("tab", { name: tab }).click();
}

/** The paths of the tree, folders left out. */
export function paths(page) {
  const files = page.locator("[role=treeitem]:not([aria-expanded])");
  return files.evaluateAll((all) => all.map((one) => one.dataset.path).sort());
}

/** Opens a file: its text in the editor. */
export async function openFile(page, path) {
  await page.locator(`[role=treeitem][data-path="${path}"]`).click();
  await page.getByLabel(`Content of ${path}`, { exact: true }).waitFor(DONE);
  return editorText(page);
}

/** The text in the editor. */
export async function editorText(page) {
  const lines = await page.locator(".cm-line").allTextContents();
  return lines.join("\n");
}

/** The workspace as people get it: the texts of the zip that they download, by path. */
export async function workspace(page) {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download zip" }).click(),
  ]);
  const entries = Object.entries(unzipSync(readFileSync(await download.path())));
  return entries
    .map(([path, bytes]) => [path, Buffer.from(bytes).toString()])
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Lets the page talk to a server of one's own. */
export async function useModel(page, server, options = {}) {
  const { key = "sk-test-0123456789", model = "mock-1", remember = false } = options;
  const { provider = "anthropic", below = "" } = options;
  await page.locator("#model").click();
  const dialog = page.getByRole("dialog", { name: "Model" });
  await dialog.locator(`option[value="${provider}"]`).waitFor({ state: "attached" });
  await dialog.getByRole("combobox", { name: "Provider" }).selectOption(provider);
  await dialog.getByLabel("Model", { exact: true }).fill(model);
  await dialog.getByLabel("Key", { exact: true }).fill(key);
  await dialog.getByLabel("Base URL, if not the provider's").fill(server.url + below);
  if (remember) await dialog.getByLabel(/Remember on this device/).check();
  await dialog.getByRole("button", { name: "Use" }).click();
  await dialog.waitFor({ state: "detached" });
}

/** A workspace with nothing in it. */
export async function emptySession(options) {
  const opened = await openPage(options);
  await opened.page.getByRole("button", { name: "New", exact: true }).click();
  await opened.page.getByRole("treeitem").first().waitFor({ state: "detached" });
  return opened;
}

/** The page with a server of one's own that is asked about nothing. */
export async function ownModel(server, options = {}) {
  const opened = await openPage();
  await useModel(opened.page, server, options);
  await askNothing(opened.page);
  return opened;
}

/** The text of the newest reply. */
export function lastReply(page) {
  return page.locator(".reply").last().textContent();
}

/** Waits until all that the page shows outlasts a reload. */
export async function kept(page) {
  await page.locator("body[data-kept=true]").waitFor(DONE);
}
