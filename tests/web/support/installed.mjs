// One installation that all suites of a test process share.

import { importFrom, install, programTarballs } from "./package.mjs";

const project = install(programTarballs());
// Not `after`: the tests of one suite may be over before another suite is loaded.
process.once("exit", () => project.remove());

/** The project's folder. */
export const folder = project.folder;

/** What the package exports. */
export const {
  Agent,
  AgentError,
  Files,
  PartialArguments,
  RejectedError,
  Run,
  Session,
  init,
  providers,
  tool,
  wasiTool,
} = await importFrom(folder);

/** The programs that come as packages. */
export const { default: shell } = await importFrom(folder, "innerloop-shell");
export const { default: qjs } = await importFrom(folder, "innerloop-qjs");
export const { default: python } = await importFrom(folder, "innerloop-python");

/** An agent that talks to a scripted server. */
export function agentAt(server, options = {}) {
  return Agent.create({
    provider: "anthropic",
    model: "mock-1",
    apiKey: "sk-test-0123456789",
    baseUrl: server.url,
    vocabulary: "seed",
    retry: { baseMs: 5, maxMs: 20 },
    ...options,
  });
}

/** All events of a run. */
export async function eventsOf(run) {
  const events = [];
  for await (const event of run) events.push(event);
  return events;
}
