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

/**
 * How long a test waits for anything at most: longer than any machine takes, so that no verdict
 * depends on its speed.
 */
export const PATIENCE_MS = 300_000;

/** Starts the browser; each test says what it has waited for longest in it. */
export async function launch() {
  const executablePath = process.env.CHROMIUM || "/usr/bin/chromium";
  if (!existsSync(executablePath)) {
    throw new Error(`there is no ${executablePath}: install chromium, or name it in CHROMIUM`);
  }
  const browser = await chromium.launch({ executablePath, headless: true, args: FLAGS });
  await watchWaits(browser);
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (options) => {
    const context = await newContext(options);
    context.setDefaultTimeout(PATIENCE_MS);
    return context;
  };
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
