// Values of the user as JSON for the module. A value that JSON cannot hold, such as a cycle or a
// `BigInt`, is refused with its place, which `JSON.stringify` does not tell.

import { AgentError, messageOf } from "../errors.js";
import { toJson } from "../json/encode.js";
import type { ConfigError } from "../json/protocol.js";
import { asWritten } from "./names.js";

/** The depth to which the place of a value that JSON cannot hold is searched. */
const MOST_DEPTH = 32;

/**
 * Returns a value of the user as JSON. For messages, `patch` is as in {@link asWritten}, and `at`
 * is the option that holds the value.
 *
 * @throws AgentError `bad_option` with the place of what JSON cannot hold.
 */
export function givenJson(value: unknown, patch?: unknown, at = ""): string {
  try {
    return toJson(value) ?? "null";
  } catch (error) {
    const place = fieldOf(value, placeOf(value, []));
    const fault = { ...place, field: at + place.field, message: whyNot(error) };
    throw new AgentError("bad_option", asWritten(fault, patch));
  }
}

function whyNot(error: unknown): string {
  const why = messageOf(error);
  if (/circular|cyclic/i.test(why)) return "it contains itself, which JSON cannot say";
  if (error instanceof RangeError) return "it is nested too deeply for JSON";
  return `JSON cannot say it: ${why}`;
}

// The names that lead to the first value which JSON cannot hold.
function placeOf(value: unknown, above: readonly unknown[]): string[] {
  if (typeof value !== "object" || value === null || above.length > MOST_DEPTH) return [];
  const around = [...above, value];
  for (const [name, inner] of Object.entries(value)) {
    if (around.includes(inner)) return [name];
    if (!isJson(inner)) return [name, ...placeOf(inner, around)];
  }
  return [];
}

function isJson(value: unknown): boolean {
  try {
    JSON.stringify(value);
    return true;
  } catch {
    return false;
  }
}

// The field of the configuration at a place; for one in a tool also the tool's name.
function fieldOf(value: unknown, place: readonly string[]): Pick<ConfigError, "field" | "tool"> {
  const names = place[0] === "patches" ? place.slice(2) : place;
  const parts = names.map((name) => (/^\d+$/.test(name) ? `[${name}]` : `.${name}`));
  const field = parts.join("").replace(/^\./, "");
  if (names[0] !== "tools") return { field };
  const tools = (value as { tools?: { name?: string }[] }).tools;
  const tool = tools?.[Number(names[1])]?.name;
  return tool === undefined ? { field } : { field, tool };
}
