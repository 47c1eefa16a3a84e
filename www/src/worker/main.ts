// The entry of the worker: it takes the page's calls, one message each, and answers every one.

import type { Call, Reply } from "../shared/messages.js";
import { Desk } from "./desk.js";

const post = (reply: Reply): void => self.postMessage(reply);
const { methods } = new Desk((notice) => post({ notice }));

self.addEventListener("message", ({ data }: MessageEvent<Call>) => {
  void answer(data).then(post);
});

async function answer({ id, method, args }: Call): Promise<Reply> {
  try {
    const carryOut = methods[method] as (...args: unknown[]) => unknown;
    return { id, value: await carryOut(...args) };
  } catch (error) {
    return { id, error: error instanceof Error ? error.message : String(error) };
  }
}
