// Small questions of the page: for a text, or for a yes. Each is a promise of the answer.

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

interface Question {
  title: string;
  /** The text to begin with; absent for a question of yes or no. */
  value?: string;
  action: string;
  settle(answer: string | undefined): void;
}

const question = signal<Question | undefined>(undefined);

/** Asks for a text; resolves to `undefined` if the person cancels. */
export function askText(title: string, value: string, action: string): Promise<string | undefined> {
  return new Promise((settle) => (question.value = { title, value, action, settle }));
}

/** Asks for a confirmation; resolves to whether the person agrees. */
export async function confirm(title: string, action: string): Promise<boolean> {
  const said = await new Promise<string | undefined>((settle) => {
    question.value = { title, action, settle };
  });
  return said !== undefined;
}

/** The dialog in which the questions are shown. */
export function Dialogs() {
  const asked = question.value;
  const dialog = useRef<HTMLDialogElement>(null);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (asked === undefined) return;
    dialog.current?.showModal();
    input.current?.select();
  }, [asked]);
  if (asked === undefined) return null;
  const settle = (answer: string | undefined) => {
    dialog.current?.close();
    question.value = undefined;
    asked.settle(answer);
  };
  const send = (event: Event) => {
    event.preventDefault();
    settle(input.current?.value ?? "");
  };
  return (
    <dialog
      ref={dialog}
      class="small"
      aria-labelledby="question"
      onCancel={() => settle(undefined)}
    >
      <form onSubmit={send}>
        <p id="question" class="question">
          {asked.title}
        </p>
        {asked.value !== undefined && (
          <input
            ref={input}
            aria-labelledby="question"
            autocomplete="off"
            spellcheck={false}
            defaultValue={asked.value}
          />
        )}
        <div class="row">
          <button type="submit" class="primary">
            {asked.action}
          </button>
          <button type="button" onClick={() => settle(undefined)}>
            Cancel
          </button>
        </div>
      </form>
    </dialog>
  );
}
