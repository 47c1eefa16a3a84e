// The workspace as the visible rows of a tree: folders first, each level sorted.

import { computed, signal } from "@preact/signals";
import type { FileInfo } from "../shared/messages.js";
import { draft, moment, shownFiles } from "./app.js";

/** A row of the tree. */
export interface Row {
  path: string;
  name: string;
  /** Counted from 1. */
  level: number;
  /** True for an open folder, false for a closed one, absent for files. */
  isOpen?: boolean;
  file?: FileInfo;
  /** Its place among its siblings, from 1, and how many there are. */
  place: number;
  siblings: number;
}

interface Folder {
  folders: Map<string, Folder>;
  files: FileInfo[];
}

// Closed folders, and new ones without files: the workspace itself has paths of files alone.
export const closed = signal<ReadonlySet<string>>(new Set());
export const empty = signal<ReadonlySet<string>>(new Set());

/** The path of a file that is being written and does not exist yet. */
const newPath = computed(() => {
  const path = draft.value?.path;
  return path === undefined || shownFiles.value.has(path) ? undefined : path;
});

/** The rows of the tree. */
export const rows = computed(() => {
  const root: Folder = { folders: new Map(), files: [] };
  for (const path of empty.value) folderAt(root, path.split("/"));
  for (const file of shownFiles.value.values()) {
    folderAt(root, file.path.split("/").slice(0, -1)).files.push(file);
  }
  const written = moment.value === undefined ? newPath.value : undefined;
  if (written !== undefined) {
    const file: FileInfo = { path: written, size: 0, badge: "writing" };
    folderAt(root, written.split("/").slice(0, -1)).files.push(file);
  }
  const all: Row[] = [];
  collect(root, "", 1, all);
  return all;
});

/** Opens or closes a folder. */
export function setOpen(path: string, isOpen: boolean): void {
  const next = new Set(closed.value);
  if (isOpen) next.delete(path);
  else next.add(path);
  closed.value = next;
}

function folderAt(root: Folder, parts: string[]): Folder {
  let folder = root;
  for (const part of parts) {
    let next = folder.folders.get(part);
    if (next === undefined) {
      next = { folders: new Map(), files: [] };
      folder.folders.set(part, next);
    }
    folder = next;
  }
  return folder;
}

function collect(folder: Folder, prefix: string, level: number, all: Row[]): void {
  const folders = [...folder.folders].sort(([a], [b]) => compare(a, b));
  const files = folder.files.sort((a, b) => compare(a.path, b.path));
  const siblings = folders.length + files.length;
  let place = 0;
  for (const [name, inside] of folders) {
    place += 1;
    const path = prefix + name;
    const isOpen = !closed.value.has(path);
    all.push({ path, name, level, isOpen, place, siblings });
    if (isOpen) collect(inside, `${path}/`, level + 1, all);
  }
  for (const file of files) {
    place += 1;
    const name = file.path.slice(prefix.length);
    all.push({ path: file.path, name, level, file, place, siblings });
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
