// The list of what a session has told: the agent's events and the page's own notes, with the pieces
// of one text joined. Worker and page join by the same rule, since both refer to entries by number.

import type { AgentEvent } from "innerloop";

/** A message of the page itself in the transcript. */
export interface Note {
  type: "note";
  text: string;
  bad: boolean;
}

/** The mark of a reload in a run, which goes on. */
export interface Resumed {
  type: "resumed";
}

/** One entry of the list. */
export type Told = AgentEvent | Note | Resumed;

/** Adds an entry to the list; a further piece of the newest text is joined to it. */
export function addTold(all: Told[], next: Told): void {
  const last = all.at(-1);
  if (last === undefined || !continues(last, next)) {
    // A copy, since its text grows: the same object may stand in several lists.
    all.push({ ...next });
    return;
  }
  (last as { text: string }).text += (next as { text: string }).text;
}

/** Returns whether one entry is a further piece of the other. */
export function continues(last: Told, next: Told): boolean {
  if (isPiece(last) && isPiece(next)) return last.agent === next.agent && last.index === next.index;
  switch (next.type) {
    case "assistant_text_delta":
    case "assistant_reasoning_delta":
      return last.type === next.type && last.agent === next.agent;
    case "tool_call_output_delta":
      return last.type === next.type && last.call_id === next.call_id;
    default:
      return false;
  }
}

/** A piece of a call's arguments, which not every version of the package tells. */
interface Piece {
  agent: number;
  index: number;
}

function isPiece(told: object): told is Piece {
  return "type" in told && told.type === "tool_call_delta";
}

/** The most characters kept of one text; the session's log has all of it. */
const LONGEST = 400_000;

/** Returns an event without contents of files, which the journal has, and with its texts cut. */
export function lightened(event: AgentEvent): AgentEvent {
  if (event.type !== "tool_call_end") return event;
  const { parts, changes, ...rest } = event.outcome;
  const light = parts.map((part) => {
    if (part.type !== "text" || part.text.length <= LONGEST) return part;
    return { ...part, text: `${part.text.slice(0, LONGEST)} … The rest is in the log.` };
  });
  const named = changes?.map(({ path, kind }) => ({ path, kind }));
  return { ...event, outcome: { ...rest, parts: light, ...(named && { changes: named }) } };
}
