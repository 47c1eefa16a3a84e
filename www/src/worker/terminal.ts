// The terminal: a person's command lines, run in a shell over a copy of the files. It is an agent
// whose model is a script that calls the shell with each line, so that it has the same sandbox as
// the real one. Changes of files are handed back.

import type { Agent } from "innerloop";
import { eventsOf, respond } from "../demo/wire.js";
import type { LineResult } from "../shared/messages.js";
import { library, QJS, SHELL } from "./library.js";

/** The time limit of a line in milliseconds. */
const LONGEST_MS = 600_000;
/** The most characters shown of a line's output. */
const MOST_OUTPUT = 1_000_000;

/** The session, as the terminal needs it. */
export interface TerminalSide {
  files(): ReadonlyMap<string, Uint8Array>;
  changed(path: string, content: Uint8Array | undefined): void;
  printed(text: string): void;
}

/** A shell that a person types into. */
export class Terminal {
  readonly #side: TerminalSide;
  #agent: Agent | undefined;
  #known = new Map<string, Uint8Array>();
  #line = "";
  #calls = 0;

  constructor(side: TerminalSide) {
    this.#side = side;
  }

  /** Runs a line and returns its result. */
  async run(line: string): Promise<LineResult> {
    const agent = await this.#ready();
    this.#line = line;
    this.#bring(agent);
    const run = agent.run("Go");
    let result: LineResult = { output: "", error: "It did not run." };
    let shown = 0;
    for await (const event of run) {
      if (event.type === "tool_call_output_delta" && shown < MOST_OUTPUT) {
        shown += event.text.length;
        this.#side.printed(event.text);
      }
      if (event.type !== "tool_call_end") continue;
      const { parts, exit, error } = event.outcome;
      const output = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
      result = { output: output.slice(0, MOST_OUTPUT), exit, error };
    }
    this.#take(agent);
    return result;
  }

  /** Stops the line that runs. */
  stop(): void {
    this.#agent?.interrupt();
  }

  async close(): Promise<void> {
    await this.#agent?.close();
  }

  async #ready(): Promise<Agent> {
    if (this.#agent !== undefined) return this.#agent;
    const { Agent } = await library();
    this.#known = new Map(this.#side.files());
    this.#agent = await Agent.create({
      provider: "anthropic",
      model: "terminal",
      vocabulary: "seed",
      fetch: (_url, { signal }) => Promise.resolve(respond(this.#next(), 0, signal)),
      files: this.#known,
      programs: { ...QJS, ...SHELL },
      // A person may well run the same line many times.
      loops: { detect: false },
      subagents: false,
      // The person reads the output; the conversation behind the shell need not remember it.
      config: { tool_output_limits: { shell: 200 } },
      timeouts: { defaultMs: LONGEST_MS, maxMs: LONGEST_MS },
    });
    return this.#agent;
  }

  // The next reply of the script: first the line as a call of the shell, then the end.
  #next(): string[] {
    if (this.#line === "") return eventsOf({ text: "Done." }, 1);
    const input = { command: this.#line };
    this.#line = "";
    this.#calls += 1;
    const id = `toolu_line_${this.#calls}`;
    return eventsOf({ calls: [{ id, name: "shell", input }] }, 1);
  }

  #bring(agent: Agent): void {
    const files = this.#side.files();
    for (const path of this.#known.keys()) if (!files.has(path)) agent.files.remove(path);
    for (const [path, content] of files) {
      // By identity, which is cheap: contents are never changed in place.
      if (this.#known.get(path) !== content) agent.files.write(path, content);
    }
    this.#known = new Map(files);
  }

  #take(agent: Agent): void {
    const now = new Map(agent.files);
    for (const path of this.#known.keys()) {
      if (!now.has(path)) this.#side.changed(path, undefined);
    }
    for (const [path, content] of now) this.#side.changed(path, content);
    this.#known = new Map(this.#side.files());
  }
}
