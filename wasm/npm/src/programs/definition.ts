// The reader of `tool.toml`, the definition of a WASI tool. The native host reads the same form,
// which is described in docs/custom-tools.md.

import { AgentError } from "../errors.js";

/** A checked definition; only its schema is left to the session to check. */
export interface Definition {
  name: string;
  description: string;
  /** The module's path in the folder. */
  module: string;
  readOnly: boolean;
  untrusted: boolean;
  /** The arguments that name files or folders. */
  paths: string[];
  args: string[];
  parameters?: object;
  limits: { timeoutMs?: number; memoryMib?: number; outputMib?: number; diskMib?: number };
}

/** The largest limit in MiB. */
const MOST_MIB = 2 ** 20;

/** The depth to which a schema may be nested. */
const MOST_DEPTH = 80;

const FIELDS = [
  "name",
  "description",
  "module",
  "read_only",
  "untrusted",
  "paths",
  "args",
  "limits",
  "parameters",
];
const LIMITS = ["timeout_ms", "memory_mib", "output_mib", "disk_mib"];

type Table = Readonly<Record<string, unknown>>;

/**
 * Reads a definition; messages call it `place`. The reader of TOML is loaded on first use.
 *
 * @throws AgentError `bad_tool` with the line or the field that does not fit.
 */
export async function readDefinition(text: string, place: string): Promise<Definition> {
  const { TomlError, parse } = await import("./toml.js");
  const bad = (message: string): AgentError => new AgentError("bad_tool", `${place}: ${message}`);
  let table: Table;
  try {
    table = parse(text, { maxDepth: MOST_DEPTH });
  } catch (error) {
    if (!(error instanceof TomlError)) throw bad(String(error));
    const what = error.message.split("\n")[0]?.replace("Invalid TOML document: ", "");
    throw bad(`line ${error.line}, column ${error.column}: ${what}`);
  }
  try {
    return definitionOf(table);
  } catch (error) {
    throw error instanceof Misfit ? bad(error.message) : error;
  }
}

/** The error for a field that does not fit. */
class Misfit extends Error {}

function definitionOf(table: Table): Definition {
  checkNames(table, FIELDS, "");
  const { read_only = false, untrusted = false, limits = {}, parameters } = table;
  if (typeof read_only !== "boolean") throw new Misfit("read_only: must be true or false");
  if (typeof untrusted !== "boolean") throw new Misfit("untrusted: must be true or false");
  const { paths = [], args = [] } = table;
  for (const [name, list] of Object.entries({ paths, args })) {
    if (!Array.isArray(list) || !list.every((text) => typeof text === "string")) {
      throw new Misfit(`${name}: must be a list of texts`);
    }
  }
  if (!isTable(limits)) throw new Misfit("limits: must be a table");
  checkNames(limits, LIMITS, "limits.");
  const [timeoutMs, memoryMib, outputMib, diskMib] = LIMITS.map((name) => limitOf(limits, name));
  if (parameters !== undefined) {
    if (!isTable(parameters)) throw new Misfit("parameters: must be a table, a JSON Schema");
    checkJson(parameters, ["parameters"]);
  }
  return {
    name: textOf(table, "name"),
    description: textOf(table, "description"),
    module: moduleOf(table),
    readOnly: read_only,
    untrusted,
    paths: paths as string[],
    args: args as string[],
    parameters,
    limits: { timeoutMs, memoryMib, outputMib, diskMib },
  };
}

function checkNames(table: Table, known: readonly string[], prefix: string): void {
  for (const name of Object.keys(table)) {
    if (known.includes(name)) continue;
    throw new Misfit(`there is no field \`${prefix}${name}\`; there is ${known.join(", ")}`);
  }
}

function textOf(table: Table, name: string): string {
  const value = table[name];
  if (typeof value === "string") return value;
  if (value === undefined) throw new Misfit(`the field \`${name}\` is missing`);
  throw new Misfit(`${name}: must be a text`);
}

function moduleOf(table: Table): string {
  const module = textOf(table, "module");
  const steps = module.split("/");
  const isInside = !module.includes("\\") && !steps.includes("..") && steps[0] !== "";
  if (isInside && !["", "."].includes(steps.at(-1) ?? "")) return module;
  const given = JSON.stringify(module);
  throw new Misfit(`module: ${given} must be the path of a file in the tool's folder`);
}

function limitOf(limits: Table, name: string): number | undefined {
  const value = limits[name];
  if (value === undefined) return undefined;
  if (!Number.isSafeInteger(value) || (value as number) < 0) {
    throw new Misfit(`limits.${name}: must be a whole number, 0 or more`);
  }
  if (name.endsWith("_mib") && (value as number) > MOST_MIB) {
    throw new Misfit(`limits.${name}: a limit is at most ${MOST_MIB} MiB`);
  }
  return value as number;
}

// Refuses values of TOML that JSON lacks: `JSON.stringify` would turn them into something else.
function checkJson(value: unknown, path: string[]): void {
  const refuse = (what: string): never => {
    const field = path.join(".");
    throw new Misfit(`${field}: JSON, in which the model reads a schema, has no ${what}`);
  };
  if (typeof value === "number" && !Number.isFinite(value)) refuse("`inf` and `nan`");
  if (value instanceof Date) refuse("dates; write it as a text");
  if (typeof value !== "object" || value === null) return;
  if (path.length > MOST_DEPTH) throw new Misfit("parameters: they are nested too deeply");
  for (const [name, inner] of Object.entries(value)) checkJson(inner, [...path, name]);
}

function isTable(value: unknown): value is Table {
  const isObject = typeof value === "object" && value !== null;
  return isObject && !Array.isArray(value) && !(value instanceof Date);
}
