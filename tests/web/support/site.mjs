// The playground as it would be published, from the packed package: put together in a folder and
// served under the content security policy that it must live with.

import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { ROOT, bash, countLines, python, qjs, tarball } from "./package.mjs";

const POLICY = [
  "default-src 'self'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "connect-src 'self' http://127.0.0.1:*",
  "worker-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

/**
 * Serves the site: its address, the paths that were asked for, those that were not there, and
 * `close()`.
 */
export async function serveSite() {
  const folder = mkdtempSync(join(tmpdir(), "innerloop-site-"));
  cpSync(join(ROOT, "www"), folder, { recursive: true });
  cpSync(join(ROOT, "example"), join(folder, "example"), { recursive: true });
  mkdirSync(join(folder, "innerloop"));
  const unpack = ["-xzf", tarball(), "--strip-components=1", "-C", join(folder, "innerloop")];
  execFileSync("tar", unpack);
  mkdirSync(join(folder, "programs"));
  writeFileSync(join(folder, "programs/qjs.wasm"), qjs());
  writeFileSync(join(folder, "programs/bash.wasm"), bash());
  writeFileSync(join(folder, "programs/python.wasm.gz"), python());
  cpSync(countLines(), join(folder, "tools/count-lines"), { recursive: true });

  const [asked, missing] = [[], []];
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://site");
    asked.push(pathname);
    const path = join(folder, normalize(pathname === "/" ? "/index.html" : pathname));
    if (!path.startsWith(folder) || !existsSync(path)) {
      missing.push(pathname);
      return response.writeHead(404).end();
    }
    const type = TYPES[extname(path)] ?? "text/plain; charset=utf-8";
    response.writeHead(200, { "content-type": type, "content-security-policy": POLICY });
    return response.end(readFileSync(path));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    rmSync(folder, { recursive: true, force: true });
  };
  return { url: `http://127.0.0.1:${server.address().port}/`, asked, missing, close };
}
