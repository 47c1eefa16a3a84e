// The languages of the editor. Each is loaded with its first file, so that the page starts small.

import type { LanguageSupport } from "@codemirror/language";

const LOADERS: [RegExp, () => Promise<LanguageSupport>][] = [
  [
    /\.(m?js|cjs|jsx)$/,
    async () => (await import("@codemirror/lang-javascript")).javascript({ jsx: true }),
  ],
  [
    /\.(m?ts|cts|tsx)$/,
    async () => {
      const { javascript } = await import("@codemirror/lang-javascript");
      return javascript({ typescript: true, jsx: true });
    },
  ],
  [/\.(html?|svg|vue)$/, async () => (await import("@codemirror/lang-html")).html()],
  [/\.css$/, async () => (await import("@codemirror/lang-css")).css()],
  [/\.(json|jsonl)$/, async () => (await import("@codemirror/lang-json")).json()],
  [/\.(md|markdown)$/, async () => (await import("@codemirror/lang-markdown")).markdown()],
  [/\.py$/, async () => (await import("@codemirror/lang-python")).python()],
  [/\.rs$/, async () => (await import("@codemirror/lang-rust")).rust()],
];

/** Returns the language of a file, if the editor knows it. */
export async function languageOf(path: string): Promise<LanguageSupport | undefined> {
  const [, load] = LOADERS.find(([pattern]) => pattern.test(path)) ?? [];
  return load?.();
}
