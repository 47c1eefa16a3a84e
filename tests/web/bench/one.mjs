// One workload of one peer, in a process of its own: prints its figure as JSON.

import { WORKLOADS } from "./workloads.mjs";

const [name, workload] = process.argv.slice(2);
const { peer } = await import(`./peers/${name}.mjs`);
const figure = await WORKLOADS[workload].run(await peer());
// At exit Node waits for V8's compilers, and one that waits for the collector then waits for ever:
// what is posted for the main thread comes to its turn before.
const exit = () => setTimeout(() => process.exit(0), 50);
process.stdout.write(`${JSON.stringify({ figure })}\n`, exit);
