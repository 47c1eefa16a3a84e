// Pictures that are larger than the provider takes: the page makes them smaller.

import assert from "node:assert/strict";
import { test } from "node:test";
import { PNG } from "pngjs";
import { reply, serve } from "../support/anthropic.mjs";
import { checkClean, DONE, emptySession, finished, lastReply, run, useModel } from "./support.mjs";

/** A picture of that size. */
function png(width, height) {
  const made = new PNG({ width, height });
  made.data.fill(200);
  return PNG.sync.write(made);
}

test("a large picture that the model reads is made smaller, and a small one stays", async () => {
  const read = (file_path) => ["Read", { file_path }];
  const server = await serve(
    reply({ calls: [read("large.png"), read("small.png"), read("broken.png")] }),
    reply({ text: "I have seen them." }),
  );
  const opened = await emptySession();
  const { page, close } = opened;
  await useModel(page, server);
  const [large, small] = [png(4000, 1000), png(300, 200)];
  const file = (name, buffer) => ({ name, mimeType: "image/png", buffer });
  await page
    .locator("label", { hasText: "Add files" })
    .locator("input")
    .setInputFiles([
      file("large.png", large),
      file("small.png", small),
      file("broken.png", large.subarray(0, 60)),
    ]);
  await page.locator('[role=treeitem][data-path="small.png"]').waitFor(DONE);
  await run(page, "Look at them");
  await finished(page, "Done");
  assert.match(await lastReply(page), /I have seen them/);
  const results = server.requests[1].body.messages.at(-1).content;
  const [first, second] = results.map(({ content }) => JSON.stringify(content));
  const dataOf = (content) => /"data":"([^"]+)"/.exec(content)?.[1] ?? content;
  const { width, height } = PNG.sync.read(Buffer.from(dataOf(first), "base64"));
  assert.deepEqual([width, height], [2000, 500]);
  assert.match(first, /4000 × 1000 pixels and is shown with 2000 × 500/);
  assert.equal(dataOf(second), small.toString("base64"));
  checkClean(opened);
  await close();
  await server.close();
});
