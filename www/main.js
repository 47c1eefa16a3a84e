// The page: wires the forms to the agent and the agent to the three panes.

import { Agent, providers } from "./innerloop/dist/index.web.js";
import { changesBetween, showChange } from "./change-view.js";
import { PROGRAMS, PROMPT, SHELL, loadProject, loadTraffic } from "./demo.js";
import { byId } from "./dom.js";
import { select, showFiles } from "./files-view.js";
import { Transcript } from "./transcript.js";

/** The pause before each piece of a recorded reply, so that people can watch. */
const PACE_MS = 12;

const transcript = new Transcript();
const form = byId("run-form");

/** The providers that the package knows. */
let known = [];
let agent;
let run;
/** The workspace while there is no agent, and the state that changes are shown against. */
let files = new Map();
let before = new Map();

function mode() {
  return form.elements.mode.value;
}

function showMode() {
  const own = mode() === "own";
  byId("own").hidden = !own;
  showProvider();
  const prompt = byId("prompt");
  prompt.readOnly = !own;
  if (!own) prompt.value = PROMPT;
}

/** What the chosen provider needs, and what it takes if nothing is said. */
function showProvider() {
  const own = mode() === "own";
  const chosen = known.find(({ name }) => name === byId("provider").value);
  byId("model").placeholder = chosen?.defaultModel ?? "";
  byId("model").required = own && chosen?.defaultModel === undefined;
  byId("key").required = own && chosen?.needsKey !== false;
  byId("base-url").placeholder = chosen?.baseUrl ?? "";
  byId("base-url").required = own && chosen !== undefined && chosen.baseUrl === undefined;
}

async function loadProviders() {
  known = await providers();
  const options = known.map(({ name, title }) => new Option(title, name));
  byId("provider").replaceChildren(...options);
  showProvider();
}

function showStatus(text) {
  byId("status").textContent = text;
}

function showRunning(running) {
  byId("run").disabled = running;
  byId("stop").disabled = !running;
  byId("reset").disabled = running;
  byId("add-files").disabled = running;
  byId("steer-form").hidden = !running;
  for (const radio of form.elements.mode) radio.disabled = running;
}

function takeFiles() {
  if (agent === undefined) return;
  const decoder = new TextDecoder();
  files = new Map([...agent.files].map(([path, bytes]) => [path, decoder.decode(bytes)]));
}

function showWorkspace() {
  takeFiles();
  const changes = changesBetween(before, files);
  showFiles(files, changes);
  showChange(before, files, changes);
}

async function createAgent() {
  if (mode() === "demo") {
    // The recording knows the tools by these names.
    const replay = { traffic: await loadTraffic(), paceMs: PACE_MS };
    return Agent.create({ files, programs: PROGRAMS, vocabulary: "seed", replay });
  }
  return Agent.create({
    files,
    programs: { ...PROGRAMS, ...SHELL },
    provider: byId("provider").value,
    model: byId("model").value.trim() || undefined,
    apiKey: byId("key").value.trim() || undefined,
    baseUrl: byId("base-url").value.trim() || undefined,
  });
}

async function start(prompt) {
  byId("hint")?.remove();
  showRunning(true);
  showStatus("Working");
  try {
    // The recording answers a fresh session only.
    if (mode() === "demo" && agent !== undefined) await startOver();
    if (agent?.status().state === "closed") agent = undefined;
    agent ??= await createAgent();
    takeFiles();
    before = new Map(files);
    run = agent.run(prompt);
    for await (const event of run) {
      transcript.show(event);
      if (event.type === "tool_call_end") {
        for (const { path } of event.outcome.changes ?? []) select(path, files);
        showWorkspace();
      }
    }
    const { status } = await run.result();
    showStatus({ completed: "Done", failed: "Failed" }[status] ?? "Stopped");
  } catch (error) {
    transcript.note(error.message, true);
    showStatus("Failed");
  } finally {
    run = undefined;
    showRunning(false);
    showWorkspace();
  }
}

async function startOver() {
  await agent?.close();
  agent = undefined;
  transcript.clear();
  await load();
}

async function load() {
  files = await loadProject();
  before = new Map(files);
  select("src/discount.js", files, new Map());
  showWorkspace();
}

async function addFiles(chosen) {
  for (const file of chosen) {
    const text = await file.text();
    if (agent === undefined) files.set(file.name, text);
    else agent.files.write(file.name, text);
  }
  takeFiles();
  before = new Map(files);
  showWorkspace();
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (run === undefined) void start(byId("prompt").value);
});

form.addEventListener("change", (event) => {
  const isProvider = event.target.id === "provider";
  if (event.target.name !== "mode" && !isProvider) return;
  showMode();
  // Another model begins another conversation; the files stay.
  takeFiles();
  void agent?.close();
  agent = undefined;
});

byId("prompt").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
});

byId("stop").addEventListener("click", () => run?.interrupt());

byId("reset").addEventListener("click", () => {
  showStatus("Ready");
  startOver().catch((error) => transcript.note(error.message, true));
});

byId("steer-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const box = byId("steer");
  if (agent !== undefined && run !== undefined && box.value.trim() !== "") agent.steer(box.value);
  box.value = "";
});

byId("add-files").addEventListener("change", (event) => {
  addFiles(event.target.files).catch((error) => transcript.note(error.message, true));
  event.target.value = "";
});

showMode();
Promise.all([load(), loadProviders()])
  .then(() => {
    showRunning(false);
    showStatus("Ready");
  })
  .catch((error) => {
    transcript.note(error.message, true);
    showStatus("Failed");
  });
