// The state of the page: signals, and the functions that change them. Views read the signals and
// call the functions; only this file talks to the worker about the session as a whole.

import { batch, computed, effect, signal } from "@preact/signals";
import type { ContextUsage } from "innerloop";
import { PROJECT } from "../demo/project.js";
import type {
  ApprovalMode,
  Asked,
  Checkpoint,
  ConnectionDraft,
  ConnectionInfo,
  Draft,
  FileInfo,
  Folder,
  Notice,
  SessionInfo,
  SessionView,
  Unheard,
  Verdict,
} from "../shared/messages.js";
import { DEMO } from "../shared/messages.js";
import { addTold, type Told } from "../shared/told.js";
import { call, start } from "./client.js";
import { Transcript } from "./transcript.js";

/** The tabs in the middle of the page. */
export const TABS = ["Editor", "Changes", "Preview", "Terminal", "Events"] as const;
export type Tab = (typeof TABS)[number];

export const isReady = signal(false);
export const sessions = signal<SessionInfo[]>([]);
export const current = signal<SessionInfo | undefined>(undefined);
export const transcript = signal(new Transcript());
export const files = signal<ReadonlyMap<string, FileInfo>>(new Map());
export const checkpoints = signal<Checkpoint[]>([]);
export const isRunning = signal(false);
export const asked = signal<Asked[]>([]);
export const approval = signal<ApprovalMode>("files");
export const connection = signal<ConnectionInfo>({
  provider: DEMO,
  model: "",
  baseUrl: "",
  hasKey: false,
  remembered: false,
});
export const tab = signal<Tab>("Editor");
/** The panes; a narrow screen shows one at a time. */
export const PANES = ["Files", "Work", "Talk"] as const;
export const pane = signal<(typeof PANES)[number]>("Talk");
/** The file that is open in the editor. */
export const opened = signal<string | undefined>(undefined);
/** The file that the model is writing, as far as it has been streamed. */
export const draft = signal<Draft | undefined>(undefined);
/** True if the person looks at the stored file instead. */
export const isDraftHidden = signal(false);
/** The folder of this device that the files came from. */
export const folder = signal<Folder | undefined>(undefined);
/** The number of times that a session was shown as a whole, such as after an undo. */
export const epoch = signal(0);
/** The number of changes of each file, by path. */
export const versions = signal<ReadonlyMap<string, number>>(new Map());
/** The short message at the bottom of the page, with its undo. */
export const toast = signal<Toast | undefined>(undefined);

interface Toast {
  text: string;
  bad: boolean;
  undo?: (() => Promise<unknown>) | undefined;
}

export const status = signal("Loading");
/** The output of the terminal since its line began. */
export const printed = signal("");

// Whether this browser stores sessions at all, and whether all of the shown one is stored.
export const keepsSessions = signal(true);
export const isKept = signal(true);
effect(() => void (document.body.dataset.kept = String(isKept.value)));

/** The messages of the user that the working agent has not read yet. */
export const unheard = signal<Unheard[]>([]);
/** The number of undos that can be redone. */
export const undone = signal(0);

// The entries of this session, and the number of those that the timeline shows; all if undefined.
// The list is no signal: it grows with each piece of text, and views read it by the count.
export const told: Told[] = [];
export const toldCount = signal(0);
export const moment = signal<number | undefined>(undefined);
/** The transcript at the moment of the timeline. */
const pastTranscript = signal<Transcript | undefined>(undefined);
export const shownTranscript = computed(() => pastTranscript.value ?? transcript.value);
/** What fills the context window of the shown session's agent, once that has worked. */
export const context = signal<ContextUsage | undefined>(undefined);
// Asked for with each count of the provider, and again when a run is over.
effect(() => {
  void isRunning.value;
  const shown = epoch.value;
  context.value = undefined;
  if (transcript.value.window.value.used === 0) return;
  const tell = (told: ContextUsage | undefined) => {
    // Another session may be shown by now.
    if (shown === epoch.peek()) context.value = told;
  };
  call("context").then(tell).catch(fail);
});
/** The files at the moment of the timeline. */
export const pastFiles = signal<ReadonlyMap<string, FileInfo> | undefined>(undefined);
export const shownFiles = computed(() => pastFiles.value ?? files.value);
/** True if the workspace has the example's files. */
export const isExample = computed(() => PROJECT.every((path) => files.value.has(path)));
/** The number of files that differ from the beginning, without removed ones. */
export const changedCount = computed(() => {
  return [...shownFiles.value.values()].filter(({ badge }) => badge !== undefined).length;
});

/** Starts the worker and opens the session that was changed last. */
export async function begin(): Promise<void> {
  start(hear, (message) => fail(new Error(message)));
  const pace = new URLSearchParams(location.search).get("pace");
  const begun = await call("begin", { pace: pace === null ? null : Number(pace) });
  sessions.value = begun.sessions;
  keepsSessions.value = begun.keeps;
  show(begun.view);
  isReady.value = true;
  status.value = begun.view.running ? "Working" : "Ready";
  if (!begun.keeps) {
    say(
      "This browser keeps nothing for this page: sessions and files last until it is closed.",
      true,
    );
  }
  // A hidden page may be closed without another event, so that it is stored at once.
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden" && !isKept.value) void call("keep");
  });
}

/** Shows a session. */
export function show(view: SessionView): void {
  // In a batch: views must never see parts of two sessions.
  batch(() => {
    epoch.value += 1;
    current.value = view.info;
    files.value = new Map(view.files.map((file) => [file.path, file]));
    versions.value = new Map();
    checkpoints.value = view.checkpoints;
    isRunning.value = view.running;
    asked.value = view.asked;
    draft.value = view.draft;
    isDraftHidden.value = false;
    folder.value = view.folder;
    approval.value = view.approval;
    connection.value = view.connection;
    unheard.value = view.unheard;
    undone.value = view.undone;
    isKept.value = view.kept;
    moment.value = undefined;
    pastTranscript.value = undefined;
    pastFiles.value = undefined;
    told.length = 0;
    for (const each of view.events) addTold(told, each);
    toldCount.value = told.length;
    transcript.value = new Transcript(told);
    status.value = view.running ? "Working" : "Ready";
    const paths = [...files.value.keys()].sort();
    const first = ["src/discount.js", "index.html", "README.md"].find((path) =>
      paths.includes(path),
    );
    if (!files.value.has(opened.value ?? "")) opened.value = first ?? paths[0];
  });
}

/** Shows an error. */
export function fail(error: unknown): void {
  const text = error instanceof Error ? error.message : String(error);
  say(text, true);
}

let toastTimer = 0;

/** Shows a message for a moment; errors and messages with an undo stay longer. */
export function say(text: string, bad = false, undo?: Toast["undo"]): void {
  toast.value = { text, bad, undo };
  clearTimeout(toastTimer);
  const isLong = bad || undo !== undefined;
  toastTimer = window.setTimeout(() => (toast.value = undefined), isLong ? 12_000 : 4_000);
}

/** Undoes the thing that the short message tells of. */
export async function undoToast(): Promise<void> {
  const { undo } = toast.value ?? {};
  if (undo === undefined) return;
  toast.value = undefined;
  if (await attempt(undo)) say("It is as it was before.");
}

/** Does some work and shows its error; returns whether it succeeded. */
export async function attempt(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    fail(error);
    return false;
  }
}

export async function send(text: string, how: "run" | "steer" | "followUp"): Promise<boolean> {
  showMoment(undefined);
  if (how === "run") status.value = "Working";
  const isSent = await attempt(() => call(how, text));
  if (!isSent && how === "run") status.value = "Failed";
  return isSent;
}

export function stop(): void {
  void call("stop");
}

export function answer(id: number, verdict: Verdict): void {
  void attempt(() => call("answer", id, verdict));
}

export const openSession = (id: string): Promise<void> => change(() => call("open", id));

export function createSession(kind: "example" | "empty"): Promise<void> {
  return change(() => call("create", kind));
}

export const removeSession = (id: string): Promise<void> => change(() => call("remove", id));

/** Shows another session, and updates the list of sessions. */
export async function change(to: () => Promise<SessionView>): Promise<void> {
  await attempt(async () => show(await to()));
  sessions.value = await call("sessions");
}

export async function undo(input: number): Promise<void> {
  const isUndone = await attempt(async () => show(await call("undo", input)));
  if (isUndone) say("The session is as it was before that input.");
}

export async function redo(): Promise<void> {
  await attempt(async () => show(await call("redo")));
}

export function setApproval(mode: ApprovalMode): void {
  approval.value = mode;
  void call("setApproval", mode);
}

export function connect(draft: ConnectionDraft): Promise<boolean> {
  return attempt(async () => {
    connection.value = await call("connect", draft);
  });
}

/** Shows the session as it was after `at` entries; `undefined` is now. */
export function showMoment(at: number | undefined): void {
  batch(() => {
    moment.value = at;
    pastTranscript.value = at === undefined ? undefined : new Transcript(told.slice(0, at));
    if (at === undefined) pastFiles.value = undefined;
  });
  if (at === undefined) return;
  void attempt(async () => {
    const past = await call("filesAt", at);
    // The person may have moved on while the worker answered.
    if (moment.value === at) pastFiles.value = new Map(past.map((file) => [file.path, file]));
  });
}

/** Returns a file's content at the moment of the timeline. */
export function readShown(path: string): Promise<Uint8Array | undefined> {
  const at = moment.value;
  return at === undefined ? call("read", path) : call("readAt", at, path);
}

/** Opens a file in the editor. */
export function openFile(path: string): void {
  opened.value = path;
  tab.value = "Editor";
  pane.value = "Work";
}

function hear(notice: Notice): void {
  switch (notice.type) {
    case "events":
      for (const each of notice.events) addTold(told, each);
      toldCount.value = told.length;
      transcript.value.add(notice.events);
      for (const each of notice.events) hearEvent(each);
      return;
    case "files":
      return hearFiles(notice.changed, notice.removed);
    case "checkpoints":
      checkpoints.value = notice.checkpoints;
      return;
    case "draft":
      return hearDraft(notice.draft);
    case "asked":
      asked.value = notice.asked;
      return;
    case "unheard":
      unheard.value = notice.unheard;
      return;
    case "undone":
      undone.value = notice.count;
      return;
    case "running":
      isRunning.value = notice.running;
      if (notice.running) status.value = "Working";
      return;
    case "session":
      sessions.value = sessions.value.map((one) => (one.id === notice.info.id ? notice.info : one));
      if (current.value?.id === notice.info.id) current.value = notice.info;
      return;
    case "line":
      printed.value += notice.text;
      return;
    case "note":
      return say(notice.text, notice.bad);
    case "kept":
      isKept.value = notice.kept;
      return;
  }
}

function hearEvent(told: Told): void {
  if (told.type === "processing_end" && told.agent === 0) status.value = ended(told.end);
}

function hearFiles(changed: FileInfo[], removed: string[]): void {
  batch(() => {
    const [all, numbers] = [new Map(files.value), new Map(versions.value)];
    for (const file of changed) all.set(file.path, file);
    for (const path of removed) all.delete(path);
    for (const path of [...changed.map(({ path }) => path), ...removed]) {
      numbers.set(path, (numbers.get(path) ?? 0) + 1);
    }
    files.value = all;
    versions.value = numbers;
    const touched = changed.at(-1)?.path;
    if (isRunning.value && touched !== undefined) follow(touched);
  });
}

// Opens the file that the agent works on, unless the person looks at something else or is typing.
function follow(path: string): void {
  const isElsewhere = tab.value !== "Editor" || moment.value !== undefined;
  if (!isElsewhere && !dirty.has(draftOf(opened.value ?? ""))) opened.value = path;
}

/** The file that was open before the one that is written. */
let openedBefore: string | undefined;

function hearDraft(next: Draft | undefined): void {
  batch(() => {
    const before = draft.value;
    draft.value = next;
    if (next?.path !== before?.path) isDraftHidden.value = false;
    if (next !== undefined && next.path !== before?.path) {
      openedBefore = opened.value;
      follow(next.path);
    }
    // A new file whose call was denied or failed was never written: the file before is shown again.
    const isGone = next === undefined && before !== undefined && !files.value.has(before.path);
    if (isGone && opened.value === before.path) opened.value = openedBefore;
  });
}

/** Returns the key of a file's unsaved text: paths repeat between sessions. */
export function draftOf(path: string): string {
  return `${current.peek()?.id} ${path}`;
}

/** The files with unsaved changes in the editor, by {@link draftOf}. */
export const dirty = new Set<string>();
export const dirtyCount = signal(0);

export function setDirty(path: string, isDirty: boolean): void {
  if (isDirty) dirty.add(draftOf(path));
  else dirty.delete(draftOf(path));
  dirtyCount.value = dirty.size;
}

function ended(end: string): string {
  return { completed: "Done", failed: "Failed", refused: "Refused" }[end] ?? "Stopped";
}
