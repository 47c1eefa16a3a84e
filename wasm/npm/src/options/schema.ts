// Schemas of other libraries, by the interface Standard Schema (standardschema.dev). They validate
// arguments and answers; the model is shown their JSON Schema, for which each library has its own
// way, if any.

import { AgentError } from "../errors.js";
import { isError } from "../platform/kinds.js";

/** A schema of zod, valibot, arktype or another library: any object with `~standard`. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** The result of a validation: the converted value, or the issues. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One issue of a validation, with its place. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The arguments that a tool with such `parameters` gets. */
export type ArgumentsOf<Parameters> =
  Parameters extends StandardSchema<infer _, infer Output>
    ? Output
    : // biome-ignore lint/suspicious/noExplicitAny: a plain schema says nothing to the compiler.
      any;

/** The final answer of an agent whose option `answer` has such a `schema`. */
export type AnswerOf<Schema> =
  Schema extends StandardSchema<infer _, infer Output> ? Output : unknown;

/** A function that converts a schema into JSON Schema, such as `z.toJSONSchema`. */
// biome-ignore lint/suspicious/noExplicitAny: any schema has a place in it.
export type ToJsonSchema = (schema: any, options?: any) => object;

/** A tool, as far as its arguments go. */
interface Described {
  name: string;
  parameters?: unknown;
  toJsonSchema?: ToJsonSchema | undefined;
}

/** The form of an answer, as far as its schema goes. */
interface Answered {
  schema: unknown;
  toJsonSchema?: ToJsonSchema | undefined;
}

type Convert = (schema: unknown) => unknown;

// Options for libraries' converters, each with another name for the same: the schema of the input
// of a validation, which the model writes, not of its output.
const WRITTEN = { io: "input", typeMode: "input" };
const TARGETS = ["draft-2020-12", "draft-07"];
const HINTS: Readonly<Record<string, string>> = {
  zod: "`z.toJSONSchema` of zod 4, or `zodToJsonSchema` of zod-to-json-schema for zod 3",
  valibot: "`toJsonSchema` of @valibot/to-json-schema",
};

/** Returns the JSON Schema of a tool's arguments. */
export function parametersOf(tool: Described): unknown {
  const { name, parameters = { type: "object", properties: {} }, toJsonSchema } = tool;
  return jsonSchemaOf(parameters, toJsonSchema, [name, "parameters", "the tool"]);
}

/** Returns the JSON Schema of an answer. */
export function answerSchemaOf({ schema, toJsonSchema }: Answered): unknown {
  return jsonSchemaOf(schema, toJsonSchema, ["answer", "schema", "it"]);
}

// The owner of a schema, for messages: its name, the field, and the word for it.
type Owner = [name: string, field: string, whom: string];

function jsonSchemaOf(given: unknown, toJsonSchema: ToJsonSchema | undefined, of: Owner): unknown {
  if (!isStandard(given)) return given;
  const [name, field] = of;
  const convert = converterOf(given, toJsonSchema, of);
  let converted: unknown;
  try {
    converted = convert(given);
  } catch (error) {
    const why = isError(error) ? error.message : String(error);
    throw bad(`\`${name}\`: its \`${field}\` cannot be said as JSON Schema: ${why}`);
  }
  if (typeof converted !== "object" || converted === null) {
    throw bad(`\`${name}\`: its \`toJsonSchema\` must return an object, a JSON Schema`);
  }
  // The dialect's name is of no use to the model, and each request would carry it.
  const { $schema: _, ...schema } = converted as Record<string, unknown>;
  return schema;
}

/**
 * Returns arguments or an answer as validated and converted by their schema.
 *
 * @throws Misfit with the issues if they do not fit.
 */
export async function validated(schema: unknown, value: unknown): Promise<unknown> {
  if (!isStandard(schema)) return value;
  const result = await schema["~standard"].validate(value);
  if (result.issues === undefined) return result.value;
  throw new Misfit(result.issues.map(shown).join("; "));
}

/** The error for a value that does not fit its schema. */
export class Misfit extends Error {}

function isStandard(schema: unknown): schema is StandardSchema {
  // Schemas of some libraries, such as arktype, are functions.
  const isThing = (typeof schema === "object" && schema !== null) || typeof schema === "function";
  if (!isThing) return false;
  const standard = (schema as Partial<StandardSchema>)["~standard"];
  return typeof standard?.validate === "function";
}

function converterOf(
  schema: StandardSchema,
  toJsonSchema: ToJsonSchema | undefined,
  [name, , whom]: Owner,
): Convert {
  if (toJsonSchema !== undefined) return (given) => toJsonSchema(given, WRITTEN);
  const own = schema["~standard"] as { jsonSchema?: { input?: (options: object) => unknown } };
  if (typeof own.jsonSchema?.input === "function") {
    return () => first(TARGETS.map((target) => () => own.jsonSchema?.input?.({ target })));
  }
  for (const method of ["toJsonSchema", "toJSONSchema"] as const) {
    const convert = (schema as Partial<Record<typeof method, unknown>>)[method];
    if (typeof convert === "function") return () => convert.call(schema, WRITTEN) as unknown;
  }
  const { vendor } = schema["~standard"];
  const hint = HINTS[vendor] ?? `a function of ${vendor} that turns a schema into JSON Schema`;
  const what = `\`${name}\`: this schema of ${vendor} does not say itself as JSON Schema`;
  throw bad(`${what}: give ${whom} \`toJsonSchema\`, ${hint}`);
}

// The result of the first function that does not throw, else the last error.
function first(tries: readonly (() => unknown)[]): unknown {
  let thrown: unknown;
  for (const each of tries) {
    try {
      return each();
    } catch (error) {
      thrown = error;
    }
  }
  throw thrown;
}

function shown({ message, path = [] }: StandardIssue): string {
  const names = path.map((part) => String(typeof part === "object" ? part.key : part));
  return names.length === 0 ? message : `${names.join(".")}: ${message}`;
}

function bad(message: string): AgentError {
  return new AgentError("bad_option", message);
}
