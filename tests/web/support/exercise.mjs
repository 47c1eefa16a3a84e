// What an agent does in every place: it writes a file, reads it and, where there are workers, runs
// it. Its `fetch` is the fixture's own. Imports nothing of Node's.

import { stream } from "./stream.mjs";

const FILE = "even.mjs";
const CODE = 'if (2 % 2 !== 0) throw new Error("odd");\nconsole.log("2 is even");\n';
const CALLS = [
  ["write_file", { file_path: FILE, content: CODE }],
  ["read_file", { file_path: FILE }],
  ["run_program", { program: "qjs", args: ["-m", FILE] }],
];

/**
 * Runs it with what the package exports, QuickJS if it is given, and a file system in place of files
 * in memory: what came of it, as data.
 */
export async function exercise({ Agent }, programs, files) {
  const calls = programs === undefined ? CALLS.slice(0, 2) : CALLS;
  const replies = [...calls.map((call) => ({ calls: [call] })), { text: "Done." }];
  const headers = { "content-type": "text/event-stream" };
  const agent = await Agent.create({
    provider: "anthropic",
    model: "mock-1",
    vocabulary: "seed",
    fetch: async () => new Response(stream(replies.shift()).join(""), { headers }),
    programs,
    files,
  });
  const run = agent.run("Is two even?");
  const said = [];
  for await (const event of run) {
    if (event.type !== "tool_call_end") continue;
    said.push(event.outcome.parts.map(({ text }) => text).join(""));
  }
  const { status, text, error } = await run.result();
  const bytes = files ? await files.read(FILE) : agent.files.read(FILE);
  const file = new TextDecoder().decode(bytes);
  await agent.close();
  return { status, text, error: error?.message, file, said };
}

/** The same, where nobody awaits it: what failed is told as data. */
export function outcomeOf(...given) {
  return exercise(...given).catch((error) => ({ failed: String(error?.stack ?? error) }));
}

/** What must have come of it; throws otherwise. */
export function check(outcome, { runs }) {
  const { status, text, file, said = [] } = outcome;
  const [, read = "", printed] = said;
  const isRight =
    status === "completed" &&
    text === "Done." &&
    file === CODE &&
    read.includes("2 is even") &&
    said.length === (runs ? 3 : 2) &&
    (!runs || printed === "2 is even\n");
  if (!isRight) throw new Error(`it went otherwise: ${JSON.stringify(outcome, null, 2)}`);
}
