// The tools of the user: the list that an agent has, and the call of one.

import type { Outcome } from "../json/data.js";
import { toJson } from "../json/encode.js";
import { Misfit, validated } from "../options/schema.js";
import { checkTool, type Tool, type ToolContext } from "../options/tool.js";
import { isError } from "../platform/kinds.js";
import type { WasiTool } from "../programs/sources.js";
import { fitted } from "./pictures.js";
import { asJson, outcomeOf } from "./replies.js";

/**
 * Returns the tool as it is. It exists for its types: the arguments of `execute` get the types of
 * the schema in `parameters`.
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

/** @internal The agent that has the tools. */
export interface ToolsOwner {
  /** Makes the session show these to the model from now on. */
  changeTools(tools: readonly (Tool | WasiTool)[]): void;
}

/**
 * The tools of yours that an agent has. A change counts from the next model call on; a call that
 * runs goes on.
 *
 * ```js
 * agent.tools.register(weather);
 * agent.tools.unregister("deploy");
 * console.log(agent.tools.names());
 * ```
 */
export class Tools implements Iterable<Tool | WasiTool> {
  #list: readonly (Tool | WasiTool)[];
  readonly #owner: ToolsOwner;

  /** @internal */
  constructor(tools: readonly (Tool | WasiTool)[], owner: ToolsOwner) {
    // The last tool of a name wins, as with `register`.
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

  /** Removes a tool, and returns whether there was one of that name. */
  unregister(name: string): boolean {
    if (this.get(name) === undefined) return false;
    this.#change(this.#others(name));
    return true;
  }

  /** Returns the tool of that name. */
  get(name: string): Tool | WasiTool | undefined {
    return this.#list.find((tool) => tool.name === name);
  }

  /** Returns the names, in the order in which the model is shown the tools. */
  names(): string[] {
    return this.#list.map(({ name }) => name);
  }

  /** Iterates over the tools in that order. */
  [Symbol.iterator](): Iterator<Tool | WasiTool> {
    return this.#list.values();
  }

  #others(name: string): (Tool | WasiTool)[] {
    return this.#list.filter((known) => known.name !== name);
  }

  #change(tools: (Tool | WasiTool)[]): void {
    // The session first: if it refuses the change, the list stays as it was.
    this.#owner.changeTools(tools);
    this.#list = tools;
  }
}

/**
 * Calls a tool and resolves to its outcome as JSON. It rejects with an `Error` where the tool
 * throws, or returns a value that JSON cannot hold.
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
    // Arguments that do not fit are the model's mistake, which it can correct; all else is the
    // tool's.
    if (error instanceof Misfit) return asJson(misfit(error.message));
    throw hasMessage(error) ? error : new Error(`it threw ${shown(error)}`);
  }
}

/** Returns the outcome of a failed call as JSON, with the same text as on other hosts. */
export function failedOutcome(name: string, reason: string): string {
  const text = `The tool ${name} failed: ${reason}`;
  return toJson({ parts: [{ type: "text", text }], error: "crashed" });
}

/** Returns the outcome of a call that ran out of time, or that was interrupted, as JSON. */
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

// A text for a thrown value without a message: an error's name, else JSON if possible.
function shown(thrown: unknown): string {
  try {
    if (isError(thrown)) return `an error, ${thrown.name}, without a message`;
    return JSON.stringify(thrown) ?? String(thrown);
  } catch {
    return `a value of type ${typeof thrown}`;
  }
}
