// The options that hold for one input only: the watching of its run, the tools and files that its
// calls may use, and settings of the model.

import type { InputOptions } from "../json/protocol.js";
import type { Signal } from "../platform/globals.js";
import type { ToolChoice } from "./config.js";
import { givenJson } from "./given.js";
import { choiceOf } from "./patch.js";
import { areTexts, bad } from "./values.js";

/** The options of one input, in force until its run ends or the next input begins. */
export interface TurnOptions {
  /**
   * The tools that may be called, by the names that the model is shown; an empty list for an answer
   * without tools. A call of another tool is denied, and the model reads why.
   */
  tools?: readonly string[] | undefined;
  /**
   * True if the model is not even shown the other tools. That loses the provider's cache of earlier
   * requests twice: now, and when the tools come back.
   */
  hide?: boolean | undefined;
  /**
   * Files and folders of the workspace that calls may name. Calls of programs and of the shell are
   * then denied, and those of your tools, unless these are `readOnly` or name their `paths`.
   */
  paths?: readonly string[] | undefined;
  /** The choice of tools; a call that is required must be made once, not in every round. */
  toolChoice?: ToolChoice | undefined;
  /** The model's temperature. */
  temperature?: number | undefined;
}

/** The options of {@link Agent.run}: those of its input, and of watching and stopping the run. */
export interface RunOptions extends TurnOptions {
  /** A signal that stops the run; the agent stays usable. */
  signal?: Signal | undefined;
  /** The agents whose events the run has: its own, or also those that it has started. */
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
  // Not by `instanceof`: a signal may come from another frame, or from a library.
  const { aborted, addEventListener } = (signal as Partial<AbortSignal> | null) ?? {};
  if (typeof aborted === "boolean" && typeof addEventListener === "function") return options;
  throw bad("`signal` must be an AbortSignal");
}

/** Checks the options of a follow-up. */
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

/** Returns the options as the session's JSON; `undefined` if there are none. */
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

/** Returns the options of a pending input as the user wrote them. */
export function turnOptionsOf({ tool_choice, ...same }: InputOptions): TurnOptions {
  return { ...same, ...(tool_choice !== undefined && { toolChoice: tool_choice }) };
}
