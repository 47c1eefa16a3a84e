// The names of options: as the user writes them, and as the session's configuration has them. What
// is said of a field of the configuration is said of the option that the user has written.

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
/** The field that a message begins with. */
const OF_A_FIELD = /^((?:[a-z]\w*|\[\d+\])(?:\.\w+|\[\d+\])*): /;
/** Where a reader of JSON stood: it has read what the package wrote. */
const PLACE = / at line \d+ column \d+$/;
/** A field with a name of two parts or more, wherever it stands. */
const FIELDS = /\b[a-z]+(?:_[a-z]+)*(?:\.[a-z]+(?:_[a-z]+)*)+\b/g;

/** A message with the names that the user has written, who may have written a patch, too. */
export function asWritten(said: string, patch: unknown): string {
  const message = said.replace(PREFIX, "");
  const [begin, field] = OF_A_FIELD.exec(message) ?? [""];
  const of = (name: string): string => {
    return has(patch, name) ? `config.${name}` : (WRITTEN.get(name) ?? name);
  };
  const rest = inWords(message.slice(begin.length).replace(PLACE, "")).replace(FIELDS, of);
  if (field === undefined) return rest;
  if (/^tools\[\d+\]/.test(field)) return toolAsWritten(rest, field);
  return `\`${has(patch, field) ? `config.${field}` : optionOf(field)}\`: ${rest}`;
}

// Of a tool its name says more than its place; the form of an answer becomes a tool, too.
function toolAsWritten(rest: string, field: string): string {
  const [, name, said] = /^([\w-]+): (.*)$/s.exec(rest) ?? [];
  if (name === undefined) return `\`${field}\`: ${rest}`;
  if (name === "final_answer") return `\`answer.schema\`: ${said}`;
  return `\`${name}\`: its \`${field.replace(/^tools\[\d+\]\.?/, "")}\`: ${said}`;
}

const FOUND: readonly (readonly [RegExp, string])[] = [
  [/^(?:integer|floating point|boolean) `(.*)`$/, "$1"],
  [/^string (".*")$/s, "$1"],
  [/^sequence$/, "a list"],
  [/^map$/, "an object"],
];
const EXPECTED: readonly (readonly [RegExp, string])[] = [
  [/^(?:struct \w+|a map)$/, "an object"],
  [/^a sequence$/, "a list"],
  [/^a string$/, "a text"],
  [/^u32$/, "a whole number up to 4294967295"],
  [/^[ui](?:\d+|size)$/, "a whole number"],
];
const INVALID = /^invalid (?:type|value): (.*), expected (.*?)$/s;
/** What is said before what a reader of JSON says. */
const BEGIN =
  /^(.*?: )?((?:invalid (?:type|value):|unknown (?:variant|field)|missing field|EOF) .*)$/s;

// What a reader of JSON complains of, in words.
function inWords(said: string): string {
  const [, begin = "", complaint] = BEGIN.exec(said) ?? [];
  return complaint === undefined ? said : begin + worded(complaint);
}

function worded(said: string): string {
  const named = (text: string, words: typeof FOUND): string => {
    const [pattern, word] = words.find(([pattern]) => pattern.test(text)) ?? [text, text];
    return text.replace(pattern, word);
  };
  const [, found, expected] = INVALID.exec(said) ?? [];
  if (found !== undefined && expected !== undefined) {
    return `it must be ${named(expected, EXPECTED)}, not ${named(found, FOUND)}`;
  }
  return said
    .replace(/^unknown variant (`.*?`), expected (?:one of )?(.*)$/s, "there is no $1; give $2")
    .replace(/^unknown field (`.*?`), expected (?:one of )?(.*)$/s, "there is no $1; there is $2")
    .replace(/^missing field (`.*`)$/s, "$1 is missing")
    .replace(/^EOF .*$/s, "it ends in the middle of it");
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
