// Places in a workspace: paths as it lists them, and which of them a built-in tool looks at.

import { AgentError } from "../errors.js";
import type { Action } from "../json/action.js";

/** A file, or a folder with all that is in it. */
export interface Place {
  path: string;
  isDeep: boolean;
}

/**
 * A path as the workspace lists it.
 *
 * @throws AgentError `bad_path` where it leads out of the workspace.
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

/** Whether a path is a folder's own, or below it. */
export function isWithin(path: string, folder: string): boolean {
  return folder === "" || path === folder || path.startsWith(`${folder}/`);
}

/** The path of an entry of a folder. */
export function joined(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}

/** The folders above a path, without the workspace itself. */
export function foldersOf(path: string): string[] {
  return [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index));
}

const IN_PATCHES = /^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$/gm;

/** What an action of an agent in `folder` looks at. A path that is none the tool itself refuses. */
export function placesOf(action: Action, folder: string): Place[] {
  const place = (path: string, isDeep: boolean): Place[] => {
    try {
      return [{ path: cleaned(/^[\\/]/.test(path) ? path : joined(folder, path)), isDeep }];
    } catch {
      return [];
    }
  };
  // What is left out of a list says the folders above as well.
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
    default:
      return [];
  }
}
