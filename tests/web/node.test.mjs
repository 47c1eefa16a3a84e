// The packed package in Node: every suite below imports it from a project that installed the
// tarball. Run with `node --test node.test.mjs`; INNERLOOP_TARBALL names another tarball.

import "./node/package.mjs";
import "./node/example.mjs";
import "./node/loop.mjs";
import "./node/network.mjs";
import "./node/secrets.mjs";
import "./node/tools.mjs";
import "./node/wasi-tools.mjs";
import "./node/programs.mjs";
import "./node/shell.mjs";
import "./node/lines.mjs";
import "./node/python.mjs";
import "./node/parity.mjs";
import "./node/folders.mjs";
import "./node/composed.mjs";
import "./node/misuse.mjs";
import "./node/sessions.mjs";
import "./node/session.mjs";
import "./node/people.mjs";
import "./node/config.mjs";
import "./node/types.mjs";
