// The option `hooks`: its check, and its conversion to the names of the configuration.

import type { HookPoint } from "../json/config.js";
import type { HookName, Hooks } from "./asked.js";
import { bad, checkFunction, count } from "./values.js";

/** The configuration's name of each hook. */
export const HOOK_POINTS: Readonly<Record<HookName, HookPoint>> = {
  submit: "submit",
  beforeModel: "before_model",
  beforeTool: "before_tool",
  afterTool: "after_tool",
  afterIteration: "after_iteration",
  beforeStop: "before_stop",
  outbound: "outbound",
  compact: "compact",
};

/** Returns the policy of the given hooks as the configuration has it. */
export function hookPolicy(hooks: Hooks): { points: HookPoint[] } & Record<string, unknown> {
  const names = Object.keys(HOOK_POINTS) as HookName[];
  return {
    points: names.filter((name) => hooks[name] !== undefined).map((name) => HOOK_POINTS[name]),
    fail_closed: hooks.failClosed,
    max_denials: hooks.maxDenials,
  };
}

export function checkHooks(hooks: Hooks | undefined): void {
  if (hooks === undefined) return;
  if (typeof hooks !== "object" || hooks === null) throw bad("`hooks` must be an object");
  for (const [name, value] of Object.entries(hooks)) {
    if (name === "failClosed") {
      if (typeof value !== "boolean") throw bad("`hooks.failClosed` must be true or false");
    } else if (name === "maxDenials") {
      count("hooks.maxDenials", value);
    } else if (!(name in HOOK_POINTS)) {
      const known = Object.keys(HOOK_POINTS).join(", ");
      throw bad(`there is no hook \`${name}\`; there is ${known}`);
    } else if (value !== undefined) {
      checkFunction(`hooks.${name}`, value);
    }
  }
}
