// The example's own test, run by Node and not by the agent.

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** Runs `test.mjs` over the files (`[path, content]`) in a folder of its own. */
export function runExampleTest(files) {
  const folder = mkdtempSync(join(tmpdir(), "innerloop-example-"));
  try {
    for (const [path, content] of files) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    }
    const { status, stdout } = spawnSync(process.execPath, ["test.mjs"], { cwd: folder });
    return { status, output: String(stdout) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
