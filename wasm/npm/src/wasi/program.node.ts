// The worker thread of Node, Deno and Bun.

import { parentPort } from "node:worker_threads";
import { type ProgramJob, runProgram } from "./program.js";

parentPort?.once("message", (job: ProgramJob) =>
  runProgram(job, (news) => parentPort?.postMessage(news)),
);
