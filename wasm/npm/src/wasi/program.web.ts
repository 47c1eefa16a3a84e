// The worker of a page.

import { type ProgramJob, runProgram } from "./program.js";

const worker = globalThis as unknown as {
  onmessage: (event: { data: ProgramJob }) => void;
  postMessage(message: unknown): void;
};

worker.onmessage = (event) => runProgram(event.data, (news) => worker.postMessage(news));
