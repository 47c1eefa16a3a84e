// Files of a repository as plain bytes, with limits. A repository may be somebody else's: nothing
// that its configuration names is opened or run, and no link is followed.

import { type BigIntStats, constants } from "node:fs";
import { lstat, open } from "node:fs/promises";

const NO_LINK = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
/** The most bytes of a file that holds a few lines. */
const MOST_TEXT = 1 << 20;

/** A wish for something that Deno grants, in its words. */
interface Wish {
  name: string;
  kind?: string;
  path?: string;
}

/** Returns whether something may be read without a question; only Deno ever asks. */
export function isGranted(wish: Wish): boolean {
  type Permissions = { querySync(wish: Wish): { state: string } };
  const { Deno } = globalThis as { Deno?: { permissions: Permissions } };
  return Deno === undefined || Deno.permissions.querySync(wish).state === "granted";
}

/** Returns what is at a path, or `undefined`. */
export function statAt(path: string | Buffer): Promise<BigIntStats | undefined> {
  return lstat(path, { bigint: true }).catch(() => undefined);
}

/** Returns a file's content, or `undefined` if there is no plain file of at most `most` bytes. */
export async function bytesAt(path: string, most: number): Promise<Buffer | undefined> {
  const file = await open(path, constants.O_RDONLY | NO_LINK).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const found = await file.stat();
    return found.isFile() && found.size <= most ? await file.readFile() : undefined;
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}

/** Returns a short file's text, or `undefined`. */
export async function textAt(path: string): Promise<string | undefined> {
  return (await bytesAt(path, MOST_TEXT))?.toString("utf8");
}

/** The work that a look at a repository may still take. */
export class Budget {
  #until = Date.now() + 2_000;
  #entries = 50_000;
  #bytes = 256 * 2 ** 20;

  /** Returns a budget that ends at the same time, with all else again, for another count. */
  another(): Budget {
    const other = new Budget();
    other.#until = this.#until;
    return other;
  }

  /** Takes so many files and bytes; throws if nothing is left. */
  take(entries: number, bytes = 0): void {
    this.#entries -= entries;
    this.#bytes -= bytes;
    const isOver = this.#entries < 0 || this.#bytes < 0 || Date.now() > this.#until;
    if (isOver) throw new Error("the repository is too large");
  }
}
