// Where the files of a workspace are: in an instance of the module, beside the agents that work on
// them, or outside of it until somebody looks.

import { guarded } from "../binding/guard.js";
import { abandon, type Binding, binding, type RawFiles } from "../binding/instance.js";
import type { Outcome } from "../json/data.js";
import { type Listener, NONE, tellEach } from "../listeners.js";
import { hasCanvas } from "../platform/platform.js";
import { WorkingCopy, type Workplace } from "./copy.js";
import type { Changed, FileSystem } from "./filesystem.js";
import { cleaned, joined } from "./places.js";

/** An agent that works on the files. */
export interface Tenant {
  /** The files have gone to another instance, and the agent has to follow. */
  follow(): void;
  /** Others have changed these files. */
  touch(paths: readonly string[]): void;
}

/** Where files are. */
export class Room implements Workplace {
  listeners: readonly Listener<Changed>[] = NONE;
  /** What keeps them together with a file system of the user's, if they are a copy of one. */
  copy: WorkingCopy | undefined;
  #tenants: readonly Tenant[] = NONE;
  #raw: RawFiles | undefined;
  #of: Binding | undefined;
  #outside: readonly [string, Uint8Array][] = NONE;

  /** Makes them a copy of a file system; there is nothing in them yet. */
  open(system: FileSystem): Promise<void> {
    this.copy = new WorkingCopy(system, this);
    return this.copy.refresh("", () => {});
  }

  /** The files in the module, which come into the present instance if they are in none. */
  get raw(): RawFiles {
    if (this.#raw !== undefined) return this.#raw;
    this.#of = binding();
    const raw = new this.#of.RawFiles(this.copy !== undefined, hasCanvas());
    for (const [path, bytes] of this.#outside) raw.write(path, bytes);
    this.#outside = NONE;
    this.#raw = raw;
    return raw;
  }

  /** Takes an agent in: the instance in which it has to be, to which the others follow. */
  enter(tenant: Tenant): Binding {
    const present = binding();
    const others = this.#tenants.filter((each) => each !== tenant);
    this.#tenants = [...others, tenant];
    const isElsewhere = this.#raw !== undefined && this.#of !== present;
    if (isElsewhere) this.leave(false);
    void this.raw;
    if (isElsewhere) for (const each of others) each.follow();
    return present;
  }

  /** An agent is over; with the last one the files go out. */
  exit(tenant: Tenant): true {
    this.#tenants = this.#tenants.filter((each) => each !== tenant);
    return this.#tenants.length > 0 || this.leave(false);
  }

  /** Whether they are in that instance. */
  isIn(of: Binding | undefined): boolean {
    return this.#raw !== undefined && this.#of === of;
  }

  /** Takes them out, and gives back the memory that they had there, unless that is broken. */
  leave(isBroken: boolean): true {
    const raw = this.#raw;
    if (raw === undefined) return true;
    this.#raw = undefined;
    try {
      this.#outside = raw.list().map((path) => [path, raw.read(path) ?? new Uint8Array()]);
    } catch (error) {
      if (this.copy === undefined) throw error;
      this.copy.forget();
    } finally {
      if (isBroken) abandon(raw);
      else raw.free();
    }
    return true;
  }

  /** Has the other agents follow, from an instance that is broken. */
  haveFollow(tenant: Tenant): void {
    for (const each of this.#tenants) {
      // One may stand in the middle of a call.
      if (each !== tenant) queueMicrotask(() => each.follow());
    }
  }

  read(path: string): Uint8Array | undefined {
    return guarded(() => this.raw.read(path));
  }

  /** The files of a folder, by their paths in it. */
  below(folder: string): [string, Uint8Array][] {
    const prefix = joined(folder, "");
    const paths = guarded(() => this.raw.list()).filter((path) => path.startsWith(prefix));
    return paths.map((path) => [path.slice(prefix.length), this.read(path) ?? new Uint8Array()]);
  }

  put(path: string, bytes: Uint8Array | undefined): void {
    guarded(() => (bytes ? this.raw.write(path, bytes) : this.raw.remove(path)));
  }

  perform(action: string, folder: string, known = "null"): Outcome {
    return JSON.parse(guarded(() => this.raw.perform(action, folder, known), {})) as Outcome;
  }

  /** Makes a change of the user's, and tells of it. */
  change<T>(path: string, change: () => T): T {
    if (this.listeners.length === 0) return guarded(change);
    const before = this.read(path);
    const result = guarded(change);
    const after = this.read(path);
    const kind = before === undefined ? "created" : after === undefined ? "deleted" : "modified";
    if (before !== undefined || after !== undefined) this.tell({ path: cleaned(path), kind });
    return result;
  }

  /** Tells of a change. */
  tell({ path, kind }: Changed): void {
    tellEach(this.listeners, { path, kind });
  }

  /** Tells of what a tool of an agent has changed. */
  tellAll(changes: readonly Changed[], tenant: Tenant): void {
    const paths = changes.map(({ path }) => path);
    for (const each of this.#tenants) if (each !== tenant) each.touch(paths);
    for (const change of changes) this.tell(change);
  }
}
