// The files of steps that were undone.

import type { Files } from "../workspace/files.js";
import type { UndoneFile, UndoneFiles } from "./results.js";

/** Does to the files what takes the steps' changes back, and says to which. */
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
