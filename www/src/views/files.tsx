// The pane of files: a tree for keyboard and pointer, and the operations on files. Only the visible
// rows are rendered, so that thousands of files cost no more than a screenful.

import { signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { attempt, moment, opened, openFile, say } from "../state/app.js";
import { call } from "../state/client.js";
import { empty, type Row, rows, setOpen } from "../state/tree.js";
import { askText, confirm } from "./dialogs.js";
import { canOpenFolders, FolderLine, openFolder } from "./folder.js";
import { download, filesOf } from "./transfer.js";

const ROW_PX = 28;
/** The rows rendered beyond the edges, so that scrolling shows no gaps. */
const BEYOND = 8;

/** The most files that a question names. */
const MOST_NAMED = 12;

/** An attribute of inputs that all browsers know and the types do not. */
const WHOLE_FOLDERS = { webkitdirectory: true };

const active = signal<string | undefined>(undefined);

/** The pane of files. */
export function FilesView() {
  const isOver = useSignal(false);
  const isPast = moment.value !== undefined;
  const take = async (list: FileList | null) => {
    if (list === null || list.length === 0) return;
    await add([...list].map((file) => [file.webkitRelativePath || file.name, file]));
  };
  const onDrop = async (event: DragEvent) => {
    event.preventDefault();
    isOver.value = false;
    const { dataTransfer } = event;
    if (dataTransfer !== null) await attempt(async () => add(await filesOf(dataTransfer)));
  };
  return (
    <section
      class={isOver.value ? "pane files over" : "pane files"}
      aria-labelledby="files-title"
      onDragOver={(event) => {
        event.preventDefault();
        isOver.value = true;
      }}
      onDragLeave={() => (isOver.value = false)}
      onDrop={(event) => void onDrop(event)}
    >
      <div class="pane-head">
        <h2 id="files-title">Files</h2>
        <div class="tools">
          <button
            type="button"
            title="New file"
            disabled={isPast}
            onClick={() => void create("file")}
          >
            <span aria-hidden="true">+</span> File
          </button>
          <button
            type="button"
            title="New folder"
            disabled={isPast}
            onClick={() => void create("folder")}
          >
            <span aria-hidden="true">+</span> Folder
          </button>
        </div>
      </div>
      {rows.value.length === 0 && (
        <p class="hint">No files yet. Drop some here, or let the agent begin.</p>
      )}
      <Tree />
      <div class="pane-foot">
        <label class="button">
          Add files
          <input
            type="file"
            multiple
            disabled={isPast}
            onChange={({ currentTarget }) => {
              void take(currentTarget.files).then(() => (currentTarget.value = ""));
            }}
          />
        </label>
        {canOpenFolders() ? (
          <button type="button" onClick={() => void openFolder()}>
            Open folder…
          </button>
        ) : (
          <label class="button">
            Add folder
            <input
              type="file"
              {...WHOLE_FOLDERS}
              disabled={isPast}
              onChange={({ currentTarget }) => {
                void take(currentTarget.files).then(() => (currentTarget.value = ""));
              }}
            />
          </label>
        )}
        <button type="button" onClick={() => void attempt(downloadZip)}>
          Download zip
        </button>
      </div>
      <FolderLine />
    </section>
  );
}

function Tree() {
  const box = useRef<HTMLDivElement>(null);
  const scroll = useSignal(0);
  const height = useSignal(400);
  useEffect(() => {
    const node = box.current;
    if (node === null) return undefined;
    const watch = new ResizeObserver(() => (height.value = node.clientHeight));
    watch.observe(node);
    return () => watch.disconnect();
  }, []);
  const all = rows.value;
  const at = all.findIndex(({ path }) => path === active.value);
  const first = Math.max(0, Math.floor(scroll.value / ROW_PX) - BEYOND);
  const last = Math.ceil((scroll.value + height.value) / ROW_PX) + BEYOND;
  const go = (to: number) => {
    const row = all[Math.min(Math.max(to, 0), all.length - 1)];
    if (row === undefined) return;
    active.value = row.path;
    const node = box.current;
    const top = all.indexOf(row) * ROW_PX;
    if (node === null) return;
    if (top < node.scrollTop) node.scrollTop = top;
    const bottom = top + ROW_PX - node.clientHeight;
    if (bottom > node.scrollTop) node.scrollTop = bottom;
  };
  const isSeen = at >= first && at < last;
  return (
    <div
      id="tree"
      class="tree"
      role="tree"
      aria-label="Files of the workspace"
      tabIndex={0}
      ref={box}
      aria-activedescendant={isSeen ? idOf(at) : undefined}
      onFocus={() => at < 0 && go(0)}
      onScroll={({ currentTarget }) => (scroll.value = currentTarget.scrollTop)}
      onKeyDown={(event) => onKey(event, at, go)}
    >
      <div role="presentation" class="rows" style={{ height: `${all.length * ROW_PX}px` }}>
        {all.slice(first, last).map((row, offset) => (
          <TreeRow key={row.path} row={row} at={first + offset} isActive={first + offset === at} />
        ))}
      </div>
    </div>
  );
}

function TreeRow({ row, at, isActive }: { row: Row; at: number; isActive: boolean }) {
  const { path, name, level, isOpen, file } = row;
  const isFolder = file === undefined;
  const choose = () => {
    active.value = path;
    if (isFolder) setOpen(path, !isOpen);
    else openFile(path);
  };
  return (
    <div
      id={idOf(at)}
      role="treeitem"
      class={isActive ? "active" : ""}
      aria-level={level}
      aria-posinset={row.place}
      aria-setsize={row.siblings}
      aria-selected={opened.value === path}
      {...(isFolder && { "aria-expanded": isOpen })}
      data-path={path}
      style={{ top: `${at * ROW_PX}px`, paddingInlineStart: `${level * 14 - 6}px` }}
      onClick={choose}
    >
      <span class="mark" aria-hidden="true">
        {isFolder ? (isOpen ? "▾" : "▸") : ""}
      </span>
      <span class="name">{name}</span>
      {file?.badge && <span class={`badge ${file.badge}`}>{file.badge}</span>}
    </div>
  );
}

function onKey(event: KeyboardEvent, at: number, go: (to: number) => void): void {
  const row = rows.value[at];
  const moves: Record<string, number> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    Home: 0,
    End: rows.value.length - 1,
  };
  const to = moves[event.key];
  if (to !== undefined) go(to);
  else if (row === undefined) return;
  else if (event.key === "ArrowRight" && row.isOpen === false) setOpen(row.path, true);
  else if (event.key === "ArrowLeft" && row.isOpen) setOpen(row.path, false);
  else if (event.key === "ArrowLeft") go(rows.value.findIndex(({ path }) => path === above(row)));
  else if (event.key === "Enter" || event.key === " ") {
    if (row.file) openFile(row.path);
    else setOpen(row.path, !row.isOpen);
  } else if (event.key === "F2") void rename(row.path);
  else if (event.key === "Delete") void erase(row.path);
  else return;
  event.preventDefault();
}

function above({ path }: Row): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

function idOf(at: number): string {
  return `row-${at}`;
}

/** Asks for a new path of a file or folder, and moves it there. */
export async function rename(path: string): Promise<void> {
  const to = await askText(`New path of ${path}`, path, "Rename");
  if (to === undefined || to === path) return;
  const isMoved = await attempt(() => call("move", path, to));
  if (isMoved && opened.value === path) opened.value = to;
}

/** Removes a file or folder after a confirmation. */
export async function erase(path: string): Promise<void> {
  if (!(await confirm(`Delete ${path}?`, "Delete"))) return;
  empty.value = new Set([...empty.value].filter((each) => each !== path));
  await attempt(() => call("erase", path));
  if (opened.value === path) opened.value = undefined;
}

async function create(kind: "file" | "folder"): Promise<void> {
  const row = rows.value.find(({ path }) => path === active.value);
  const folder = row === undefined ? "" : row.file === undefined ? row.path : above(row);
  const start = folder === "" ? "" : `${folder}/`;
  const path = (await askText(`Path of the new ${kind}`, start, "Create"))?.trim();
  if (path === undefined || path === "") return;
  // The workspace has no folders without files, so that a new one lives in the page only.
  if (kind === "folder") {
    empty.value = new Set([...empty.value, path.replace(/\/+$/, "")]);
    return;
  }
  let isThere = false;
  const isDone = await attempt(async () => {
    const { taken } = await call("add", [[path, new Uint8Array()]], false);
    isThere = taken.length > 0;
    openFile(taken[0] ?? path);
  });
  if (isDone && isThere) say(`There is already a “${path}”: here it is.`);
}

async function add(list: [string, File][]): Promise<void> {
  await attempt(async () => {
    const archives = list.filter(([name]) => /\.zip$/i.test(name));
    const others = list.filter(([name]) => !/\.zip$/i.test(name));
    const bytes = async (file: File) => new Uint8Array(await file.arrayBuffer());
    const files = others.map(async ([name, file]): Promise<[string, Uint8Array]> => {
      return [name, await bytes(file)];
    });
    const all = await Promise.all(files);
    for (const [, file] of archives) all.push(...(await call("unzip", await bytes(file))));
    await put(all);
  });
}

// Adds files, and asks before it replaces any.
async function put(files: [string, Uint8Array][]): Promise<void> {
  let { taken, before } = await call("add", files, false);
  if (taken.length > 0) {
    if (!(await confirm(replacing(taken), "Replace"))) return say("No file was added.");
    ({ taken, before } = await call("add", files, true));
  }
  const added = files.length === 1 ? "One file was added" : `${files.length} files were added`;
  const replaced = taken.length === 0 ? "" : `, ${taken.length} of them in place of what was there`;
  say(`${added}${replaced}.`, false, taken.length === 0 ? undefined : () => call("revert", before));
}

function replacing(paths: string[]): string {
  const rest = paths.length - MOST_NAMED;
  const more = rest > 0 ? `\nand ${rest} more` : "";
  const named = paths.slice(0, MOST_NAMED).join("\n");
  return paths.length === 1
    ? `Replace ${named}, which is there already?`
    : `Replace these files, which are there already?\n\n${named}${more}`;
}

async function downloadZip(): Promise<void> {
  download("workspace.zip", await call("zip"), "application/zip");
}
