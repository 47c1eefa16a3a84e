// The tab of raw events: to look at, to copy, and to download as the session's log.

import { useMemo } from "preact/hooks";
import { attempt, current, moment, say, told, toldCount } from "../state/app.js";
import { call } from "../state/client.js";
import { download } from "./transfer.js";

// The number of newest events that are shown, and the characters of each.
const MOST = 300;
const LONGEST = 2_000;

/** The tab "Events". */
export default function EventsTab() {
  const count = moment.value ?? toldCount.value;
  const session = current.value?.id;
  const lines = useMemo(() => {
    const shown = told.slice(Math.max(0, count - MOST), count);
    return shown.map((each) => {
      const line = JSON.stringify(each);
      return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
    });
  }, [count, session]);
  const copy = () =>
    attempt(async () => {
      if (!("clipboard" in navigator)) {
        throw new Error("This browser lets no page without encryption copy: download the log.");
      }
      await navigator.clipboard.writeText(told.map((each) => JSON.stringify(each)).join("\n"));
      say(`${told.length} events were copied.`);
    });
  const keep = () =>
    attempt(async () => download("session.jsonl", await call("log"), "application/jsonl"));
  return (
    <div class="events">
      <div class="bar">
        <span class="count">
          {count > MOST ? `the newest ${MOST} of ${count} events` : `${count} events`}
        </span>
        <button type="button" onClick={() => void copy()}>
          Copy
        </button>
        <button type="button" disabled={count === 0} onClick={() => void keep()}>
          Download log
        </button>
      </div>
      <pre role="region" aria-label="Raw events" tabIndex={0}>
        {lines.join("\n")}
      </pre>
    </div>
  );
}
