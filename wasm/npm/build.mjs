// Builds the package's JavaScript and types. The layout of dist/:
//
//   innerloop_wasm_bg.wasm, innerloop_wasm.js, innerloop_wasm.d.ts
//                       put here before by `cargo xtask`: the optimised module and wasm-bindgen's
//                       glue for `--target web`; only the module is packed
//   glue.js             the same glue as a function, so that there can be several instances; one
//                       module and one glue serve every platform
//   index.{web,node,workerd,edge}.js the entries, a few lines each, over shared chunk-*.js
//   index.inline.{web,node}.js       the entries that load nothing from beside them: the module,
//                                    by gzip and in base64, in a chunk that both share, and workers
//   files.{node,opfs,durable}.js     the ready file systems, each by itself
//   supervisor.{web,node,workerd,edge}.js the reader of commands, by itself, over its own module:
//                       innerloop_supervisor.wasm, put here before as well
//   toml-*.js                        what reads a `tool.toml`, loaded for it
//   zip-*.js                         what makes and reads archives, loaded for them
//   program.{web,node}.js            the workers that run WASI programs, whole
//   types/                           the declarations
//
// Run it with `npm run build` after `npm ci`.

import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build, transform } from "esbuild";

process.chdir(fileURLToPath(new URL(".", import.meta.url)));

const GLUE = ["innerloop_wasm_bg.wasm", "innerloop_wasm.js", "innerloop_wasm.d.ts"];
/** What the glue may weigh, in bytes. */
const MOST_GLUE = 25_000;
const SUPERVISOR = "innerloop_supervisor.wasm";
const GIVEN = [...GLUE, SUPERVISOR];
const missing = GIVEN.filter((file) => !existsSync(`dist/${file}`));
if (missing.length > 0) {
  console.error(`dist/ lacks ${missing.join(", ")}: run \`cargo xtask prepare\` first`);
  process.exit(1);
}

for (const file of readdirSync("dist")) {
  if (!GIVEN.includes(file)) rmSync(`dist/${file}`, { recursive: true });
}

const shared = {
  bundle: true,
  format: "esm",
  target: "es2022",
  outdir: "dist",
  logLevel: "warning",
};

/** Makes a function of wasm-bindgen's glue, so that there can be several instances. */
const glue = {
  name: "glue",
  setup({ onResolve, onLoad }) {
    const path = fileURLToPath(new URL("dist/innerloop_wasm.js", import.meta.url));
    onResolve({ filter: /\/innerloop_wasm\.js$/ }, () => ({ path }));
    onLoad({ filter: /innerloop_wasm\.js$/ }, () => {
      const exported = [];
      const body = readFileSync(path, "utf8")
        .replace(/^export (class|function) (\w+)/gm, (_, kind, name) => {
          exported.push(name);
          return `${kind} ${name}`;
        })
        .replace("export { initSync, __wbg_init as default };", "")
        // The module holds an agent's functions, and these the agent: no collector ever sees one
        // that was not freed, and its registration would be 5 % of an idle agent's memory.
        .replace(/^.*RawAgentFinalization\.(un)?register\(.*$\n/gm, "")
        .replace(/^const RawAgentFinalization = [^;]*;\n/m, "")
        // A module may be of another realm, as in the sandbox of Next's edge runtime.
        .replace("!(module instanceof WebAssembly.Module)", "!isModule(module)");
      const isStrange = /^(ex|im)port\b|RawAgentFinalization/m.test(body);
      const isKnown = /!isModule/.test(body) && !isStrange;
      if (!isKnown) throw new Error("the glue is not as it is known");
      const own = ["module: () => wasmModule", "bytes: () => getUint8ArrayMemory0().byteLength"];
      const all = [...exported, "initSync", "load: __wbg_init", ...own];
      const whole = `export function instantiate() {\n${body}\nreturn { ${all} };\n}\n`;
      const imports = [
        'import { isModule } from "./kinds.js";',
        'import { TextDecoder, TextEncoder } from "./coders.js";',
      ];
      const contents = [...imports, whole].join("\n");
      return { contents, resolveDir: fileURLToPath(new URL("src/platform", import.meta.url)) };
    });
  },
};

/** The glue stands beside what uses it. */
const beside = {
  name: "beside",
  setup({ onResolve }) {
    onResolve({ filter: /\/innerloop_wasm\.js$/ }, () => ({ path: "./glue.js", external: true }));
  },
};

/** Builds a worker as the text of a plain script. */
async function script(entry, format) {
  const whole = {
    bundle: true,
    write: false,
    minify: true,
    target: "es2022",
    external: ["node:*"],
  };
  const { outputFiles } = await build({ ...whole, format, entryPoints: [entry] });
  return outputFiles[0].text;
}

/** Code without its comments on lines of their own: the types have what people read. */
async function uncommented(code) {
  const bare = code.replace(/^ *\/\*\*[^]*?\*\/\n/gm, "").replace(/^ *\/\/ .*\n/gm, "");
  const [before, after] = await Promise.all(
    [code, bare].map((text) => transform(text, { minify: true })),
  );
  if (before.code !== after.code) throw new Error("what looks like a comment is none");
  return bare;
}

/** What `inline:` stands for; by gzip the module is less than half as long, once in base64. */
const texts = {
  module: () => gzipSync(readFileSync(`dist/${GLUE[0]}`), { level: 9 }).toString("base64"),
  "program.web": () => script("src/wasi/program.web.ts", "iife"),
  "program.node": () => script("src/wasi/program.node.ts", "cjs"),
};
const inline = {
  name: "inline",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^inline:/ }, ({ path }) => ({ path: path.slice(7), namespace: "inline" }));
    const onText = async ({ path }) => ({ contents: await texts[path](), loader: "text" });
    onLoad({ filter: /./, namespace: "inline" }, onText);
  },
};
await build({
  ...shared,
  plugins: [glue],
  entryPoints: { glue: "./innerloop_wasm.js" },
  minifyWhitespace: true,
  minifySyntax: true,
});
const { length } = readFileSync("dist/glue.js");
if (length > MOST_GLUE) throw new Error(`the glue has ${length} bytes, of at most ${MOST_GLUE}`);

await build({
  ...shared,
  plugins: [beside, inline],
  entryPoints: ["web", "node", "workerd", "edge", "inline.web", "inline.node"].map(
    (platform) => `src/index.${platform}.ts`,
  ),
  splitting: true,
  external: ["./innerloop_wasm_bg.wasm", "./innerloop_wasm_bg.wasm?module", "node:*"],
});
// A class that speaks of itself comes out under another name, which people would read.
for (const file of readdirSync("dist").filter((name) => name.startsWith("chunk-"))) {
  const text = await uncommented(readFileSync(`dist/${file}`, "utf8"));
  const named = text.replace(/\bvar (\w+) = class _\1\b/g, "var $1 = class $1");
  const names = [...text.matchAll(/\bvar (\w+) = class _\1\b/g)].map(([, name]) => name);
  const own = (all, name) => all.replaceAll(new RegExp(`\\b_${name}\\b`, "g"), name);
  writeFileSync(`dist/${file}`, names.reduce(own, named));
}
const alone = {
  "program.web": "src/wasi/program.web.ts",
  "program.node": "src/wasi/program.node.ts",
  "files.node": "src/files.node.ts",
  "files.opfs": "src/files.opfs.ts",
  "files.durable": "src/files.durable.ts",
  "supervisor.web": "src/supervisor.web.ts",
  "supervisor.node": "src/supervisor.node.ts",
  "supervisor.workerd": "src/supervisor.workerd.ts",
  "supervisor.edge": "src/supervisor.edge.ts",
};
const external = ["node:*", `./${SUPERVISOR}`, `./${SUPERVISOR}?module`];
await build({ ...shared, entryPoints: alone, external });
execFileSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "."], {
  stdio: "inherit",
});
writeFileSync(
  "dist/types/wasm-module.d.ts",
  'declare const module: import("./platform/globals.js").WasmModule;\nexport default module;\n',
);

const licences = [
  ["program.*.js and index.inline.*.js contain", "@bjorn3/browser_wasi_shim", "LICENSE-MIT"],
  ["toml-*.js contain", "smol-toml", "LICENSE"],
  ["zip-*.js contain", "fflate", "LICENSE"],
];
const notices = licences.map(([files, name, licence]) => {
  const text = readFileSync(`node_modules/${name}/${licence}`, "utf8");
  return `The files ${files} ${name}:\n\n${text.trim()}\n`;
});
writeFileSync("dist/NOTICE.txt", notices.join("\n\n"));
