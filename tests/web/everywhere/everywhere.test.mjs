// The packed packages in every runtime and bundler that they are meant for. What a place needs
// comes from npm; where it is not to be had for this machine, its test is skipped and says so. Run by
// `cargo xtask everywhere`, or after `npm ci` here and in the folder above with `npm test`.

import "../places.test.mjs";
import "./runtimes.mjs";
import "./workerd.mjs";
import "./bundlers.mjs";
import "./vitest.mjs";
import "./next.mjs";
