// A folder of this device, in browsers that give pages access to one. It is read into a session of
// its own, and changes are written back only when the person asks for it.

import { same } from "../shared/bytes.js";
import type { Folder, KnownFile } from "../shared/messages.js";
import { attempt, change, folder, say } from "../state/app.js";
import { call } from "../state/client.js";
import { confirm } from "./dialogs.js";

declare global {
  /** Chromium has it, other browsers do not. */
  var showDirectoryPicker:
    | ((options: { id: string }) => Promise<FileSystemDirectoryHandle>)
    | undefined;
  interface FileSystemHandle {
    requestPermission(how: { mode: "readwrite" }): Promise<PermissionState>;
  }
}

/** The names of folders that are not read: generated, or for programs only. */
const LEFT_OUT = new Set([".git", "node_modules", "target", "__pycache__", ".venv"]);
const MOST_FILES = 10_000;
const MOST_BYTES = 128 << 20;
/** The most paths that a question names. */
const MOST_NAMED = 8;

/** Returns whether folders can be opened in this browser. */
export const canOpenFolders = (): boolean => globalThis.showDirectoryPicker !== undefined;

/** Asks for a folder and opens it as a session. */
export async function openFolder(): Promise<void> {
  await attempt(async () => {
    const handle = await picked();
    if (handle === undefined) return;
    say(`Reading “${handle.name}”…`);
    const reading = new Reading();
    await reading.read(handle, "");
    const { files, known, skipped } = reading;
    await change(() => call("adopt", files, { handle, known }));
    const out = skipped.size === 0 ? "" : ` Left out: ${[...skipped].join(", ")}.`;
    say(`Read ${counted(files.length)} of “${handle.name}”.${out}`);
  });
}

async function picked(): Promise<FileSystemDirectoryHandle | undefined> {
  try {
    return await globalThis.showDirectoryPicker?.({ id: "innerloop" });
  } catch (error) {
    // The person has cancelled the choice.
    if (error instanceof DOMException && error.name === "AbortError") return undefined;
    throw error;
  }
}

/** The reading of a folder with all that is in it. */
class Reading {
  readonly files: [string, Uint8Array][] = [];
  readonly known = new Map<string, KnownFile>();
  readonly skipped = new Set<string>();
  #bytes = 0;

  async read(folder: FileSystemDirectoryHandle, above: string): Promise<void> {
    for await (const [name, entry] of folder.entries()) {
      if (entry instanceof FileSystemDirectoryHandle) {
        if (LEFT_OUT.has(name)) this.skipped.add(name);
        else await this.read(entry, `${above}${name}/`);
        continue;
      }
      const file = await (entry as FileSystemFileHandle).getFile();
      this.#bytes += file.size;
      if (this.files.length >= MOST_FILES || this.#bytes > MOST_BYTES) {
        throw new Error("The folder has more than 10,000 files or 128 MiB. Open one inside of it.");
      }
      const path = above + name;
      const content = new Uint8Array(await file.arrayBuffer());
      this.files.push([path, content]);
      this.known.set(path, { time: file.lastModified, digest: await digestOf(content) });
    }
  }
}

/** Writes changes back into the folder, after the person has confirmed the list of them. */
export async function writeBack({ handle, known }: Folder): Promise<void> {
  await attempt(async () => {
    if ((await handle.requestPermission({ mode: "readwrite" })) !== "granted") {
      throw new Error(`The browser does not let this page write into “${handle.name}”.`);
    }
    const changes = await changesOf(await call("contents"), { handle, known });
    if (changes.length === 0) return say("There is nothing to write back.");
    if (!(await confirm(questionOf(handle.name, changes), "Write"))) return;
    const next = new Map(known);
    for (const { path, content } of changes) {
      const time = await put(handle, path, content);
      if (time === undefined || content === undefined) next.delete(path);
      else next.set(path, { time, digest: await digestOf(content) });
    }
    folder.value = await call("setFolder", { handle, known: next });
    say(`Changed ${counted(changes.length)} in “${handle.name}”.`);
  });
}

/** A change of a file in the folder; `undefined` as its content removes it. */
interface Change {
  path: string;
  content: Uint8Array | undefined;
  /** True if something else has written the file since it was read. */
  isNewer: boolean;
}

// The changes to be written. A file that has not changed here is left alone, even if it has changed
// there: its newer content must not be overwritten by the old one.
async function changesOf(
  files: [string, Uint8Array][],
  { handle, known }: Folder,
): Promise<Change[]> {
  const changes: Change[] = [];
  const here = new Map(files);
  for (const path of new Set([...here.keys(), ...known.keys()])) {
    const [content, last] = [here.get(path), known.get(path)];
    if (content !== undefined && (await digestOf(content)) === last?.digest) continue;
    const there = await fileAt(handle, path);
    const before = there && new Uint8Array(await there.arrayBuffer());
    if (same(before, content)) continue;
    const isNewer = there !== undefined && there.lastModified !== last?.time;
    changes.push({ path, content, isNewer });
  }
  return changes;
}

async function digestOf(content: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", content as BufferSource);
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function questionOf(name: string, changes: Change[]): string {
  const lines = changes.slice(0, MOST_NAMED).map(({ path, content, isNewer }) => {
    const what = content === undefined ? "delete" : "write";
    return `${what} ${path}${isNewer ? " (changed there meanwhile!)" : ""}`;
  });
  const rest = changes.length - lines.length;
  if (rest > 0) lines.push(`and ${rest} more`);
  return `Change ${counted(changes.length)} in “${name}”?\n\n${lines.join("\n")}`;
}

async function fileAt(root: FileSystemDirectoryHandle, path: string): Promise<File | undefined> {
  try {
    const [folder, name] = await placeOf(root, path, false);
    return await (await folder.getFileHandle(name)).getFile();
  } catch (error) {
    const isAway = error instanceof DOMException && error.name === "NotFoundError";
    if (isAway) return undefined;
    throw error;
  }
}

// Writes or removes a file; returns the time of the writing.
async function put(
  root: FileSystemDirectoryHandle,
  path: string,
  content: Uint8Array | undefined,
): Promise<number | undefined> {
  const [folder, name] = await placeOf(root, path, content !== undefined);
  if (content === undefined) {
    await folder.removeEntry(name);
    return undefined;
  }
  const handle = await folder.getFileHandle(name, { create: true });
  const stream = await handle.createWritable();
  await stream.write(content as BufferSource);
  await stream.close();
  return (await handle.getFile()).lastModified;
}

async function placeOf(
  root: FileSystemDirectoryHandle,
  path: string,
  create: boolean,
): Promise<[FileSystemDirectoryHandle, string]> {
  const steps = path.split("/");
  const name = steps.pop() ?? "";
  let folder = root;
  for (const step of steps) folder = await folder.getDirectoryHandle(step, { create });
  return [folder, name];
}

function counted(count: number): string {
  return count === 1 ? "one file" : `${count} files`;
}

/** The line that names the folder of the session. */
export function FolderLine() {
  const from = folder.value;
  if (from === undefined) return null;
  return (
    <div class="folder">
      <span>
        From the folder <bdi>{from.handle.name}</bdi>
      </span>
      <button type="button" onClick={() => void writeBack(from)}>
        Write back…
      </button>
    </div>
  );
}
