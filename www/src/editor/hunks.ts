// The differences between two texts by lines, and the undoing of a single one.

import { Chunk } from "@codemirror/merge";
import { Text } from "@codemirror/state";

/** A place where lines differ, with the equal lines around it. */
export interface Hunk {
  /** The first line that differs, from 0, in the text before and after. */
  before: number;
  after: number;
  removed: string[];
  added: string[];
  /** The lines above and below. */
  above: string[];
  below: string[];
}

const CONTEXT = 3;
/** The limits beyond which a comparison is made coarser, so that the page stays responsive. */
const LIMITS = { scanLimit: 2_000, timeout: 200 };

/** Returns the hunks between two texts. */
export function hunksOf(before: string, after: string): Hunk[] {
  const [a, b] = [Text.of(before.split("\n")), Text.of(after.split("\n"))];
  const lines = after.split("\n");
  return Chunk.build(a, b, LIMITS).map(({ fromA, toA, fromB, toB }) => {
    const [removed, added] = [linesOf(a, fromA, toA), linesOf(b, fromB, toB)];
    const end = added.at + added.lines.length;
    return {
      before: removed.at,
      after: added.at,
      removed: removed.lines,
      added: added.lines,
      above: lines.slice(Math.max(0, added.at - CONTEXT), added.at),
      below: lines.slice(end, end + CONTEXT),
    };
  });
}

/** Returns the newer text without one hunk; throws if its lines have changed. */
export function withoutHunk(after: string, hunk: Hunk): string {
  const lines = after.split("\n");
  // The hunk was computed before the click, and the agent may have written the file since.
  const now = lines.slice(hunk.after, hunk.after + hunk.added.length);
  if (now.join("\n") !== hunk.added.join("\n")) throw new Error("The file has changed meanwhile.");
  lines.splice(hunk.after, hunk.added.length, ...hunk.removed);
  return lines.join("\n");
}

function linesOf(text: Text, from: number, to: number): { at: number; lines: string[] } {
  // A chunk at the end may begin behind the last line, where `lineAt` would throw.
  const at = from > text.length ? text.lines : text.lineAt(from).number - 1;
  if (to <= from) return { at, lines: [] };
  const end = text.lineAt(Math.min(to - 1, text.length)).number;
  const lines: string[] = [];
  for (let line = at + 1; line <= end; line += 1) lines.push(text.line(line).text);
  return { at, lines };
}
