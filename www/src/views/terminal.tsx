// The tab of the terminal: command lines over the workspace, in the sandboxed shell.

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { LineResult } from "../shared/messages.js";
import { current, fail, printed } from "../state/app.js";
import { call } from "../state/client.js";

interface Line {
  command: string;
  result?: LineResult;
}

const lines = signal<Line[]>([]);
const isBusy = signal(false);
const typed = signal("");
const MOST_LINES = 200;
const MOST_SHOWN = 100_000;

/** The tab "Terminal". */
export default function TerminalTab() {
  const log = useRef<HTMLDivElement>(null);
  const session = current.value?.id;
  useEffect(() => {
    lines.value = [];
  }, [session]);
  useEffect(() => {
    if (log.current !== null) log.current.scrollTop = log.current.scrollHeight;
  });
  const onSubmit = (event: Event) => {
    event.preventDefault();
    void carryOut(typed.value);
  };
  return (
    <div class="terminal">
      <div
        class="terminal-log"
        role="log"
        aria-label="Output of the terminal"
        tabIndex={0}
        ref={log}
      >
        {lines.value.length === 0 && (
          <p class="hint">
            A shell over these files, in the page: try <code>ls -l</code> or{" "}
            <code>qjs -m test.mjs</code>. The first line loads it.
          </p>
        )}
        {lines.value.map((line, at) => (
          <Output key={at} line={line} isLast={at === lines.value.length - 1} />
        ))}
      </div>
      <form class="row" onSubmit={onSubmit}>
        <label for="line">
          <span aria-hidden="true">$</span>
          <span class="hidden">Command line</span>
        </label>
        <input
          id="line"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          value={typed.value}
          onInput={({ currentTarget }) => (typed.value = currentTarget.value)}
          onKeyDown={recall}
        />
        {isBusy.value ? (
          <button type="button" onClick={() => void call("stopLine")}>
            Stop line
          </button>
        ) : (
          <button type="submit">Enter</button>
        )}
      </form>
    </div>
  );
}

function Output({ line: { command, result }, isLast }: { line: Line; isLast: boolean }) {
  const text = result?.output ?? (isLast ? printed.value : "");
  const end = result === undefined ? undefined : endOf(result);
  return (
    <>
      <p class="command">$ {command}</p>
      <pre>{text.slice(-MOST_SHOWN)}</pre>
      {end && <p class="note bad">{end}</p>}
    </>
  );
}

function endOf({ exit, error }: LineResult): string | undefined {
  if (error === undefined) return undefined;
  return exit === undefined ? `It ended: ${error}.` : `exit ${exit}`;
}

let recalled = 0;

async function carryOut(command: string): Promise<void> {
  if (command.trim() === "" || isBusy.value) return;
  typed.value = "";
  recalled = 0;
  isBusy.value = true;
  printed.value = "";
  const before = lines.value.slice(-MOST_LINES);
  lines.value = [...before, { command }];
  try {
    const result = await call("line", command);
    lines.value = [...before, { command, result }];
  } catch (error) {
    fail(error);
  } finally {
    isBusy.value = false;
  }
}

function recall(event: KeyboardEvent): void {
  const step = { ArrowUp: 1, ArrowDown: -1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  recalled = Math.min(Math.max(recalled + step, 0), lines.value.length);
  typed.value = recalled === 0 ? "" : (lines.value.at(-recalled)?.command ?? "");
}
