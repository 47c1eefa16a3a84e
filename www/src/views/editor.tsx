// The tab of the open file: its text in the editor, a picture, or a note on a binary file. Text
// that a person typed and did not save is kept apart and wins over everything that the agent
// writes.

import { signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Editor } from "../editor/editor.js";
import {
  asked,
  attempt,
  dirty,
  dirtyCount,
  draft,
  draftOf,
  epoch,
  files,
  isDraftHidden,
  moment,
  opened,
  readShown,
  setDirty,
  shownFiles,
  versions,
} from "../state/app.js";
import { call } from "../state/client.js";
import { erase, rename } from "./files.js";
import { download, textOf } from "./transfer.js";

type Shown =
  | { type: "none" }
  | { type: "text" }
  | { type: "image"; url: string }
  | { type: "binary"; size: number };

const IMAGES: Record<string, string> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
};

/** Unsaved texts, by session and path. */
const drafts = new Map<string, string>();
/** True if the agent has changed the file while it was edited here. */
const isOutdated = signal(false);

/** The tab "Editor". */
export function EditorTab() {
  const parent = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | undefined>(undefined);
  const shown = useSignal<Shown>({ type: "none" });
  const path = opened.value;
  const version = versions.value.get(path ?? "") ?? 0;
  const at = moment.value;
  const state = epoch.value;

  useEffect(() => {
    if (parent.current === null) return undefined;
    const side = {
      changed: () => {
        const now = opened.peek();
        if (now === undefined || editor.current === undefined) return;
        drafts.set(draftOf(now), editor.current.text);
        setDirty(now, true);
      },
      save: () => void save(editor.current),
    };
    editor.current = new Editor(parent.current, side);
    return () => editor.current?.close();
  }, []);

  const loaded = useRef("");
  const key = `${state} ${path} ${at ?? ""}`;
  const written = writtenText();
  const isWritten = written !== undefined;
  useEffect(() => {
    if (isWritten) return undefined;
    let isOver = false;
    void attempt(async () => {
      const content = path === undefined ? undefined : await readShown(path);
      // Another file or version was asked for meanwhile.
      if (isOver) return;
      shown.value = showIn(editor.current, path, content, loaded.current === key);
      loaded.current = key;
    });
    return () => {
      isOver = true;
    };
  }, [key, version, isWritten, shownFiles.value.has(path ?? "")]);
  useEffect(() => {
    if (written === undefined || path === undefined) return;
    shown.value = { type: "text" };
    if (loaded.current !== key) editor.current?.open(path, "", true);
    loaded.current = key;
    editor.current?.update(written, true);
  }, [key, written]);

  const reload = () => {
    drafts.delete(draftOf(path ?? ""));
    setDirty(path ?? "", false);
    isOutdated.value = false;
    versions.value = new Map(versions.value).set(path ?? "", version + 1);
  };
  return (
    <>
      <FileHead save={() => void save(editor.current)} />
      {isOutdated.value && (
        <div class="bar" role="status">
          The file has changed meanwhile.
          <button type="button" onClick={reload}>
            Take the new one
          </button>
          <button type="button" onClick={() => void save(editor.current)}>
            Save mine over it
          </button>
        </div>
      )}
      <div class="code" ref={parent} hidden={shown.value.type !== "text"} />
      <Other shown={shown.value} />
    </>
  );
}

// The text of the open file as the model writes it; none if a person has typed there.
function writtenText(): string | undefined {
  const { path, text } = draft.value ?? {};
  if (path === undefined || path !== opened.value || moment.value !== undefined) return undefined;
  if (isDraftHidden.value) return undefined;
  return dirtyCount.value >= 0 && dirty.has(draftOf(path)) ? undefined : text;
}

function FileHead({ save }: { save: () => void }) {
  const path = opened.value;
  if (path === undefined) return null;
  const isDirty = dirtyCount.value >= 0 && dirty.has(draftOf(path));
  const isWritten = writtenText() !== undefined;
  const isPast = moment.value !== undefined || isWritten;
  return (
    <div class="file-head">
      <h3 id="file-name">
        <bdi>{path}</bdi>
        {isDirty && <span class="badge">not saved</span>}
        {isWritten && (
          <span class="badge">{asked.value.length > 0 ? "proposed" : "being written"}</span>
        )}
      </h3>
      <div class="tools">
        {isWritten && files.value.has(path) && (
          <button type="button" onClick={() => (isDraftHidden.value = true)}>
            Show as it is
          </button>
        )}
        <button type="button" disabled={!isDirty || isPast} onClick={save}>
          Save
        </button>
        <button type="button" class="quiet" disabled={isPast} onClick={() => void rename(path)}>
          Rename
        </button>
        <button type="button" class="quiet" disabled={isPast} onClick={() => void erase(path)}>
          Delete
        </button>
        <button
          type="button"
          class="quiet"
          disabled={isWritten}
          onClick={() => void attempt(() => downloadFile(path))}
        >
          Download
        </button>
      </div>
    </div>
  );
}

function Other({ shown }: { shown: Shown }) {
  if (shown.type === "none") return <p class="hint">No file is open. Choose one, or make one.</p>;
  if (shown.type === "image")
    return <img class="picture" src={shown.url} alt={opened.value ?? ""} />;
  if (shown.type === "binary") {
    return <p class="hint">A binary file of {shown.size.toLocaleString("en")} bytes.</p>;
  }
  return null;
}

// Shows a file: a text in the editor, with the person's unsaved text in its place if there is one.
function showIn(
  editor: Editor | undefined,
  path: string | undefined,
  content: Uint8Array | undefined,
  isSame: boolean,
): Shown {
  isOutdated.value = false;
  if (path === undefined || content === undefined) return { type: "none" };
  const type = IMAGES[path.slice(path.lastIndexOf(".") + 1).toLowerCase()];
  if (type !== undefined) {
    return { type: "image", url: URL.createObjectURL(new Blob([content as BlobPart], { type })) };
  }
  const text = textOf(content);
  if (text === undefined) return { type: "binary", size: content.length };
  const isPast = moment.peek() !== undefined;
  const draft = isPast ? undefined : drafts.get(draftOf(path));
  if (draft !== undefined && draft !== text) {
    if (isSame) isOutdated.value = true;
    else editor?.open(path, draft, false);
    return { type: "text" };
  }
  if (draft !== undefined) {
    drafts.delete(draftOf(path));
    setDirty(path, false);
  }
  if (isSame) editor?.update(text, isPast);
  else editor?.open(path, text, isPast);
  return { type: "text" };
}

async function save(editor: Editor | undefined): Promise<void> {
  const path = opened.value;
  if (path === undefined || editor === undefined || moment.value !== undefined) return;
  const text = editor.text;
  const isSaved = await attempt(() => call("write", path, new TextEncoder().encode(text)));
  if (!isSaved) return;
  drafts.delete(draftOf(path));
  setDirty(path, false);
  isOutdated.value = false;
}

async function downloadFile(path: string): Promise<void> {
  const content = await readShown(path);
  if (content === undefined || !files.value.has(path)) throw new Error(`There is no ${path}.`);
  download(path.slice(path.lastIndexOf("/") + 1), content, "application/octet-stream");
}
