// The tools of the user: which there are, and how one is called.

import { checkTool } from "./options.js";
import type { Outcome } from "./data.js";
import type { Tool, ToolContext, ToolReply, WasiTool } from "./types.js";
import { toJson } from "./work.js";

/**
 * The tools of yours that an agent has. A change counts from the next model call on; a call
 * that runs goes on.
 */
export class Tools implements Iterable<Tool | WasiTool> {
  readonly #byName: Map<string, Tool | WasiTool>;
  readonly #changed: (tools: (Tool | WasiTool)[]) => void;

  /** @internal */
  constructor(tools: readonly (Tool | WasiTool)[], changed: (tools: (Tool | WasiTool)[]) => void) {
    this.#byName = new Map(tools.map((tool) => [tool.name, tool]));
    this.#changed = changed;
  }

  /**
   * Adds a tool, in place of one of the same name.
   *
   * @throws AgentError `bad_option` where the tool does not fit, `closed` where the agent is.
   */
  register(tool: Tool | WasiTool): void {
    checkTool(tool);
    const { name } = tool;
    this.#change([...[...this].filter((known) => known.name !== name), tool]);
  }

  /** Removes a tool; whether there was one. */
  unregister(name: string): boolean {
    if (!this.#byName.has(name)) return false;
    this.#change([...this].filter((known) => known.name !== name));
    return true;
  }

  /** The tool of that name. */
  get(name: string): Tool | WasiTool | undefined {
    return this.#byName.get(name);
  }

  /** The names, in the order in which the model is shown the tools. */
  names(): string[] {
    return [...this.#byName.keys()];
  }

  /** The tools in that order. */
  [Symbol.iterator](): Iterator<Tool | WasiTool> {
    return this.#byName.values();
  }

  #change(tools: (Tool | WasiTool)[]): void {
    // What the session refuses stays as it was.
    this.#changed(tools);
    this.#byName.clear();
    for (const tool of tools) this.#byName.set(tool.name, tool);
  }
}

/**
 * Calls the tool; its outcome, as JSON. It rejects with an `Error` where the tool throws or returns
 * what JSON cannot hold.
 */
export async function callTool(
  tool: Pick<Tool, "execute"> | undefined,
  args: string,
  context: ToolContext,
): Promise<string> {
  if (tool === undefined) throw new Error("the host has no such tool any more");
  let result: unknown;
  try {
    result = await tool.execute(JSON.parse(args), context);
  } catch (error) {
    throw hasMessage(error) ? error : new Error(`it threw ${shown(error)}`);
  }
  return asJson(outcomeOf(result));
}

function outcomeOf(result: unknown): Partial<Outcome> {
  const { text, parts = [], isError, details } = isReply(result) ? result : { text: said(result) };
  return {
    parts: text === undefined ? parts : [{ type: "text", text }, ...parts],
    error: isError ? "crashed" : undefined,
    details,
  };
}

function isReply(result: unknown): result is ToolReply {
  if (typeof result !== "object" || result === null) return false;
  const { text, parts } = result as Partial<ToolReply>;
  return text === undefined ? Array.isArray(parts) : typeof text === "string";
}

function said(result: unknown): string {
  if (result === undefined) return "";
  return typeof result === "string" ? result : asJson(result);
}

function asJson(result: unknown): string {
  let text: string | undefined;
  try {
    text = toJson(result);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`its result cannot be given to the model as JSON: ${why}`);
  }
  if (text !== undefined) return text;
  throw new Error(`its result cannot be given to the model as JSON: it is a ${typeof result}`);
}

function hasMessage(error: unknown): boolean {
  if (typeof error === "string") return error !== "";
  const message = (error as Partial<Error> | null | undefined)?.message;
  return typeof error === "object" && typeof message === "string" && message !== "";
}

// What was thrown, for a reader: an error without a message by its name, else as JSON if possible.
function shown(thrown: unknown): string {
  try {
    if (thrown instanceof Error) return `an error, ${thrown.name}, without a message`;
    return JSON.stringify(thrown) ?? String(thrown);
  } catch {
    return `a value of type ${typeof thrown}`;
  }
}
