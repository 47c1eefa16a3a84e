// The header of the page: sessions, the model, and the colours.

import { signal } from "@preact/signals";
import { DEMO } from "../shared/messages.js";
import {
  connection,
  createSession,
  current,
  openSession,
  removeSession,
  sessions,
} from "../state/app.js";
import { call } from "../state/client.js";
import { askText, confirm } from "./dialogs.js";
import { isModelOpen } from "./model.js";

const THEMES = ["auto", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

const theme = signal<Theme>(keptTheme());

/** Applies the chosen colours. */
export function applyTheme(): void {
  if (theme.value === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
}

function keptTheme(): Theme {
  // Browsers that block storage throw at the mere access.
  try {
    return THEMES.find((each) => each === localStorage.getItem("theme")) ?? "auto";
  } catch {
    return "auto";
  }
}

function choose(chosen: Theme): void {
  theme.value = chosen;
  applyTheme();
  try {
    localStorage.setItem("theme", chosen);
  } catch {
    // Without storage the choice holds until the page is closed.
  }
}

/** The header of the page. */
export function Header() {
  const { provider, model } = connection.value;
  const rename = async () => {
    const { id, name } = current.value ?? { id: "", name: "" };
    const next = await askText("Name of the session", name, "Rename");
    if (next !== undefined) await call("rename", id, next);
  };
  const remove = async () => {
    const { id, name } = current.value ?? { id: "", name: "" };
    const question = `Delete the session “${name}” with its files?`;
    if (await confirm(question, "Delete")) await removeSession(id);
  };
  return (
    <header>
      <h1>Innerloop</h1>
      <div class="sessions" role="group" aria-label="Session">
        <select
          aria-label="Session"
          value={current.value?.id}
          onChange={({ currentTarget }) => void openSession(currentTarget.value)}
        >
          {sessions.value.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
        <button
          type="button"
          class="quiet"
          title="Rename this session"
          onClick={() => void rename()}
        >
          Rename
        </button>
        <button
          type="button"
          class="quiet"
          title="Delete this session"
          onClick={() => void remove()}
        >
          Delete
        </button>
        <button
          type="button"
          title="A session with an empty workspace"
          onClick={() => void createSession("empty")}
        >
          New
        </button>
        <button
          type="button"
          title="A session with the example"
          onClick={() => void createSession("example")}
        >
          Example
        </button>
      </div>
      <div class="settings">
        <button type="button" id="model" onClick={() => (isModelOpen.value = true)}>
          Model: {provider === DEMO ? "demo" : model || provider}
        </button>
        <select
          aria-label="Colours"
          value={theme.value}
          onChange={({ currentTarget }) => choose(currentTarget.value as Theme)}
        >
          <option value="auto">Auto</option>
          <option value="light">Light</option>
          <option value="dark">Dark</option>
        </select>
      </div>
    </header>
  );
}
