// Programs that are packages of their own, imported by name.

import { AgentError, messageOf } from "../errors.js";
import { platform } from "../platform/platform.js";
import type { NamedProgram, PackagedProgram } from "./sources.js";

/** The packages, by the names of their programs. */
const PACKAGES: Record<PackagedProgram, string> = {
  qjs: "innerloop-qjs",
  shell: "innerloop-shell",
  python: "innerloop-python",
};

/** Imports the package of a program, whose module is loaded later; rejects with `bad_program`. */
export async function packaged(name: string): Promise<NamedProgram> {
  const known = Object.keys(PACKAGES);
  if (!known.includes(name)) {
    const all = known.map((each) => `"${each}"`).join(", ");
    const message = `\`programs\`: there is no package of "${name}", only of ${all}`;
    throw new AgentError("bad_program", message);
  }
  const from = PACKAGES[name as PackagedProgram];
  try {
    const found = await platform().importPackage?.(from);
    if (found === undefined) throw new Error("this platform imports nothing by name");
    return found.default as NamedProgram;
  } catch (error) {
    const message =
      `the program "${name}" is in the package ${from}, which could not be found: ` +
      `${messageOf(error)}. Install it (\`npm install ${from}\`); in a page, or from a bundle, ` +
      `give the program itself: \`import ${name} from "${from}"\`, \`programs: [${name}]\``;
    throw new AgentError("bad_program", message);
  }
}
