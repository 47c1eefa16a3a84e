// The restoring of files that undone steps had changed. The module decides which; this does it.

import type { Files } from "../workspace/files.js";
import type { UndoneFile, UndoneFiles } from "./results.js";

/** Restores files as the list says, and returns what became of each. */
export function undoIn(files: Files, list: readonly UndoneFile[]): UndoneFiles {
  const undone: UndoneFiles = { restored: [], kept: [] };
  for (const { path, undo } of list) {
    if (undo !== "remove" && "keep" in undo) {
      undone.kept.push({ path, why: undo.keep });
      continue;
    }
    if (undo === "remove") files.remove(path);
    else files.write(path, undo.write);
    undone.restored.push(path);
  }
  return undone;
}
