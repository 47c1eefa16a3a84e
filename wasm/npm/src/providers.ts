// The providers this version speaks to.

import { AgentError } from "./errors.js";

/** How to reach a provider. */
export interface Provider {
  id: string;
  wire: string;
  profile: string;
  baseUrl: string;
  keyHeader: string;
  /** Headers it wants from a page, whose key its visitors can see. */
  pageHeaders: string[][];
}

const PROVIDERS: readonly Provider[] = [
  {
    id: "anthropic",
    wire: "anthropic",
    profile: "anthropic",
    baseUrl: "https://api.anthropic.com",
    keyHeader: "x-api-key",
    pageHeaders: [["anthropic-dangerous-direct-browser-access", "true"]],
  },
];

/** The provider of that id; the first one where a recording answers anyway. */
export function findProvider(id: unknown, recorded: boolean): Provider {
  const found = PROVIDERS.find((provider) => provider.id === id);
  const [first] = PROVIDERS;
  if (found !== undefined) return found;
  if (id === undefined && recorded && first !== undefined) return first;
  const known = PROVIDERS.map((provider) => `\`${provider.id}\``).join(", ");
  const what = id === undefined ? "`provider` is missing" : `unknown provider \`${String(id)}\``;
  throw new AgentError("unknown_provider", `${what}: give one of ${known}`);
}
