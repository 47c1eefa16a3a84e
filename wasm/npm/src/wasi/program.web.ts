// The script of a page's worker: it runs one program and reports to the page.

import { type ProgramJob, runProgram } from "./program.js";

const worker = globalThis as unknown as {
  onmessage: (event: { data: ProgramJob }) => void;
  postMessage(message: unknown): void;
};

worker.onmessage = (event) => runProgram(event.data, (news) => worker.postMessage(news));
