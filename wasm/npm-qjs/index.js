import { about } from "./about.js";

/** QuickJS, for the option `programs` of innerloop's agents. Nothing is loaded before it runs. */
export default { ...about, wasm: () => new URL("./dist/qjs.wasm", import.meta.url) };
