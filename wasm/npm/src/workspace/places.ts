// Paths in a workspace, and the places that an action of a built-in tool looks at.

import { AgentError } from "../errors.js";
import type { Action } from "../json/action.js";

/** A file, or a folder with all that is in it. */
export interface Place {
  path: string;
  isDeep: boolean;
}

/**
 * Returns a path as the workspace lists it.
 *
 * @throws AgentError `bad_path` if it leads out of the workspace.
 */
export function cleaned(path: string): string {
  const steps: string[] = [];
  for (const step of path.split(/[\\/]+/)) {
    if (step === "" || step === ".") continue;
    if (step !== "..") steps.push(step);
    else if (steps.pop() === undefined) throw badPath(`\`${path}\` leads out of the workspace`);
  }
  return steps.join("/");
}

export function badPath(message: string): AgentError {
  return new AgentError("bad_path", message);
}

/** Returns whether a path is the folder or below it. */
export function isWithin(path: string, folder: string): boolean {
  return folder === "" || path === folder || path.startsWith(`${folder}/`);
}

/** Returns the path of an entry of a folder. */
export function joined(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}

/** Returns the folders above a path, without the workspace itself. */
export function foldersOf(path: string): string[] {
  return [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index));
}

const IN_PATCHES = /^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$/gm;

/**
 * Returns the places that an action of an agent in `folder` looks at. An invalid path is left out:
 * the tool itself refuses it.
 */
export function placesOf(action: Action, folder: string): Place[] {
  const place = (path: string, isDeep: boolean): Place[] => {
    try {
      return [{ path: cleaned(/^[\\/]/.test(path) ? path : joined(folder, path)), isDeep }];
    } catch {
      return [];
    }
  };
  // The `.gitignore` files of the folders above also decide what a list leaves out.
  const searched = (path = ""): Place[] => {
    const found = place(path, true);
    const above = found.flatMap(({ path }) => (path === "" ? [] : ["", ...foldersOf(path)]));
    return [...above.flatMap((each) => place(`/${each}/.gitignore`, false)), ...found];
  };
  switch (action.action) {
    case "read":
    case "view_image":
    case "write":
    case "edit":
      return place(action.path, false);
    case "patch":
      return [...action.patch.matchAll(IN_PATCHES)].flatMap(([, path = ""]) =>
        place(path.trim(), false),
      );
    case "list":
    case "glob":
    case "grep":
      return searched(action.path);
    case "read_many":
      return searched();
    case "run_program":
    case "shell":
    case "fetch":
      return [];
    default:
      return action satisfies never;
  }
}
