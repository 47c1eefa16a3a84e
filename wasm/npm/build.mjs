// Builds the package's JavaScript and types. The layout of dist/:
//
//   innerloop_wasm_bg.wasm, innerloop_wasm.js, innerloop_wasm.d.ts
//                       put here before by `cargo xtask`: the optimised module and wasm-bindgen's
//                       glue for `--target web`; one module and one glue serve every platform
//   index.{web,node,workerd}.js      the entries, a few lines each, over shared chunk-*.js
//   toml-*.js                        what reads a `tool.toml`, loaded for it
//   program.{web,node}.js            the workers that run WASI programs, whole
//   types/                           the declarations
//
// Run it with `npm run build` after `npm ci`.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

process.chdir(fileURLToPath(new URL(".", import.meta.url)));

const GLUE = ["innerloop_wasm_bg.wasm", "innerloop_wasm.js", "innerloop_wasm.d.ts"];
const missing = GLUE.filter((file) => !existsSync(`dist/${file}`));
if (missing.length > 0) {
  console.error(`dist/ lacks ${missing.join(", ")}: run \`cargo xtask prepare\` first`);
  process.exit(1);
}

for (const file of readdirSync("dist")) {
  if (!GLUE.includes(file)) rmSync(`dist/${file}`, { recursive: true });
}

const shared = {
  bundle: true,
  format: "esm",
  target: "es2022",
  outdir: "dist",
  logLevel: "warning",
};
await build({
  ...shared,
  entryPoints: ["src/index.web.ts", "src/index.node.ts", "src/index.workerd.ts"],
  splitting: true,
  external: ["./innerloop_wasm.js", "./innerloop_wasm_bg.wasm", "node:*"],
});
await build({
  ...shared,
  entryPoints: ["src/program.web.ts", "src/program.node.ts"],
  external: ["node:*"],
});
execFileSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "."], {
  stdio: "inherit",
});
writeFileSync(
  "dist/types/wasm-module.d.ts",
  "declare const module: WebAssembly.Module;\nexport default module;\n",
);

const licences = [
  ["program.*.js contain", "@bjorn3/browser_wasi_shim", "LICENSE-MIT"],
  ["toml-*.js contain", "smol-toml", "LICENSE"],
];
const notices = licences.map(([files, name, licence]) => {
  const text = readFileSync(`node_modules/${name}/${licence}`, "utf8");
  return `The files ${files} ${name}:\n\n${text.trim()}\n`;
});
writeFileSync("dist/NOTICE.txt", notices.join("\n\n"));
