// The worker's side of the page's calls: the sessions of this device, one of which is shown, and
// the connection that they share. Sessions that are not shown go on working.

import { PACE_MS } from "../demo/model.js";
import { loadProject } from "../demo/project.js";
import { newId } from "../shared/ids.js";
import {
  type Connection,
  DEMO,
  type Folder,
  type Notice,
  type SessionInfo,
  type SessionView,
  type WorkerApi,
} from "../shared/messages.js";
import { Database, type Kept } from "../storage/database.js";
import { MemoryStore, type Store } from "../storage/memory.js";
import { Connections } from "./connections.js";
import { filesWith, library } from "./library.js";
import { lock, Taken } from "./locks.js";
import { NEW_NAME, Session, type Shared } from "./session.js";

/** The methods of the worker; each may be asynchronous. */
export type Methods = {
  [K in keyof WorkerApi]: (
    ...args: Parameters<WorkerApi[K]>
  ) => ReturnType<WorkerApi[K]> | Promise<ReturnType<WorkerApi[K]>>;
};

/** The answer to the page's first call. */
type Begun = ReturnType<WorkerApi["begin"]>;

const EXAMPLE_NAME = "Fix the till";

/** The setting that names the session which was shown last. */
const SHOWN = "shown";

/** The worker's side of the page. */
export class Desk {
  readonly #post: (notice: Notice) => void;
  readonly #sessions = new Map<string, Session>();
  #shown: Session | undefined;
  #database: Store | undefined;
  #connections: Connections | undefined;
  #pace = PACE_MS;

  constructor(post: (notice: Notice) => void) {
    this.#post = post;
  }

  /** The methods that the page can call. */
  get methods(): Methods {
    const shown = (): Session => this.#session();
    return {
      begin: ({ pace }) => this.#begin(pace),
      open: (id) => this.#open(id),
      create: (kind) => this.#create(kind),
      adopt: (files, folder) => this.#begun(folder.handle.name, files, { folder }),
      setFolder: (folder) => shown().setFolder(folder),
      rename: (id, name) => this.#rename(id, name),
      remove: (id) => this.#remove(id),
      sessions: () => this.#list(),
      run: (text) => shown().run(text),
      steer: (text) => shown().steer(text),
      followUp: (text) => shown().followUp(text),
      stop: () => shown().stop(),
      answer: (id, verdict) => shown().answer(id, verdict),
      undo: async (checkpoint) => {
        await shown().undo(checkpoint);
        return shown().view;
      },
      redo: async () => {
        await shown().redo();
        return shown().view;
      },
      setApproval: (mode) => shown().setApproval(mode),
      providers: async () => (await library()).providers(),
      connect: async (draft) => {
        await this.#try(this.#kept().connections.use(draft));
        await shown().connect();
        return this.#kept().connections.info;
      },
      forgetKey: async () => {
        await this.#try(this.#kept().connections.forget());
        return this.#kept().connections.info;
      },
      tryConnection: (draft) => this.#kept().connections.try(draft),
      read: (path) => shown().workspace.files.get(path),
      write: (path, content) => shown().write(path, content),
      move: (from, to) => shown().move(from, to),
      erase: (path) => shown().erase(path),
      add: (files, replace) => shown().add(files, replace),
      revert: (files) => shown().put(files),
      unzip: async (archive) => {
        const files = await filesWith();
        await files.import(archive);
        return [...files];
      },
      zip: async () => (await filesWith(shown().workspace.files)).export("zip"),
      contents: () => [...shown().workspace.files],
      differences: (checkpoint) => shown().differences(checkpoint),
      filesAt: (told) => shown().filesAt(told),
      readAt: (told, path) => shown().workspace.asOf(told).get(path),
      line: (command) => shown().terminal.run(command),
      stopLine: () => shown().terminal.stop(),
      context: () => shown().context,
      log: () => shown().log(),
      keep: () => shown().keep(),
      warm: async () => void (await library()).init(),
    };
  }

  async #begin(pace: number | null): Promise<Begun> {
    this.#pace = pace ?? PACE_MS;
    let keeps = true;
    // Some browsers offer no database, or none in private windows.
    this.#database = await Database.open().catch(() => {
      keeps = false;
      return new MemoryStore();
    });
    this.#connections = await Connections.load(this.#database);
    const view = await this.#first();
    return { sessions: await this.#list(), view, keeps };
  }

  // Opens the session that was shown last, else the one changed last that no other tab holds.
  async #first(): Promise<SessionView> {
    const { database } = this.#kept();
    const last = await database.setting(SHOWN);
    const all = await database.sessions();
    const order = all.sort((a, b) => Number(b.id === last) - Number(a.id === last));
    for (const { id } of order) {
      try {
        return await this.#open(id);
      } catch (error) {
        if (!(error instanceof Taken)) throw error;
      }
    }
    // Stored only when something is done in it: otherwise each further tab would leave a session.
    return this.#begun(EXAMPLE_NAME, await loadProject(), { isKept: false });
  }

  async #open(id: string): Promise<SessionView> {
    const live = this.#sessions.get(id);
    if (live !== undefined) return this.#show(live);
    const kept = await this.#kept().database.load(id);
    if (kept === undefined) throw new Error("There is no such session any more.");
    // Before the session is made: two tabs would overwrite each other's changes.
    await lock(id);
    const session = this.#make(kept);
    const view = this.#show(session);
    if (!sameConnection(kept.session.connection, this.#kept().connections.current)) {
      await session.connect();
    }
    void session.resume();
    return { ...view, ...session.view };
  }

  async #create(kind: "example" | "empty"): Promise<SessionView> {
    if (kind === "empty") return this.#begun(NEW_NAME, []);
    return this.#begun(EXAMPLE_NAME, await loadProject());
  }

  // Makes and shows a new session over files.
  async #begun(
    name: string,
    files: [string, Uint8Array][],
    { folder, isKept = true }: { folder?: Folder; isKept?: boolean } = {},
  ): Promise<SessionView> {
    const id = newId();
    const session: Kept["session"] = {
      id,
      name,
      changed: Date.now(),
      approval: "files",
      connection: this.#kept().connections.current,
      checkpoints: [],
      inputsBefore: 0,
      saves: 0,
      ...(folder && { folder }),
    };
    await lock(id);
    const made = this.#make({ session, files, told: [], journal: [] });
    if (isKept) await made.keep();
    return this.#show(made);
  }

  async #remove(id: string): Promise<SessionView> {
    const session = this.#sessions.get(id);
    this.#sessions.delete(id);
    // Closed first: closing stores the session once more.
    await session?.close();
    await this.#kept().database.remove(id);
    if (session !== this.#shown && this.#shown !== undefined) return this.#shown.view;
    const [newest] = await this.#list();
    return newest === undefined ? this.#create("example") : this.#open(newest.id);
  }

  async #rename(id: string, name: string): Promise<void> {
    const session = this.#sessions.get(id) ?? this.#shown;
    session?.rename(name);
    await session?.keep();
  }

  async #list(): Promise<SessionInfo[]> {
    const kept = await this.#kept().database.sessions();
    const live = [...this.#sessions.values()].map(({ info }) => info);
    const others = kept.filter(({ id }) => !this.#sessions.has(id));
    const all = [...live, ...others.map(({ id, name, changed }) => ({ id, name, changed }))];
    return all.sort((a, b) => b.changed - a.changed);
  }

  #make(kept: Kept): Session {
    const shared: Shared = {
      ...this.#kept(),
      pace: this.#pace,
      notify: (notice) => {
        if (session === this.#shown || notice.type === "session") this.#post(notice);
      },
    };
    const session: Session = new Session(shared, kept);
    this.#sessions.set(session.info.id, session);
    return session;
  }

  #show(session: Session): SessionView {
    const before = this.#shown;
    this.#shown = session;
    if (before !== undefined && before !== session) void before.keepChanges();
    void this.#try(this.#kept().database.set(SHOWN, session.info.id));
    return session.view;
  }

  // Stores a setting of the page; if that fails, the setting holds until the page is closed.
  async #try(keeping: Promise<void>): Promise<void> {
    try {
      await keeping;
    } catch (error) {
      const text = `This browser does not keep the setting: ${(error as Error).message}`;
      this.#post({ type: "note", text, bad: true });
    }
  }

  #session(): Session {
    if (this.#shown === undefined) throw new Error("No session is open.");
    return this.#shown;
  }

  #kept(): { database: Store; connections: Connections } {
    const [database, connections] = [this.#database, this.#connections];
    if (database === undefined || connections === undefined) throw new Error("Begin first.");
    return { database, connections };
  }
}

function sameConnection(a: Connection, b: Connection): boolean {
  if (a.provider === DEMO && b.provider === DEMO) return true;
  return a.provider === b.provider && a.model === b.model && a.baseUrl === b.baseUrl;
}
