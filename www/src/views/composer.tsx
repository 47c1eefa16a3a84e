// The form below the transcript: inputs, steers and follow-ups, the approval mode, and the totals.

import { effect, signal } from "@preact/signals";
import { IDEAS, PROMPT } from "../demo/project.js";
import type { ApprovalMode } from "../shared/messages.js";
import { DEMO } from "../shared/messages.js";
import {
  approval,
  connection,
  context,
  epoch,
  isExample,
  isReady,
  isRunning,
  send,
  setApproval,
  shownTranscript,
  status,
  stop,
  transcript,
  unheard,
} from "../state/app.js";
import { dollars } from "../state/transcript.js";

const text = signal("");

// In a fresh example the task is filled in, unless the person has typed something. Only `epoch` is
// tracked: the text must not come back while the person edits it.
effect(() => {
  void epoch.value;
  const isFresh = isExample.peek() && transcript.peek().entries.peek().length === 0;
  const typed = text.peek();
  if (typed === "" || typed === PROMPT) text.value = isFresh ? PROMPT : "";
});

/** The form below the transcript. */
export function Composer() {
  const submit = async (how: "run" | "steer" | "followUp") => {
    const said = text.value.trim();
    if (said === "") return;
    // Cleared at once, so that a second Enter sends nothing; put back if it could not be sent.
    text.value = "";
    if (!(await send(said, how))) text.value = said;
  };
  const running = isRunning.value;
  const onKeyDown = (event: KeyboardEvent) => {
    // While an input method composes, Enter only chooses a character.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    void submit(running ? "steer" : "run");
  };
  const onSubmit = (event: Event) => {
    event.preventDefault();
    void submit(running ? "steer" : "run");
  };
  return (
    <form class="composer" onSubmit={onSubmit}>
      {unheard.value.length > 0 && (
        <ul class="unheard" aria-label="Not heard yet">
          {unheard.value.map((one, at) => (
            <li key={at}>
              <span class="count">{one.how === "steer" ? "next" : "afterwards"}</span> {one.text}
            </li>
          ))}
        </ul>
      )}
      {!running && <Ideas />}
      <div class="box">
        <label for="prompt" class="hidden">
          {running ? "Tell it something while it works" : "What to do"}
        </label>
        <textarea
          id="prompt"
          rows={2}
          value={text.value}
          placeholder={running ? "Tell it something while it works" : "What shall the agent do?"}
          onInput={({ currentTarget }) => (text.value = currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        <div class="row">
          <label class="inline">
            Ask me before
            <select
              title="Edits are also command lines that may change files; programs of the workspace are not"
              value={approval.value}
              onChange={({ currentTarget }) => setApproval(currentTarget.value as ApprovalMode)}
            >
              <option value="files">edits</option>
              <option value="changes">edits and runs</option>
              <option value="nothing">nothing</option>
            </select>
          </label>
          <span class="actions">{running ? <Meanwhile submit={submit} /> : <Begin />}</span>
        </div>
      </div>
      <p class="totals">
        <output id="status" data-running={running}>
          {status.value}
        </output>
        <Totals />
      </p>
    </form>
  );
}

function Begin() {
  return (
    <button
      type="submit"
      class="primary"
      id="run"
      disabled={!isReady.value}
      title="Enter; Shift and Enter begin a line"
    >
      Run
    </button>
  );
}

function Meanwhile({ submit }: { submit: (how: "followUp") => Promise<void> }) {
  return (
    <>
      <button type="button" class="stop" title="Esc" onClick={stop}>
        Stop
      </button>
      <button type="button" title="Heard when this is done" onClick={() => void submit("followUp")}>
        Queue
      </button>
      <button type="submit" class="primary" title="Heard between two steps">
        Steer
      </button>
    </>
  );
}

// Suggestions for the demo, whose script understands few words.
function Ideas() {
  const { entries } = shownTranscript.value;
  if (connection.value.provider !== DEMO || !isReady.value) return null;
  const said = new Set(entries.value.flatMap((one) => (one.kind === "said" ? [one.text] : [])));
  const possible = isExample.value ? IDEAS : IDEAS.slice(-1);
  const ideas = possible.filter((idea) => !said.has(idea) && text.value !== PROMPT);
  if (ideas.length === 0) return null;
  return (
    <div class="ideas" role="group" aria-label="Ideas">
      {ideas.map((idea) => (
        <button key={idea} type="button" onClick={() => void send(idea, "run")}>
          {idea}
        </button>
      ))}
    </div>
  );
}

function Totals() {
  const { input, output, nanoUsd } = shownTranscript.value.totals.value;
  const { size, used } = shownTranscript.value.window.value;
  const percent = Math.round((100 * used) / Math.max(size, 1));
  const full = [`${percent} per cent of the context window`, ...contextParts()].join("\n");
  const { provider, model } = connection.value;
  const who = provider === DEMO ? "Demo: a script answers" : `${provider} ${model}`;
  const tokens = `${input.toLocaleString("en")} tokens in, ${output.toLocaleString("en")} out`;
  return (
    <span>
      {who} · {tokens}
      {nanoUsd > 0 ? ` · ${dollars(nanoUsd)}` : ""}
      {used > 0 && size > 0 && <meter max={size} value={used} title={full} aria-label={full} />}
    </span>
  );
}

// What fills the context window, part by part. Of a moment of the timeline that is not known.
function contextParts(): string[] {
  const usage = shownTranscript.value === transcript.value ? context.value : undefined;
  if (usage === undefined) return [];
  const parts: [string, number][] = [
    ["System prompt", usage.system],
    ["Instructions", usage.documents],
    ["Tools", usage.tools],
    ["History", usage.history],
    ["Tool results", usage.results],
    ["Free", usage.free],
  ];
  return parts.map(([name, tokens]) => `${name}: ${tokens.toLocaleString("en")}`);
}
