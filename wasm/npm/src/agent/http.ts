// One HTTP exchange: the request by `fetch` or by the user's function, the response as it comes. A
// redirect is reported and not followed: the key would go along.

import { bytesOf, concatenated } from "../bytes.js";
import { messageOf } from "../errors.js";
import type { HttpInput, ResponseHead } from "../json/protocol.js";
import type { FetchFunction, FetchInit } from "../options/agent.js";
import { TextDecoder, TextEncoder } from "../platform/coders.js";
import { isBuffer } from "../platform/kinds.js";

/** Pages hide the status of a redirect. */
const SOME_REDIRECT = 302;
/** So many bytes are handed over together at most, or one piece more. */
const MOST_TOGETHER = 2 ** 12;
/** So many bytes of a longer piece are handed over at once. */
const MOST_AT_ONCE = 2 ** 16;
/** For how long all else may wait. */
const MOST_BUSY_MS = 50;

/** A request, with its place in words for messages. */
export interface HttpRequest {
  base: string;
  url: string;
  headers: [string, string][];
  body: Uint8Array<ArrayBuffer>;
}

/** Where the news of an exchange go. */
export interface HttpNews {
  tell(news: HttpInput): void;
  chunk(bytes: Uint8Array): void;
}

/** What a response says of itself beside its body. */
interface Said {
  status: number;
  requestId?: string;
}

/** Under which names servers tell the id of a request, by which they find it again. */
const REQUEST_IDS = [
  "request-id",
  "x-request-id",
  "apim-request-id",
  "x-amzn-requestid",
  "mistral-correlation-id",
  "x-generation-id",
  "cf-ray",
];
/** So many responses are remembered: as many as may be open at once, with some to spare. */
const REMEMBERED = 64;

/** The newest responses, by the effects whose answers they are. */
export class Responses {
  readonly #said = new Map<number, Said>();

  /** Notes a response; an id that holds the key is none. */
  note(effect: number, { status, headers }: ResponseHead, key: string | undefined): void {
    const found = REQUEST_IDS.map((id) => headers.find(([name]) => name.toLowerCase() === id));
    const requestId = found.find((pair) => pair !== undefined)?.[1];
    const isSafe = requestId !== undefined && !(key && requestId.includes(key));
    this.#said.delete(effect);
    this.#said.set(effect, isSafe ? { status, requestId } : { status });
    const [oldest] = this.#said.keys();
    if (this.#said.size > REMEMBERED && oldest !== undefined) this.#said.delete(oldest);
  }

  /** What the response said that answered the effect, if one did. */
  of(effect: number | undefined): Said | undefined {
    return effect === undefined ? undefined : this.#said.get(effect);
  }
}

/** Carries a request out; resolves to what reports its end. */
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
    // Node loads all of its `fetch` for the first `Headers`, of which a function of the user may
    // have no need.
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
    // A second try would not be understood any better.
    return failed("refused", `the option \`fetch\` returned ${messageOf(error)}`);
  }
  const { head, body } = usable;
  // The user's function need not listen to the signal.
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
    // A function that answers by itself may never read it.
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

/** What is needed of a response. */
interface Usable {
  head: ResponseHead;
  body: ReadableStream<unknown> | null;
}

// What the user's function returned may come from another realm or library, so that its class says
// nothing. It throws what was returned instead of a response, for a message.
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

// Pieces that are there already are handed over together: each time has its price. A page or server
// gets its turn in between, also where a stream has everything at once.
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
    // The next piece is noted meanwhile, if it need not be waited for.
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
    // Nobody waits for it any more.
  }
}
