// What is left of an agent that is closed: enough to tell what it was.

import { attempt, guarded } from "../binding/guard.js";
import { binding, lighten, type RawAgent, type RawSession } from "../binding/instance.js";
import type { AgentEvent, Stamp } from "../json/events.js";

/** What is left; nothing of an agent that is lost. */
export interface Rest {
  snapshot: Uint8Array;
  log: string;
}

/** What can be looked at in a session, be it closed. */
export type Visible = Pick<RawSession, "status" | "history" | "seen" | "snapshot">;

/** What is left of an agent, unless the module breaks at it. */
export function restOf(raw: RawAgent): Rest | undefined {
  return attempt(() => ({ snapshot: raw.snapshot(), log: raw.log() }));
}

/** What is left where there is no more than a snapshot, or nothing at all. */
export function onlySnapshot(snapshot: Uint8Array = new Uint8Array()): Rest {
  return { snapshot, log: "" };
}

/** Looks at the session. */
export function lookAt<T>({ snapshot }: Rest, at: (session: Visible) => T): T {
  return guarded(() => {
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

/** What a session says at the end of a run that failed, behind the event of that stamp. */
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
