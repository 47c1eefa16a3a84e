/** Python, for the option `programs` of innerloop's agents. Nothing is loaded before it runs. */
export default {
  name: "python",
  description:
    "runs Python 3.12 with its standard library: `python FILE.py`, `python -m unittest`, " +
    "`python -c CODE`; no pip, threads, processes or network",
  aliases: ["python3"],
  env: { PYTHONDONTWRITEBYTECODE: "1" },
  wasm: () => new URL("./dist/python.wasm.gz", import.meta.url),
};
