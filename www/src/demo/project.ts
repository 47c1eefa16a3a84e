// The example project, which lies beside the page as static files.

/** The project's files; the page test compares this list with the folder. */
export const PROJECT = [
  "README.md",
  "package.json",
  "src/cart.js",
  "src/discount.js",
  "src/money.js",
  "test.mjs",
];

/** The task in the example. */
export const PROMPT = "Make the tests pass";

/** Further wishes that the demo understands; the last one also in other workspaces. */
export const IDEAS = ["Add a comment", "Add another test", "Begin a changelog", "Write a page"];

/** Fetches the project's files; rejects if one is missing. */
export async function loadProject(): Promise<[string, Uint8Array][]> {
  return Promise.all(
    PROJECT.map(async (path): Promise<[string, Uint8Array]> => {
      const response = await fetch(new URL(`example/project/${path}`, import.meta.url));
      if (!response.ok) throw new Error(`${path}: the server answers ${response.status}`);
      return [path, new Uint8Array(await response.arrayBuffer())];
    }),
  );
}
