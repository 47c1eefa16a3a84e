// The repository that a folder belongs to, where its files are, and what is checked out. A `.git`
// that leads elsewhere is followed only if what it leads to names the folder in turn: anybody can
// write a path into a file, but not into somebody else's repository.

import { realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { bytesAt, isGranted, statAt, textAt } from "./plain.js";

/** The folders in which a repository keeps its files. */
export interface GitFolders {
  /** `HEAD` and the index: a worktree has its own. */
  own: string;
  /** The branches and objects, which worktrees share. */
  common: string;
}

/** A repository. */
export interface Repository {
  /** The folder in which `.git` stands. */
  root: string;
  /** Absent if its files are not to be trusted. */
  folders: GitFolders | undefined;
}

/** The branch and the commit that are checked out. */
export interface Head {
  branch: string;
  /** The commit's id; absent if it cannot be determined, empty if there is none yet. */
  tip: string | undefined;
}

/** The most bytes of `packed-refs`. */
const MOST_PACKED = 32 * 2 ** 20;
const ID = /^[0-9a-f]{40}$/;

/**
 * Returns the repository at the folder or above it. As in git, the search stops at another file
 * system and at folders of other users, who could put something there.
 *
 * @throws Error if it is not allowed to look there.
 */
export async function repositoryOf(folder: string): Promise<Repository | undefined> {
  const start = await statAt(folder);
  for (let [root, below] = [folder, ""]; root !== below; [root, below] = [dirname(root), root]) {
    if (!isGranted({ name: "read", path: root }))
      throw new Error("it is not allowed to look there");
    const found = await statAt(root);
    if (found?.uid !== start?.uid || found?.dev !== start?.dev) return undefined;
    const git = await statAt(join(root, ".git"));
    if (git?.isSymbolicLink()) return { root, folders: undefined };
    if (git?.isFile()) return { root, folders: await linked(root) };
    // An empty folder of this name is not a repository, and the search goes on above it.
    const own = join(root, ".git");
    if (git === undefined || (await textAt(join(own, "HEAD"))) === undefined) continue;
    const isOdd = (await statAt(join(own, "commondir"))) !== undefined;
    return { root, folders: isOdd ? undefined : { own, common: own } };
  }
  return undefined;
}

// The folders of a worktree or a submodule, whose `.git` is a file with a path.
async function linked(root: string): Promise<GitFolders | undefined> {
  const path = /^gitdir:(.*)/.exec((await textAt(join(root, ".git"))) ?? "")?.[1]?.trim();
  // On Windows such a path names another machine, and a look at it would send a request there.
  if (!path || path.startsWith("//") || path.startsWith("\\")) return undefined;
  const own = await realpath(resolve(root, path)).catch(() => undefined);
  if (own === undefined) return undefined;
  const below = relative(root, own);
  // Inside of the project no proof is needed: who wrote the path has written the folder, too.
  if (!isAbsolute(below) && !below.split(sep).includes("..")) return { own, common: own };
  const names = async (back: string | undefined, target: string): Promise<boolean> => {
    if (back === undefined) return false;
    const named = await realpath(resolve(own, back.trim())).catch(() => undefined);
    return named === target;
  };
  if (basename(dirname(own)) === "worktrees") {
    const isOurs = await names(await textAt(join(own, "gitdir")), join(root, ".git"));
    return isOurs ? { own, common: dirname(dirname(own)) } : undefined;
  }
  const isOurs = await names(await settingOf(own, "worktree"), root);
  return isOurs ? { own, common: own } : undefined;
}

// Two settings are read, and only to do less. Nothing that a configuration names is opened.
async function settingOf(folder: string, name: string): Promise<string | undefined> {
  const config = (await textAt(join(folder, "config"))) ?? "";
  const values = config.split("\n").flatMap((line) => {
    const [key, ...value] = line.split("=");
    return key?.trim() === name && value.length > 0 ? [value.join("=").trim()] : [];
  });
  return values[0]?.replaceAll('"', "");
}

/** Returns whether there are no files that the index could be compared with. */
export async function isBare({ own }: GitFolders): Promise<boolean> {
  return (await settingOf(own, "bare")) === "true";
}

/** Reads `HEAD` and the branch that it names; what cannot be read for sure is absent. */
export async function headOf({ own, common }: GitFolders): Promise<Head | undefined> {
  const head = (await textAt(join(own, "HEAD")))?.trim();
  if (head === undefined) return undefined;
  if (!head.startsWith("ref:")) {
    const short = /^[0-9a-f]{7}/.exec(head)?.[0];
    return { branch: short ? `(detached at ${short})` : "", tip: idOf(head) };
  }
  const name = head.slice(4).trim();
  // With reftables `HEAD` is only a stub, and branches stand in binary tables.
  const isTable = (await statAt(join(common, "reftable"))) !== undefined;
  if (isTable || !isRef(name)) return { branch: "", tip: undefined };
  return { branch: name.replace(/^refs\/heads\//, ""), tip: await tipOf(common, name) };
}

// The name comes from a file of the repository and becomes a path, which must stay below `refs`.
function isRef(name: string): boolean {
  const isPart = (part: string): boolean => !/^$|^\.|\.$/.test(part);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what no name may have.
  const hasMark = /[\x00-\x20\x7f\\:?*[~^]/.test(name);
  return (
    name.startsWith("refs/") && name.length < 1_000 && !hasMark && name.split("/").every(isPart)
  );
}

async function tipOf(common: string, name: string): Promise<string | undefined> {
  const own = await textAt(join(common, name));
  if (own !== undefined) return idOf(own.trim());
  // A branch that stands there as a link is not looked up elsewhere: git would read what is there.
  const found = await statAt(join(common, name));
  if (found !== undefined && !found.isDirectory()) return undefined;
  const path = join(common, "packed-refs");
  if ((await statAt(path)) === undefined) return "";
  const packed = (await bytesAt(path, MOST_PACKED))?.toString("latin1");
  if (packed === undefined) return undefined;
  const line = packed.split("\n").find((line) => line.trimEnd().endsWith(` ${name}`));
  return line === undefined ? "" : idOf(line.slice(0, line.indexOf(" ")));
}

// Objects are read as SHA-1: an id of another length is of a repository that is not supported.
function idOf(hex: string): string | undefined {
  return ID.test(hex) ? hex : undefined;
}
