// The preview of a page of the workspace, in a frame that can reach neither the network nor this
// page.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { attempt, opened, readShown, shownFiles, versions } from "../state/app.js";
import { assemble } from "./assemble.js";

const SETTLE_MS = 300;

/** The tab "Preview". */
export default function PreviewTab() {
  const frame = useRef<HTMLIFrameElement>(null);
  const isReady = useSignal(false);
  const pages = [...shownFiles.value.keys()].filter((path) => /\.html?$/i.test(path)).sort();
  const chosen = useSignal<string | undefined>(undefined);
  const fallback = pages.includes(opened.value ?? "") ? opened.value : pages[0];
  const path = pages.includes(chosen.value ?? "") ? chosen.value : fallback;
  const all = versions.value;
  useEffect(() => {
    const hear = ({ source, data }: MessageEvent) => {
      if (source === frame.current?.contentWindow && data === "ready") isReady.value = true;
    };
    addEventListener("message", hear);
    return () => removeEventListener("message", hear);
  }, []);
  const show = () => {
    if (path === undefined || !isReady.value) return;
    void attempt(async () => {
      const page = await assemble(path, readShown);
      // A sandboxed frame has an opaque origin, which cannot be named as the target. The page is
      // posted to this frame's window only.
      frame.current?.contentWindow?.postMessage(page, "*");
    });
  };
  useEffect(() => {
    const timer = setTimeout(show, SETTLE_MS);
    return () => clearTimeout(timer);
  }, [path, all, isReady.value]);
  if (path === undefined) {
    return (
      <p class="hint">
        There is no HTML file to show. Ask for one: what the agent writes is seen here at once.
      </p>
    );
  }
  return (
    <div class="preview">
      <div class="bar">
        <label class="inline">
          Page
          <select
            value={path}
            onChange={({ currentTarget }) => (chosen.value = currentTarget.value)}
          >
            {pages.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
        <button type="button" onClick={show}>
          Reload
        </button>
      </div>
      <iframe
        ref={frame}
        title="Preview"
        sandbox="allow-scripts"
        src="preview.html"
        referrerpolicy="no-referrer"
      />
    </div>
  );
}
