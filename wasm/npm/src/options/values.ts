// Checks of single values of options, and the error for one that does not fit.

import { AgentError } from "../errors.js";

/** Checks that there are no other options than these. */
export function checkKeys(options: unknown, known: readonly string[]): void {
  if (typeof options !== "object" || options === null) throw bad("give an object of options");
  for (const key of Object.keys(options)) {
    if (!known.includes(key)) throw bad(`there is no option \`${key}\``);
  }
}

/** Checks a function that is to be called. */
export function checkFunction(name: string, value: unknown): void {
  if (typeof value !== "function") throw bad(`\`${name}\` must be a function`);
}

/** Checks an option that is an object of texts, such as `headers`. */
export function checkTexts(name: string, value: unknown): void {
  if (value === undefined) return;
  if (!isObject(value) || !Object.values(value).every((text) => typeof text === "string")) {
    throw bad(`\`${name}\` must be an object of texts`);
  }
}

/** Returns a text or `undefined`; throws `bad_option` for anything else. */
export function text(name: string, value: unknown): string | undefined {
  if (value === undefined || typeof value === "string") return value;
  throw bad(`\`${name}\` must be a text`);
}

/** Returns a whole number from 0 or `undefined`; throws `bad_option` for anything else. */
export function count(name: string, value: unknown): number | undefined {
  return value === undefined ? undefined : wholeNumber(name, value);
}

/** Returns a whole number from 0; throws `bad_option` for anything else. */
export function wholeNumber(name: string, value: unknown): number {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw bad(`\`${name}\` must be a whole number, 0 or more`);
}

/** Returns whether a value is a list of texts. */
export function areTexts(list: unknown): list is string[] {
  return Array.isArray(list) && list.every((text) => typeof text === "string");
}

/** Returns whether a value is an object with fields. */
export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the error for an option that does not fit. */
export function bad(message: string): AgentError {
  return new AgentError("bad_option", message);
}
