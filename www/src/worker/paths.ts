// Paths of the workspace: the check of what people type or drop, with errors for people.

/** Returns a path as the workspace has it; throws if it has no name or leads out. */
export function cleanPath(given: string): string {
  const parts = given.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.length === 0) throw new Error("A file needs a name.");
  if (parts.includes("..")) throw new Error(`“${given}” leads out of the workspace.`);
  if (given.includes("\0")) throw new Error("A name has no zero bytes.");
  return parts.join("/");
}

/** Returns the folders above paths. */
export function foldersOf(paths: Iterable<string>): Set<string> {
  const folders = new Set<string>();
  for (const path of paths) {
    let end = path.lastIndexOf("/");
    while (end > 0 && !folders.has(path.slice(0, end))) {
      folders.add(path.slice(0, end));
      end = path.lastIndexOf("/", end - 1);
    }
  }
  return folders;
}

/** Throws if a folder has the path, or a file stands where it needs a folder. */
export function checkFree(
  path: string,
  files: ReadonlyMap<string, Uint8Array>,
  folders: Set<string>,
): void {
  if (folders.has(path)) throw new Error(`“${path}” is a folder.`);
  for (let end = path.indexOf("/"); end > 0; end = path.indexOf("/", end + 1)) {
    const above = path.slice(0, end);
    if (files.has(above)) throw new Error(`“${above}” is a file.`);
  }
}
