// The tools of the user: which there are, and how one is called.

import type { Outcome } from "../json/data.js";
import { toJson } from "../json/encode.js";
import { Misfit, validated } from "../options/schema.js";
import { checkTool, type Tool, type ToolContext } from "../options/tool.js";
import { isError } from "../platform/kinds.js";
import type { WasiTool } from "../programs/sources.js";
import { fitted } from "./pictures.js";
import { asJson, outcomeOf } from "./replies.js";

/**
 * The tool itself: with this around it, the arguments of `execute` have the types of the schema
 * that its `parameters` are.
 *
 * ```js
 * const weather = tool({
 *   name: "weather",
 *   description: "The weather in a city, now",
 *   parameters: z.object({ city: z.string() }),
 *   execute: ({ city }) => forecast(city),
 * });
 * ```
 */
export function tool<Parameters = object>(definition: Tool<Parameters>): Tool<Parameters> {
  return definition;
}

/** @internal Whose tools they are. */
export interface ToolsOwner {
  /** Has the session show these to the model from now on. */
  changeTools(tools: readonly (Tool | WasiTool)[]): void;
}

/**
 * The tools of yours that an agent has. A change counts from the next model call on; a call
 * that runs goes on.
 */
export class Tools implements Iterable<Tool | WasiTool> {
  #list: readonly (Tool | WasiTool)[];
  readonly #owner: ToolsOwner;

  /** @internal */
  constructor(tools: readonly (Tool | WasiTool)[], owner: ToolsOwner) {
    // The last one of a name wins.
    this.#list = [...new Map(tools.map((tool) => [tool.name, tool])).values()];
    this.#owner = owner;
  }

  /**
   * Adds a tool, in place of one of the same name.
   *
   * @throws AgentError `bad_option` where the tool does not fit, `closed` where the agent is.
   */
  register(tool: Tool | WasiTool): void {
    checkTool(tool);
    this.#change([...this.#others(tool.name), tool]);
  }

  /** Removes a tool; whether there was one. */
  unregister(name: string): boolean {
    if (this.get(name) === undefined) return false;
    this.#change(this.#others(name));
    return true;
  }

  /** The tool of that name. */
  get(name: string): Tool | WasiTool | undefined {
    return this.#list.find((tool) => tool.name === name);
  }

  /** The names, in the order in which the model is shown the tools. */
  names(): string[] {
    return this.#list.map(({ name }) => name);
  }

  /** The tools in that order. */
  [Symbol.iterator](): Iterator<Tool | WasiTool> {
    return this.#list.values();
  }

  #others(name: string): (Tool | WasiTool)[] {
    return this.#list.filter((known) => known.name !== name);
  }

  #change(tools: (Tool | WasiTool)[]): void {
    // What the session refuses stays as it was.
    this.#owner.changeTools(tools);
    this.#list = tools;
  }
}

/**
 * Calls the tool; its outcome, as JSON. It rejects with an `Error` where the tool throws or returns
 * what JSON cannot hold.
 */
export async function callTool(
  tool: Pick<Tool, "execute" | "parameters"> | undefined,
  args: string,
  context: ToolContext,
  provider?: string,
): Promise<string> {
  if (tool === undefined) throw new Error("the host has no such tool any more");
  try {
    const fitting = await validated(tool.parameters, JSON.parse(args));
    const outcome = await outcomeOf(await tool.execute(fitting, context), context);
    return asJson(await fitted(outcome, provider));
  } catch (error) {
    if (error instanceof Misfit) return asJson(misfit(error.message));
    throw hasMessage(error) ? error : new Error(`it threw ${shown(error)}`);
  }
}

/** The outcome of a call that failed, as JSON; in the words of `driver/src/custom_tool_outcome.rs`. */
export function failedOutcome(name: string, reason: string): string {
  const text = `The tool ${name} failed: ${reason}`;
  return toJson({ parts: [{ type: "text", text }], error: "crashed" });
}

/** The outcome of a call whose time is up, or whose result nobody waits for, as JSON. */
export function stoppedOutcome(timedOut: boolean): string {
  const error = timedOut ? "timeout" : "interrupted";
  const parts = [{ type: "text", text: "" }];
  return toJson({ parts, error, timed_out: timedOut || undefined });
}

function misfit(message: string): Partial<Outcome> {
  const text = `the arguments do not fit: ${message}`;
  return { parts: [{ type: "text", text }], error: "invalid_arguments" };
}

function hasMessage(error: unknown): boolean {
  if (typeof error === "string") return error !== "";
  const message = (error as Partial<Error> | null | undefined)?.message;
  return typeof error === "object" && typeof message === "string" && message !== "";
}

// What was thrown, for a reader: an error without a message by its name, else as JSON if possible.
function shown(thrown: unknown): string {
  try {
    if (isError(thrown)) return `an error, ${thrown.name}, without a message`;
    return JSON.stringify(thrown) ?? String(thrown);
  } catch {
    return `a value of type ${typeof thrown}`;
  }
}
