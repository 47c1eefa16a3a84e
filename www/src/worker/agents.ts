// The making of a session's agent: new or from a snapshot, by the options of its connection.

import type { Agent, AgentOptions, Approve, ProviderName } from "innerloop";
import { demoFetch } from "../demo/model.js";
import { type Connection, DEMO } from "../shared/messages.js";
import type { Told } from "../shared/told.js";
import type { Connections } from "./connections.js";
import { library, QJS, SHELL } from "./library.js";
import { unreachable } from "./reach.js";

/** The parts of which an agent is made. */
export interface Making {
  connections: Connections;
  connection: Connection;
  pace: number;
  files: ReadonlyMap<string, Uint8Array>;
  approve: Approve;
  onEvent: NonNullable<AgentOptions["onEvent"]>;
  note(text: string, bad: boolean): void;
}

/** Makes a new agent. */
export async function createAgent(making: Making): Promise<Agent> {
  const { Agent } = await library();
  const config = { approval: { ask: "changes" as const } };
  return Agent.create({ ...(await common(making)), config });
}

/**
 * Makes an agent from a snapshot, of any provider. If a run is under way in it, that goes on, and
 * the provider must be the same.
 */
export async function restoreAgent(making: Making, snapshot: Uint8Array): Promise<Agent> {
  const { Agent } = await library();
  return Agent.restore(snapshot, await common(making));
}

/** Makes an agent from a snapshot whose requests are never answered, to read from it or to undo. */
export async function silentAgent(making: Making, snapshot: Uint8Array): Promise<Agent> {
  const { Agent } = await library();
  const { files, approve, onEvent, connection } = making;
  const { provider, baseUrl } = connection;
  return Agent.restore(snapshot, {
    files,
    approve,
    onEvent,
    provider: (provider === DEMO ? "anthropic" : provider) as ProviderName,
    fetch: () => new Promise(() => {}),
    ...(baseUrl !== "" && { baseUrl }),
  });
}

/** Returns the name of a connection for people. */
export async function nameOf({ provider, model, baseUrl }: Connection): Promise<string> {
  if (provider === DEMO) return "the demo's script";
  const { providers } = await library();
  const known = (await providers()).find(({ name }) => name === provider);
  const place = baseUrl === "" ? "" : ` at ${baseUrl}`;
  return `${model || known?.defaultModel || "a model"} of ${known?.title ?? provider}${place}`;
}

/** Returns whether the entries end within a run. */
export function isUnderWay(told: readonly Told[]): boolean {
  const last = told.findLast(({ type }) => type === "processing_end" || type === "user_input");
  return last?.type === "user_input";
}

async function common(making: Making): Promise<AgentOptions> {
  const { connections, connection, files, approve, onEvent } = making;
  const shared = { files, approve, onEvent, log: true };
  if (connection.provider === DEMO) {
    const script = { provider: "anthropic", model: "demo", vocabulary: "seed" } as const;
    return { ...shared, ...script, programs: QJS, fetch: demoFetch(making.pace) };
  }
  const { providers } = await library();
  const provider = (await providers()).find(({ name }) => name === connection.provider);
  if (provider === undefined) throw new Error(`There is no provider “${connection.provider}”.`);
  const apiKey = connections.keyOf(connection);
  if (provider.needsKey && apiKey === undefined) {
    throw new Error(`${provider.title} needs a key: give it under Model.`);
  }
  const model = connection.model || provider.defaultModel;
  return {
    ...shared,
    provider: provider.name,
    vocabulary: "native",
    ...(model !== undefined && { model }),
    programs: { ...QJS, ...SHELL },
    fetch: telling(making),
    ...(apiKey !== undefined && { apiKey }),
    ...(connection.baseUrl !== "" && { baseUrl: connection.baseUrl }),
  };
}

// A `fetch` that explains a failure to the person, once until a request succeeds: retries would
// repeat the same note.
function telling({ note }: Making): (url: string, init: RequestInit) => Promise<Response> {
  let isTold = false;
  return async (url, init) => {
    try {
      const response = await fetch(url, init);
      isTold = false;
      return response;
    } catch (error) {
      if (!isTold && !init.signal?.aborted) {
        isTold = true;
        void unreachable(url, error).then((text) => note(text, true));
      }
      throw error;
    }
  };
}
