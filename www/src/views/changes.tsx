// The changes since a checkpoint: each file's hunks, any of which can be undone.

import { signal, useSignal, useSignalEffect } from "@preact/signals";
import { type Hunk, hunksOf, withoutHunk } from "../editor/hunks.js";
import type { FileDifference } from "../shared/messages.js";
import { attempt, checkpoints, current, openFile, say, versions } from "../state/app.js";
import { call } from "../state/client.js";
import { confirm } from "./dialogs.js";
import { textOf } from "./transfer.js";

// A file with more bytes is only named, and so are all files beyond this number.
const MOST_BYTES = 400_000;
const MOST_FILES = 100;

const since = signal(0);

/** The tab "Changes". */
export default function ChangesTab() {
  const differences = useSignal<FileDifference[]>([]);
  useSignalEffect(() => {
    // Read so that the effect runs again when they change: the worker's answer depends on them.
    void [versions.value, current.value?.id, checkpoints.value];
    const at = Math.min(since.value, Math.max(0, checkpoints.value.length - 1));
    void attempt(async () => (differences.value = await call("differences", at)));
  });
  const all = differences.value;
  const revertAll = async () => {
    if (!(await confirm("Take back all of these changes?", "Take back"))) return;
    await attempt(() =>
      call(
        "revert",
        all.map(({ path, before }) => [path, before]),
      ),
    );
  };
  return (
    <div class="changes">
      <div class="bar">
        <label class="inline">
          Since
          <select
            value={since.value}
            onChange={({ currentTarget }) => (since.value = Number(currentTarget.value))}
          >
            {checkpoints.value.length === 0 && <option value={0}>the beginning</option>}
            {checkpoints.value.map(({ name }, at) => (
              <option key={at} value={at}>
                {at === 0 ? "the beginning" : `before “${name}”`}
              </option>
            ))}
          </select>
        </label>
        <span class="count">{all.length === 1 ? "1 file" : `${all.length} files`}</span>
        <button type="button" disabled={all.length === 0} onClick={() => void revertAll()}>
          Take all back
        </button>
      </div>
      {all.length === 0 && <p class="hint">Nothing has changed.</p>}
      {all.slice(0, MOST_FILES).map((one) => (
        <Difference key={one.path} difference={one} />
      ))}
      {all.length > MOST_FILES && <p class="hint">And {all.length - MOST_FILES} more files.</p>}
    </div>
  );
}

function Difference({ difference }: { difference: FileDifference }) {
  const { path, before, after } = difference;
  const kind = before === undefined ? "new" : after === undefined ? "deleted" : "changed";
  const revert = async () => {
    if (await attempt(() => call("revert", [[path, before]]))) say(`${path} is as it was.`);
  };
  return (
    <section class="diff" data-path={path} aria-label={`Changes of ${path}`}>
      <div class="file-head">
        <h3>
          <bdi>{path}</bdi> <span class={`badge ${kind}`}>{kind}</span>
        </h3>
        <div class="tools">
          {after !== undefined && (
            <button type="button" onClick={() => openFile(path)}>
              Open
            </button>
          )}
          <button type="button" aria-label={`Take back ${path}`} onClick={() => void revert()}>
            Take back
          </button>
        </div>
      </div>
      <Hunks difference={difference} />
    </section>
  );
}

function Hunks({ difference: { path, before, after } }: { difference: FileDifference }) {
  const size = (before?.length ?? 0) + (after?.length ?? 0);
  if (size > MOST_BYTES) return <p class="hint">The file is too large to be shown here.</p>;
  const [old, now] = [textOf(before ?? new Uint8Array()), textOf(after ?? new Uint8Array())];
  if (old === undefined || now === undefined) return <p class="hint">A binary file.</p>;
  if (before === undefined || after === undefined) {
    const lines = (before === undefined ? now : old).replace(/\n$/, "").split("\n");
    return <Lines marked={lines} kind={before === undefined ? "added" : "removed"} first={1} />;
  }
  const back = (hunk: Hunk) => {
    void attempt(async () => {
      const text = withoutHunk(now, hunk);
      await call("write", path, new TextEncoder().encode(text));
    });
  };
  return (
    <>
      {hunksOf(old, now).map((hunk, at) => (
        <div class="hunk" key={at}>
          <div class="hunk-head">
            <span>line {hunk.after + 1}</span>
            <button
              type="button"
              class="quiet"
              aria-label={`Take back the change at line ${hunk.after + 1} of ${path}`}
              onClick={() => back(hunk)}
            >
              Take back
            </button>
          </div>
          <Lines marked={hunk.above} kind="same" first={hunk.after - hunk.above.length + 1} />
          <Lines marked={hunk.removed} kind="removed" first={hunk.before + 1} />
          <Lines marked={hunk.added} kind="added" first={hunk.after + 1} />
          <Lines marked={hunk.below} kind="same" first={hunk.after + hunk.added.length + 1} />
        </div>
      ))}
    </>
  );
}

const MARKS = { added: "+", removed: "-", same: " " };
const MOST_LINES = 2_000;

interface LinesProps {
  marked: string[];
  kind: keyof typeof MARKS;
  first: number;
}

function Lines({ marked, kind, first }: LinesProps) {
  if (marked.length === 0) return null;
  const shown = marked.slice(0, MOST_LINES);
  return (
    <pre class={`lines ${kind}`} tabIndex={kind === "same" ? undefined : 0} data-first={first}>
      {shown.map((line) => `${MARKS[kind]} ${line}\n`).join("")}
      {marked.length > MOST_LINES && "… the rest is not shown\n"}
    </pre>
  );
}
