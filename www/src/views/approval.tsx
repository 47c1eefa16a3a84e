// The card of a call that waits for a person: allow it once or always, edit its arguments, or deny
// it with a reason.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Asked } from "../shared/messages.js";
import { answer } from "../state/app.js";

/** The time in milliseconds after a key for which a person counts as typing. */
const TYPING_MS = 1_000;
let lastKey = -TYPING_MS;
addEventListener("keydown", () => (lastKey = performance.now()), { capture: true });

/** The card, at the place of its call in the transcript. */
export function ApprovalCard({ asked }: { asked: Asked }) {
  const card = useRef<HTMLDivElement>(null);
  const before = useRef<Element | null>(null);
  const mode = useSignal<"plain" | "edit" | "deny">("plain");
  const text = useSignal("");
  const wrong = useSignal("");
  useEffect(() => {
    before.current = document.activeElement;
    let timer = 0;
    // The card takes the focus, so that a key answers it, but never from a person who is typing:
    // the next key would allow the call by accident.
    const take = (): void => {
      const box = document.activeElement;
      if (card.current?.contains(box) || box?.matches("input, .code")) return;
      if (box instanceof HTMLTextAreaElement) {
        if (box.value !== "") return;
        const left = lastKey + TYPING_MS - performance.now();
        if (left > 0) {
          timer = window.setTimeout(take, left);
          return;
        }
      }
      card.current?.querySelector("button")?.focus();
    };
    take();
    return () => {
      clearTimeout(timer);
      if (before.current instanceof HTMLElement && before.current.isConnected) {
        before.current.focus();
      }
    };
  }, []);
  const back = () => {
    mode.value = "plain";
    // The buttons are rendered with the next frame.
    requestAnimationFrame(() => card.current?.querySelector("button")?.focus());
  };
  const edit = () => {
    text.value = JSON.stringify(asked.arguments, undefined, 2);
    mode.value = "edit";
  };
  const deny = () => {
    text.value = "";
    mode.value = "deny";
  };
  const send = (event: Event) => {
    event.preventDefault();
    if (mode.value === "deny") return answer(asked.id, { type: "denied", reason: text.value });
    try {
      const args = JSON.parse(text.value) as object;
      answer(asked.id, { type: "edited", arguments: args });
    } catch (error) {
      wrong.value = (error as Error).message;
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (mode.value === "plain") return;
    if (event.key === "Escape") {
      event.stopPropagation();
      back();
    }
    const isSent = event.ctrlKey || event.metaKey || (mode.value === "deny" && !event.shiftKey);
    const isTyped = event.target instanceof HTMLTextAreaElement && !event.isComposing;
    if (event.key === "Enter" && isSent && isTyped) send(event);
  };
  const title = `approval-${asked.id}`;
  return (
    <div
      class="approval"
      role="alertdialog"
      aria-labelledby={title}
      ref={card}
      onKeyDown={onKeyDown}
    >
      <p id={title}>
        <strong>{asked.name}</strong> wants to run. May it?
      </p>
      <Proposal asked={asked} />
      {mode.value === "plain" ? (
        <div class="row">
          <button type="button" class="primary" onClick={() => answer(asked.id, { type: "once" })}>
            Allow once
          </button>
          <button type="button" onClick={() => answer(asked.id, { type: "always" })}>
            Always
          </button>
          <button type="button" onClick={edit}>
            Edit…
          </button>
          <button type="button" onClick={deny}>
            Deny…
          </button>
        </div>
      ) : (
        <form onSubmit={send}>
          <label>
            {mode.value === "deny"
              ? "Why not? The model reads it. Enter sends it."
              : "Arguments, as JSON. Ctrl and Enter send them."}
            <textarea
              ref={(node) => node?.focus()}
              rows={mode.value === "deny" ? 2 : 8}
              spellcheck={mode.value === "deny"}
              value={text.value}
              onInput={({ currentTarget }) => (text.value = currentTarget.value)}
            />
          </label>
          {wrong.value !== "" && <p class="bad">{wrong.value}</p>}
          <div class="row">
            <button type="submit" class="primary">
              {mode.value === "deny" ? "Deny" : "Run with these"}
            </button>
            <button type="button" onClick={back}>
              Back
            </button>
          </div>
        </form>
      )}
    </div>
  );
}

const LONGEST = 4_000;

// The proposed call: an edit as removed and added text, anything else as its arguments.
function Proposal({ asked }: { asked: Asked }) {
  const fields = (asked.arguments ?? {}) as Record<string, unknown>;
  const path = fields.file_path ?? fields.path;
  const [old, next] = [fields.old_string, fields.new_string ?? fields.content];
  const isEdit = typeof next === "string" && typeof path === "string";
  if (!isEdit) {
    const text = JSON.stringify(asked.arguments, undefined, 2);
    return <pre tabIndex={0}>{text.slice(0, LONGEST)}</pre>;
  }
  return (
    <div class="proposal">
      <p class="path">{path}</p>
      {typeof old === "string" && old !== "" && (
        <pre class="removed" tabIndex={0} aria-label="Goes">
          {old.slice(0, LONGEST)}
        </pre>
      )}
      <pre class="added" tabIndex={0} aria-label="Comes">
        {next.slice(0, LONGEST)}
      </pre>
    </div>
  );
}
