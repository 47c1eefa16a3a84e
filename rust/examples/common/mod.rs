//! What the examples share: a project to work on, and a recording in place of the model.

#![allow(dead_code, reason = "not every example needs both")]

use innerloop::AgentBuilder;
use std::{env, fs, io, path::Path};
use tempfile::TempDir;

/// With the example's recording in place of the model. With `INNERLOOP_RECORD` set, it is the model
/// itself, and the recording is made anew.
pub(crate) fn model(builder: AgentBuilder, name: &str) -> AgentBuilder {
    let recordings = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/recordings");
    let recording = recordings.join(name).with_extension("jsonl");
    match env::var_os("INNERLOOP_RECORD") {
        Some(_) => builder.record(recording),
        None => builder.replay(recording),
    }
}

/// A folder with these files, which is removed with what is returned.
pub(crate) fn project(files: &[(&str, &str)]) -> io::Result<TempDir> {
    let folder = TempDir::new()?;
    for (path, text) in files {
        fs::write(folder.path().join(path), text)?;
    }
    Ok(folder)
}
