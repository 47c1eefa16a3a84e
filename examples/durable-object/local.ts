// The worker on this machine: serves it, or has the agent named ada do what the arguments say.

import { createInterface } from "node:readline";
import { build } from "esbuild";
import type { Answer, Ask, Said } from "innerloop";
import { Miniflare } from "miniflare";

const { PORT = "8787", STORAGE = ".storage", TRAVEL_URL = "" } = process.env;
const { ANTHROPIC_API_KEY = "", ANTHROPIC_BASE_URL = "https://api.anthropic.com" } = process.env;

await build({
  absWorkingDir: import.meta.dirname,
  entryPoints: ["agent.ts"],
  bundle: true,
  format: "esm",
  conditions: ["workerd", "worker"],
  external: ["cloudflare:workers"],
  loader: { ".wasm": "copy" },
  outdir: "dist",
});

const worker = new Miniflare({
  rootPath: import.meta.dirname,
  modules: true,
  modulesRoot: "dist",
  scriptPath: "dist/agent.js",
  modulesRules: [{ type: "CompiledWasm", include: ["**/*.wasm"] }],
  compatibilityDate: "2026-05-01",
  durableObjects: { AGENTS: { className: "Agent", useSQLite: true } },
  durableObjectsPersist: STORAGE,
  bindings: { ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL, TRAVEL_URL },
  port: Number(PORT),
});
const url = new URL("ada", await worker.ready);

interface State {
  state: string;
  asks: { id: number; ask: Ask }[];
  said: Said[];
}

async function call(path: string, body?: string): Promise<State> {
  const response = await fetch(url + path, { method: body === undefined ? "GET" : "POST", body });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as State;
}

const words = process.argv.slice(2).join(" ");
if (words === "") {
  console.log(`POST ${url} says something, GET tells where the agent stands`);
} else {
  const terminal = createInterface(process.stdin);
  const answers = terminal[Symbol.asyncIterator]();
  let now = await call("");
  // What was under way goes on first.
  if (now.state === "idle") now = await call("", words);
  for (; now.state !== "idle"; now = await call("")) {
    for (const { id, ask } of now.asks) {
      console.log(`${JSON.stringify(ask)}: y or n?`);
      const isYes = (await answers.next()).value === "y";
      const answer: Answer = isYes ? { allow: null } : { deny: { reason: "the user said no" } };
      await call(`/${id}`, JSON.stringify(answer));
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const replies = now.said.flatMap((turn) => ("assistant" in turn ? turn.assistant.blocks : []));
  for (const block of replies) {
    if ("text" in block) console.log(block.text.trim());
    if ("tool_call" in block)
      console.log("> %s %s", block.tool_call.name, block.tool_call.arguments);
  }
  terminal.close();
  await worker.dispose();
}
