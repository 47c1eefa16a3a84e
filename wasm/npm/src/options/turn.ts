// What holds for one input only: how its run is watched, what its calls may use, and what the model
// is told otherwise for it.

import type { InputOptions } from "../json/protocol.js";
import type { Signal } from "../platform/globals.js";
import type { ToolChoice } from "./config.js";
import { givenJson } from "./given.js";
import { choiceOf } from "./patch.js";
import { areTexts, bad } from "./values.js";

/** What holds for one input only: until its run ends, or the next input begins. */
export interface TurnOptions {
  /**
   * The tools that may be called, by the names that the model is shown; none for an answer without
   * tools. A call of another one is refused in words.
   */
  tools?: readonly string[] | undefined;
  /**
   * Whether the model is not shown the other tools either. That costs the provider's cache of
   * earlier requests twice: now, and when they come back.
   */
  hide?: boolean | undefined;
  /**
   * Files and folders of the workspace that calls may name. Programs and the shell are refused, and
   * so are your tools, unless they are `readOnly` or say by `paths` which arguments are paths.
   */
  paths?: readonly string[] | undefined;
  /** Whether the model must, may or must not call tools. A call that must be, must be once. */
  toolChoice?: ToolChoice | undefined;
  /** The model's temperature. */
  temperature?: number | undefined;
}

/** How a run is watched and stopped, and what holds for its input only. */
export interface RunOptions extends TurnOptions {
  /** Stops the run when it fires; the agent stays usable. */
  signal?: Signal | undefined;
  /** Whose events the run has: the agent's own, or also those of agents that it has started. */
  agents?: "own" | "all" | undefined;
}

const TURN_FIELDS = ["tools", "hide", "paths", "toolChoice", "temperature"];

/** Checks the options of a run. */
export function checkRun(options: RunOptions): RunOptions {
  if (typeof options !== "object" || options === null) {
    throw bad("the options of `run` must be an object, such as `{ signal }`");
  }
  const { signal, agents } = options;
  checkNames("run", options, ["signal", "agents", ...TURN_FIELDS]);
  if (agents !== undefined && agents !== "own" && agents !== "all") {
    throw bad('`agents` must be "own" or "all"');
  }
  if (signal === undefined) return options;
  // Not `instanceof`: a signal may be of another frame, or made by a library.
  const { aborted, addEventListener } = (signal as Partial<AbortSignal> | null) ?? {};
  if (typeof aborted === "boolean" && typeof addEventListener === "function") return options;
  throw bad("`signal` must be an AbortSignal");
}

/** Checks the options of an input that waits. */
export function checkTurn(options: TurnOptions): TurnOptions {
  if (typeof options !== "object" || options === null) {
    throw bad("the options of `followUp` must be an object, such as `{ tools }`");
  }
  checkNames("followUp", options, TURN_FIELDS);
  return options;
}

function checkNames(of: string, options: object, known: readonly string[]): void {
  const key = Object.keys(options).find((name) => !known.includes(name));
  if (key !== undefined) {
    throw bad(`\`${of}\` has no option \`${key}\`; there is ${known.join(", ")}`);
  }
}

/** The options as the session has them, as JSON; nothing where there are none. */
export function rawTurn(options: TurnOptions): string | undefined {
  const { tools, hide, paths, toolChoice, temperature } = options;
  for (const [name, list] of Object.entries({ tools, paths })) {
    if (list !== undefined && !areTexts(list)) throw bad(`\`${name}\` must be a list of texts`);
  }
  if (hide !== undefined && typeof hide !== "boolean") throw bad("`hide` must be true or false");
  if (temperature !== undefined && !(Number.isFinite(temperature) && temperature >= 0)) {
    throw bad("`temperature` must be a number, 0 or more");
  }
  const tool_choice = choiceOf(toolChoice);
  const raw = givenJson({ tools, hide, paths, tool_choice, temperature });
  return raw === "{}" ? undefined : raw;
}

/** The options of an input that waits, as the user has written them. */
export function turnOptionsOf({ tool_choice, ...same }: InputOptions): TurnOptions {
  return { ...same, ...(tool_choice !== undefined && { toolChoice: tool_choice }) };
}
