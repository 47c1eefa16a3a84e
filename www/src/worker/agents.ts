// Making agents: of a connection, over files, new or from a snapshot.

import type { Agent, AgentOptions, Approve } from "innerloop";
import { demoFetch } from "../demo/model.js";
import { type Connection, DEMO } from "../shared/messages.js";
import type { Told } from "../shared/told.js";
import type { Connections } from "./connections.js";
import { QJS, SHELL, library } from "./library.js";
import { unreachable } from "./reach.js";

/** What an agent is made with. */
export interface Making {
  connections: Connections;
  connection: Connection;
  pace: number;
  files: ReadonlyMap<string, Uint8Array>;
  approve: Approve;
  onEvent: NonNullable<AgentOptions["onEvent"]>;
  note(text: string, bad: boolean): void;
}

/** The longest account of an earlier conversation. */
const MOST_RECAP = 12_000;

/** A new agent, with an account of what was said to another one, if there is one. */
export async function createAgent(making: Making, recap: string): Promise<Agent> {
  const { Agent } = await library();
  const { model } = making.connection;
  const isDemo = making.connection.provider === DEMO;
  return Agent.create({
    ...(await common(making)),
    ...(isDemo ? { model: "demo", vocabulary: "seed" as const } : model !== "" && { model }),
    ...(recap !== "" && { instructions: recap }),
    config: { approval: { ask: "changes" } },
  });
}

/** An agent from a snapshot of the same provider. */
export async function restoreAgent(making: Making, snapshot: Uint8Array): Promise<Agent> {
  const { Agent } = await library();
  return Agent.restore(snapshot, await common(making));
}

/** The connection in words. */
export async function nameOf({ provider, model, baseUrl }: Connection): Promise<string> {
  if (provider === DEMO) return "the demo's script";
  const { providers } = await library();
  const known = (await providers()).find(({ name }) => name === provider);
  const place = baseUrl === "" ? "" : ` at ${baseUrl}`;
  return `${model || known?.defaultModel || "a model"} of ${known?.title ?? provider}${place}`;
}

/** What was said, for another agent to go on from. */
export function recapOf(told: readonly Told[]): string {
  const said = told.flatMap((one) => {
    if (one.type === "assistant_text_end" && one.agent === 0) {
      return one.text === "" ? [] : [`You: ${one.text}`];
    }
    if (one.type !== "user_input" && one.type !== "steering_injected") return [];
    return one.parts.map((part) => (part.type === "text" ? `User: ${part.text}` : "User: [file]"));
  });
  if (said.length === 0) return "";
  const text = said.join("\n\n");
  const kept = text.length > MOST_RECAP ? `…${text.slice(-MOST_RECAP)}` : text;
  return `What was said before you took over, with another model in your place:\n\n${kept}`;
}

/** Whether what was told ends in a run. */
export function isUnderWay(told: readonly Told[]): boolean {
  const last = told.findLast(({ type }) => type === "processing_end" || type === "user_input");
  return last?.type === "user_input";
}

async function common(making: Making): Promise<AgentOptions> {
  const { connections, connection, files, approve, onEvent } = making;
  const shared = { files, approve, onEvent, log: true };
  if (connection.provider === DEMO) {
    return { ...shared, provider: "anthropic", programs: QJS, fetch: demoFetch(making.pace) };
  }
  const { providers } = await library();
  const provider = (await providers()).find(({ name }) => name === connection.provider);
  if (provider === undefined) throw new Error(`There is no provider “${connection.provider}”.`);
  const apiKey = connections.keyOf(connection);
  if (provider.needsKey && apiKey === undefined) {
    throw new Error(`${provider.title} needs a key: give it under Model.`);
  }
  return {
    ...shared,
    provider: provider.name,
    programs: { ...QJS, ...SHELL },
    fetch: telling(making),
    ...(apiKey !== undefined && { apiKey }),
    ...(connection.baseUrl !== "" && { baseUrl: connection.baseUrl }),
  };
}

// What stands in the way of a request is said at the first one, and once.
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
