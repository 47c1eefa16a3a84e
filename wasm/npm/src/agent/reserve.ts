// The snapshot and the changes from which an agent is made again if the module breaks in a run.

/**
 * The age in milliseconds up to which a snapshot is used again when a run begins. It bounds the
 * cost of many short runs, and what a break can lose.
 */
const YOUNG_MS = 1_000;

/** A snapshot of the session, and the changes of its configuration since. */
export class Reserve {
  /** The session before the run under way; absent while none is, or if nothing had happened. */
  snapshot: Uint8Array | undefined;
  /** The patches of the configuration since, in order. */
  patches: string[] = [];
  #young: { kept: WeakRef<Uint8Array> | undefined; at: number } | undefined;

  /** Keeps the snapshot that `take` returns, or one that is young enough. */
  keep(take: () => Uint8Array): void {
    const isYoung = Date.now() - (this.#young?.at ?? -Infinity) < YOUNG_MS;
    this.snapshot = isYoung ? this.#young?.kept?.deref() : undefined;
    if (this.snapshot !== undefined) return;
    this.snapshot = take();
    // Held weakly, so that an idle agent does not keep a copy of its session. Workers with an older
    // compatibility date have no `WeakRef` and take a snapshot for each run.
    const kept = typeof WeakRef === "function" ? new WeakRef(this.snapshot) : undefined;
    this.#young = { kept, at: Date.now() };
    this.patches = [];
  }
}
