// The example project, the recorded model traffic and the program that runs its test: static
// files beside the page.

/** The project's files; the page test compares this list with the folder. */
export const PROJECT = [
  "README.md",
  "package.json",
  "src/cart.js",
  "src/discount.js",
  "src/money.js",
  "test.mjs",
];

/** What the recording was made with: a replay takes no other words. */
export const PROMPT = "Make the tests pass";

/** The project as a `Map` of path to text. */
export async function loadProject() {
  const texts = await Promise.all(PROJECT.map((path) => loadText(`example/project/${path}`)));
  return new Map(PROJECT.map((path, at) => [path, texts[at]]));
}

/** The recorded traffic. */
export function loadTraffic() {
  return loadText("example/traffic.jsonl");
}

/** The programs that the agent may run. */
export const PROGRAMS = {
  qjs: {
    wasm: new URL("programs/qjs.wasm", document.baseURI),
    description: "QuickJS: `qjs -m file.mjs` runs a JavaScript module",
  },
};

/** With a model of one's own, command lines and Python as well: fetched when one runs. */
export const SHELL = {
  bash: { wasm: () => new URL("programs/bash.wasm", document.baseURI) },
  python: {
    wasm: () => new URL("programs/python.wasm.gz", document.baseURI),
    description: "Python 3.12 with its standard library: `python file.py`, `python -m unittest`",
    aliases: ["python3"],
    env: { PYTHONDONTWRITEBYTECODE: "1" },
  },
};

async function loadText(path) {
  const response = await fetch(path);
  if (!response.ok) throw new Error(`${path}: the server answers ${response.status}`);
  return response.text();
}
