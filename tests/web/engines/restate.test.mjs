// The example of Restate, beside its server: the process of the agent is killed wherever it can be.

import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { after, test } from "node:test";
import { testCrashes } from "./crashes.mjs";
import { checkTypes, demo, installed, start, startProgram, until } from "./example.mjs";
import { SAID } from "./world.mjs";

const folder = installed("restate");
/** The servers' data, which are large. */
const [DEMO, KILLED] = [".restate", ".killed"].map((name) => join(folder, name));
/** Addresses of a server and an agent, as the example takes them. */
async function places() {
  const [PORT, RESTATE_BIND_PORT, ingress, admin] = await Promise.all([1, 2, 3, 4].map(freePort));
  const ports = { RESTATE_INGRESS__BIND_PORT: ingress, RESTATE_ADMIN__BIND_PORT: admin };
  return { PORT, RESTATE_BIND_PORT, ...ports };
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return String(port);
}

async function post(port, path, body) {
  const headers = { "content-type": "application/json" };
  const options = { method: "POST", headers, body: JSON.stringify(body) };
  const response = await fetch(`http://127.0.0.1:${port}${path}`, options);
  const text = await response.text();
  assert.ok(response.ok, text);
  return text === "" ? undefined : JSON.parse(text);
}

test("its types fit, and its command runs it", async () => {
  checkTypes(folder);
  rmSync(DEMO, { recursive: true, force: true });
  assert.match(demo(folder, await places()), /"book_flight"[^]*You fly to Lima\.\n$/);
});

const ENV = await places();
const { PORT, RESTATE_INGRESS__BIND_PORT: INGRESS, RESTATE_ADMIN__BIND_PORT: ADMIN } = ENV;
rmSync(KILLED, { recursive: true, force: true });
const words = ["node_modules/.bin/restate-server", "--no-logo", "--base-dir", KILLED];
const server = await startProgram(folder, [process.execPath, ...words], {
  env: { ...ENV, RESTATE_BIND_IP: "127.0.0.1", RESTATE_DISABLE_TELEMETRY: "true" },
  ready: /Admin API starting/,
});
after(async () => {
  await server.kill();
  for (const data of [DEMO, KILLED]) rmSync(data, { recursive: true, force: true });
});

let agents = 0;
testCrashes(async ({ url }) => {
  agents += 1;
  const object = `/agent/ada-${agents}`;
  const mocked = { ANTHROPIC_API_KEY: "sk-mock", ANTHROPIC_BASE_URL: url, TRAVEL_URL: url };
  const env = { ...mocked, PORT };
  const begin = () => start(folder, "agent.ts", { env, ready: /started listening/ });
  let service = await begin();
  await post(ADMIN, "/deployments", { uri: `http://127.0.0.1:${PORT}`, force: true });

  const asked = () => until(async () => (await post(INGRESS, `${object}/questions`))[0]);
  let said;
  return {
    say: async () => void (said = post(INGRESS, `${object}/say`, SAID)),
    asked,
    async allow() {
      const { awakeable } = await asked();
      await post(INGRESS, `/restate/awakeables/${awakeable}/resolve`, true);
    },
    async end() {
      const { end, text } = await said;
      assert.equal(end, "completed");
      return text;
    },
    async crash() {
      await service.kill();
      service = await begin();
    },
    close: () => service.kill(),
  };
});
