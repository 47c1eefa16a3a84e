// The packed package in Node: every suite below imports it from a project that installed the
// tarball. Run with `node --test node.test.mjs`; INNERLOOP_TARBALL names another tarball.

import "./node/package.mjs";
import "./node/example.mjs";
import "./node/loop.mjs";
import "./node/writing.mjs";
import "./node/network.mjs";
import "./node/fetches.mjs";
import "./node/results.mjs";
import "./node/secrets.mjs";
import "./node/keys.mjs";
import "./node/tools.mjs";
import "./node/schemas.mjs";
import "./node/replies.mjs";
import "./node/wasi-tools.mjs";
import "./node/programs.mjs";
import "./node/shell.mjs";
import "./node/lines.mjs";
import "./node/python.mjs";
import "./node/parity.mjs";
import "./node/files.mjs";
import "./node/folders.mjs";
import "./node/adapters.mjs";
import "./node/node-files.mjs";
import "./node/shared.mjs";
import "./node/composed.mjs";
import "./node/misuse.mjs";
import "./node/sessions.mjs";
import "./node/switching.mjs";
import "./node/undo.mjs";
import "./node/faults.mjs";
import "./node/session.mjs";
import "./node/people.mjs";
import "./node/compaction.mjs";
import "./node/config.mjs";
import "./node/core.mjs";
import "./node/types.mjs";
