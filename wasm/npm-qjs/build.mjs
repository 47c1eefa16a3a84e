// Makes dist/inline.js of dist/qjs.wasm: the module by gzip and in base64, which is less than half
// as long as in base64 alone. Run by `cargo xtask`.

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

process.chdir(fileURLToPath(new URL(".", import.meta.url)));

const base64 = gzipSync(readFileSync("dist/qjs.wasm"), { level: 9 }).toString("base64");
writeFileSync("dist/inline.js", `export default "${base64}";\n`);
