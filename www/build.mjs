// Builds the page into the folder that is named: `node build.mjs FOLDER`, after `npm ci`. The
// package is expected beside it, unpacked, in FOLDER/innerloop; the worker imports it from there.
//
//   index.html, preview.html, icon.svg   as they stand here
//   page.js, page.css, *-HASH.js        the page; what of it is loaded later in chunks
//   worker.js                            where the agent runs
//   NOTICE.txt                           the licences of all that is bundled
//   *.gz                                 what of the site compresses, for servers that send it

import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const folder = process.argv[2] && resolve(process.argv[2]);
if (folder === undefined) {
  console.error("name the folder to build into: node build.mjs FOLDER");
  process.exit(1);
}
process.chdir(HERE);
mkdirSync(folder, { recursive: true });

/** The packed package stays as it was published: the worker imports its entry beside it. */
const packageBeside = {
  name: "package-beside",
  setup(builder) {
    builder.onResolve({ filter: /^innerloop$/ }, () => {
      return { path: "./innerloop/dist/index.web.js", external: true };
    });
  },
};

const shared = {
  bundle: true,
  format: "esm",
  target: ["es2022"],
  minify: true,
  metafile: true,
  legalComments: "none",
  logLevel: "warning",
  outdir: folder,
  plugins: [packageBeside],
  external: ["icon.svg"],
  jsx: "automatic",
  jsxImportSource: "preact",
};
const results = [
  await build({
    ...shared,
    // Where it can ask whether a key waits, CodeMirror parses for 100 ms at a time; so it stops when
    // the browser is no longer idle.
    define: { "navigator.scheduling": "undefined" },
    entryPoints: [{ in: "src/page.tsx", out: "page" }],
    splitting: true,
    chunkNames: "[name]-[hash]",
  }),
  await build({ ...shared, entryPoints: [{ in: "src/worker/main.ts", out: "worker" }] }),
];
for (const file of ["index.html", "preview.html", "icon.svg"]) {
  copyFileSync(file, join(folder, file));
}
writeFileSync(join(folder, "NOTICE.txt"), notices(results));
compress(folder);

/** The licences of the packages of which something is in the bundles. */
function notices(built) {
  const inputs = built.flatMap(({ metafile }) => Object.keys(metafile.inputs));
  const names = inputs.flatMap((path) => {
    const [, name] = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path) ?? [];
    return name === undefined ? [] : [name];
  });
  return [...new Set(names)].sort().map(notice).join("\n\n");
}

function notice(name) {
  const home = join("node_modules", name);
  const file = readdirSync(home).find((each) => /^licen[cs]e/i.test(each));
  const { license } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
  const text = file === undefined ? `Licence: ${license}` : readFileSync(join(home, file), "utf8");
  return `This page contains ${name}:\n\n${text.trim()}\n`;
}

/** Puts a `.gz` beside each file that is worth it. */
function compress(site) {
  for (const path of readdirSync(site, { recursive: true })) {
    const file = join(site, path);
    if (!/\.(html|js|mjs|css|svg|wasm|json|txt|md)$/.test(path) || !statSync(file).isFile())
      continue;
    const bytes = readFileSync(file);
    const packed = gzipSync(bytes, { level: 9 });
    if (packed.length < bytes.length * 0.9) writeFileSync(`${file}.gz`, packed);
    else if (existsSync(`${file}.gz`)) rmSync(`${file}.gz`);
  }
}

for (const { metafile } of results) {
  for (const [path, { bytes }] of Object.entries(metafile.outputs)) {
    const file = relative(folder, resolve(dirname("."), path));
    console.log(`${file}: ${bytes} bytes`);
  }
}
