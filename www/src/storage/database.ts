// What outlives a reload, in IndexedDB: sessions with their files, what was told in them and what
// was changed; and settings. One transaction writes all that belongs together.

import type {
  ApprovalMode,
  Checkpoint,
  Connection,
  Folder,
  SessionInfo,
  Unheard,
} from "../shared/messages.js";
import type { Told } from "../shared/told.js";

/** A session as it is kept, without its files and what was told. */
export interface KeptSession extends SessionInfo {
  approval: ApprovalMode;
  connection: Connection;
  checkpoints: KeptCheckpoint[];
  /** The agent's snapshot, once there is one. */
  snapshot?: Uint8Array;
  /** How many inputs had been given when the agent was made. */
  inputsBefore: number;
  /** Where its files came from, if that is a folder of this device. */
  folder?: Folder;
  /** What its agent has not heard yet. */
  unheard?: Unheard[];
  /** How often it was kept. */
  saves: number;
}

/** A checkpoint, with its place in the journal. */
export interface KeptCheckpoint extends Checkpoint {
  journal: number;
}

/** A change of a file: what was there before it. */
export interface Change {
  /** How many things had been told before it. */
  at: number;
  path: string;
  before?: Uint8Array;
}

/** What is new of a session since it was last kept. */
export interface Fresh {
  session: KeptSession;
  /** Files that have changed; `undefined` for those that are gone. */
  files: [string, Uint8Array | undefined][];
  told: Told[];
  journal: Change[];
  /** Whether what was kept of the last two is to be forgotten first. */
  anew: boolean;
}

/** A session as it was kept. */
export interface Kept {
  session: KeptSession;
  files: [string, Uint8Array][];
  told: Told[];
  journal: Change[];
}

const NAME = "innerloop-playground";
const PARTS = ["files", "told", "journal"] as const;

/** The database of the page. */
export class Database {
  readonly #db: IDBDatabase;

  private constructor(db: IDBDatabase) {
    this.#db = db;
  }

  /** Opens it, and makes it if it is not there. */
  static async open(): Promise<Database> {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => {
      const db = request.result;
      db.createObjectStore("sessions", { keyPath: "id" });
      db.createObjectStore("settings");
      // Keys begin with the session's id; a path follows, or a number.
      for (const part of PARTS) db.createObjectStore(part);
    };
    return new Database(await done(request));
  }

  /** All sessions, the one that was changed last first. */
  async sessions(): Promise<KeptSession[]> {
    const store = this.#db.transaction("sessions").objectStore("sessions");
    const all = (await done(store.getAll())) as KeptSession[];
    return all.sort((a, b) => b.changed - a.changed);
  }

  /** A session, if it is kept. */
  async load(id: string): Promise<Kept | undefined> {
    const transaction = this.#db.transaction(["sessions", ...PARTS]);
    const session = done(transaction.objectStore("sessions").get(id));
    const [files, told, journal] = PARTS.map((part) =>
      done(transaction.objectStore(part).getAll(range(id))),
    ) as [Promise<[string, Uint8Array][]>, Promise<Told[][]>, Promise<Change[][]>];
    const kept = (await session) as KeptSession | undefined;
    if (kept === undefined) return undefined;
    return {
      session: kept,
      files: await files,
      told: (await told).flat(),
      journal: (await journal).flat(),
    };
  }

  /** Keeps what is new of a session. */
  async save({ session, files, told, journal, anew }: Fresh): Promise<void> {
    const transaction = this.#db.transaction(["sessions", ...PARTS], "readwrite");
    try {
      transaction.objectStore("sessions").put(session);
      for (const [path, content] of files) {
        const store = transaction.objectStore("files");
        if (content === undefined) store.delete([session.id, path]);
        else store.put([path, content], [session.id, path]);
      }
      const lists = { told, journal };
      for (const [name, list] of Object.entries(lists)) {
        const store = transaction.objectStore(name);
        if (anew) store.delete(range(session.id));
        if (list.length > 0) store.put(list, [session.id, session.saves]);
      }
    } catch (error) {
      // All of it or nothing.
      transaction.abort();
      throw error;
    }
    await committed(transaction);
  }

  /** Forgets a session. */
  async remove(id: string): Promise<void> {
    const transaction = this.#db.transaction(["sessions", ...PARTS], "readwrite");
    transaction.objectStore("sessions").delete(id);
    for (const part of PARTS) transaction.objectStore(part).delete(range(id));
    await committed(transaction);
  }

  /** A setting. */
  async setting(name: string): Promise<unknown> {
    return done(this.#db.transaction("settings").objectStore("settings").get(name));
  }

  /** Keeps a setting; `undefined` forgets it. */
  async set(name: string, value: unknown): Promise<void> {
    const transaction = this.#db.transaction("settings", "readwrite");
    const store = transaction.objectStore("settings");
    if (value === undefined) store.delete(name);
    else store.put(value, name);
    await committed(transaction);
  }
}

/** All keys of a session: lists sort behind numbers and texts. */
function range(id: string): IDBKeyRange {
  return IDBKeyRange.bound([id], [id, []]);
}

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function committed(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onerror = () => reject(transaction.error);
    transaction.onabort = () => reject(transaction.error);
  });
}
