// The locks of sessions: one tab at a time works on a session, since another would overwrite what
// this one stores. Pages without TLS lack the browser's locks; their tabs ask each other.

/** The error for a session that another tab holds. */
export class Taken extends Error {}

/** The time in milliseconds that another tab has to answer. */
const ANSWER_MS = 200;

const held = new Set<string>();
let channel: BroadcastChannel | undefined;

/**
 * Takes a session for this tab, as long as the tab is open.
 *
 * @throws Taken if another tab holds it.
 */
export async function lock(id: string): Promise<void> {
  const isFree = "locks" in navigator ? await lockOfBrowser(id) : await nobodyHas(id);
  if (!isFree) throw new Taken("This session is open in another tab.");
}

function lockOfBrowser(id: string): Promise<boolean> {
  return new Promise<boolean>((resolve) => {
    void navigator.locks.request(`innerloop session ${id}`, { ifAvailable: true }, (lock) => {
      resolve(lock !== null);
      // The lock is held until this promise settles: never, so that it ends with the tab.
      return lock === null ? undefined : new Promise(() => {});
    });
  });
}

async function nobodyHas(id: string): Promise<boolean> {
  if (held.has(id)) return true;
  channel ??= listening();
  const asked = channel;
  const isTaken = await new Promise<boolean>((resolve) => {
    const hear = ({ data }: MessageEvent<Word>): void => {
      if (data.held === id) resolve(true);
    };
    asked.addEventListener("message", hear);
    asked.postMessage({ asked: id } satisfies Word);
    setTimeout(() => {
      asked.removeEventListener("message", hear);
      resolve(false);
    }, ANSWER_MS);
  });
  if (!isTaken) held.add(id);
  return !isTaken;
}

interface Word {
  asked?: string;
  held?: string;
}

function listening(): BroadcastChannel {
  const made = new BroadcastChannel("innerloop sessions");
  made.addEventListener("message", ({ data }: MessageEvent<Word>) => {
    if (data.asked !== undefined && held.has(data.asked)) {
      made.postMessage({ held: data.asked } satisfies Word);
    }
  });
  return made;
}
