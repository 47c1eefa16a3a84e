// The option `tools`: the types of a tool, its check, and its conversion for the binding.

import { AgentError } from "../errors.js";
import type { Part } from "../json/data.js";
import type { Signal } from "../platform/globals.js";
import { isModule } from "../platform/kinds.js";
import { platform } from "../platform/platform.js";
import type { WasiTool } from "../programs/sources.js";
import { type ArgumentsOf, parametersOf, type ToJsonSchema } from "./schema.js";
import { areTexts, bad, checkFunction, count } from "./values.js";

/** A tool of your own, in JavaScript; `tool` infers the type of its arguments. */
// biome-ignore lint/suspicious/noExplicitAny: any schema has a place in it.
export interface Tool<Parameters = any> {
  /** A unique name. */
  name: string;
  /** What it does and when to use it: the model reads this. */
  description: string;
  /**
   * The arguments: a JSON Schema, `type: "object"`, or a schema of zod, valibot, arktype or another
   * library with Standard Schema. No arguments if left out.
   */
  parameters?: Parameters | undefined;
  /**
   * Converts `parameters` into JSON Schema if they are a schema whose library cannot do that
   * itself: `z.toJSONSchema`, `zodToJsonSchema`, `toJsonSchema` of valibot.
   */
  toJsonSchema?: ToJsonSchema | undefined;
  /** True if it changes nothing, so that it may run beside other calls. */
  readOnly?: boolean | undefined;
  /**
   * True if its results come from elsewhere, such as the web: the model reads them as information
   * that nobody has checked.
   */
  untrusted?: boolean | undefined;
  /** Its arguments that name files or folders, a text or a list each; see {@link TurnOptions}. */
  paths?: readonly string[] | undefined;
  /** The time limit of a call; if left out, that of {@link Timeouts}. */
  timeoutMs?: number | undefined;
  /**
   * Runs the tool; the arguments fit the schema. It may return a text; a {@link ToolReply}, a
   * `Blob`, a part or a list of parts; the result of a Model Context Protocol tool; a `Response`,
   * whose body counts; nothing, which the model reads as "done"; or any other value, which it reads
   * as JSON, `Map` and `Set` included. From a generator, each yielded piece is progress, as by
   * {@link ToolContext.output}, and the returned value is the result. An error that it throws or
   * returns becomes an error result for the model, and the run goes on.
   */
  execute(args: ArgumentsOf<Parameters>, context: ToolContext): unknown;
}

/** A function that reads the pages at `urls`; `prompt` is the model's question about them. */
export type WebFetch = (
  asked: { urls: string[]; prompt?: string },
  context: ToolContext,
) => unknown;

/** A tool's return value that holds more than a text. */
export interface ToolReply {
  /** The text that the model reads. It may be absent if there are `parts`. */
  text?: string | undefined;
  /** Further text, pictures and files for the model, behind the text. */
  parts?: Part[] | undefined;
  /** True if the call failed. */
  isError?: boolean | undefined;
  /** Data for your user interface, as JSON, in `tool_call_end`; the model does not read it. */
  details?: unknown | undefined;
}

/** The context of a tool's call. */
export interface ToolContext {
  /** The call's id. */
  callId: string;
  /** The folder of the workspace that the calling agent works in; empty for the root. */
  folder: string;
  /** A signal that fires when the run is interrupted or the tool's time is up. */
  signal: Signal;
  /** Shows output while the tool runs, as `tool_call_output_delta` events. */
  output(text: string): void;
}

// The fields of all tools, of those in JavaScript, and of WASI modules.
const TOOL_FIELDS = [
  "name",
  "description",
  "parameters",
  "readOnly",
  "untrusted",
  "paths",
  "timeoutMs",
] satisfies (keyof Tool & keyof WasiTool)[];
const FUNCTION_FIELDS = ["toJsonSchema", "execute"] satisfies (keyof Tool)[];
const MODULE_FIELDS = ["module", "args", "limits"] satisfies (keyof WasiTool)[];

/** Checks a tool of the user. */
export function checkTool(tool: Tool | WasiTool): void {
  if (typeof tool?.name !== "string" || !/^[A-Za-z0-9_-]{1,64}$/.test(tool.name)) {
    throw bad("a tool's `name` must be 1 to 64 letters, digits, `_` or `-`");
  }
  if (typeof tool.description !== "string") throw bad(`\`${tool.name}\` needs a \`description\``);
  checkFields(tool);
  for (const flag of ["readOnly", "untrusted"] as const) {
    if (["boolean", "undefined"].includes(typeof tool[flag])) continue;
    throw bad(`\`${tool.name}\`: its \`${flag}\` must be true or false`);
  }
  if (tool.paths !== undefined && !areTexts(tool.paths)) {
    throw bad(`\`${tool.name}\`: its \`paths\` must be a list of its arguments' names`);
  }
  if (tool.timeoutMs === 0) throw bad(`\`${tool.name}\`: its \`timeoutMs\` must be 1 or more`);
  if ("module" in tool) checkModule(tool);
  else checkExecutable(tool);
}

// Refuses unknown fields of a plain object: if they were ignored, they would seem to be in force.
// An object of a class may have fields of its own.
function checkFields(tool: Tool | WasiTool): void {
  const prototype = Object.getPrototypeOf(tool) as object | null;
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) return;
  const known: string[] = [...TOOL_FIELDS, ...("module" in tool ? MODULE_FIELDS : FUNCTION_FIELDS)];
  const unknown = Object.keys(tool).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw bad(`\`${tool.name}\`: a tool has no field \`${unknown}\`; it has ${known.join(", ")}`);
}

function checkExecutable(tool: Tool): void {
  if (typeof tool.execute !== "function") {
    throw bad(`\`${tool.name}\` needs a function \`execute\`, or a \`module\``);
  }
  if (tool.toJsonSchema !== undefined) {
    checkFunction(`${tool.name}.toJsonSchema`, tool.toJsonSchema);
  }
  parametersOf(tool);
}

function checkModule({ name, module, args = [], limits = {} }: WasiTool): void {
  if (!isModule(module)) {
    throw bad(`\`${name}\`: its \`module\` must be a WebAssembly.Module; \`wasiTool\` makes one`);
  }
  if (!Array.isArray(args) || !args.every((arg) => typeof arg === "string")) {
    throw bad(`\`${name}\`: its \`args\` must be a list of texts`);
  }
  const { outputMib, diskMib } = limits;
  count(`${name}.limits.outputMib`, outputMib);
  count(`${name}.limits.diskMib`, diskMib);
  if (platform().startWorker === undefined) {
    throw new AgentError("unsupported", `\`${name}\` runs in a worker, and this platform has none`);
  }
}

/** Returns a tool as the binding takes it. */
export function rawTool(tool: Tool | WasiTool): object {
  const { name, description, readOnly: read_only = false, untrusted, paths, timeoutMs } = tool;
  const [timeout_ms, parameters] = [count(`${name}.timeoutMs`, timeoutMs), parametersOf(tool)];
  return { name, description, parameters, read_only, untrusted, paths, timeout_ms };
}
