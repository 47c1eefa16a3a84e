// The example of a Durable Object, in workerd: node and workerd are killed wherever they can be.

import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { testCrashes } from "./crashes.mjs";
import { checkTypes, demo, installed, start, until } from "./example.mjs";
import { SAID } from "./world.mjs";

const folder = installed("durable-object");
const storage = join(folder, ".storage");

test("its types fit, and its command runs it", () => {
  checkTypes(folder);
  rmSync(storage, { recursive: true, force: true });
  const said = demo(folder, { PORT: "0" });
  assert.match(said, /> weather .*Lima[^]*> weather .*Oslo[^]*> book_flight[^]*> call_taxi/);
  assert.match(said, /You fly to Lima\.\n$/);
});

testCrashes(async ({ url }) => {
  rmSync(storage, { recursive: true, force: true });
  const mocked = { ANTHROPIC_API_KEY: "sk-mock", ANTHROPIC_BASE_URL: url, TRAVEL_URL: url };
  const env = { ...mocked, PORT: "0" };
  const begin = () => start(folder, "local.ts", { env, ready: /http:\S+/ });
  let worker = await begin();

  async function call(path, body) {
    const method = body === undefined ? "GET" : "POST";
    const response = await fetch(worker.match + path, { method, body });
    assert.equal(response.status, 200);
    return response.json();
  }
  const asked = () => until(async () => (await call("")).asks[0]);

  return {
    say: () => call("", SAID),
    asked,
    allow: async () => call(`/${(await asked()).id}`, JSON.stringify({ allow: null })),
    async end() {
      const said = await until(async () => {
        const state = await call("");
        return state.state === "idle" ? state.said : undefined;
      });
      return said.at(-1).assistant.blocks[0].text;
    },
    async crash() {
      await worker.kill();
      await assert.rejects(fetch(worker.match), "workerd has ended, too");
      worker = await begin();
      // The next request is what makes the object again.
      await call("");
    },
    close: () => worker.kill(),
  };
});
