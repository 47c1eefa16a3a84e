// The storage of sessions and settings in IndexedDB. One transaction writes all that belongs
// together, so that a crash leaves a session as it was at some moment.

import type {
  ApprovalMode,
  Checkpoint,
  Connection,
  Folder,
  SessionInfo,
  Unheard,
} from "../shared/messages.js";
import type { Told } from "../shared/told.js";

/** A stored session without its files, entries and journal. */
export interface KeptSession extends SessionInfo {
  approval: ApprovalMode;
  connection: Connection;
  checkpoints: KeptCheckpoint[];
  /** The agent's snapshot, once there is one. */
  snapshot?: Uint8Array;
  /** The number of inputs before the agent was made: its history does not have them. */
  inputsBefore: number;
  /** The folder of this device that its files came from, if there is one. */
  folder?: Folder;
  /** The messages that its agent has not read yet. */
  unheard?: Unheard[];
  /** The number of times that it was stored. */
  saves: number;
}

/** A checkpoint, with its place in the journal. */
export interface KeptCheckpoint extends Checkpoint {
  journal: number;
}

/** A change of a file, with the content before it. */
export interface Change {
  /** The number of entries told before it. */
  at: number;
  path: string;
  before?: Uint8Array;
}

/** The changes of a session since it was last stored. */
export interface Fresh {
  session: KeptSession;
  /** Files that have changed; `undefined` for those that are gone. */
  files: [string, Uint8Array | undefined][];
  told: Told[];
  journal: Change[];
  /** True if the stored entries and journal are replaced, not extended. */
  anew: boolean;
}

/** A stored session as a whole. */
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

  /** Opens the database, and makes it if it does not exist; rejects if the browser refuses. */
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

  /** Returns all sessions, the one changed last first. */
  async sessions(): Promise<KeptSession[]> {
    const store = this.#db.transaction("sessions").objectStore("sessions");
    const all = (await done(store.getAll())) as KeptSession[];
    return all.sort((a, b) => b.changed - a.changed);
  }

  /** Returns a session, if it is stored. */
  async load(id: string): Promise<Kept | undefined> {
    const transaction = this.#db.transaction(["sessions", ...PARTS]);
    // All requests are made before the first wait: a transaction without a pending one closes.
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

  /** Stores the changes of a session. */
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
        // One record for each save, so that saving costs as much as what is new.
        if (list.length > 0) store.put(list, [session.id, session.saves]);
      }
    } catch (error) {
      // The requests made so far would be committed otherwise.
      transaction.abort();
      throw error;
    }
    await committed(transaction);
  }

  /** Removes a session. */
  async remove(id: string): Promise<void> {
    const transaction = this.#db.transaction(["sessions", ...PARTS], "readwrite");
    transaction.objectStore("sessions").delete(id);
    for (const part of PARTS) transaction.objectStore(part).delete(range(id));
    await committed(transaction);
  }

  /** Returns a setting. */
  async setting(name: string): Promise<unknown> {
    return done(this.#db.transaction("settings").objectStore("settings").get(name));
  }

  /** Stores a setting; `undefined` removes it. */
  async set(name: string, value: unknown): Promise<void> {
    const transaction = this.#db.transaction("settings", "readwrite");
    const store = transaction.objectStore("settings");
    if (value === undefined) store.delete(name);
    else store.put(value, name);
    await committed(transaction);
  }
}

/** Returns the range of a session's keys: in IndexedDB a list sorts behind numbers and texts. */
function range(id: string): IDBKeyRange {
  return IDBKeyRange.bound([id], [id, []]);
}

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

// Waits for the commit: a request's success says only that it was done within the transaction.
function committed(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onerror = () => reject(transaction.error);
    transaction.onabort = () => reject(transaction.error);
  });
}
