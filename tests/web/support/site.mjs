// The playground as it is published, served with its content security policy: what `cargo xtask`
// has put together in target/www, or where INNERLOOP_SITE names it.

import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize, resolve } from "node:path";
import { countLines, ROOT } from "./package.mjs";

const POLICY = [
  "default-src 'self'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "connect-src 'self' http://127.0.0.1:*",
  "worker-src 'self'",
  "frame-src 'self'",
  "style-src 'self'",
  "style-src-attr 'unsafe-inline'",
  "img-src 'self' blob:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
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

/** The folder of the site. */
export function siteFolder() {
  const folder = resolve(ROOT, process.env.INNERLOOP_SITE || "target/www");
  if (existsSync(join(folder, "page.js"))) return folder;
  throw new Error(`there is no page in ${folder}: build it with \`cargo xtask playground\``);
}

/**
 * Serves the site: its address, the paths that were asked for, those that were not there, how many
 * bytes were sent for each, the `faults` that a test has it make, and `close()`.
 */
export async function serveSite() {
  const folder = siteFolder();
  const [asked, missing, sent] = [[], [], new Map()];
  // What a test puts before the worker's script, and paths that fail once.
  const faults = { prelude: "", once: new Set() };
  const fileOf = (pathname) => {
    const inside = normalize(pathname === "/" ? "/index.html" : pathname);
    const tool = "/tools/count-lines/";
    const path = inside.startsWith(tool)
      ? join(countLines(), inside.slice(tool.length))
      : join(folder, inside);
    return existsSync(path) && statSync(path).isFile() ? path : undefined;
  };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://site");
    asked.push(pathname);
    const path = fileOf(decodeURIComponent(pathname));
    if (faults.once.delete(pathname)) return response.writeHead(503).end();
    if (path === undefined) {
      missing.push(pathname);
      return response.writeHead(404).end();
    }
    const type = TYPES[extname(path)] ?? "text/plain; charset=utf-8";
    const headers = { "content-type": type };
    // What is previewed has a policy of its own.
    if (pathname !== "/preview.html") headers["content-security-policy"] = POLICY;
    const prelude = pathname === "/worker.js" ? faults.prelude : "";
    const packed = prelude === "" && existsSync(`${path}.gz`);
    if (packed) headers["content-encoding"] = "gzip";
    const file = readFileSync(packed ? `${path}.gz` : path);
    const body = prelude === "" ? file : `${prelude};\n${file}`;
    sent.set(pathname, body.length);
    return response.writeHead(200, headers).end(body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${server.address().port}/`, asked, missing, sent, faults, close };
}
