// The connection that answers, and its key. The key is here and nowhere else in the page; it is
// stored on the device only if the person says so. Trying a connection lists its models.

import type { ProviderInfo } from "innerloop";
import {
  type Connection,
  type ConnectionDraft,
  type ConnectionInfo,
  DEMO,
  type Tried,
} from "../shared/messages.js";
import type { Store } from "../storage/memory.js";
import { library } from "./library.js";
import { unreachable } from "./reach.js";

/** A stored connection, with its key only if the person says so. */
interface Remembered extends Connection {
  remember: boolean;
  key?: string;
}

const SETTING = "connection";
const MOST_MODELS = 500;

/** The connection of the page and its key. */
export class Connections {
  readonly #database: Store;
  #current: Connection = { provider: DEMO, model: "", baseUrl: "" };
  /** The keys by provider and address: a key must not be sent to another server. */
  readonly #keys = new Map<string, string>();
  #remembered = false;

  private constructor(database: Store) {
    this.#database = database;
  }

  /** Loads the stored connection, or the demo if there is none. */
  static async load(database: Store): Promise<Connections> {
    const connections = new Connections(database);
    const kept = (await database.setting(SETTING)) as Remembered | undefined;
    if (kept !== undefined) {
      const { key, remember, ...connection } = kept;
      connections.#current = connection;
      connections.#remembered = remember;
      if (key !== undefined) connections.#keys.set(placeOf(connection), key);
    }
    return connections;
  }

  get current(): Connection {
    return this.#current;
  }

  /** Returns the key of a connection. */
  keyOf(connection: Connection): string | undefined {
    return this.#keys.get(placeOf(connection));
  }

  /** The connection as the page may know it. */
  get info(): ConnectionInfo {
    const hasKey = this.keyOf(this.#current) !== undefined;
    return { ...this.#current, hasKey, remembered: this.#remembered };
  }

  /** Sets the connection and stores it; it is in force even if storing fails. */
  async use({ key, remember, ...connection }: ConnectionDraft): Promise<void> {
    if (key !== undefined && key !== "") this.#keys.set(placeOf(connection), key);
    this.#current = connection;
    this.#remembered = remember;
    await this.#keep();
  }

  /** Removes all keys, here and on the device. */
  async forget(): Promise<void> {
    this.#keys.clear();
    this.#remembered = false;
    await this.#keep();
  }

  async #keep(): Promise<void> {
    const [key, remember] = [this.keyOf(this.#current), this.#remembered];
    const kept: Remembered = { ...this.#current, remember, ...(remember && { key }) };
    await this.#database.set(SETTING, kept);
  }

  /** Lists the models of a connection, which shows whether it works. */
  async try({ key, remember: _, ...connection }: ConnectionDraft): Promise<Tried> {
    if (connection.provider === DEMO) return { ok: true, message: "The demo works.", models: [] };
    const { providers } = await library();
    const provider = (await providers()).find(({ name }) => name === connection.provider);
    if (provider === undefined) return failed(`There is no provider “${connection.provider}”.`);
    const base = (connection.baseUrl || provider.baseUrl || "").replace(/\/+$/, "");
    if (base === "") return failed(`${provider.title} needs its address.`);
    const used = key || this.keyOf(connection);
    if (used === undefined && provider.needsKey) return failed(`${provider.title} needs a key.`);
    return list(provider, base, used);
  }
}

function placeOf({ provider, baseUrl }: Connection): string {
  return `${provider} ${baseUrl}`;
}

async function list(provider: ProviderInfo, base: string, key?: string): Promise<Tried> {
  const url = base + pathOf(provider);
  const headers: Record<string, string> = {};
  if (key !== undefined) headers[provider.auth.header] = provider.auth.prefix + key;
  if (provider.name === "anthropic") {
    headers["anthropic-version"] = "2023-06-01";
    headers["anthropic-dangerous-direct-browser-access"] = "true";
  }
  let response: Response;
  try {
    const signal = AbortSignal.timeout(15_000);
    // Redirects are not followed, since the key would go along.
    response = await fetch(url, { headers, redirect: "manual", signal });
  } catch (error) {
    return failed(await unreachable(url, error));
  }
  if (!response.ok) return failed(refusal(provider, response.status));
  try {
    const models = modelsOf(await response.json()).slice(0, MOST_MODELS);
    const count = models.length === 1 ? "one model" : `${models.length} models`;
    const message = `${provider.title} answers, and has ${count} to choose from.`;
    return { ok: true, message, models };
  } catch {
    return failed(`What answers at ${base} is not ${provider.title}.`);
  }
}

function pathOf({ name }: ProviderInfo): string {
  if (name === "ollama") return "/api/tags";
  if (name === "anthropic") return "/v1/models?limit=1000";
  if (name === "gemini") return "/v1beta/models?pageSize=1000";
  return "/models";
}

function refusal({ title }: ProviderInfo, status: number): string {
  if (status === 401 || status === 403) return `${title} refuses the key (${status}).`;
  if (status === 404) return `${title} has no list of models at this address (404).`;
  if (status === 429) return `${title} asks for patience, or the account is used up (429).`;
  return `${title} answers with the error ${status}.`;
}

function modelsOf(answer: unknown): string[] {
  const { data, models } = answer as { data?: unknown; models?: unknown };
  const list = (Array.isArray(data) ? data : models) as { id?: unknown; name?: unknown }[];
  const names = list.map(({ id, name }) => String(id ?? name).replace(/^models\//, ""));
  return [...new Set(names)].sort();
}

function failed(message: string): Tried {
  return { ok: false, message, models: [] };
}
