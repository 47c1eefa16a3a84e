// One session: an agent, its files, its entries, and the storing of all of it. The agent is made
// when it is needed; a run that a reload has cut goes on by itself.

import type { Agent, AgentEvent, ContextUsage } from "innerloop";
import type {
  Added,
  ApprovalMode,
  Connection,
  FileDifference,
  FileInfo,
  Folder,
  Notice,
  SessionInfo,
  SessionView,
  Verdict,
} from "../shared/messages.js";
import { addTold, lightened, type Told } from "../shared/told.js";
import type { Kept, KeptCheckpoint } from "../storage/database.js";
import type { Store } from "../storage/memory.js";
import {
  createAgent,
  isUnderWay,
  type Making,
  nameOf,
  restoreAgent,
  silentAgent,
} from "./agents.js";
import { Approvals } from "./approvals.js";
import type { Connections } from "./connections.js";
import { library } from "./library.js";
import { checkFree, cleanPath, foldersOf } from "./paths.js";
import { Terminal } from "./terminal.js";
import { Waiting } from "./unheard.js";
import { type TakenBack, Workspace } from "./workspace.js";
import { Writing } from "./writing.js";

/** The parts that all sessions share. */
export interface Shared {
  database: Store;
  connections: Connections;
  pace: number;
  notify(notice: Notice): void;
}

/** An undo that can be redone: what it removed, and the state before it. */
interface Undone {
  /** The number of entries that it left. */
  at: number;
  told: Told[];
  checkpoints: KeptCheckpoint[];
  files: TakenBack;
  snapshot: Uint8Array | undefined;
  inputsBefore: number;
}

/** The time in milliseconds for which news are gathered before they are posted to the page. */
const GATHER_MS = 40;
/** The time in milliseconds from a change to its storing; more if storing takes long. */
const SAVE_MS = 250;
/** The longest time in milliseconds before a failed storing is tried again. */
const LONGEST_SAVE_MS = 60_000;
const MOST_NAME = 60;

/** A session of the page. */
export class Session {
  readonly info: SessionInfo;
  readonly workspace: Workspace;
  readonly approvals: Approvals;
  readonly #waiting: Waiting;
  readonly #shared: Shared;
  readonly #told: Told[] = [];
  readonly #checkpoints: KeptCheckpoint[];
  readonly #terminal: Terminal;
  #writing: Writing | undefined;
  #agent: Agent | undefined;
  #snapshot: Uint8Array | undefined;
  #connection: Connection;
  #inputsBefore: number;
  #folder: Folder | undefined;
  /** The undos that can be redone, the newest last, until anything else happens. */
  #undone: readonly Undone[] = [];
  // News not yet posted to the page, and changes not yet stored: the two have different rhythms.
  #news: Told[] = [];
  #newFiles = new Set<string>();
  #hasNewDraft = false;
  #newsTimer: ReturnType<typeof setTimeout> | undefined;
  #unsaved: Told[] = [];
  #unsavedFiles = new Set<string>();
  #savedJournal: number;
  #isAnew = false;
  /** True if anything is not stored. */
  #isChanged = false;
  /** The number of failed attempts to store in a row. */
  #failures = 0;
  #saves: number;
  #saveTimer: ReturnType<typeof setTimeout> | undefined;
  #saving: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(shared: Shared, { session, files, told, journal }: Kept) {
    this.#shared = shared;
    this.info = { id: session.id, name: session.name, changed: session.changed };
    this.#savedJournal = journal.length;
    this.workspace = new Workspace(files, journal);
    for (const each of told) addTold(this.#told, each);
    this.approvals = new Approvals(session.approval, (asked) => {
      this.#touch();
      this.#shared.notify({ type: "asked", asked });
    });
    this.#waiting = new Waiting(session.unheard ?? [], (unheard) => {
      this.#touch();
      this.#shared.notify({ type: "unheard", unheard });
    });
    this.#checkpoints = session.checkpoints;
    this.#connection = session.connection;
    this.#snapshot = session.snapshot;
    this.#inputsBefore = session.inputsBefore;
    this.#folder = session.folder;
    this.#saves = session.saves;
    // A session that was never stored is stored with all of its files the first time.
    if (session.saves === 0) this.#unsavedFiles = new Set(this.workspace.files.keys());
    this.#terminal = new Terminal({
      files: () => this.workspace.files,
      changed: (path, content) => this.#set(path, content),
      printed: (text) => this.#shared.notify({ type: "line", text }),
    });
  }

  /** What fills the agent's context window; nothing while there is only a snapshot of it. */
  get context(): ContextUsage | undefined {
    return this.#agent?.context();
  }

  /** All that the page shows. */
  get view(): SessionView {
    this.#flush();
    return {
      info: this.info,
      events: this.#told,
      files: this.workspace.infos(),
      checkpoints: this.#checkpoints.map(({ at, name }) => ({ at, name })),
      running: this.isRunning,
      asked: this.approvals.asked,
      unheard: this.#waiting.list,
      undone: this.#undone.length,
      draft: this.#writing?.draft,
      folder: this.#folder,
      approval: this.approvals.mode,
      connection: this.#shared.connections.info,
      kept: !this.#isChanged,
    };
  }

  /** True while a run is under way. */
  get isRunning(): boolean {
    return this.#agent?.current !== undefined;
  }

  get terminal(): Terminal {
    return this.#terminal;
  }

  /** Goes on with a run that a reload has cut, if there is one. */
  async resume(): Promise<void> {
    if (this.#snapshot === undefined || !isUnderWay(this.#told)) return;
    try {
      this.#tell({ type: "resumed" });
      await this.#ready();
    } catch (error) {
      this.note(`The run could not go on: ${(error as Error).message}`, true);
    }
    this.#shared.notify({ type: "running", running: this.isRunning });
  }

  /** Begins a run. */
  async run(text: string): Promise<void> {
    this.#setUndone([]);
    const agent = await this.#ready();
    if (agent.current !== undefined) return this.followUp(text);
    const run = agent.run(text);
    this.#shared.notify({ type: "running", running: true });
    if (this.#checkpoints.length <= 1 && this.info.name === NEW_NAME) this.rename(text);
    void run.result().then(() => this.#ended(agent));
  }

  steer(text: string): void {
    const agent = this.#running();
    this.#waiting.say({ text, how: "steer" }, () => agent.steer(text));
  }

  followUp(text: string): void {
    const agent = this.#running();
    this.#waiting.say({ text, how: "followUp" }, () => agent.followUp(text));
  }

  stop(): void {
    this.#agent?.interrupt();
  }

  answer(id: number, verdict: Verdict): void {
    this.approvals.answer(id, verdict);
  }

  setApproval(mode: ApprovalMode): void {
    this.approvals.setMode(mode);
    this.#touch();
  }

  /** Notes the state of the device's folder from which the files came. */
  setFolder(folder: Folder): Folder {
    this.#folder = folder;
    this.#touch();
    return folder;
  }

  rename(name: string): void {
    const plain = name.replace(/\s+/g, " ").trim();
    if (plain === "") return;
    this.info.name = plain.length > MOST_NAME ? `${plain.slice(0, MOST_NAME - 1)}…` : plain;
    this.#touch();
    this.#shared.notify({ type: "session", info: this.info });
  }

  /** Adds a message of the page to the transcript. */
  note(text: string, bad: boolean): void {
    this.#tell({ type: "note", text, bad });
  }

  /** Changes to the chosen connection; the history stays. */
  async connect(): Promise<void> {
    const [before, now] = [this.#connection, this.#shared.connections.current];
    const wasRunning = this.isRunning;
    await this.#pause();
    this.#setUndone([]);
    if (this.#agent !== undefined || this.#snapshot !== undefined) {
      if (before.provider === now.provider) {
        this.#connection = now;
        await this.#reopen(now.model);
      } else {
        await this.#silence();
        this.#connection = now;
      }
      const stopped = wasRunning ? "The run was stopped. " : "";
      this.note(`${stopped}From here on ${await nameOf(now)} answers.`, false);
    }
    this.#connection = now;
    this.#shared.notify({ type: "running", running: this.isRunning });
    this.#touch();
  }

  /** Takes the session back to before an input: its entries, its files and its agent. */
  async undo(checkpoint: number): Promise<void> {
    const kept = this.#checkpoints[checkpoint];
    if (kept === undefined) throw new Error("There is no such input.");
    await this.#pause();
    const isLive = this.#snapshot === undefined;
    // Only an agent can be forked. One from a snapshot needs no key here, since it sends nothing.
    const agent = isLive ? this.#agent : await this.#silent();
    await this.#pause();
    const turns = this.#turnsBefore(agent, checkpoint);
    this.#flush();
    const snapshot = agent?.snapshot();
    const told = this.#told.slice(kept.at);
    const before = this.#undone;
    const taken = this.workspace.rewind(kept.journal);
    for (const [path] of taken.after) this.#noteFile(path);
    const files = this.workspace.files;
    const onEvent = (event: AgentEvent): void => this.#on(event);
    const fork = turns > 0 ? agent?.fork({ turns, files, ...(isLive && { onEvent }) }) : undefined;
    this.#agent = isLive ? fork : undefined;
    this.#snapshot = isLive ? undefined : fork?.snapshot();
    await Promise.all([agent?.close(), isLive ? undefined : fork?.close()]);
    this.#told.length = kept.at;
    const checkpoints = this.#checkpoints.splice(checkpoint);
    const inputsBefore = this.#inputsBefore;
    this.#inputsBefore = Math.min(inputsBefore, checkpoint);
    const undone = { at: kept.at, told, checkpoints, files: taken, snapshot, inputsBefore };
    this.#anew([...before, undone]);
  }

  /** Redoes the newest undo. */
  async redo(): Promise<void> {
    const undone = this.#undone.at(-1);
    if (undone === undefined) throw new Error("There is nothing to put back.");
    const before = this.#undone.slice(0, -1);
    const agent = this.#agent;
    this.#agent = undefined;
    await agent?.close();
    this.#snapshot = undone.snapshot;
    this.workspace.putBack(undone.files);
    for (const [path] of undone.files.after) this.#noteFile(path);
    this.#told.length = undone.at;
    for (const each of undone.told) this.#told.push(each);
    this.#checkpoints.push(...undone.checkpoints);
    this.#inputsBefore = undone.inputsBefore;
    this.#anew(before);
  }

  /** Writes or removes a file for the person. */
  write(path: string, content: Uint8Array | undefined): void {
    this.put([[path, content]]);
  }

  /** Writes or removes files; throws at the first path that does not fit. */
  put(files: [string, Uint8Array | undefined][]): void {
    const folders = foldersOf(this.workspace.files.keys());
    for (const [given, content] of files) {
      const path = cleanPath(given);
      if (content !== undefined) {
        checkFree(path, this.workspace.files, folders);
        for (const folder of foldersOf([path])) folders.add(folder);
      }
      this.#set(path, content);
    }
    this.#soon();
  }

  /**
   * Adds files. If some exist already and `replace` is false, it adds none and returns their paths;
   * otherwise it returns what to write to undo the addition.
   */
  add(files: [string, Uint8Array][], replace: boolean): Added {
    const clean = files.map(([path, content]): [string, Uint8Array] => [cleanPath(path), content]);
    const before = clean.map(([path]): [string, Uint8Array | undefined] => {
      return [path, this.workspace.files.get(path)];
    });
    const taken = before.flatMap(([path, content]) => (content === undefined ? [] : [path]));
    if (taken.length > 0 && !replace) return { taken, before: [] };
    this.put(clean);
    return { taken, before };
  }

  /** Moves a file, or a folder with all that is in it. */
  move(from: string, to: string): void {
    const target = cleanPath(to);
    if (target === from) return;
    if (target.startsWith(`${from}/`)) throw new Error("A folder cannot be moved into itself.");
    const moved = this.#below(from).map(([path, content]): [string, Uint8Array] => {
      return [target + path.slice(from.length), content];
    });
    if (moved.length === 0) throw new Error(`There is no “${from}”.`);
    const taken = moved.find(([path]) => this.workspace.files.has(path));
    if (taken !== undefined) throw new Error(`There is already a “${taken[0]}”.`);
    this.erase(from);
    this.put(moved);
  }

  /** Removes a file, or a folder with all that is in it. */
  erase(path: string): void {
    this.put(this.#below(path).map(([each]) => [each, undefined]));
  }

  /** Returns the files that differ from a checkpoint. */
  differences(checkpoint: number): FileDifference[] {
    const kept = this.#checkpoints[checkpoint];
    return kept === undefined ? [] : this.workspace.differences(kept.journal);
  }

  /** Returns the files as they were after a number of entries. */
  filesAt(told: number): FileInfo[] {
    const files = this.workspace.asOf(told);
    return [...files].map(([path, content]) => ({ path, size: content.length }));
  }

  /** Returns the session's log, which the package can replay. */
  async log(): Promise<string> {
    return (await this.#ready()).log();
  }

  /** Stores the session and closes its agent; a run under way goes on when it is opened again. */
  async close(): Promise<void> {
    // In this order: the snapshot must not show the run as stopped by the closing of its agent.
    await this.#save();
    this.#isClosed = true;
    clearTimeout(this.#newsTimer);
    clearTimeout(this.#saveTimer);
    await Promise.all([this.#agent?.close(), this.#terminal.close()]);
  }

  /** Stores the session now, changed or not. */
  async keep(): Promise<void> {
    this.#touch();
    await this.#save();
  }

  /** Stores the session now, if it has changed. */
  async keepChanges(): Promise<void> {
    if (this.#isChanged) await this.#save();
  }

  #running(): Agent {
    if (this.#agent === undefined) throw new Error("Nothing is under way.");
    return this.#agent;
  }

  async #ready(): Promise<Agent> {
    const agent = this.#agent;
    if (agent !== undefined && agent.status().state !== "closed") return agent;
    if (agent !== undefined) this.#snapshot = agent.snapshot();
    if (this.#snapshot !== undefined) return this.#restoreWith("");
    this.#agent = await createAgent(await this.#making());
    return this.#agent;
  }

  // Makes the agent again with another key, address or model; a run under way goes on.
  async #reopen(model: string): Promise<void> {
    const agent = this.#agent;
    this.#snapshot = agent?.snapshot() ?? this.#snapshot;
    this.#agent = undefined;
    await agent?.close();
    await this.#restoreWith(model);
  }

  // Replaces the agent by a snapshot in which no run is under way: a run cannot change its
  // provider.
  async #silence(): Promise<void> {
    const agent = this.#agent ?? (await this.#silent());
    await this.#pause();
    this.#snapshot = agent.snapshot();
    this.#agent = undefined;
    await agent.close();
  }

  // Makes the agent of the snapshot without a key: its requests are never answered.
  async #silent(): Promise<Agent> {
    const snapshot = this.#snapshot;
    if (snapshot === undefined) throw new Error("There is nothing to go on from.");
    const agent = await silentAgent(await this.#making(), snapshot);
    this.#agent = agent;
    this.#snapshot = undefined;
    return agent;
  }

  async #restoreWith(model: string): Promise<Agent> {
    const snapshot = this.#snapshot;
    if (snapshot === undefined) throw new Error("There is nothing to go on from.");
    const agent = await restoreAgent(await this.#making(), snapshot);
    this.#agent = agent;
    this.#snapshot = undefined;
    if (model !== "") agent.configure({ model });
    void agent.current?.result().then(() => this.#ended(agent));
    return agent;
  }

  async #making(): Promise<Making> {
    const { PartialArguments } = await library();
    this.#writing = new Writing(PartialArguments, this.workspace.files);
    const connection = this.#connection;
    const { connections, pace } = this.#shared;
    return {
      connections,
      connection,
      pace,
      files: this.workspace.files,
      approve: (request, context) => {
        if (context.agent === 0) this.#writing?.ask(request.callId, request.arguments);
        this.#hasNewDraft = true;
        this.#soon();
        return this.approvals.ask(request, context);
      },
      onEvent: (event) => this.#on(event),
      note: (text, bad) => this.note(text, bad),
    };
  }

  // Notes that the entries were replaced as a whole: all of them are stored again.
  #anew(undone: readonly Undone[]): void {
    this.#setUndone(undone);
    this.#unsaved = [...this.#told];
    this.#news = [];
    this.#savedJournal = 0;
    this.#isAnew = true;
    this.#touch();
  }

  #setUndone(list: readonly Undone[]): void {
    if (list.length === this.#undone.length) return;
    this.#undone = list;
    this.#shared.notify({ type: "undone", count: list.length });
  }

  async #pause(): Promise<void> {
    const run = this.#agent?.current;
    if (run === undefined) return;
    run.interrupt();
    await run.result();
  }

  #ended(agent: Agent): void {
    // The run may end because its agent was replaced meanwhile.
    if (agent !== this.#agent) return;
    this.#flush();
    this.#shared.notify({ type: "running", running: this.isRunning });
    this.#touch();
  }

  #turnsBefore(agent: Agent | undefined, checkpoint: number): number {
    const inputs = checkpoint - this.#inputsBefore;
    if (agent === undefined || inputs <= 0) return 0;
    const turns = agent.history();
    let seen = -1;
    return turns.findIndex(({ type }) => {
      if (type === "user") seen += 1;
      return type === "user" && seen === inputs;
    });
  }

  #on(event: AgentEvent): void {
    if (this.#isClosed) return;
    if (event.agent === 0 && event.type === "user_input") this.#checkpoint(event.parts);
    if (event.agent === 0 && this.#writing?.take(event)) this.#hasNewDraft = true;
    this.#waiting.on(event);
    this.#tell(lightened(event));
    if (event.type === "tool_call_end") {
      for (const { path } of event.outcome.changes ?? []) this.#take(path);
      if (event.outcome.exit !== undefined || event.outcome.error !== undefined) this.#takeAll();
    }
    if (event.type === "processing_end") this.#takeAll();
  }

  #checkpoint(parts: { type: string }[]): void {
    const text = parts.map((part) => ("text" in part ? String(part.text) : "")).join(" ");
    const name = text.length > MOST_NAME ? `${text.slice(0, MOST_NAME - 1)}…` : text;
    const journal = this.workspace.journal.length;
    this.#checkpoints.push({ at: this.#told.length, name, journal });
    const checkpoints = this.#checkpoints.map(({ at, name }) => ({ at, name }));
    this.#shared.notify({ type: "checkpoints", checkpoints });
  }

  // Takes over the state of a file in the agent's workspace.
  #take(path: string): void {
    const content = this.#agent?.files.read(path);
    if (this.#agent !== undefined) this.#record(path, content);
  }

  #takeAll(): void {
    const agent = this.#agent;
    if (agent === undefined) return;
    const now = new Set(agent.files.list());
    for (const path of [...this.workspace.files.keys()]) if (!now.has(path)) this.#take(path);
    for (const path of now) this.#take(path);
  }

  // Makes a change of the person or the terminal, in the agent's workspace as well.
  #set(path: string, content: Uint8Array | undefined): void {
    if (!this.#record(path, content)) return;
    if (content === undefined) this.#agent?.files.remove(path);
    else this.#agent?.files.write(path, content);
  }

  #record(path: string, content: Uint8Array | undefined): boolean {
    // Changes before the first input are no changes: the workspace begins with them.
    const at = this.#checkpoints.length === 0 ? undefined : this.#told.length;
    if (!this.workspace.set(path, content, at)) return false;
    this.#setUndone([]);
    this.#noteFile(path);
    return true;
  }

  #noteFile(path: string): void {
    this.#newFiles.add(path);
    this.#unsavedFiles.add(path);
    this.#soon();
    this.#touch();
  }

  #below(path: string): [string, Uint8Array][] {
    const all = [...this.workspace.files];
    return all.filter(([each]) => each === path || each.startsWith(`${path}/`));
  }

  #tell(told: Told): void {
    this.#setUndone([]);
    addTold(this.#told, told);
    addTold(this.#news, told);
    addTold(this.#unsaved, told);
    this.#soon();
    this.#touch();
  }

  #soon(): void {
    this.#newsTimer ??= setTimeout(() => this.#flush(), GATHER_MS);
  }

  #flush(): void {
    clearTimeout(this.#newsTimer);
    this.#newsTimer = undefined;
    if (this.#isClosed) return;
    const [events, paths] = [this.#news, this.#newFiles];
    this.#news = [];
    this.#newFiles = new Set();
    if (paths.size > 0) {
      const changed: FileInfo[] = [];
      const removed: string[] = [];
      for (const path of paths) {
        const info = this.workspace.info(path);
        if (info === undefined) removed.push(path);
        else changed.push(info);
      }
      this.#shared.notify({ type: "files", changed, removed });
    }
    if (this.#hasNewDraft) {
      this.#hasNewDraft = false;
      this.#shared.notify({ type: "draft", draft: this.#writing?.draft });
    }
    if (events.length > 0) this.#shared.notify({ type: "events", events });
  }

  #touch(delay = SAVE_MS): void {
    if (this.#isClosed) return;
    if (!this.#isChanged) {
      this.#isChanged = true;
      this.#shared.notify({ type: "kept", kept: false });
    }
    this.#saveTimer ??= setTimeout(() => {
      const began = performance.now();
      void this.#save().then(() => {
        // Storing takes at most a tenth of the time; failures are tried again less and less often.
        const took = performance.now() - began;
        const again = this.#failures === 0 ? 10 * took : 1000 * 2 ** this.#failures;
        this.#saveTimer = undefined;
        if (this.#isChanged) this.#touch(Math.min(Math.max(SAVE_MS, again), LONGEST_SAVE_MS));
      });
    }, delay);
  }

  #save(): Promise<void> {
    this.#saving = this.#saving.then(() => this.#saveNow());
    return this.#saving;
  }

  async #saveNow(): Promise<void> {
    if (this.#isClosed) return;
    const [told, paths, anew] = [this.#unsaved, this.#unsavedFiles, this.#isAnew];
    const savedJournal = this.#savedJournal;
    this.#unsaved = [];
    this.#unsavedFiles = new Set();
    this.#isAnew = false;
    this.#isChanged = false;
    this.info.changed = Date.now();
    this.#saves += 1;
    const journal = this.workspace.journal.slice(savedJournal);
    this.#savedJournal = this.workspace.journal.length;
    const files = [...paths].map((path): [string, Uint8Array | undefined] => {
      return [path, this.workspace.files.get(path)];
    });
    try {
      await this.#shared.database.save({ session: this.#kept(), files, told, journal, anew });
    } catch (error) {
      // The failed part is stored the next time. If the entries were replaced meanwhile, the next
      // storing has all of them anyway, and these would appear twice.
      if (!this.#isAnew) {
        this.#unsaved = [...told, ...this.#unsaved];
        this.#savedJournal = savedJournal;
      }
      for (const path of paths) this.#unsavedFiles.add(path);
      this.#isAnew ||= anew;
      return this.#notKept(error);
    }
    if (this.#failures > 0) {
      this.#failures = 0;
      this.#shared.notify({ type: "note", text: "The session is kept again.", bad: false });
    }
    if (!this.#isChanged) this.#shared.notify({ type: "kept", kept: true });
  }

  #kept(): Kept["session"] {
    const snapshot = this.#agent?.snapshot() ?? this.#snapshot;
    return {
      ...this.info,
      approval: this.approvals.mode,
      connection: this.#connection,
      checkpoints: [...this.#checkpoints],
      unheard: this.#waiting.list,
      inputsBefore: this.#inputsBefore,
      saves: this.#saves,
      ...(snapshot !== undefined && { snapshot }),
      ...(this.#folder !== undefined && { folder: this.#folder }),
    };
  }

  // Tells the failure once; it is tried again until it succeeds.
  #notKept(error: unknown): void {
    this.#isChanged = true;
    this.#failures += 1;
    if (this.#failures > 1) return;
    const why = (error as Error | null)?.message ?? "it does not say why";
    const text = `This browser does not keep the session now (${why}). It will be tried again.`;
    this.#shared.notify({ type: "note", text, bad: true });
  }
}

/** The name of a session until it gets one from its first input. */
export const NEW_NAME = "New session";
