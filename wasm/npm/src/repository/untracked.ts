// The number of files that are neither tracked nor ignored. As in `git status`, a folder without any
// tracked file counts once. The rules are those of the repository, without the ones that its user
// has set for all repositories.

import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { GitFolders } from "./folders.js";
import { isIgnored, type Rule, rulesOf } from "./ignored.js";
import { type Budget, bytesAt, statAt } from "./plain.js";
import type { Index } from "./status.js";

/** The most bytes of a file of rules, and the most rules: each file is matched with every one. */
const MOST_BYTES = 256 * 1024;
const MOST_RULES = 1_000;
/** The deepest folder that is looked into. */
const DEPTH = 128;

/**
 * Returns the number of untracked files.
 *
 * @throws Error if they cannot be counted in time.
 */
export async function countUntracked(
  root: string,
  { common }: GitFolders,
  index: Index,
  budget: Budget,
): Promise<number> {
  const walk = new Walk(root, index, budget);
  const rules = await rulesAt(join(common, "info/exclude"), "");
  await walk.enter("", rules, true, DEPTH);
  return walk.count;
}

async function rulesAt(path: string, folder: string): Promise<Rule[]> {
  const bytes = await bytesAt(path, MOST_BYTES);
  return bytes === undefined ? [] : rulesOf(bytes.toString("latin1"), folder);
}

// Paths are bytes, one character each, as in the index.
class Walk {
  count = 0;
  readonly #root: string;
  readonly #budget: Budget;
  readonly #tracked: Set<string>;
  /** The folders with tracked files; the path ends with a slash. */
  readonly #folders = new Set<string>();

  constructor(root: string, { entries }: Index, budget: Budget) {
    this.#root = root;
    this.#budget = budget;
    this.#tracked = new Set(entries.map(({ path }) => path));
    for (const { path } of entries) {
      for (let at = path.lastIndexOf("/"); at >= 0; at = path.lastIndexOf("/", at - 1)) {
        const folder = path.slice(0, at + 1);
        if (this.#folders.has(folder)) break;
        this.#folders.add(folder);
        if (at === 0) break;
      }
    }
  }

  /**
   * Looks into a folder, whose path is empty or ends with a slash, and returns whether it has any
   * file that is not ignored. In a folder with tracked files, untracked ones are counted.
   */
  async enter(
    folder: string,
    above: readonly Rule[],
    isTracked: boolean,
    depth: number,
  ): Promise<boolean> {
    if (depth === 0) throw new Error("a folder is too deep");
    const place = join(this.#root, Buffer.from(folder, "latin1").toString());
    const rules = [...above, ...(await rulesAt(join(place, ".gitignore"), folder))];
    if (rules.length > MOST_RULES) throw new Error("there are too many rules");
    // A folder that cannot be listed has nothing to count.
    const found = await readdir(place, { withFileTypes: true }).catch((): Dirent[] => []);
    for (const entry of found) {
      this.#budget.take(1);
      const isPlain = entry.isFile() || entry.isSymbolicLink() || entry.isDirectory();
      if (entry.name === ".git" || !isPlain) continue;
      // A name that is no text was replaced in part: nobody could tell whether it is tracked.
      if (entry.name.includes("\ufffd")) throw new Error("a name is no text");
      const path = folder + Buffer.from(entry.name).toString("latin1");
      const has = await this.#entry(path, entry.isDirectory(), rules, isTracked, depth);
      // A folder without tracked files counts once, so that its first file settles it.
      if (has && !isTracked) return true;
    }
    return false;
  }

  async #entry(
    path: string,
    isFolder: boolean,
    rules: readonly Rule[],
    isTracked: boolean,
    depth: number,
  ): Promise<boolean> {
    // The folder of a submodule is tracked like a file.
    if (this.#tracked.has(path)) return false;
    const isHeld = isFolder && this.#folders.has(`${path}/`);
    if (isIgnored(path, isFolder, rules)) return false;
    if (isHeld) return this.enter(`${path}/`, rules, true, depth - 1);
    const isOne = !isFolder || (await this.#holds(path, rules, depth));
    if (isOne && isTracked) this.count += 1;
    return isOne;
  }

  async #holds(path: string, rules: readonly Rule[], depth: number): Promise<boolean> {
    // A repository inside of another one is a single entry, and its files are none of ours.
    const git = join(this.#root, Buffer.from(path, "latin1").toString(), ".git");
    if ((await statAt(git)) !== undefined) return true;
    return this.enter(`${path}/`, rules, false, depth - 1);
  }
}
