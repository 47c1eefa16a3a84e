// What a session says of itself in its snapshot: the configuration in force, what waits to be read,
// and the agents that it has started. The module has no words of its own for these: a snapshot has
// them all, and is asked for seldom.

import type { RawAgent } from "../binding/instance.js";
import { AgentError } from "../errors.js";
import type { SessionConfig } from "../json/config.js";
import type { Part } from "../json/data.js";
import type { Said, SessionTurn } from "../json/history.js";
import type { InputOptions } from "../json/protocol.js";
import { turnOptionsOf } from "../options/turn.js";
import { TextDecoder } from "../platform/coders.js";
import { type PendingInputs, type SubagentInfo, seenOf } from "./results.js";

/** A session's state, as far as it is read here. */
interface SessionState {
  config: SessionConfig;
  agents: AgentState[];
}

interface AgentState {
  id: number;
  turns: SessionTurn[];
  run: { replies: number; result?: string };
  spawned?: { parent: number; folder?: string; model?: string };
  steering?: Part[][];
  follow_ups?: { parts: Part[]; options?: InputOptions }[];
  children?: { id: number; state: SubagentInfo["state"]; last?: { output: string } }[];
}

/** A session that can tell its state. */
type Telling = Pick<RawAgent, "snapshot">;

/** The configuration of an agent's session. */
export function configOf(raw: Telling): SessionConfig {
  return stateOf(raw).config;
}

/** What waits for the agent of that number. */
export function pendingOf(raw: Telling, agent: number): PendingInputs {
  const found = stateOf(raw).agents.find(({ id }) => id === agent);
  if (found === undefined) throw new AgentError("bad_option", `there is no agent ${agent}`);
  const { steering = [], follow_ups = [] } = found;
  const followUps = follow_ups.map(({ parts, options }) => {
    return { parts, ...(options && { options: turnOptionsOf(options) }) };
  });
  return { steering, followUps };
}

/** The agents that were started, by their numbers. */
export function agentsOf(raw: Telling & Pick<RawAgent, "seen">): SubagentInfo[] {
  const { agents } = stateOf(raw);
  const children = agents.flatMap(({ children = [] }) => children);
  return agents.flatMap(({ id, spawned, turns, run }) => {
    if (spawned === undefined) return [];
    const { parent, folder = "", model } = spawned;
    const known = children.find((child) => child.id === id);
    const output = known?.last?.output ?? run.result ?? (run.replies > 0 ? lastSaid(raw, id) : "");
    const state = known?.state ?? "closed";
    const named = model === undefined ? {} : { model };
    return { id, parent, state, task: taskOf(turns), output, folder, ...named };
  });
}

function stateOf(raw: Telling): SessionState {
  const text = new TextDecoder().decode(raw.snapshot());
  return (JSON.parse(text) as { state: SessionState }).state;
}

// A task is the first that an agent is told.
function taskOf(turns: readonly SessionTurn[]): string {
  const first = turns.find(({ kind }) => "user" in kind)?.kind;
  const parts = first !== undefined && "user" in first ? first.user : [];
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

// The newest reply, behind the one that was cut before it and told to go on.
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
