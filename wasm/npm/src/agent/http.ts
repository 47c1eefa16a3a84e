// One HTTP exchange: the request by `fetch` or by the user's function, and the response as it
// comes. A redirect is reported and not followed, since the key would go along.

import { bytesOf, concatenated } from "../bytes.js";
import { messageOf } from "../errors.js";
import type { HttpInput, ResponseHead } from "../json/protocol.js";
import type { FetchFunction, FetchInit } from "../options/agent.js";
import { TextDecoder, TextEncoder } from "../platform/coders.js";
import { isBuffer } from "../platform/kinds.js";

/** The status that stands for any redirect: browsers hide the real one. */
const SOME_REDIRECT = 302;
/** The number of bytes from which on gathered pieces are handed over. */
const MOST_TOGETHER = 2 ** 12;
/** The number of bytes handed over in one call; a longer piece is cut. */
const MOST_AT_ONCE = 2 ** 16;
/** The time in milliseconds after which other tasks of the page or server get their turn. */
const MOST_BUSY_MS = 50;

/** A request; `base` names its endpoint in messages, without what the URL may hold. */
export interface HttpRequest {
  base: string;
  url: string;
  headers: [string, string][];
  body: Uint8Array<ArrayBuffer>;
}

/** The functions that take the news of an exchange. */
export interface HttpNews {
  tell(news: HttpInput): void;
  chunk(bytes: Uint8Array): void;
}

/** The status of a response, and the provider's id of its request. */
interface Said {
  status: number;
  requestId?: string;
}

/** The headers in which providers send the id of a request, in the order of preference. */
const REQUEST_IDS = [
  "request-id",
  "x-request-id",
  "apim-request-id",
  "x-amzn-requestid",
  "mistral-correlation-id",
  "x-generation-id",
  "cf-ray",
];
/** The number of responses remembered: more than can be open at once. */
const REMEMBERED = 64;

/** The newest responses, by the numbers of their effects. */
export class Responses {
  readonly #said = new Map<number, Said>();

  /** Notes a response. An id that holds the key is left out: a server may echo what it was sent. */
  note(effect: number, { status, headers }: ResponseHead, key: string | undefined): void {
    const found = REQUEST_IDS.map((id) => headers.find(([name]) => name.toLowerCase() === id));
    const requestId = found.find((pair) => pair !== undefined)?.[1];
    const isSafe = requestId !== undefined && !(key && requestId.includes(key));
    this.#said.delete(effect);
    this.#said.set(effect, isSafe ? { status, requestId } : { status });
    const [oldest] = this.#said.keys();
    if (this.#said.size > REMEMBERED && oldest !== undefined) this.#said.delete(oldest);
  }

  /** Returns the response to an effect, if there was one. */
  of(effect: number | undefined): Said | undefined {
    return effect === undefined ? undefined : this.#said.get(effect);
  }
}

/** Carries out a request; resolves to a function that reports its end. */
export async function exchange(
  request: HttpRequest,
  own: FetchFunction | undefined,
  signal: AbortSignal,
  { tell, chunk }: HttpNews,
): Promise<() => void> {
  const { base } = request;
  const failed = (kind: "network" | "refused", message: string) => (): void =>
    tell({ failed: { kind, message } });
  let headers: Headers | Record<string, string>;
  try {
    // Node loads its whole `fetch` for the first `Headers`; with a function of the user's that is
    // not needed.
    headers = own === undefined ? new Headers(request.headers) : recordOf(request.headers);
  } catch (error) {
    return failed("refused", messageOf(error));
  }
  let response: unknown;
  try {
    const held = (ahead?: number): void => tell({ held: { ahead: ahead ?? null } });
    response = await sent(request, headers, own, signal, held);
  } catch (error) {
    return failed("network", `cannot reach ${base}: ${messageOf(error)}`);
  }
  let usable: Usable;
  try {
    usable = usableOf(response);
  } catch (error) {
    // `refused`, since another try would return the same; `network` would be tried again.
    return failed("refused", `the option \`fetch\` returned ${messageOf(error)}`);
  }
  const { head, body } = usable;
  // The user's function may ignore the signal and return a response all the same.
  if (signal.aborted) {
    if (body !== null) giveUp(body);
    return () => {};
  }
  tell({ head });
  if (body === null) return () => tell({ end: null });
  return read(body, signal, chunk).then(
    () => () => tell({ end: null }),
    (error: unknown) => failed("network", `the connection to ${base} broke: ${messageOf(error)}`),
  );
}

function sent(
  { url, body }: HttpRequest,
  headers: Headers | Record<string, string>,
  own: FetchFunction | undefined,
  signal: AbortSignal,
  held: FetchInit["held"],
): Promise<unknown> {
  const init = { method: "POST", signal, redirect: "manual" } as const;
  if (own === undefined) return fetch(url, { ...init, headers, body });
  let text: string | undefined;
  return own(url, {
    ...init,
    headers: headers as Record<string, string>,
    held,
    // Decoded on first use: a function that answers by itself may never read it.
    get body() {
      return (text ??= new TextDecoder().decode(body));
    },
    set body(other) {
      text = other;
    },
  });
}

function recordOf(headers: [string, string][]): Record<string, string> {
  return Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]));
}

/** A response that has passed the checks. */
interface Usable {
  head: ResponseHead;
  body: ReadableStream<unknown> | null;
}

// Checks what the user's function returned by its members, since a response may come from another
// realm or library. The error's message is the object of "returned …".
function usableOf(given: unknown): Usable {
  const isObject = typeof given === "object" && given !== null;
  if (!isObject) throw new Error(`${described(given)}, which is no Response`);
  const response = given as Partial<Record<keyof Response, unknown>>;
  const no = (why: string): Error => new Error(`an object that is no Response: ${why}`);
  const isOpaque = response.type === "opaqueredirect";
  const status = isOpaque ? SOME_REDIRECT : response.status;
  if (!Number.isInteger(status) || (status as number) < 100 || (status as number) > 999) {
    throw no(status === undefined ? "it has no `status`" : "its `status` is no number from 100 on");
  }
  const headers = pairsOf(response.headers);
  if (headers === undefined) throw no("it has no `headers` that can be listed");
  const { body, bodyUsed } = response;
  if (bodyUsed === true) throw new Error("a Response whose body has been read already");
  if (body !== null && !isStream(body)) {
    const what = body === undefined ? "it has no `body`" : "its `body` is no ReadableStream";
    throw no(`${what}; return \`new Response(body, { status, headers })\``);
  }
  if (body?.locked) throw new Error("a Response whose body somebody else reads");
  const head = { status: status as number, headers, at: Date.now() };
  return { head, body };
}

function described(value: unknown): string {
  if (value === undefined || value === null) return "nothing";
  return `a value of type ${typeof value}`;
}

function pairsOf(headers: unknown): [string, string][] | undefined {
  if (typeof headers !== "object" || headers === null || !(Symbol.iterator in headers)) {
    return undefined;
  }
  const pairs = [...(headers as Iterable<unknown>)];
  if (!pairs.every(Array.isArray)) return undefined;
  return pairs.map(([name, value]: unknown[]) => [String(name).toLowerCase(), String(value)]);
}

function isStream(body: unknown): body is ReadableStream<unknown> {
  return typeof (body as Partial<ReadableStream> | null | undefined)?.getReader === "function";
}

// Reads the body. Pieces that are there already are handed over together, since each call into the
// module has its price. Other tasks get their turn in between, even if the stream never waits.
async function read(
  body: ReadableStream<unknown>,
  signal: AbortSignal,
  chunk: (bytes: Uint8Array) => void,
): Promise<void> {
  const reader = body.getReader();
  let held: Uint8Array[] = [];
  let length = 0;
  let turn = Date.now();
  const handOver = async (): Promise<void> => {
    const bytes = concatenated(held);
    [held, length] = [[], 0];
    for (let at = 0; at < bytes.length && !signal.aborted; at += MOST_AT_ONCE) {
      chunk(bytes.subarray(at, at + MOST_AT_ONCE));
      if (Date.now() - turn < MOST_BUSY_MS) continue;
      await new Promise((resolve) => setTimeout(resolve));
      turn = Date.now();
    }
  };
  for (;;) {
    let isThere = false;
    const reading = reader.read();
    const note = (): void => {
      isThere = true;
    };
    reading.then(note, () => {});
    // One microtask: enough for `note` to run if the next piece was there already.
    await undefined;
    if (!isThere || length >= MOST_TOGETHER) await handOver();
    const { done, value } = await reading;
    if (!done && !signal.aborted) {
      const piece = pieceOf(value);
      held.push(piece);
      length += piece.length;
      continue;
    }
    if (done) await handOver();
    if (signal.aborted) giveUp(reader);
    return;
  }
}

function pieceOf(piece: unknown): Uint8Array {
  if (typeof piece === "string") return new TextEncoder().encode(piece);
  if (ArrayBuffer.isView(piece)) return bytesOf(piece);
  if (isBuffer(piece)) return bytesOf(piece);
  throw new Error(`its body holds ${described(piece)} in place of bytes`);
}

function giveUp(stream: { cancel(): Promise<void> }): void {
  try {
    void Promise.resolve(stream.cancel()).catch(() => {});
  } catch {
    // A stream of the user's may throw here; its exchange is over, so that nobody would care.
  }
}
