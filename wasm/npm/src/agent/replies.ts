// Conversion of what a tool of the user's returns into the outcome that the model reads. Tools come
// from many libraries, so that values are told apart by their form, never by their class; a value
// that would reach the model as `{}` is an error instead.

import { base64Of } from "../bytes.js";
import type { Outcome, Part } from "../json/data.js";
import { toJson } from "../json/encode.js";
import type { ToolContext, ToolReply } from "../options/tool.js";
import { isBuffer, isBytes, isError, tagOf } from "../platform/kinds.js";

/** The text that the model reads if a tool returns nothing: a result must not be empty. */
const DONE = "done";

/** A part as tools return it: with other libraries' field names, and with bytes for base64. */
interface Piece {
  type?: unknown;
  text?: unknown;
  media_type?: unknown;
  mediaType?: unknown;
  mimeType?: unknown;
  data?: unknown;
  url?: unknown;
  name?: unknown;
  uri?: unknown;
  resource?: unknown;
}

/** Returns the outcome of a returned value; rejects if the model could not read it. */
export async function outcomeOf(
  returned: unknown,
  context: Pick<ToolContext, "signal" | "output">,
): Promise<Partial<Outcome>> {
  const result = isGenerator(returned) ? await drained(returned, context) : returned;
  if (isReply(result)) {
    const { text, parts = [], isError, details } = result;
    const texts: Part[] = text === undefined ? [] : [{ type: "text", text }];
    const shown = parts.map((part) => partOf(part) ?? part);
    return { parts: [...texts, ...shown], error: isError ? "crashed" : undefined, details };
  }
  if (isToolResult(result)) return ofProtocol(result);
  if (isError(result)) {
    return {
      parts: [{ type: "text", text: `${result.name}: ${result.message}` }],
      error: "crashed",
    };
  }
  if (isResponse(result)) return ofResponse(result);
  const list = isBlob(result) ? [await partOfBlob(result)] : partsOf(result);
  return { parts: list ?? [{ type: "text", text: said(result) }] };
}

/** Returns a value as JSON for the model; throws if JSON cannot hold it. */
export function asJson(result: unknown): string {
  let text: string | undefined;
  try {
    text = toJson(result, asData);
  } catch (error) {
    const why = isError(error) ? error.message : String(error);
    throw new Error(`its result cannot be given to the model as JSON: ${why}`);
  }
  if (text !== undefined) return text;
  throw new Error(`its result cannot be given to the model as JSON: it is a ${typeof result}`);
}

// A replacer for values that JSON would silently write as `{}`: it converts them or throws.
function asData(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (isError(value)) return { ...value, name: value.name, message: value.message };
  const tag = tagOf(value);
  switch (tag) {
    case "Map":
    case "Headers":
    case "URLSearchParams":
    case "FormData":
      return fieldsOf([...(value as Iterable<[unknown, unknown]>)]);
    case "Set":
      return [...(value as Set<unknown>)];
    case "RegExp":
      return String(value);
    case "Promise":
    case "WeakMap":
    case "WeakSet":
    case "WeakRef":
    case "Response":
    case "Request":
    case "ReadableStream":
    case "Blob":
    case "File":
    case "ArrayBuffer":
      throw new Error(`there is a ${tag} in it, of which JSON says nothing`);
    default:
      return ArrayBuffer.isView(value) ? Array.from(value as Uint8Array) : value;
  }
}

// An object if all names are texts and none repeats, else the pairs: headers may repeat a name.
function fieldsOf(entries: [unknown, unknown][]): unknown {
  const names = new Set(entries.map(([name]) => name));
  const isPlain =
    names.size === entries.length && entries.every(([name]) => typeof name === "string");
  return isPlain ? Object.fromEntries(entries as [string, unknown][]) : entries;
}

type Generator = AsyncIterator<unknown, unknown> | Iterator<unknown, unknown>;

function isGenerator(value: unknown): value is Generator {
  if (typeof value !== "object" || value === null) return false;
  const isIterable = Symbol.asyncIterator in value || Symbol.iterator in value;
  return isIterable && typeof (value as Partial<Generator>).next === "function";
}

// Runs a generator to its end: each yielded value is progress, the returned one is the result.
async function drained(
  generator: Generator,
  { signal, output }: Pick<ToolContext, "signal" | "output">,
): Promise<unknown> {
  const stop = (): void => {
    // `return` lets a stopped tool clean up in its `finally`.
    Promise.resolve(generator.return?.(undefined)).catch(() => {});
  };
  signal.addEventListener("abort", stop, { once: true });
  try {
    for (;;) {
      const { done, value } = await generator.next();
      if (done) return value;
      output(typeof value === "string" ? value : `${asJson(value)}\n`);
    }
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function isReply(result: unknown): result is ToolReply {
  if (typeof result !== "object" || result === null || Array.isArray(result)) return false;
  const { text, parts, type } = result as Partial<ToolReply> & Piece;
  if (type !== undefined) return false;
  return text === undefined ? Array.isArray(parts) : typeof text === "string";
}

/** A tool's result by the Model Context Protocol. */
interface ToolResult {
  content: Piece[];
  isError?: boolean;
  structuredContent?: unknown;
}

const OF_THE_PROTOCOL = ["content", "isError", "structuredContent", "_meta"];

// With further fields, it is data of the tool's own that happens to have `content`.
function isToolResult(result: unknown): result is ToolResult {
  const { content } = (result ?? {}) as Partial<ToolResult>;
  if (!Array.isArray(content)) return false;
  const isPlain = Object.keys(result as object).every((name) => OF_THE_PROTOCOL.includes(name));
  return isPlain && content.every((piece) => partOf(piece) !== undefined);
}

function ofProtocol({ content, isError, structuredContent }: ToolResult): Partial<Outcome> {
  const parts = content.flatMap((piece) => partOf(piece) ?? []);
  if (parts.length === 0) {
    const text = structuredContent === undefined ? DONE : asJson(structuredContent);
    parts.push({ type: "text", text });
  }
  return { parts, error: isError === true ? "crashed" : undefined, details: structuredContent };
}

// A part, or a list of parts and nothing else.
function partsOf(result: unknown): Part[] | undefined {
  const pieces: unknown[] = Array.isArray(result) ? result : [result];
  const parts = pieces.map(partOf);
  if (parts.length === 0 || parts.includes(undefined)) return undefined;
  return parts as Part[];
}

function partOf(given: unknown): Part | undefined {
  if (typeof given !== "object" || given === null) return undefined;
  const piece = given as Piece;
  const { type, text, url, name, uri } = piece;
  const media = piece.media_type ?? piece.mediaType ?? piece.mimeType;
  switch (type) {
    case "text":
      return typeof text === "string" ? { type, text } : undefined;
    case "image":
    case "audio":
    case "file":
      return partOfData(piece.data, media, name ?? type);
    case "image_url":
      return typeof url === "string" ? { type, url } : undefined;
    case "resource":
      return partOfResource(piece.resource);
    case "resource_link":
      if (typeof uri !== "string") return undefined;
      return { type: "text", text: `${name ?? "resource"}: ${uri}` };
    default:
      return undefined;
  }
}

function partOfData(data: unknown, media: unknown, name: unknown): Part | undefined {
  const base64 = isBytes(data) ? base64Of(data) : data;
  if (typeof base64 !== "string" || typeof media !== "string") return undefined;
  if (media.startsWith("image/")) return { type: "image", media_type: media, data: base64 };
  return { type: "file", media_type: media, name: String(name), data: base64 };
}

function partOfResource(given: unknown): Part | undefined {
  if (typeof given !== "object" || given === null) return undefined;
  const { text, blob, uri, mimeType } = given as Record<string, unknown>;
  if (typeof text === "string") return { type: "text", text };
  return partOfData(blob, mimeType ?? "application/octet-stream", uri);
}

function isResponse(result: unknown): result is Response {
  return tagOf(result) === "Response" && typeof (result as Partial<Response>).text === "function";
}

// A tool may return a `Response` as it is: the model reads its body, and its status if it failed.
async function ofResponse(response: Response): Promise<Partial<Outcome>> {
  const { ok, status } = response;
  const type = response.headers.get("content-type") ?? "";
  const isText =
    type === "" || /^text\/|[/+](?:json|xml|javascript|x-www-form-urlencoded)\b/.test(type);
  const part: Part = isText
    ? { type: "text", text: await response.text() }
    : await partOfBlob(await response.blob());
  if (ok) return { parts: [part] };
  return {
    parts: [{ type: "text", text: `the server answers ${status}` }, part],
    error: "crashed",
  };
}

// Not by `instanceof`, since it may come from another realm.
function isBlob(result: unknown): result is Blob {
  return /^\[object (Blob|File)\]$/.test(Object.prototype.toString.call(result));
}

async function partOfBlob(blob: Blob): Promise<Part> {
  if (blob.type.startsWith("text/")) return { type: "text", text: await blob.text() };
  const bytes = new Uint8Array(await blob.arrayBuffer());
  const { name = "file" } = blob as { name?: string };
  const part = partOfData(bytes, blob.type, name);
  if (part !== undefined && blob.type !== "") return part;
  throw new Error("it returned a Blob without a `type`, such as image/png");
}

function said(result: unknown): string {
  if (result === undefined) return DONE;
  if (ArrayBuffer.isView(result) || isBuffer(result)) {
    throw new Error('it returned bytes: return `new Blob([bytes], { type: "image/png" })`, say');
  }
  return typeof result === "string" ? result : asJson(result);
}
