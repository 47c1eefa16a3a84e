// The stand-in for the database if the browser offers none: sessions last as long as the page.

import type { Database, Fresh, Kept, KeptSession } from "./database.js";

/** The interface of the storage. */
export type Store = Pick<Database, keyof Database>;

/** A store in memory. */
export class MemoryStore implements Store {
  readonly #sessions = new Map<string, Kept>();
  readonly #settings = new Map<string, unknown>();

  async sessions(): Promise<KeptSession[]> {
    const all = [...this.#sessions.values()].map(({ session }) => session);
    return all.sort((a, b) => b.changed - a.changed);
  }

  async load(id: string): Promise<Kept | undefined> {
    return this.#sessions.get(id);
  }

  async save({ session, files, told, journal, anew }: Fresh): Promise<void> {
    const before = this.#sessions.get(session.id);
    const all = new Map(before?.files);
    for (const [path, content] of files) {
      if (content === undefined) all.delete(path);
      else all.set(path, content);
    }
    const kept = anew ? undefined : before;
    this.#sessions.set(session.id, {
      session,
      files: [...all],
      told: [...(kept?.told ?? []), ...told],
      journal: [...(kept?.journal ?? []), ...journal],
    });
  }

  async remove(id: string): Promise<void> {
    this.#sessions.delete(id);
  }

  async setting(name: string): Promise<unknown> {
    return this.#settings.get(name);
  }

  async set(name: string, value: unknown): Promise<void> {
    if (value === undefined) this.#settings.delete(name);
    else this.#settings.set(name, value);
  }
}
