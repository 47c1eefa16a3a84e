// The output of a WASI tool and the outcome made of it, in the same words as on the native host, so
// that a model reads the same everywhere.

import { Bytes } from "../bytes.js";
import type { FileChange, Outcome, Part, ToolErrorKind } from "../json/data.js";
import { TextDecoder } from "../platform/coders.js";
import { LIMIT_WORDS, type LimitName } from "../wasi/limits.js";

/** The end of a call. */
export type CallEnd =
  | { type: "exit"; code: number }
  | { type: "crash"; message: string }
  | { type: LimitName | "timed_out" | "cancelled" };

/** The number of bytes kept of the beginning of each output, and of its end. */
const HALF = 2 ** 20;

const REPLY = ["text", "parts", "is_error", "details"];
/** The depth of a reply: the session reads 127 levels, and some of them are around the reply. */
const MOST_DEPTH = 120;

/** The kinds of parts, and the fields of each. */
const PARTS: Record<Part["type"], readonly string[]> = {
  text: ["text"],
  image: ["media_type", "data"],
  image_url: ["url"],
  file: ["media_type", "name", "data"],
};

/** The output of one call. */
export class Printed {
  readonly #outputs = { 1: new Kept(), 2: new Kept() };

  /**
   * Takes a piece and returns the text that it completes: a character may be cut between pieces.
   */
  push(stream: 1 | 2, bytes: Uint8Array): string {
    return this.#outputs[stream].push(bytes);
  }

  /** Returns the text of incomplete characters at the end. */
  rest(): string {
    return this.#outputs[1].rest() + this.#outputs[2].rest();
  }

  /**
   * Returns the outcome. After success, standard output is the result, and standard error was for
   * people to watch.
   *
   * @throws Error if it printed a reply that does not fit.
   */
  outcome(end: CallEnd, changes: FileChange[]): Partial<Outcome> {
    const [out, err] = [this.#outputs[1], this.#outputs[2]];
    const isWell = end.type === "exit" && end.code === 0;
    const isCut = out.isCut || (!isWell && err.isCut);
    const common = {
      exit: end.type === "exit" ? end.code | 0 : undefined,
      changes: changes.length > 0 ? changes : undefined,
      capped_at_source: isCut || undefined,
    };
    if (isWell) {
      const reply = isCut ? undefined : replyOf(out.text());
      if (reply !== undefined) return { ...reply, ...common };
      return { parts: texts(out.text(), ""), streams: true, ...common };
    }
    const [error, words] = toldOf(end);
    const parts = texts(out.text(), err.text(), ...(words === undefined ? [] : [`[${words}]`]));
    const timed_out = end.type === "timed_out" || undefined;
    return { parts, streams: true, error, timed_out, ...common };
  }
}

// The kind of a failure and its text. The session itself tells the model about time limits.
function toldOf(end: CallEnd): [ToolErrorKind, string | undefined] {
  switch (end.type) {
    case "exit":
      return ["crashed", `exit code ${end.code | 0}`];
    case "crash":
      return ["crashed", `it crashed: ${end.message}`];
    case "timed_out":
      return ["timeout", undefined];
    case "cancelled":
      return ["interrupted", "it was interrupted"];
    default:
      return ["limit", LIMIT_WORDS[end.type]];
  }
}

function texts(...all: string[]): Part[] {
  return all.map((text) => ({ type: "text", text }));
}

// A reply, if the output is one: an object of a reply's fields alone, with a `text` or a list of
// `parts`. Anything else stays text: a tool may print JSON of its own.
function replyOf(printed: string): Partial<Outcome> | undefined {
  if (!printed.trimStart().startsWith("{")) return undefined;
  let value: Record<string, unknown>;
  try {
    value = JSON.parse(printed) as Record<string, unknown>;
  } catch {
    return undefined;
  }
  const { text, parts, is_error = false, details } = value;
  const isReply = typeof text === "string" || Array.isArray(parts);
  if (!isReply || !Object.keys(value).every((name) => REPLY.includes(name))) return undefined;
  if (!isShallow(value, MOST_DEPTH)) return undefined;
  const fits =
    (typeof text === "string" || text === undefined || text === null) &&
    (parts === undefined || (Array.isArray(parts) && parts.every(isPart))) &&
    typeof is_error === "boolean";
  if (!fits) throw new Error("what it printed does not fit: its `text`, `parts` or `is_error`");
  return {
    parts: [...(typeof text === "string" ? texts(text) : []), ...((parts as Part[]) ?? [])],
    error: is_error ? "crashed" : undefined,
    details: details ?? undefined,
  };
}

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => isShallow(inner, levels - 1));
}

function isPart(part: unknown): part is Part {
  const fields = (part ?? {}) as Record<string, unknown>;
  const known = Object.hasOwn(PARTS, String(fields.type)) ? PARTS[fields.type as Part["type"]] : [];
  return known.length > 0 && known.every((name) => typeof fields[name] === "string");
}

/** One output, of which the beginning and the end are kept. */
class Kept {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #head = new Bytes();
  readonly #tail = new Bytes();
  #dropped = 0;

  get isCut(): boolean {
    return this.#dropped > 0;
  }

  push(bytes: Uint8Array): string {
    const room = Math.min(HALF - this.#head.length, bytes.length);
    this.#head.push(bytes.subarray(0, room));
    this.#tail.push(bytes.subarray(room));
    const excess = this.#tail.length - HALF;
    if (excess > 0) this.#dropped += this.#tail.take(excess).length;
    return this.#decoder.decode(bytes, { stream: true });
  }

  rest(): string {
    return this.#decoder.decode();
  }

  text(): string {
    const decode = (bytes: Uint8Array): string =>
      new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    if (this.#dropped > 0) {
      const [head, tail] = [decode(this.#head.all()), decode(this.#tail.all())];
      return `${head}\n[${this.#dropped} bytes of output dropped here]\n${tail}`;
    }
    this.#head.push(this.#tail.take());
    return decode(this.#head.all());
  }
}
