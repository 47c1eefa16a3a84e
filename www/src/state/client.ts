// The page's connection to the worker: calls as promises, and notices to one listener.

import type { Call, Notice, Reply, WorkerApi } from "../shared/messages.js";

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

const pending = new Map<number, Pending>();
let next = 1;
let listen: (notice: Notice) => void = () => {};
let worker: Worker | undefined;

/** Starts the worker; `listener` is called with all notices, `failed` if the worker breaks. */
export function start(listener: (notice: Notice) => void, failed: (message: string) => void): void {
  listen = listener;
  worker = new Worker(new URL("worker.js", document.baseURI), { type: "module" });
  worker.addEventListener("message", ({ data }: MessageEvent<Reply>) => take(data));
  worker.addEventListener("error", ({ message }) => {
    failed(message || "the worker could not be loaded");
  });
}

/** Calls a method of the worker; rejects with its error. */
export function call<K extends keyof WorkerApi>(
  method: K,
  ...args: Parameters<WorkerApi[K]>
): Promise<ReturnType<WorkerApi[K]>> {
  const id = next;
  next += 1;
  return new Promise((resolve, reject) => {
    pending.set(id, { resolve: resolve as Pending["resolve"], reject });
    const message: Call = { id, method, args };
    worker?.postMessage(message);
  });
}

function take(reply: Reply): void {
  if ("notice" in reply) return listen(reply.notice);
  const waiting = pending.get(reply.id);
  pending.delete(reply.id);
  if ("error" in reply) waiting?.reject(new Error(reply.error));
  else waiting?.resolve(reply.value);
}
