// The examples of the README in JavaScript, run as they stand. Run with
// `node --test readme.test.mjs`; INNERLOOP_TARBALL and CHROMIUM name others.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { test } from "node:test";
import { transform } from "esbuild";
import { failure, reply, serve, stream } from "./support/anthropic.mjs";
import { launch } from "./support/browser.mjs";
import { install, ROOT, tarball } from "./support/package.mjs";

const README = readFileSync(join(ROOT, "README.md"), "utf8");
const PACKAGE = readFileSync(join(ROOT, "wasm/npm/README.md"), "utf8");

/** The first block in that language below a heading. */
function block(heading, language, readme = README) {
  const below = readme.split(`${heading}\n`)[1];
  assert.ok(below, `README has the heading ${heading}`);
  const text = below.split(`\`\`\`${language}\n`)[1]?.split("```")[0];
  assert.ok(text, `README has a block of ${language} below ${heading}`);
  return text;
}

/** Runs a program and collects what it says. */
async function run(program, args, options) {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) {
    child[name].setEncoding("utf8").on("data", (text) => (said[name] += text));
  }
  said.code = await new Promise((resolve) => child.on("close", resolve));
  return said;
}

test("the npm quick start runs in a project that installed the tarball", async (t) => {
  const project = install();
  t.after(() => project.remove());
  const server = await serve(
    reply({ text: "I look.", calls: [["temperature", { city: "Lima" }]] }),
    reply({ calls: [["Read", { file_path: "notes.md" }]] }),
    reply({ calls: [["Write", { file_path: "notes.md", content: "# Notes\n\nLima: 21\n" }]] }),
    reply({ text: "It is 21 degrees in Lima." }),
  );
  t.after(() => server.close());
  writeFileSync(join(project.folder, "quickstart.mjs"), block("### From npm", "js"));
  const env = { ...process.env, ANTHROPIC_API_KEY: "sk-test", ANTHROPIC_BASE_URL: server.url };
  const { code, stdout, stderr } = await run("node", ["quickstart.mjs"], {
    cwd: project.folder,
    env,
  });
  assert.equal(code, 0, stderr);
  assert.equal(stdout, "completed It is 21 degrees in Lima.\n# Notes\n\nLima: 21\n\n");
  const told = server.requests[1].body.messages.at(-1).content[0].content;
  assert.deepEqual(JSON.parse(told), { city: "Lima", celsius: 21 });
});

test("the examples of the package's README are modules, and the first shows failures", async (t) => {
  const project = install();
  t.after(() => project.remove());
  const examples = [...PACKAGE.matchAll(/```js\n(.*?)```/gs)].map(([, text]) => text);
  assert.ok(examples.length > 15);
  for (const text of examples) await transform(text, { format: "esm", logLevel: "silent" });
  const answers = [
    reply({ text: "I look.", calls: [["Read", { file_path: "sum.js" }]] }),
    reply({ calls: [["Edit", { file_path: "sum.js", old_string: "a - b", new_string: "a + b" }]] }),
    reply({ text: " Fixed." }),
    failure(401, "authentication_error", "invalid x-api-key"),
  ];
  const server = await serve(...answers);
  t.after(() => server.close());
  writeFileSync(join(project.folder, "quickstart.mjs"), block("## Quick start", "js", PACKAGE));
  // The example has the provider's own address.
  const elsewhere = `const there = globalThis.fetch;
    globalThis.fetch = (url, init) =>
      there(String(url).replace("https://api.anthropic.com", "${server.url}"), init);`;
  writeFileSync(join(project.folder, "elsewhere.mjs"), elsewhere);
  const options = { cwd: project.folder, env: { ...process.env, ANTHROPIC_API_KEY: "sk-test" } };
  const start = () => run("node", ["--import", "./elsewhere.mjs", "quickstart.mjs"], options);
  const well = await start();
  assert.deepEqual([well.code, well.stderr], [0, ""]);
  assert.match(well.stdout, /^I look\.\n> Read .*Fixed\.export const sum = \(a, b\) => a \+ b;/s);
  const refused = await start();
  assert.match(refused.stderr, /^failed .*invalid x-api-key/);
});

/** A page with the README's script, served beside the unpacked package. */
async function servePage(script) {
  const folder = mkdtempSync(join(tmpdir(), "innerloop-readme-"));
  mkdirSync(join(folder, "innerloop"));
  const unpack = ["-xzf", tarball(), "--strip-components=1", "-C", join(folder, "innerloop")];
  execFileSync("tar", unpack);
  const imports = { imports: { innerloop: "/innerloop/dist/index.web.js" } };
  const map = `<script type="importmap">${JSON.stringify(imports)}</script>`;
  writeFileSync(join(folder, "index.html"), `<!doctype html><title>x</title>${map}${script}`);
  const types = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };
  const server = createServer((request, response) => {
    const path = request.url === "/" ? "/index.html" : request.url;
    try {
      const body = readFileSync(join(folder, path));
      response.writeHead(200, { "content-type": types[extname(path)] ?? "text/plain" }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { url: `http://127.0.0.1:${server.address().port}/`, close };
}

test("the page's quick start runs in Chromium", async (t) => {
  const site = await servePage(block("### In a page", "html"));
  t.after(() => site.close());
  const browser = await launch();
  t.after(() => browser.close());
  const page = await browser.newPage();
  const keys = [];
  const edit = { file_path: "greet.js", old_string: "Helo", new_string: "Hello" };
  const script = [
    { calls: [["Read", { file_path: "greet.js" }]] },
    { text: "I fix it.", calls: [["Edit", edit]] },
    { text: " The spelling is fixed." },
  ];
  page.on("dialog", (dialog) => dialog.accept("sk-ant-typed"));
  await page.route("https://api.anthropic.com/**", (route) => {
    keys.push(route.request().headers()["x-api-key"]);
    const body = stream(script.shift()).join("");
    const headers = { "access-control-allow-origin": "*" };
    return route.fulfill({ status: 200, contentType: "text/event-stream", headers, body });
  });
  await page.goto(site.url);
  await page.getByText("`Hello ${name}`").waitFor({ timeout: 30_000 });
  const text = await page.locator("body").innerText();
  assert.match(text, /I fix it\. The spelling is fixed\./u);
  assert.deepEqual(keys, Array(3).fill("sk-ant-typed"));
});
