// The file that the model is writing: read from the arguments of its calls while they stream, and
// shown until the call is over, so that a person who is asked about the call sees it in its file.

import type { AgentEvent, PartialArguments } from "innerloop";
import type { Draft } from "../shared/messages.js";
import { cleanPath } from "./paths.js";

/** A call that is being streamed, or that waits for its turn. */
interface Call {
  fields: PartialArguments;
  /** The arguments as they came: a patch may come as plain text. */
  raw: string;
  /** The arguments once they are whole. */
  whole?: Fields;
}

type Fields = Record<string, unknown>;

/** The calls of the newest reply that write files. */
export class Writing {
  readonly #Fields: typeof PartialArguments;
  readonly #files: ReadonlyMap<string, Uint8Array>;
  readonly #calls = new Map<string, Call>();
  /** The call that is shown. */
  #shown: string | undefined;

  constructor(Fields: typeof PartialArguments, files: ReadonlyMap<string, Uint8Array>) {
    this.#Fields = Fields;
    this.#files = files;
  }

  /** Takes an event, and returns whether the draft may have changed. */
  take(event: AgentEvent): boolean {
    switch (event.type) {
      case "tool_call_delta":
        this.#grow(event.call_id, event.text);
        return true;
      case "tool_call_start":
        if (this.#calls.has(event.call_id)) this.#shown = event.call_id;
        return true;
      case "tool_call_end":
        this.#calls.delete(event.call_id);
        if (this.#shown === event.call_id) this.#shown = undefined;
        return true;
      case "request_start":
      case "text_reset":
      case "processing_end":
        this.#calls.clear();
        this.#shown = undefined;
        return true;
    }
    return false;
  }

  /** Shows a call about which a person is asked, with its arguments. */
  ask(id: string, args: unknown): void {
    this.#calls.set(id, { ...this.#call(id), whole: args as Fields });
    this.#shown = id;
  }

  /** The shown file, as it would be if the call ended here. */
  get draft(): Draft | undefined {
    const call = this.#calls.get(this.#shown ?? "");
    if (call === undefined) return undefined;
    const { fields, raw, whole } = call;
    if (whole !== undefined) return drafted(whole, true, this.#files);
    return patched(raw) ?? drafted(fields.value, false, this.#files);
  }

  #call(id: string): Call {
    return this.#calls.get(id) ?? { fields: new this.#Fields(), raw: "" };
  }

  #grow(id: string, text: string): void {
    const call = this.#call(id);
    call.fields.add(text);
    call.raw += text;
    this.#calls.set(id, call);
    this.#shown = id;
  }
}

// The file that a call would write. Calls are known by their fields, not by the tool's name, which
// differs between model families.
function drafted(
  fields: Fields,
  isWhole: boolean,
  files: ReadonlyMap<string, Uint8Array>,
): Draft | undefined {
  const patch = fields.patch ?? fields.input;
  if (typeof patch === "string") return patched(patch);
  // The last field may still grow: a path must be whole, and so must the text to be replaced.
  const last = isWhole ? undefined : Object.keys(fields).at(-1);
  const textOf = (...names: string[]): string | undefined => {
    const name = names.find((each) => typeof fields[each] === "string");
    return name === undefined ? undefined : String(fields[name]);
  };
  if (last === "file_path" || last === "path" || last === "old_string") return undefined;
  const path = pathOf(textOf("file_path", "path") ?? "");
  if (path === undefined) return undefined;
  const content = textOf("content");
  if (content !== undefined) return { path, text: content };
  const [old, now] = [textOf("old_string"), textOf("new_string")];
  const before = files.get(path);
  if (before === undefined || old === undefined || now === undefined) return undefined;
  const text = new TextDecoder().decode(before);
  const at = text.indexOf(old);
  if (at < 0) return undefined;
  return { path, text: text.slice(0, at) + now + text.slice(at + old.length) };
}

const NEW_FILE = "*** Add File: ";

// The file that a patch adds last.
function patched(patch: string): Draft | undefined {
  const at = patch.lastIndexOf(NEW_FILE);
  if (!patch.startsWith("*** ") || at < 0) return undefined;
  const [name = "", ...lines] = patch.slice(at + NEW_FILE.length).split("\n");
  const path = lines.length === 0 ? undefined : pathOf(name);
  const end = lines.findIndex((line) => !line.startsWith("+"));
  const added = (end < 0 ? lines : lines.slice(0, end)).map((line) => `${line.slice(1)}\n`);
  return path === undefined ? undefined : { path, text: added.join("") };
}

function pathOf(given: string): string | undefined {
  try {
    return cleanPath(given);
  } catch {
    return undefined;
  }
}
