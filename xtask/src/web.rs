//! The tests of the packages in Node, started with what they need to know.

use std::process::Command;

use crate::npm;
use crate::workspace::Workspace;

/// The folder of these tests.
pub(crate) const FOLDER: &str = "tests/web";
/// A file of tests that takes longer hangs.
pub(crate) const TIMEOUT_MS: &str = "600000";

/// Runs a file of these tests.
pub(crate) fn test(workspace: &Workspace, file: &str, timeout_ms: &str) -> Command {
    let mut node = workspace.program("node", FOLDER);
    node.args(["--test", "--test-timeout", timeout_ms, "--test-reporter", "spec", file]);
    node.env("INNERLOOP_TARBALL", workspace.path(npm::TARBALL));
    if let Some(chromium) = &workspace.chromium {
        node.env("CHROMIUM", chromium);
    }
    node
}
