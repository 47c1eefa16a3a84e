// The names of options: as the user writes them, and as the session's configuration has them. What
// is said of a field of the configuration is said of the option that the user has written.

import type { ConfigError, JsonFault } from "../json/protocol.js";
import { OPTIONS, type Option } from "./table.js";

// Fields of an input that options of another name set.
const OF_INPUTS: readonly (readonly [field: string, option: string])[] = [
  ["allow_rule", "rule"],
  ["options.tools", "tools"],
  ["options.paths", "paths"],
  ["options.tool_choice", "toolChoice"],
  ["options.temperature", "temperature"],
];

const WRITTEN = new Map([...OF_INPUTS, ...Object.entries<Option>(OPTIONS).flatMap(written)]);

// The fields that an option sets, each with what is written for it.
function written([name, { field, fields = {} }]: [string, Option]): [string, string][] {
  const own = Object.entries(fields).map(([key, field]): [string, string] => {
    return [`${name}.${typeof field === "string" ? field : field.other}`, `${name}.${key}`];
  });
  return field === undefined ? own : [[field, name], ...own];
}

/** Where in an input something stands that the user has said: no word of the user's. */
const PREFIX = /^(?:config|tool\.input\.done|answer\.answer|hook\.reply)\./;
/** A field with a name of two parts or more, in the words of the core. */
const FIELDS = /\b[a-z]+(?:_[a-z]+)*(?:\.[a-z]+(?:_[a-z]+)*)+\b/g;

/**
 * What does not fit, in the names that the user has written, who may have written a patch of the
 * configuration, too.
 */
export function asWritten(error: ConfigError, patch: unknown): string {
  const field = error.field.replace(PREFIX, "");
  const of = (name: string): string => {
    return has(patch, name) ? `config.${name}` : (WRITTEN.get(name) ?? name);
  };
  const message = inWords(error.fault) ?? error.message.replace(FIELDS, of);
  if (error.tool !== undefined) return toolAsWritten(error.tool, field, message);
  const option = has(patch, field) ? `config.${field}` : optionOf(field);
  if (error.fault?.kind === "missing_field") return `\`${option}\` is missing`;
  return field === "" ? message : `\`${option}\`: ${message}`;
}

// Of a tool its name says more than its place; the form of an answer becomes a tool, too.
function toolAsWritten(tool: string, field: string, message: string): string {
  if (tool === "final_answer") return `\`answer.schema\`: ${message}`;
  return `\`${tool}\`: its \`${field.replace(/^tools\[\d+\]\.?/, "")}\`: ${message}`;
}

// What does not fit where a value was read; what else is said of it needs no other words.
function inWords(fault: JsonFault | undefined): string | undefined {
  switch (fault?.kind) {
    case "eof":
      return "its JSON ends too early";
    case "unexpected":
    case "range":
      return `it must be ${fault.expected}, not ${fault.found}`;
    case "unknown_field":
      return `there is no \`${fault.name}\`; there is ${listed(fault.known)}`;
    case "unknown_value":
      return `there is no \`${fault.name}\`; give ${listed(fault.known)}`;
    default:
      return undefined;
  }
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? "nothing" : names.map((name) => `\`${name}\``).join(", ");
}

// Whether the user's patch says something there, or above.
function has(patch: unknown, field: string): boolean {
  let at: unknown = patch;
  for (const name of field.split(/[.[\]]+/).filter((part) => part !== "")) {
    if (typeof at !== "object" || at === null) return at !== undefined;
    at = (at as Record<string, unknown>)[name];
  }
  return at !== undefined;
}

function optionOf(field: string): string {
  for (let end = field.length; end > 0; end = field.slice(0, end).search(/[.[][^.[]*$/)) {
    const option = WRITTEN.get(field.slice(0, end));
    if (option !== undefined) return option + field.slice(end);
  }
  return field;
}
