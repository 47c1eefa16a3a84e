/** What QuickJS is called, and how the model is told of it. */
export const about = {
  name: "qjs",
  description:
    "runs JavaScript: `qjs FILE.js`, or `qjs -m FILE.mjs` for a module; " +
    "`import * as std from 'qjs:std'` reads files",
};
