// The table of providers, read from the package's module, which alone defines it.

import type { ModelConfig } from "../json/model.js";
import type { ProviderInfo, ProviderName } from "../options/provider.js";
import { init } from "../platform/platform.js";
import { guarded } from "./guard.js";
import { binding } from "./instance.js";

interface Provider {
  name: ProviderName;
  title: string;
  wire: ModelConfig["wire"];
  base_url: string | null;
  auth: { header: string; prefix: string };
  key_optional: boolean;
  default_model: string | null;
}

let table: Provider[] | undefined;

// Read on first use, since the module is not loaded when this file is.
function all(): Provider[] {
  table ??= JSON.parse(guarded(() => binding().providersJson())) as Provider[];
  return table;
}

/** Returns a provider by name, or the first if none is named. The module must be loaded. */
export function endpointOf(provider: string | undefined): Provider | undefined {
  return provider === undefined ? all()[0] : all().find(({ name }) => name === provider);
}

/**
 * Returns the providers that this version knows, and loads the package's module if needed.
 *
 * ```js
 * for (const { name, title, needsKey } of await providers()) console.log(name, title, needsKey);
 * ```
 */
export async function providers(): Promise<ProviderInfo[]> {
  await init();
  return all().map(({ name, title, base_url, auth, key_optional, default_model }) => ({
    name,
    title,
    baseUrl: base_url ?? undefined,
    needsKey: !key_optional,
    defaultModel: default_model ?? undefined,
    auth,
  }));
}
