// One workload of one peer, in a process of its own: prints its figure as JSON.

import { WORKLOADS } from "./workloads.mjs";

const [name, workload] = process.argv.slice(2);
const { peer } = await import(`./peers/${name}.mjs`);
const figure = await WORKLOADS[workload].run(await peer());
// On exit Node waits for V8's compiler threads, and one of them may wait for a garbage collection
// that only the main thread can run: without a turn for it the process would hang.
const exit = () => setTimeout(() => process.exit(0), 50);
process.stdout.write(`${JSON.stringify({ figure })}\n`, exit);
