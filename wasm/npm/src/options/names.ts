// Names of options in error messages. The session names fields of its configuration; here they
// become the names of the options that the user wrote.

import type { ConfigError, JsonFault } from "../json/protocol.js";
import { OPTIONS, type Option } from "./table.js";

// Fields of an input that are set by options with another name.
const OF_INPUTS: readonly (readonly [field: string, option: string])[] = [
  ["allow_rule", "rule"],
  ["options.tools", "tools"],
  ["options.paths", "paths"],
  ["options.tool_choice", "toolChoice"],
  ["options.temperature", "temperature"],
];

const WRITTEN = new Map([...OF_INPUTS, ...Object.entries<Option>(OPTIONS).flatMap(written)]);

// The fields that an option sets, each with the option's name as it is written.
function written([name, { field, fields = {} }]: [string, Option]): [string, string][] {
  const own = Object.entries(fields).map(([key, field]): [string, string] => {
    return [`${name}.${typeof field === "string" ? field : field.other}`, `${name}.${key}`];
  });
  return field === undefined ? own : [[field, name], ...own];
}

/** The places in an input that hold a value of the user's; the user never wrote their names. */
const PREFIX = /^(?:config|tool\.input\.done|answer\.answer|hook\.reply)\./;
/** A field's name in a message: two parts or more, since a single one may be a common word. */
const FIELDS = /\b[a-z]+(?:_[a-z]+)*(?:\.[a-z]+(?:_[a-z]+)*)+\b/g;

/**
 * Returns the message of an error in the names that the user wrote. A field that is set in `patch`,
 * the user's `config`, keeps the session's name.
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

// A fault in a tool, by the tool's name instead of its index. The form of an answer is a tool, too,
// which the user knows as `answer`.
function toolAsWritten(tool: string, field: string, message: string): string {
  if (tool === "final_answer") return `\`answer.schema\`: ${message}`;
  return `\`${tool}\`: its \`${field.replace(/^tools\[\d+\]\.?/, "")}\`: ${message}`;
}

// A message for a value that could not be read; the session's own message serves in other cases.
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

// True if the user's patch sets the field, or a value above it.
function has(patch: unknown, field: string): boolean {
  let at: unknown = patch;
  for (const name of field.split(/[.[\]]+/).filter((part) => part !== "")) {
    if (typeof at !== "object" || at === null) return at !== undefined;
    at = (at as Record<string, unknown>)[name];
  }
  return at !== undefined;
}

// The option that sets a field, or the nearest one above it with the rest of the name.
function optionOf(field: string): string {
  for (let end = field.length; end > 0; end = field.slice(0, end).search(/[.[][^.[]*$/)) {
    const option = WRITTEN.get(field.slice(0, end));
    if (option !== undefined) return option + field.slice(end);
  }
  return field;
}
