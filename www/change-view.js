// What changed between two states of the workspace, as a diff for each file.

import { hunks } from "./diff.js";
import { byId, element } from "./dom.js";

const SIGNS = { same: " ", removed: "-", added: "+" };

/** What happened to each file that differs: a `Map` of path to kind. */
export function changesBetween(before, after) {
  const changes = new Map();
  for (const path of [...new Set([...before.keys(), ...after.keys()])].sort()) {
    if (!before.has(path)) changes.set(path, "created");
    else if (!after.has(path)) changes.set(path, "deleted");
    else if (before.get(path) !== after.get(path)) changes.set(path, "modified");
  }
  return changes;
}

/** Shows the diffs. */
export function showChange(before, after, changes) {
  const diffs = [...changes].map(([path, kind]) => {
    const title = element("h3", {}, `${path} (${kind})`);
    const text = element("pre");
    for (const hunk of hunks(before.get(path) ?? "", after.get(path) ?? "")) {
      text.append(element("span", { class: "hunk" }, hunk.header));
      for (const { kind: side, text: line } of hunk.lines) {
        text.append(element("span", { class: side }, SIGNS[side] + line));
      }
    }
    return element("article", { class: "diff", "data-path": path, tabindex: "0" }, title, text);
  });
  const nothing = element("p", { class: "hint" }, "What the agent changes stands here.");
  byId("change").replaceChildren(...(diffs.length > 0 ? diffs : [nothing]));
}
