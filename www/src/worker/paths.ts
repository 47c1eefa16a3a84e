// Paths of the workspace: what people type or drop becomes one, or is refused with a reason.

/** A path as the workspace has it. */
export function cleanPath(given: string): string {
  const parts = given.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.length === 0) throw new Error("A file needs a name.");
  if (parts.includes("..")) throw new Error(`“${given}” leads out of the workspace.`);
  if (given.includes("\0")) throw new Error("A name has no zero bytes.");
  return parts.join("/");
}

/** The folders above paths. */
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

/** Refuses a path where a folder has its name, or a file that of a folder above it. */
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
