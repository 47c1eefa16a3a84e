// Schemas of other libraries: what is known of all of them is the interface Standard Schema
// (standardschema.dev). They check arguments, and most of them say themselves as JSON Schema.

import { AgentError } from "../errors.js";
import { isError } from "../platform/kinds.js";

/** A schema of zod, valibot, arktype or another library: all that has `~standard`. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** What such a schema makes of a value: the value as it is meant, or what does not fit. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** What does not fit, and where. */
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

/** What turns a schema into JSON Schema, such as `z.toJSONSchema`. */
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

/** What libraries' own converters are asked for: what the model writes, not what comes of it. */
const WRITTEN = { io: "input", typeMode: "input" };
const TARGETS = ["draft-2020-12", "draft-07"];
const HINTS: Readonly<Record<string, string>> = {
  zod: "`z.toJSONSchema` of zod 4, or `zodToJsonSchema` of zod-to-json-schema for zod 3",
  valibot: "`toJsonSchema` of @valibot/to-json-schema",
};

/** The arguments of a tool as JSON Schema. */
export function parametersOf(tool: Described): unknown {
  const { name, parameters = { type: "object", properties: {} }, toJsonSchema } = tool;
  return jsonSchemaOf(parameters, toJsonSchema, [name, "parameters", "the tool"]);
}

/** The form of an answer as JSON Schema. */
export function answerSchemaOf({ schema, toJsonSchema }: Answered): unknown {
  return jsonSchemaOf(schema, toJsonSchema, ["answer", "schema", "it"]);
}

// What has the schema, under which name, and what it is.
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
  const { $schema: _, ...schema } = converted as Record<string, unknown>;
  return schema;
}

/**
 * The arguments of a tool, or an answer, as their schema means them.
 *
 * @throws Misfit where they do not fit.
 */
export async function validated(schema: unknown, value: unknown): Promise<unknown> {
  if (!isStandard(schema)) return value;
  const result = await schema["~standard"].validate(value);
  if (result.issues === undefined) return result.value;
  throw new Misfit(result.issues.map(shown).join("; "));
}

/** What does not fit. */
export class Misfit extends Error {}

function isStandard(schema: unknown): schema is StandardSchema {
  // Some libraries' schemas are functions.
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

// The first that does not throw, or what the last one throws.
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
