// Calls a tool of the user, and makes of what it returns or throws what the binding takes.

import type { Tool, ToolContext, ToolReply } from "./types.js";

/**
 * Calls the tool. The result is a text, a {@link ToolReply}, or `undefined` for nothing; it rejects
 * with an `Error` where the tool throws or returns what JSON cannot hold.
 */
export async function callTool(
  tool: Tool | undefined,
  args: string,
  context: ToolContext,
): Promise<string | ToolReply | undefined> {
  if (tool === undefined) throw new Error("the host has no such tool any more");
  let result: unknown;
  try {
    result = await tool.execute(JSON.parse(args), context);
  } catch (error) {
    throw hasMessage(error) ? error : new Error(`it threw ${shown(error)}`);
  }
  if (result === undefined || typeof result === "string" || isReply(result)) return result;
  return asJson(result);
}

function isReply(result: unknown): result is ToolReply {
  return typeof result === "object" && typeof (result as ToolReply | null)?.text === "string";
}

function asJson(result: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(result);
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
