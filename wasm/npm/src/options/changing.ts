// What of an agent can be changed while it is there.

import type { AgentOptions, ConfigOptions, ProviderName } from "../types.js";

/**
 * What can be changed while an agent lives, in force from the next model call. What is not
 * described here is as in the options.
 */
export interface Changes
  extends Pick<
      ConfigOptions,
      | "vocabulary"
      | "instructions"
      | "builtins"
      | "toolChoice"
      | "limits"
      | "budget"
      | "loops"
      | "compaction"
      | "answer"
      | "subagents"
      | "facts"
      | "maxOutputTokens"
      | "contextWindow"
      | "betas"
      | "providerOptions"
      | "retry"
      | "timeouts"
      | "config"
    >,
    Pick<AgentOptions, "apiKey" | "fetch" | "baseUrl" | "headers" | "query"> {
  /**
   * Another provider. What was said stays; what belongs to the one before is dropped, unless it is
   * given with it: `model`, `apiKey`, `baseUrl`, `headers`, `query`, `betas`, `providerOptions`.
   */
  provider?: ProviderName | undefined;
  /** Another model, with its windows and price. */
  model?: string | undefined;
  /** Another effort; `null` goes back to the provider's default. */
  reasoningEffort?: string | null | undefined;
  /** Another beginning of the system prompt; `null` goes back to the package's own. */
  systemPrompt?: string | null | undefined;
  /** Another temperature; `null` goes back to the provider's default. */
  temperature?: number | null | undefined;
}
