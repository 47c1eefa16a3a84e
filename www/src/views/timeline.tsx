// The timeline: it shows the session, with its files, as it was after each step.

import { useMemo } from "preact/hooks";
import { current, isRunning, moment, showMoment, told, toldCount } from "../state/app.js";

/** Returns the steps of the timeline, each as the number of entries up to it. */
export function stepsOf(count: number): number[] {
  const steps: number[] = [];
  for (let at = 0; at < count; at += 1) {
    const type = told[at]?.type;
    if (type !== undefined && STEPS.has(type)) steps.push(at + 1);
  }
  return steps;
}

const STEPS = new Set([
  "user_input",
  "steering_injected",
  "assistant_text_end",
  "tool_call_start",
  "tool_call_end",
  "processing_end",
  "note",
]);

/** The bar above the transcript. */
export function Timeline() {
  const count = toldCount.value;
  const session = current.value?.id;
  const steps = useMemo(() => stepsOf(count), [count, session]);
  const at = moment.value;
  if (steps.length < 2) return null;
  const step = at === undefined ? steps.length : steps.findLastIndex((each) => each <= at) + 1;
  const go = (to: number) => {
    const bounded = Math.min(Math.max(to, 0), steps.length);
    showMoment(bounded === steps.length ? undefined : (steps[bounded - 1] ?? 0));
  };
  const isNow = at === undefined;
  return (
    <div class="timeline">
      <button type="button" aria-label="One step back" onClick={() => go(step - 1)}>
        ◂
      </button>
      <input
        type="range"
        aria-label="Step of the session"
        aria-valuetext={isNow ? "now" : `step ${step} of ${steps.length}`}
        min={0}
        max={steps.length}
        value={step}
        disabled={isRunning.value}
        onInput={({ currentTarget }) => go(Number(currentTarget.value))}
      />
      <button type="button" aria-label="One step on" disabled={isNow} onClick={() => go(step + 1)}>
        ▸
      </button>
      <span class="count">{isNow ? "now" : `${step} of ${steps.length}`}</span>
      {!isNow && (
        <button type="button" class="quiet" onClick={() => showMoment(undefined)}>
          Back to now
        </button>
      )}
    </div>
  );
}
