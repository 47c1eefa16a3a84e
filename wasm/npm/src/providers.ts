// The table of providers. It is the core's, and read from the package's module: nothing of it
// stands here a second time.

import { AgentError, guarded } from "./errors.js";
import { modelJson, providersJson } from "./innerloop_wasm.js";
import { init } from "./platform.js";
import type { ProviderInfo, ProviderName } from "./types.js";

/** A provider as the table has it. */
export interface Provider {
  name: ProviderName;
  title: string;
  base_url: string | null;
  base_url_example: string | null;
  auth: { header: string; prefix: string };
  key_optional: boolean;
  default_model: string | null;
  /** Headers it wants from a page, whose key its visitors can see. */
  page_headers: string[][];
}

/** What the core has for a model. */
export interface Model {
  endpoint: string;
  profile: string;
}

/** The providers that this version knows. */
export async function providers(): Promise<ProviderInfo[]> {
  await init();
  return table().map(({ name, title, base_url, key_optional, default_model }) => ({
    name,
    title,
    baseUrl: base_url ?? undefined,
    needsKey: !key_optional,
    defaultModel: default_model ?? undefined,
  }));
}

/** The provider of that name; the first one where a recording answers anyway. */
export function findProvider(name: unknown, recorded: boolean): Provider {
  const all = table();
  const found = all.find((provider) => provider.name === name);
  const [first] = all;
  if (found !== undefined) return found;
  if (name === undefined && recorded && first !== undefined) return first;
  const known = all.map((provider) => `\`${provider.name}\``).join(", ");
  const what =
    name === undefined ? "`provider` is missing" : `unknown provider \`${String(name)}\``;
  throw new AgentError("unknown_provider", `${what}: give one of ${known}`);
}

/** A model's configuration: the provider's, with what the catalogue knows of it. */
export function modelOf(
  provider: Provider,
  name: string,
  vocabulary: string,
  models: string | undefined,
): Model {
  return JSON.parse(guarded(() => modelJson(provider.name, name, vocabulary, models))) as Model;
}

function table(): Provider[] {
  return JSON.parse(guarded(() => providersJson())) as Provider[];
}
