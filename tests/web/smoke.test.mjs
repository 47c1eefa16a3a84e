// What `cargo xtask test` runs of the packed package: that it has what it should, and that an agent
// fixes the example project.

import "./node/package.mjs";
import "./node/example.mjs";
