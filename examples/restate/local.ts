// Restate and the agent on this machine: has the agent named ada do what the arguments say.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { End, Question } from "./agent.ts";

const { RESTATE_INGRESS__BIND_PORT = "8080", RESTATE_ADMIN__BIND_PORT = "9070" } = process.env;
const { PORT = "9080" } = process.env;
const ingress = `http://127.0.0.1:${RESTATE_INGRESS__BIND_PORT}`;
const admin = `http://127.0.0.1:${RESTATE_ADMIN__BIND_PORT}`;

async function post<T>(url: string, body?: unknown): Promise<T> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url}: ${text}`);
  return (text === "" ? undefined : JSON.parse(text)) as T;
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const server = spawn("restate-server", ["--no-logo", "--base-dir", ".restate"], {
  env: { RESTATE_BIND_IP: "127.0.0.1", RESTATE_DISABLE_TELEMETRY: "true", ...process.env },
  stdio: "ignore",
});
process.once("exit", () => server.kill());
process.env.RESTATE_LOGGING ??= "ERROR";
await import("./agent.ts");
const isUp = () =>
  fetch(`${admin}/health`).then(
    ({ ok }) => ok,
    () => false,
  );
while (!(await isUp())) await sleep(100);
await post(`${admin}/deployments`, { uri: `http://127.0.0.1:${PORT}`, force: true });

let end: End | undefined;
const said = post<End>(`${ingress}/agent/ada/say`, process.argv.slice(2).join(" "));
const ended = said.then((value) => (end = value));
const terminal = createInterface(process.stdin);
const answers = terminal[Symbol.asyncIterator]();
while (end === undefined) {
  for (const { awakeable, ask } of await post<Question[]>(`${ingress}/agent/ada/questions`)) {
    console.log(`${JSON.stringify(ask)}: y or n?`);
    const isYes = (await answers.next()).value === "y";
    await post(`${ingress}/restate/awakeables/${awakeable}/resolve`, isYes);
  }
  await Promise.race([ended, sleep(100)]);
}
console.log(end.text);
process.exit();
