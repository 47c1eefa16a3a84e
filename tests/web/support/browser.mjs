// Chromium, driven by playwright-core. CHROMIUM names another program.

import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
import { watchWaits } from "./waits.mjs";

const FLAGS = [
  "--no-sandbox",
  // An origin without encryption that is not this machine's, for a browser.
  "--host-resolver-rules=MAP playground.test 127.0.0.1",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Starts the browser; each test says what it has waited for longest in it. */
export async function launch() {
  const executablePath = process.env.CHROMIUM || "/usr/bin/chromium";
  if (!existsSync(executablePath)) {
    throw new Error(`there is no ${executablePath}: install chromium, or name it in CHROMIUM`);
  }
  const browser = await chromium.launch({ executablePath, headless: true, args: FLAGS });
  await watchWaits(browser);
  return browser;
}

/** A page of its own that collects what goes wrong in it. */
export async function open(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1360, height: 860 }, ...options });
  const page = await context.newPage();
  const problems = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(String(error)));
  await page.goto(url);
  return { page, problems, close: () => context.close() };
}
