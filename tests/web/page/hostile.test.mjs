// What a hostile model says is text: it makes no markup, no requests and no scripts.

import assert from "node:assert/strict";
import { test } from "node:test";
import { reply, serve } from "../support/anthropic.mjs";
import { checkClean, finished, look, ownModel, run, site } from "./support.mjs";

const MARKDOWN = `# Title

<script>window.hurt = 1</script><img src=x onerror="window.hurt = 1">

[click](javascript:window.hurt=1) [data](data:text/html,<script>1</script>)
[fine](https://example.com/a?b="c"&d) ![picture](https://127.0.0.1:1/spy.png?secret)

<a href="https://example.com" onclick="window.hurt=1">raw</a>

| a | b |
| - | - |
| \`<b>\` | <i>x</i> |

\`\`\`html
<script>window.hurt = 1</script>
\`\`\`

- one
- two <iframe src=//127.0.0.1:1></iframe>
`;

test("the model's Markdown is rendered, and its HTML is not", async () => {
  const server = await serve(reply({ text: MARKDOWN }));
  const opened = await ownModel(server);
  const { page, close } = opened;
  await run(page, "Say something");
  await finished(page, "Done");
  const reply_ = page.locator(".reply");
  assert.equal(await reply_.locator("h1").textContent(), "Title");
  assert.equal(await reply_.locator("li").count(), 2);
  assert.equal(await reply_.locator("td").count(), 2);
  assert.match(
    await reply_.locator("pre code").textContent(),
    /<script>window\.hurt = 1<\/script>/,
  );
  assert.equal(await reply_.locator("script, img, iframe, i, b, [onclick], [onerror]").count(), 0);
  const links = await reply_
    .locator("a")
    .evaluateAll((all) => all.map((one) => [one.getAttribute("href"), one.target, one.rel]));
  assert.deepEqual(
    links.filter(([href]) => href !== "").map(([href]) => new URL(href).protocol),
    ["https:", "https:"],
  );
  for (const [, target, rel] of links) {
    assert.deepEqual([target, rel], ["_blank", "noopener noreferrer"]);
  }
  assert.equal(await page.evaluate(() => window.hurt), undefined);
  checkClean(opened);
  await close();
  await server.close();
});

test("hostile names and arguments of calls are text, and long ones are cut", async () => {
  const evil = '"><img src=x onerror=window.hurt=1>';
  const long = "x".repeat(400_000);
  const server = await serve(
    reply({ calls: [["Write", { file_path: `${evil}.md`, content: `${evil}\u202e\n` }]] }),
    reply({ calls: [[evil, { [evil]: evil }]] }),
    reply({ calls: [["Write", { file_path: "long.txt", content: long }]] }),
    reply({ text: long, thinking: evil }),
  );
  const opened = await ownModel(server);
  const { page, close } = opened;
  await run(page, evil);
  await finished(page, "Done");
  for (const summary of await page.locator(".call summary").all()) await summary.click();
  await page.locator(".thinking summary").click();
  for (const tab of ["Changes", "Events", "Editor"]) {
    await look(page, tab);
    assert.equal(await page.locator("img:not(.cm-widgetBuffer)").count(), 0, tab);
  }
  const shown = await page.locator(".reply").textContent();
  assert.ok(shown.length > 100_000 && shown.length < 250_000, `${shown.length} characters`);
  assert.equal(await page.evaluate(() => window.hurt), undefined);
  checkClean(opened);
  assert.deepEqual(site.missing, []);
  await close();
  await server.close();
});
