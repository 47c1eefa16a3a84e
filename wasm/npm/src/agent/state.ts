// What an agent tells of itself when it is asked: its configuration, the inputs that wait, the agents
// that it has started, its turns, and what fills its context window. The session says each; what is
// said in its words is converted here.

import type { RawSession } from "../binding/instance.js";
import { AgentError } from "../errors.js";
import type { SessionConfig } from "../json/config.js";
import type { ContextUsage, Part } from "../json/data.js";
import type { Said, SessionTurn } from "../json/history.js";
import type { InputOptions } from "../json/protocol.js";
import { turnOptionsOf } from "../options/turn.js";
import {
  type PendingInputs,
  type SeenTurn,
  type SubagentInfo,
  seenOf,
  type Turn,
  turnOf,
} from "./results.js";

/** The data that a session holds beside its history. */
interface SessionOverview {
  pending: {
    steering: Part[][];
    follow_ups: { parts: Part[]; options?: InputOptions }[];
  } | null;
  agents: SubagentInfo[];
  config: SessionConfig;
}

/** A session, as far as it is asked for what it holds. */
type Telling = Pick<RawSession, "overview">;

/** Returns the configuration of a session. */
export function configOf(raw: Telling): SessionConfig {
  return overviewOf(raw, 0).config;
}

/** Returns the pending inputs of an agent; throws `bad_option` if there is none of that number. */
export function pendingOf(raw: Telling, agent: number): PendingInputs {
  const { steering, follow_ups } = known(agent, () => overviewOf(raw, agent).pending);
  const followUps = follow_ups.map(({ parts, options }) => {
    return { parts, ...(options && { options: turnOptionsOf(options) }) };
  });
  return { steering, followUps };
}

/** Returns the agents that a session has started, in the order of their numbers. */
export function agentsOf(raw: Telling): SubagentInfo[] {
  return overviewOf(raw, 0).agents;
}

/** Returns what fills an agent's context window; throws `bad_option` if there is no such agent. */
export function contextOf(raw: Pick<RawSession, "context">, agent: number): ContextUsage {
  return known(agent, () => JSON.parse(raw.context(agent)) as ContextUsage | null);
}

/** Returns the history of an agent; throws `bad_option` if there is no such agent. */
export function historyOf(raw: Pick<RawSession, "history">, agent: number): Turn[] {
  return known(agent, () => JSON.parse(raw.history(agent, 0)) as SessionTurn[] | null).map(turnOf);
}

/** Returns the turns that an agent's model sees; throws `bad_option` if there is no such agent. */
export function seenBy(raw: Pick<RawSession, "seen">, agent: number): SeenTurn[] {
  return known(agent, () => JSON.parse(raw.seen(agent)) as Said[] | null).map(seenOf);
}

function overviewOf(raw: Telling, agent: number): SessionOverview {
  return JSON.parse(raw.overview(agent)) as SessionOverview;
}

function known<T>(agent: number, ask: () => T | null): T {
  // The module would make a whole number of any other, and tell of another agent.
  const told = Number.isInteger(agent) ? ask() : null;
  if (told === null) throw new AgentError("bad_option", `there is no agent ${agent}`);
  return told;
}
