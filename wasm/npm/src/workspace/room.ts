// The location of a workspace's files: in the same instance of the module as the agents that work
// on them, or outside of any instance while no agent does. All agents of a workspace are in one
// instance; if its files move, the agents follow.

import { guarded } from "../binding/guard.js";
import { abandon, type Binding, binding, type RawFiles } from "../binding/instance.js";
import type { Outcome } from "../json/data.js";
import { type Listener, NONE, tellEach } from "../listeners.js";
import { hasCanvas } from "../platform/platform.js";
import { WorkingCopy, type Workplace } from "./copy.js";
import type { Changed, FileSystem, SystemFacts } from "./filesystem.js";
import { cleaned, joined } from "./places.js";

/** An agent that works on the files. */
export interface Tenant {
  /** Moves the agent to the instance to which the files have gone. */
  follow(): void;
  /** Tells that others have changed these files. */
  touch(paths: readonly string[]): void;
}

/** The files of a workspace, wherever they are. */
export class Room implements Workplace {
  listeners: readonly Listener<Changed>[] = NONE;
  /** The link to a file system of the user's, if the files are a copy of one. */
  copy: WorkingCopy | undefined;
  /** The facts about the place of that file system, as they were when it was opened. */
  facts: SystemFacts | undefined;
  #tenants: readonly Tenant[] = NONE;
  #raw: RawFiles | undefined;
  #of: Binding | undefined;
  #outside: readonly [string, Uint8Array][] = NONE;

  /** Makes the files a copy of a file system; they must be empty. */
  async open(system: FileSystem): Promise<void> {
    this.copy = new WorkingCopy(system, this);
    const facts = this.copy.facts();
    await this.copy.refresh("", () => {});
    this.facts = await facts;
  }

  /** The files in the module; they are brought into the current instance if they are in none. */
  get raw(): RawFiles {
    if (this.#raw !== undefined) return this.#raw;
    this.#of = binding();
    const raw = new this.#of.RawFiles(this.copy !== undefined, hasCanvas());
    for (const [path, bytes] of this.#outside) raw.write(path, bytes);
    this.#outside = NONE;
    this.#raw = raw;
    return raw;
  }

  /**
   * Adds an agent, and returns the instance in which it must be made; other agents follow there.
   */
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

  /** Removes an agent; with the last one the files leave the module, whose memory never shrinks. */
  exit(tenant: Tenant): true {
    this.#tenants = this.#tenants.filter((each) => each !== tenant);
    return this.#tenants.length > 0 || this.leave(false);
  }

  /** Returns whether the files are in that instance. */
  isIn(of: Binding | undefined): boolean {
    return this.#raw !== undefined && this.#of === of;
  }

  /** Takes the files out of the module, and frees their memory there unless it is broken. */
  leave(isBroken: boolean): true {
    const raw = this.#raw;
    if (raw === undefined) return true;
    this.#raw = undefined;
    try {
      this.#outside = raw.list().map((path) => [path, raw.read(path) ?? new Uint8Array()]);
    } catch (error) {
      // Files of a copy can be read again from outside; others are lost.
      if (this.copy === undefined) throw error;
      this.copy.forget();
    } finally {
      if (isBroken) abandon(raw);
      else raw.free();
    }
    return true;
  }

  /** Makes the other agents follow out of a broken instance. */
  haveFollow(tenant: Tenant): void {
    for (const each of this.#tenants) {
      // In a microtask: one of them may be in the middle of a call, which called this.
      if (each !== tenant) queueMicrotask(() => each.follow());
    }
  }

  read(path: string): Uint8Array | undefined {
    return guarded(() => this.raw.read(path));
  }

  /** Returns the files of a folder, by their paths in it. */
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

  /** Makes a change of the user's, and tells listeners. */
  change<T>(path: string, change: () => T): T {
    // Without listeners the two reads, which copy the file out of the module, are spared.
    if (this.listeners.length === 0) return guarded(change);
    const before = this.read(path);
    const result = guarded(change);
    const after = this.read(path);
    const kind = before === undefined ? "created" : after === undefined ? "deleted" : "modified";
    if (before !== undefined || after !== undefined) this.tell({ path: cleaned(path), kind });
    return result;
  }

  /** Tells listeners of a change. */
  tell({ path, kind }: Changed): void {
    tellEach(this.listeners, { path, kind });
  }

  /** Tells listeners and the other agents what a tool of an agent has changed. */
  tellAll(changes: readonly Changed[], tenant: Tenant): void {
    const paths = changes.map(({ path }) => path);
    for (const each of this.#tenants) if (each !== tenant) each.touch(paths);
    for (const change of changes) this.tell(change);
  }
}
