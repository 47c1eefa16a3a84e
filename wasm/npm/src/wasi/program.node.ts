// The script of the worker thread in Node, Deno and Bun: it runs one program and reports to its
// parent.

import { parentPort } from "node:worker_threads";
import { type ProgramJob, runProgram } from "./program.js";

parentPort?.once("message", (job: ProgramJob) =>
  runProgram(job, (news) => parentPort?.postMessage(news)),
);
