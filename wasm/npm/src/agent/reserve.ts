// What an agent is made again of, should the module break in one of its runs.

/** A snapshot that is younger will do when a run begins: what is lost with it is little. */
const YOUNG_MS = 1_000;

/** A snapshot of the session, and what was changed since. */
export class Reserve {
  /** The session as it was before the run under way, if it had begun by then. */
  snapshot: Uint8Array | undefined;
  /** The patches of its configuration since. */
  patches: string[] = [];
  #young: { kept: WeakRef<Uint8Array> | undefined; at: number } | undefined;

  /** Keeps the session as `take` gives it, or one that was kept just now. */
  keep(take: () => Uint8Array): void {
    const isYoung = Date.now() - (this.#young?.at ?? -Infinity) < YOUNG_MS;
    this.snapshot = isYoung ? this.#young?.kept?.deref() : undefined;
    if (this.snapshot !== undefined) return;
    this.snapshot = take();
    // Workers of an older compatibility date have no such thing.
    const kept = typeof WeakRef === "function" ? new WeakRef(this.snapshot) : undefined;
    this.#young = { kept, at: Date.now() };
    this.patches = [];
  }
}
