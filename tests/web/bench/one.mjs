// One workload of one peer, in a process of its own: prints its figure as JSON.

import { WORKLOADS } from "./workloads.mjs";

const [name, workload] = process.argv.slice(2);
const { peer } = await import(`./peers/${name}.mjs`);
const figure = await WORKLOADS[workload].run(await peer());
process.stdout.write(`${JSON.stringify({ figure })}\n`, () => process.exit(0));
