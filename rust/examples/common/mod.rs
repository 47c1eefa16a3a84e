//! The parts that the examples share: a project to work on, and a recording in place of the model.

#![allow(dead_code, reason = "not every example needs both")]

use innerloop::AgentBuilder;
use std::{env, fs, io, path::Path};
use tempfile::TempDir;

/// Lets the example's recording answer in place of the model. If `INNERLOOP_RECORD` is set, the
/// model itself answers, and the recording is made anew.
pub(crate) fn model(builder: AgentBuilder, name: &str) -> AgentBuilder {
    let recordings = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/recordings");
    let recording = recordings.join(name).with_extension("jsonl");
    match env::var_os("INNERLOOP_RECORD") {
        Some(_) => builder.record(recording),
        None => builder.replay(recording),
    }
}

/// Makes a temporary folder with these files. Dropping it removes the folder.
pub(crate) fn project(files: &[(&str, &str)]) -> io::Result<TempDir> {
    let folder = TempDir::new()?;
    for (path, text) in files {
        fs::write(folder.path().join(path), text)?;
    }
    Ok(folder)
}
