/** QuickJS, for the option `programs` of innerloop's agents. Nothing is loaded before it runs. */
export default {
  name: "qjs",
  description:
    "runs JavaScript: `qjs FILE.js`, or `qjs -m FILE.mjs` for a module; " +
    "`import * as std from 'qjs:std'` reads files",
  wasm: () => new URL("./dist/qjs.wasm", import.meta.url),
};
