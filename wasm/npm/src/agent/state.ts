// What an agent tells of itself when it is asked: its turns and what fills its context window, which
// the module tells; and the configuration in force, pending inputs and the agents that it has
// started, which are read from a snapshot, since they are asked for seldom, and functions for them
// would make the module larger.

import type { RawAgent, RawSession } from "../binding/instance.js";
import { AgentError } from "../errors.js";
import type { SessionConfig } from "../json/config.js";
import type { ContextUsage, Part } from "../json/data.js";
import type { Said, SessionTurn } from "../json/history.js";
import type { InputOptions } from "../json/protocol.js";
import { turnOptionsOf } from "../options/turn.js";
import { TextDecoder } from "../platform/coders.js";
import {
  type PendingInputs,
  type SeenTurn,
  type SubagentInfo,
  seenOf,
  type Turn,
  turnOf,
} from "./results.js";

/** The fields of a session's state that are read here. */
interface SessionState {
  config: SessionConfig;
  agents: AgentState[];
}

interface AgentState {
  id: number;
  turns: SessionTurn[];
  run: { replies: number; result?: string };
  spawned?: { parent: number; folder?: string; model?: string; name?: string };
  steering?: Part[][];
  follow_ups?: { parts: Part[]; options?: InputOptions }[];
  children?: { id: number; state: SubagentInfo["state"]; last?: { output: string } }[];
}

/** A session, as far as it is asked for its snapshot. */
type Telling = Pick<RawAgent, "snapshot">;

/** Returns the configuration of a session. */
export function configOf(raw: Telling): SessionConfig {
  return stateOf(raw).config;
}

/** Returns the pending inputs of an agent; throws `bad_option` if there is none of that number. */
export function pendingOf(raw: Telling, agent: number): PendingInputs {
  const found = stateOf(raw).agents.find(({ id }) => id === agent);
  if (found === undefined) throw new AgentError("bad_option", `there is no agent ${agent}`);
  const { steering = [], follow_ups = [] } = found;
  const followUps = follow_ups.map(({ parts, options }) => {
    return { parts, ...(options && { options: turnOptionsOf(options) }) };
  });
  return { steering, followUps };
}

/** Returns the agents that a session has started, in the order of their numbers. */
export function agentsOf(raw: Telling & Pick<RawAgent, "seen">): SubagentInfo[] {
  const { agents } = stateOf(raw);
  const children = agents.flatMap(({ children = [] }) => children);
  return agents.flatMap(({ id, spawned, turns, run }) => {
    if (spawned === undefined) return [];
    const { parent, folder = "", model, name } = spawned;
    // An agent that was closed is no child of anyone any more; its turns and its result remain.
    const known = children.find((child) => child.id === id);
    const output = known?.last?.output ?? run.result ?? (run.replies > 0 ? lastSaid(raw, id) : "");
    const state = known?.state ?? "closed";
    const named = { ...(model !== undefined && { model }), ...(name !== undefined && { name }) };
    return { id, parent, state, task: taskOf(turns), output, folder, ...named };
  });
}

/** Returns what fills an agent's context window; throws `bad_option` if there is no such agent. */
export function contextOf(raw: Pick<RawAgent, "context">, agent: number): ContextUsage {
  return known(agent, () => JSON.parse(raw.context(agent)) as ContextUsage | null);
}

/** Returns the history of an agent; throws `bad_option` if there is no such agent. */
export function historyOf(raw: Pick<RawSession, "history">, agent: number): Turn[] {
  return known(agent, () => JSON.parse(raw.history(agent, 0)) as SessionTurn[] | null).map(turnOf);
}

/** Returns the turns that an agent's model sees; throws `bad_option` if there is no such agent. */
export function seenBy(raw: Pick<RawAgent, "seen">, agent: number): SeenTurn[] {
  return known(agent, () => JSON.parse(raw.seen(agent)) as Said[] | null).map(seenOf);
}

function stateOf(raw: Telling): SessionState {
  const text = new TextDecoder().decode(raw.snapshot());
  return (JSON.parse(text) as { state: SessionState }).state;
}

// The first user turn of a started agent is its task.
function taskOf(turns: readonly SessionTurn[]): string {
  const first = turns.find(({ kind }) => "user" in kind)?.kind;
  const parts = first !== undefined && "user" in first ? first.user : [];
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

// The text of the newest reply. One that was cut by its length is continued in the next reply, so
// that both are one text.
function lastSaid(raw: Pick<RawAgent, "seen">, agent: number): string {
  let [text, isCut] = ["", false];
  for (const said of (JSON.parse(raw.seen(agent)) as Said[] | null) ?? []) {
    const turn = seenOf(said);
    if (turn.type === "assistant") {
      text = isCut ? text + turn.text : turn.text;
      isCut = turn.finish === "length";
    } else if (turn.type !== "steering") {
      isCut = false;
    }
  }
  return text;
}

function known<T>(agent: number, ask: () => T | null): T {
  // The module would make a whole number of any other, and tell of another agent.
  const told = Number.isInteger(agent) ? ask() : null;
  if (told === null) throw new AgentError("bad_option", `there is no agent ${agent}`);
  return told;
}
