import { about } from "./about.js";
import base64 from "./dist/inline.js";

/** QuickJS, in the script itself: for bundlers that leave files beside it behind. */
export default {
  ...about,
  wasm: () => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)),
};
