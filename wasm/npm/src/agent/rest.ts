// The remains of a closed agent: its snapshot and log, from which it still answers questions.

import { attempt, guarded } from "../binding/guard.js";
import { binding, lighten, type RawAgent, type RawSession } from "../binding/instance.js";
import type { AgentEvent, Stamp } from "../json/events.js";

/** The remains of an agent; both are empty if it was lost. */
export interface Rest {
  snapshot: Uint8Array;
  log: string;
}

/** The methods of a session that still work when it is closed. */
export type Visible = Pick<RawSession, "status" | "history" | "seen" | "context" | "snapshot">;

/** Returns the remains of an agent, or nothing if the module breaks in the call. */
export function restOf(raw: RawAgent): Rest | undefined {
  return attempt(() => ({ snapshot: raw.snapshot(), log: raw.log() }));
}

/** Returns remains of no more than a snapshot, or of nothing. */
export function onlySnapshot(snapshot: Uint8Array = new Uint8Array()): Rest {
  return { snapshot, log: "" };
}

/** Reads from the session of which this is left. */
export function lookAt<T>({ snapshot }: Rest, at: (session: Visible) => T): T {
  return guarded(() => {
    // Made for this one question and freed: a closed agent is to hold no memory of the module.
    const of = binding();
    const session = of.RawSession.restore(snapshot, 0, false);
    try {
      return at(session);
    } finally {
      session.free();
      lighten(of);
    }
  });
}

/** Returns the events with which a session ends a failed run, numbered behind that stamp. */
export function failed(
  message: string,
  { seq, at, wall, session }: Omit<Stamp, "agent" | "effect">,
): AgentEvent[] {
  const stamp = (number: number): Omit<Stamp, "effect"> => {
    return { seq: seq + number, at, wall, session, agent: 0 };
  };
  const usage = { input_total: 0, output_total: 0, cache_read: 0, cache_write: 0, reasoning: 0 };
  const counts = { text: "", usage, replies: 0, tool_calls: 0, rounds: 0 };
  return [
    { ...stamp(1), type: "error", kind: "internal", message },
    { ...stamp(2), type: "processing_end", end: "failed", ...counts },
  ];
}
