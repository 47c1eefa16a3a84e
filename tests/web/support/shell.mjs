// Agents that carry out command lines, by the packages of the shell and of QuickJS.

import { readFileSync } from "node:fs";
import { reply, serve } from "./anthropic.mjs";
import { agentAt, eventsOf, qjs, shell } from "./installed.mjs";

/** A program of a package, compiled once for all tests; how it is loaded is a test of its own. */
const compiled = async (program) => ({
  ...program,
  wasm: await WebAssembly.compile(readFileSync(program.wasm())),
});

/** The shell, and QuickJS as a command of it. */
export const programs = await Promise.all([shell, qjs].map(compiled));

/** What a call of the shell's tool says: a command, or the whole input. */
const inputOf = (line) => (typeof line === "string" ? { command: line } : line);

/** Lets an agent carry out command lines one after the other: their outcomes, and the agent. */
export async function runLines(lines, options = {}) {
  const steps = lines.map((line) => reply({ calls: [["shell", inputOf(line)]] }));
  const server = await serve(...steps, reply({ text: "Done." }));
  const agent = await agentAt(server, { programs, ...options });
  const events = await eventsOf(agent.run("Go"));
  await agent.close();
  await server.close();
  const ends = events.filter(({ type }) => type === "tool_call_end");
  const outcomes = ends.map(({ outcome }) => outcome);
  return { outcomes, agent, events, requests: server.requests };
}

/** What each line printed. */
export async function printed(lines, options) {
  const { outcomes } = await runLines(lines, options);
  return outcomes.map(({ parts }) => parts.map(({ text }) => text).join("|"));
}
