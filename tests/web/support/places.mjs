// Projects as users have them, one for each place: a fixture with the package and QuickJS beside
// it, out of the packed tarballs.

import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { open } from "./browser.mjs";
import { tarball } from "./package.mjs";

const EVERYWHERE = fileURLToPath(new URL("../everywhere/", import.meta.url));
const SHARED = ["contract.mjs", "exercise.mjs", "stream.mjs"];

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".wasm": "application/wasm",
};

/**
 * A project of this name, made anew: its folder. It lies below the tests' own `node_modules`, as a
 * user's does below theirs, so that its tools are found.
 */
export function project(name, fixture = name) {
  const folder = join(EVERYWHERE, "target", name);
  rmSync(folder, { recursive: true, force: true });
  cpSync(join(EVERYWHERE, "fixtures", fixture), folder, { recursive: true });
  for (const file of SHARED) {
    cpSync(fileURLToPath(new URL(file, import.meta.url)), join(folder, file));
  }
  for (const each of ["innerloop", "innerloop-qjs"]) unpack(each, join(folder, "node_modules"));
  return folder;
}

function unpack(name, modules) {
  mkdirSync(join(modules, name), { recursive: true });
  const flags = ["--strip-components=1", "-C", join(modules, name)];
  execFileSync("tar", ["-xzf", archiveOf(name), ...flags]);
}

/** A package's tarball. */
export function archiveOf(name) {
  const path = name === "innerloop" ? tarball() : join(dirname(tarball()), `${name}-0.1.0.tgz`);
  if (!existsSync(path)) throw new Error(`there is no ${path}: run \`cargo xtask prepare\``);
  return path;
}

/** Serves a folder: its address, what was asked for and not there, and `close()`. */
export async function serveFolder(folder, headers = {}) {
  const missing = [];
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://folder");
    const asked = pathname.endsWith("/") ? `${pathname}index.html` : pathname;
    const path = join(folder, normalize(asked));
    if (pathname === "/favicon.ico") return response.writeHead(204).end();
    if (!existsSync(path)) {
      missing.push(pathname);
      return response.writeHead(404).end("Not found");
    }
    const type = TYPES[extname(path)] ?? "application/octet-stream";
    response.writeHead(200, { "content-type": type, ...headers });
    return response.end(readFileSync(path));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A test that fails before it closes its server must not keep the process alive.
  server.unref();
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${server.address().port}/`, missing, close };
}

/** What a page says in `globalThis.outcome`, and what went wrong in it. */
export async function outcomeIn(browser, url) {
  const { page, problems, close } = await open(browser, url);
  try {
    await page.waitForFunction(() => "outcome" in globalThis, undefined, { timeout: 60_000 });
    return { outcome: await page.evaluate(() => globalThis.outcome), problems };
  } catch (error) {
    throw new Error(`${error.message}; the page says: ${problems.join("; ") || "nothing"}`);
  } finally {
    await close();
  }
}

/** Serves a folder and runs the page in it. */
export async function runPage(browser, folder, path = "") {
  const site = await serveFolder(folder);
  try {
    const { outcome, problems } = await outcomeIn(browser, `${site.url}${path}`);
    return { outcome, problems, missing: site.missing };
  } finally {
    await site.close();
  }
}

/** Runs a program in a folder: what it printed, and where it fails all of that. */
export function run(program, args, folder, { env = {}, timeout = 240_000 } = {}) {
  const options = { cwd: folder, env: { ...process.env, ...env }, timeout, stdio: "pipe" };
  try {
    return execFileSync(program, args, options).toString();
  } catch (error) {
    const said = [error.stdout, error.stderr].join("\n").trim();
    throw new Error(`${program} ${args.join(" ")}: ${error.message}\n${said}`);
  }
}

/** Bundles a script of a project by esbuild, into its `out.js` or another file. */
export function bundle(folder, script, options = {}) {
  const [entryPoints, outfile] = [[join(folder, script)], join(folder, "out.js")];
  const whole = { bundle: true, format: "esm", logLevel: "silent", outfile };
  return build({ ...whole, ...options, entryPoints });
}
