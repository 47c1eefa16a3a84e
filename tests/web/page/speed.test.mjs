// Long replies and many files in the page. As a test it looks at what comes of them, and prints how
// long they took; as a part of `cargo xtask bench` (with INNERLOOP_BENCH=1) it fails above a limit.
// What is measured there depends on what else the machine does: the second best of a few tries
// counts, and how busy the machine is.

import assert from "node:assert/strict";
import { test } from "node:test";
import { zipSync } from "fflate";
import { reply, serve, stream } from "../support/anthropic.mjs";
import {
  allow,
  checkClean,
  DONE,
  finished,
  openPage,
  ownModel,
  run,
  site,
  useModel,
} from "./support.mjs";

const DELTAS = 8_000;
const BENCH = process.env.INNERLOOP_BENCH === "1";
const TRIES = BENCH ? 4 : 1;

/** The second best of what was measured, in milliseconds; in the bench it has a limit. */
function judge(what, measured, most) {
  const ms = Math.round(measured.sort((a, b) => a - b)[Math.min(1, measured.length - 1)]);
  console.log(`${what}: ${ms} ms (limit ${Math.round(most)})`);
  assert.ok(!BENCH || ms <= most, `${what}: ${ms} ms`);
}

/** Notes tasks that hold the page up, from now on. */
function watchTasks(page) {
  return page.evaluate(() => {
    window.longest = 0;
    const watch = new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) {
        window.longest = Math.max(window.longest, duration);
      }
    });
    watch.observe({ type: "longtask" });
  });
}

/** The longest task since; shorter ones than 50 ms are not told. */
async function longestTask(page) {
  await page.waitForTimeout(200);
  return page.evaluate(() => {
    const { longest } = window;
    window.longest = 0;
    return longest;
  });
}

/** Sends events as networks cut them, a few in each piece. */
function pour(events, response) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  let at = 0;
  const more = () => {
    for (let count = 0; count < 40 && at < events.length; count += 1, at += 8) {
      response.write(events.slice(at, at + 8).join(""));
    }
    if (at < events.length) setImmediate(more);
    else response.end();
  };
  more();
}

/** How much slower than alone the page runs beside all else that the machine does: 1 if alone. */
function strain(page) {
  return page.evaluate(async () => {
    const times = [];
    for (let number = 0; number < 40; number += 1) {
      const began = performance.now();
      // biome-ignore lint/correctness/noUnusedVariables: it is the work that is timed.
      for (let at = 0, sum = 0; at < 3e6; at += 1) sum += at % 7;
      times.push(performance.now() - began);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    times.sort((a, b) => a - b);
    return Math.max(1, times[30] / times[2]);
  });
}

test("the page with its editor is there after 350 KB, the module and the rest come later", async () => {
  site.sent.clear();
  const { page, close } = await openPage();
  await page.locator(".cm-line").filter({ hasText: "discountPercent" }).first().waitFor();
  await page.waitForTimeout(500);
  const sent = [...site.sent.values()].reduce((sum, bytes) => sum + bytes, 0);
  console.log(`first load: ${sent} bytes, compressed`);
  assert.ok(sent < 350 * 1024, `${sent} bytes`);
  assert.ok(sent > 100 * 1024, "the editor is among them");
  assert.ok([...site.sent.keys()].every((path) => !path.startsWith("/programs/")));
  await close();
});

test("8,000 pieces of a reply are shown whole, and do not hold the page up", async () => {
  const paragraph = "Some **words** of a long reply, with `code`, and a [link](https://a.b). ";
  const words = (paragraph.repeat(3) + "\n\n- one\n- two\n\n```js\nlet a = 1;\n```\n\n").repeat(
    800,
  );
  const text = `${[...words].slice(0, DELTAS * 7).join("")}\n\nThe end.`;
  const events = stream({ text });
  assert.ok(events.length >= DELTAS);
  let asked = 0;
  const long = (_request, response) => {
    asked = performance.now();
    pour(events, response);
  };
  const server = await serve(...Array.from({ length: TRIES }, () => long));
  const opened = await ownModel(server);
  const { page, close } = opened;
  await watchTasks(page);
  const measured = [];
  const before = await strain(page);
  for (let number = 0; number < TRIES; number += 1) {
    await run(page, `Talk, ${number}`);
    await page.locator("#status").filter({ hasText: "Working" }).waitFor();
    await longestTask(page);
    await finished(page, "Done");
    await page.locator(".reply").nth(number).filter({ hasText: "The end." }).waitFor();
    measured.push([performance.now() - asked, await longestTask(page)]);
  }
  const factor = Math.max(before, await strain(page));
  console.log(`the machine is busy: ${factor.toFixed(1)} times`);
  judge(
    "a reply of 8,000 pieces",
    measured.map(([ms]) => ms),
    2_000 * factor,
  );
  judge(
    "its longest task",
    measured.map(([, task]) => task),
    50 * factor,
  );
  checkClean(opened);
  await close();
  await server.close();
});

test("a file that comes in 8,000 pieces grows in the editor and does not hold the page up", async () => {
  const lines = Array.from({ length: 2_500 }, (_, at) => `const n${at} = [${at}, "${at}"];\n`);
  const content = lines.join("");
  const whole = JSON.stringify({ file_path: "many.js", content });
  const pieces = whole.match(/[^]{1,9}/gu);
  assert.ok(pieces.length >= DELTAS);
  const events = stream({ calls: [["Write", {}]] }).flatMap((event) => {
    if (!event.includes("input_json_delta")) return [event];
    return pieces.map((piece) => event.replace('"{}"', () => JSON.stringify(piece)));
  });
  const write = (_request, response) => pour(events, response);
  const done = reply({ text: "Done." });
  const server = await serve(...Array.from({ length: TRIES }, () => [write, done]).flat());
  const opened = await openPage();
  const { page, close } = opened;
  await useModel(page, server);
  await watchTasks(page);
  const measured = [];
  for (let number = 0; number < TRIES; number += 1) {
    await run(page, `Write, ${number}`);
    await page.locator("#file-name").filter({ hasText: "many.jsproposed" }).waitFor(DONE);
    measured.push(await longestTask(page));
    await allow(page);
    await finished(page, "Done");
    await page.locator('[role=treeitem][data-path="README.md"]').click();
  }
  const factor = await strain(page);
  judge("the longest task while a file grows", measured, 50 * factor);
  checkClean(opened);
  await close();
  await server.close();
});

test("2,000 files come, are scrolled through, opened and changed without a stop", async () => {
  const opened = await openPage();
  const { page, close } = opened;
  await page.getByRole("button", { name: "New", exact: true }).click();
  await page.getByRole("treeitem").first().waitFor({ state: "detached" });
  const files = {};
  for (let number = 0; number < 2_000; number += 1) {
    const path = `folder${number % 20}/file${String(number).padStart(4, "0")}.txt`;
    files[path] = Buffer.from(`file ${number}\n`.repeat(50));
  }
  const buffer = Buffer.from(zipSync(files));
  await watchTasks(page);
  const archive = { name: "many.zip", mimeType: "application/zip", buffer };
  await page.getByLabel("Add files").setInputFiles(archive);
  await page.locator(".toast").filter({ hasText: "2000 files were added." }).waitFor();
  const added = await longestTask(page);
  const tree = page.getByRole("tree");
  const tries = [];
  for (let number = 0; number < TRIES; number += 1) {
    await tree.focus();
    await page.keyboard.press("Home");
    for (let press = 0; press < 30; press += 1) await page.keyboard.press("ArrowDown");
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await page.locator(".cm-line").filter({ hasText: "file 1989" }).first().waitFor();
    tries.push(await longestTask(page));
  }
  const factor = await strain(page);
  assert.ok((await page.getByRole("treeitem").count()) < 100, "only what is seen is there");
  judge("the longest task when 2,000 files come", [added], 200 * factor);
  judge("the longest task on the way through them", tries, 50 * factor);
  checkClean(opened);
  await close();
});
