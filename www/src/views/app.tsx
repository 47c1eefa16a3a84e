// The page: its panes, its tabs, and the keys that work everywhere.

import { type Signal, signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import {
  changedCount,
  dirty,
  fail,
  isRunning,
  PANES,
  pane,
  stop,
  TABS,
  type Tab,
  tab,
  toast,
  undoToast,
} from "../state/app.js";
import { Composer } from "./composer.js";
import { Dialogs } from "./dialogs.js";
import { EditorTab } from "./editor.js";
import { FilesView } from "./files.js";
import { Header } from "./header.js";
import { ModelDialog } from "./model.js";
import { Timeline } from "./timeline.js";
import { TranscriptView } from "./transcript.js";

type Loaded = Signal<ComponentType | undefined>;

// These tabs are loaded when they are first opened, so that the page starts small.
const LATER: Partial<Record<Tab, [Loaded, () => Promise<{ default: ComponentType }>]>> = {
  Changes: [signal(undefined), () => import("./changes.js")],
  Preview: [signal(undefined), () => import("./preview.js")],
  Terminal: [signal(undefined), () => import("./terminal.js")],
  Events: [signal(undefined), () => import("./events.js")],
};

/** The whole page. */
export function App() {
  useEffect(() => {
    addEventListener("keydown", onKey);
    addEventListener("beforeunload", onLeave);
    return () => {
      removeEventListener("keydown", onKey);
      removeEventListener("beforeunload", onLeave);
    };
  }, []);
  return (
    <>
      <a class="skip" href="#prompt">
        To the prompt
      </a>
      <Header />
      <nav class="panes" aria-label="Panes">
        {PANES.map((name) => (
          <button
            key={name}
            type="button"
            aria-pressed={pane.value === name}
            onClick={() => (pane.value = name)}
          >
            {name}
          </button>
        ))}
      </nav>
      <main data-pane={pane.value}>
        <FilesView />
        <Work />
        <section class="pane talk" aria-labelledby="talk-title">
          <div class="pane-head">
            <h2 id="talk-title">Transcript</h2>
            <Timeline />
          </div>
          <TranscriptView />
          <Composer />
        </section>
      </main>
      <ModelDialog />
      <Dialogs />
      <div class="toast" role="status" aria-live="polite">
        {toast.value && (
          <p class={toast.value.bad ? "bad" : ""}>
            {toast.value.text}
            {toast.value.undo && (
              <button type="button" onClick={() => void undoToast()}>
                Undo
              </button>
            )}
          </p>
        )}
      </div>
    </>
  );
}

function Work() {
  const shown = tab.value;
  return (
    <section class="pane work" aria-labelledby="work-title">
      <h2 id="work-title" class="hidden">
        Workspace
      </h2>
      <div class="tabs" role="tablist" aria-label="Views of the workspace" onKeyDown={onTabKey}>
        {TABS.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${name}`}
            aria-selected={shown === name}
            aria-controls="tab-panel"
            tabIndex={shown === name ? 0 : -1}
            onClick={() => (tab.value = name)}
          >
            {name}
            {name === "Changes" && <ChangeCount />}
          </button>
        ))}
      </div>
      <div class="panel" role="tabpanel" id="tab-panel" aria-labelledby={`tab-${shown}`}>
        <div class="fill" hidden={shown !== "Editor"}>
          <EditorTab />
        </div>
        {shown !== "Editor" && <Later name={shown} />}
      </div>
    </section>
  );
}

function ChangeCount() {
  const count = changedCount.value;
  return count === 0 ? null : <span class="badge changed">{count}</span>;
}

function Later({ name }: { name: Tab }) {
  const [loaded, load] = LATER[name] ?? [];
  useEffect(() => {
    if (loaded?.value === undefined) {
      load?.().then(({ default: view }) => loaded && (loaded.value = view), fail);
    }
  }, [name]);
  const View = loaded?.value;
  return View === undefined ? <p class="hint">Loading…</p> : <View />;
}

// Lets the browser ask before it closes the page: unsaved text of the editor is not stored.
function onLeave(event: Event): void {
  if (dirty.size > 0) event.preventDefault();
}

function onTabKey(event: KeyboardEvent): void {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const next = TABS[(TABS.indexOf(tab.value) + step + TABS.length) % TABS.length] ?? "Editor";
  tab.value = next;
  document.getElementById(`tab-${next}`)?.focus();
}

function onKey(event: KeyboardEvent): void {
  if (event.key === "Escape" && isRunning.value && !event.defaultPrevented) {
    // In a dialog the key only closes the dialog.
    if (document.querySelector("dialog[open]") === null) stop();
  }
  if (event.key !== "F6") return;
  event.preventDefault();
  const inner = document.querySelector(".code")?.shadowRoot?.querySelector(".cm-content");
  const selectors = ["#tree", ".tabs [aria-selected=true]", ".code", "#prompt"];
  const stops = selectors.flatMap((each) => document.querySelector<HTMLElement>(each) ?? []);
  const seen = stops.filter((each) => each.offsetParent !== null);
  const at = seen.findIndex((each) => each.contains(document.activeElement));
  const next = seen[(at + (event.shiftKey ? -1 : 1) + seen.length) % seen.length];
  if (next?.matches(".code")) (inner as HTMLElement | undefined)?.focus();
  else next?.focus();
}
