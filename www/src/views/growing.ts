// Gradual layout of long texts: one piece in each frame, so that the page stays responsive. The
// pieces become smaller if frames take long.

import { type Signal, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";

// The least and most characters of a piece.
const [LEAST, MOST] = [1_200, 3_000];
// The time of a frame above which pieces become smaller, and below which they grow.
const [SLOW_MS, FAST_MS] = [30, 14];
/** The number of texts that grow in one frame. */
const AT_ONCE = 2;

const waiting = new Set<() => void>();
let isWaiting = false;
let piece = MOST / 2;

/** Returns as much of a text as may be laid out now; the rest follows in later frames. */
export function useGrowing(text: Signal<string>): string {
  const reached = useRef(0);
  const turn = useSignal(0);
  const grow = useRef(() => void (turn.value += 1)).current;
  void turn.value;
  const whole = text.value;
  reached.current = Math.min(whole.length, reached.current + piece);
  if (reached.current < whole.length) later(grow);
  return whole.slice(0, reached.current);
}

function later(grow: () => void): void {
  waiting.add(grow);
  if (isWaiting) return;
  isWaiting = true;
  requestAnimationFrame(() => {
    isWaiting = false;
    const began = performance.now();
    setTimeout(() => adapt(performance.now() - began));
    const some = [...waiting].slice(0, AT_ONCE);
    for (const one of some) waiting.delete(one);
    const [first] = waiting;
    if (first !== undefined) later(first);
    for (const one of some) one();
  });
}

// Adapts the size of pieces to the time of a frame, measured by a timer that is set when the frame
// begins: it fires only after layout and painting.
function adapt(took: number): void {
  if (took > SLOW_MS) piece = Math.max(LEAST, Math.ceil(piece / 2));
  else if (took < FAST_MS) piece = Math.min(MOST, Math.ceil(piece * 1.5));
}
