// The facts about a folder of the machine: the system, and what git says of it. No program is run,
// no link is followed, and what cannot be read in time is left out.

import { realpath } from "node:fs/promises";
import { release } from "node:os";
import type { Facts } from "../json/config.js";
import type { Patch } from "../json/shapes.js";
import { headOf, isBare, type Repository, repositoryOf } from "./folders.js";
import { type Commit, Objects } from "./objects.js";
import { Budget, isGranted } from "./plain.js";
import { countModified, indexOf } from "./status.js";
import { countUntracked } from "./untracked.js";

/** The number of commits that are told, of parents that are looked at, and of characters. */
const [COMMITS, PARENTS, SUBJECT] = [10, 16, 200];

/** Returns the facts about a folder. */
export async function factsOf(folder: string): Promise<Patch<Facts>> {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const facts: Patch<Facts> = { platform };
  if (isGranted({ name: "sys", kind: "osRelease" })) facts.os_version = release();
  try {
    const repository = await repositoryOf(await realpath(folder));
    if (repository === undefined) return { ...facts, no_git: true };
    return { ...facts, git: await gitOf(repository) };
  } catch {
    return facts;
  }
}

async function gitOf({ root, folders }: Repository): Promise<NonNullable<Patch<Facts>["git"]>> {
  const head = folders && (await headOf(folders));
  if (folders === undefined || head === undefined) return {};
  const git: NonNullable<Patch<Facts>["git"]> = { branch: oneLine(head.branch) };
  if (head.tip === undefined) return git;
  const budget = new Budget();
  const objects = await Objects.open(folders.common, budget);
  try {
    if (objects !== undefined && head.tip !== "") {
      git.recent_commits = await subjectsOf(objects, head.tip).catch(() => []);
    }
    if (await isBare(folders)) return git;
    const tree = head.tip === "" ? undefined : (await objects?.commit(head.tip))?.tree;
    if (head.tip !== "" && tree === undefined) return git;
    const index = await indexOf(folders);
    git.modified = await countModified(root, index, tree, objects, budget);
    // Last, since it lists every folder and may take the rest of the time.
    git.untracked = await countUntracked(root, folders, index, budget.another());
  } catch {
    // What was found until then is told.
  } finally {
    await objects?.close();
  }
  return git;
}

// The newest commits by their time over all branches, as in `git log`: along first parents alone,
// those of a merged branch would be missing.
async function subjectsOf(objects: Objects, tip: string): Promise<string[]> {
  const seen = new Set([tip]);
  const next: Commit[] = [await objects.commit(tip)];
  const subjects: string[] = [];
  for (let commit = next.pop(); commit && subjects.length < COMMITS; commit = next.pop()) {
    subjects.push(oneLine(commit.message.trimStart().split(/[\r\n]/, 1)[0] ?? ""));
    for (const parent of commit.parents.slice(0, PARENTS)) {
      if (seen.has(parent)) continue;
      seen.add(parent);
      // A shallow clone's history ends where nothing can be read.
      const found = await objects.commit(parent).catch(() => undefined);
      if (found !== undefined) next.push(found);
    }
    next.sort((one, other) => one.time - other.time);
  }
  return subjects;
}

// The words of a repository must not look like lines of the prompt, nor hold characters that people
// do not see.
function oneLine(text: string): string {
  const shown = text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "");
  return [...shown].slice(0, SUBJECT).join("");
}
