/** The shell, for the option `programs` of innerloop's agents. Nothing is loaded before it runs. */
export default {
  name: "bash",
  description: "carries out command lines: pipelines, grep, sed, awk, find, jq and 200 more",
  wasm: () => new URL("./dist/bash.wasm", import.meta.url),
};
