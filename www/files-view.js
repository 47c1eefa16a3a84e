// The workspace: a list of files by folder, and the text of the selected one.

import { byId, element } from "./dom.js";

const BADGES = { created: "new", modified: "changed", deleted: "deleted" };

let selected;

/** Shows the files, a `Map` of path to text; `changes` marks those that changed. */
export function showFiles(files, changes = new Map()) {
  const root = { folders: new Map(), files: [] };
  for (const path of [...files.keys()].sort()) place(root, path);
  byId("tree").replaceChildren(listOf(root, files, changes));
  if (!files.has(selected)) selected = undefined;
  showContent(files);
}

/** Selects a file, if it exists. */
export function select(path, files, changes) {
  if (files.has(path)) selected = path;
  showFiles(files, changes);
}

function place(root, path) {
  const names = path.split("/");
  names.pop();
  let folder = root;
  for (const name of names) {
    if (!folder.folders.has(name)) folder.folders.set(name, { folders: new Map(), files: [] });
    folder = folder.folders.get(name);
  }
  folder.files.push(path);
}

function listOf(folder, files, changes) {
  const list = element("ul");
  for (const [name, below] of folder.folders) {
    const label = element("span", { class: "folder" }, `${name}/`);
    list.append(element("li", {}, label, listOf(below, files, changes)));
  }
  for (const path of folder.files) {
    const button = element("button", { type: "button", "data-path": path }, path.split("/").pop());
    button.setAttribute("aria-current", String(path === selected));
    const kind = changes.get(path);
    if (kind) button.append(element("span", { class: "badge" }, BADGES[kind]));
    button.addEventListener("click", () => {
      select(path, files, changes);
      document.querySelector(`#tree [data-path="${CSS.escape(path)}"]`)?.focus();
    });
    list.append(element("li", {}, button));
  }
  return list;
}

function showContent(files) {
  byId("file-name").textContent = selected ?? "No file selected";
  byId("file-content").textContent = selected === undefined ? "" : files.get(selected);
}
