// What a browser test has waited for longest: said at its end, so that a slow machine is seen before
// it makes a test fail.

import { afterEach } from "node:test";

/** What waits, of pages and of what is found in them. */
const OF_PAGES = ["goto", "reload", "waitForEvent", "waitForFunction", "waitForTimeout"];
const OF_LOCATORS = [
  "check",
  "click",
  "evaluateAll",
  "fill",
  "innerText",
  "inputValue",
  "press",
  "selectOption",
  "setInputFiles",
  "textContent",
  "waitFor",
];

let longest = { ms: 0, what: "nothing" };

/** Watches what is waited for in a browser, and says the longest at the end of each test. */
export async function watchWaits(browser) {
  const page = await browser.newPage();
  watch(Object.getPrototypeOf(page), OF_PAGES, () => "the page");
  watch(Object.getPrototypeOf(page.locator("body")), OF_LOCATORS, String);
  await page.close();
  afterEach((context) => {
    const { ms, what } = longest;
    longest = { ms: 0, what: "nothing" };
    context.diagnostic(`waited longest, ${Math.round(ms)} ms, for ${what}`);
  });
}

function watch(prototype, names, nameOf) {
  for (const name of names) {
    const plain = prototype[name];
    prototype[name] = async function (...args) {
      const begun = performance.now();
      try {
        return await plain.apply(this, args);
      } finally {
        const ms = performance.now() - begun;
        if (ms > longest.ms) longest = { ms, what: `${name} of ${nameOf(this)}` };
      }
    };
  }
}
