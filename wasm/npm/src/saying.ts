// Giving the agent an input.

import type { RawAgent } from "./binding.js";

/** Gives the agent an input, with its options as JSON. */
export function say(
  raw: RawAgent,
  word: "submit" | "follow_up",
  parts: string,
  options: string | undefined,
): void {
  if (options !== undefined) raw.tell(`{"${word}":{"parts":${parts},"options":${options}}}`);
  else if (word === "submit") raw.submit(parts);
  else raw.followUp(parts);
}
