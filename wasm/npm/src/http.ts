// One HTTP exchange: the request by `fetch` or by the user's function, the response as it comes. A
// redirect is reported and not followed: the key would go along.

import type { HttpInput } from "./protocol.js";
import type { FetchFunction } from "./types.js";
import { messageOf } from "./work.js";

/** Pages hide the status of a redirect. */
const SOME_REDIRECT = 302;

/** A request, with its place in words for messages. */
export interface HttpRequest {
  base: string;
  url: string;
  headers: [string, string][];
  body: Uint8Array;
}

/** Where the news of an exchange go. */
export interface HttpNews {
  tell(news: HttpInput): void;
  chunk(bytes: Uint8Array): void;
}

/** Carries a request out; resolves to what reports its end. */
export async function exchange(
  request: HttpRequest,
  own: FetchFunction | undefined,
  signal: AbortSignal,
  { tell, chunk }: HttpNews,
): Promise<() => void> {
  const { base, url } = request;
  const failed = (kind: "network" | "refused", message: string) => (): void =>
    tell({ failed: { kind, message } });
  let headers: Headers;
  try {
    headers = new Headers(request.headers);
  } catch (error) {
    return failed("refused", messageOf(error));
  }
  const init = { method: "POST", signal, redirect: "manual" } as const;
  let response: Response;
  try {
    const { body } = request;
    response = await (own === undefined
      ? fetch(url, { ...init, headers, body: body as BodyInit })
      : own(url, {
          ...init,
          headers: Object.fromEntries(headers),
          body: new TextDecoder().decode(body),
        }));
    // Whatever the user's function returns in place of a response is used as one: it may come from
    // another realm or library.
    if (typeof response !== "object" || response === null) {
      throw new Error("the option `fetch` returned something that is no Response");
    }
    // The user's function need not listen to the signal.
    if (signal.aborted) {
      void response.body?.cancel().catch(() => {});
      return () => {};
    }
    tell({ head: headOf(response) });
  } catch (error) {
    return failed("network", `cannot reach ${base}: ${messageOf(error)}`);
  }
  try {
    const reader = response.body?.getReader();
    while (reader !== undefined) {
      const { done, value } = await reader.read();
      if (done) break;
      if (signal.aborted) {
        void reader.cancel().catch(() => {});
        break;
      }
      chunk(value instanceof Uint8Array ? value : new Uint8Array(value));
    }
  } catch (error) {
    return failed("network", `the connection to ${base} broke: ${messageOf(error)}`);
  }
  return () => tell({ end: null });
}

function headOf(response: Response): { status: number; headers: [string, string][]; at: number } {
  const status = response.type === "opaqueredirect" ? SOME_REDIRECT : response.status;
  return { status, headers: [...response.headers], at: Date.now() };
}
