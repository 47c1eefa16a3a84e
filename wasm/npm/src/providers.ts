// The table of providers, read from the package's module: nothing of it stands here a second
// time.

import { guarded } from "./errors.js";
import { providersJson } from "./innerloop_wasm.js";
import { init } from "./platform.js";
import type { ProviderInfo, ProviderName } from "./types.js";

interface Provider {
  name: ProviderName;
  title: string;
  base_url: string | null;
  auth: { header: string; prefix: string };
  key_optional: boolean;
  default_model: string | null;
}

/** The providers that this version knows. */
export async function providers(): Promise<ProviderInfo[]> {
  await init();
  const table = JSON.parse(guarded(() => providersJson())) as Provider[];
  return table.map(({ name, title, base_url, auth, key_optional, default_model }) => ({
    name,
    title,
    baseUrl: base_url ?? undefined,
    needsKey: !key_optional,
    defaultModel: default_model ?? undefined,
    auth,
  }));
}
