//! A project's own file: where it is, and what it says.

use super::layer::{SettingSource, SettingsLayer};
use crate::style::brief;
use innerloop_host::facts;
use innerloop_workspace::{Workspace, digest::Digest};
use std::path::{Path, PathBuf};

/// The path of the file in the project's folder.
pub(super) const PATH: &str = ".innerloop/config.toml";

/// Most bytes of such a file.
const MAX_BYTES: u64 = 64 << 10;

/// Most characters of a line about it.
const WIDTH: usize = 200;

/// A project's file as it was found.
pub(super) struct ProjectFile {
    /// The folder that it speaks for.
    pub(super) folder: PathBuf,
    pub(super) digest: Digest,
    /// The settings in the file, or the reason why they can't be used.
    pub(super) layer: Result<SettingsLayer, String>,
}

impl ProjectFile {
    /// That of the workspace, or of the repository that it lies in.
    pub(super) fn find(workspace: &Workspace) -> Option<Self> {
        let (folder, bytes) = facts::project_file(workspace, PATH, MAX_BYTES)?;
        let digest = Digest::of(bytes.as_deref().unwrap_or_default());
        let layer = bytes.map_err(|error| error.to_string()).and_then(|bytes| {
            let text = String::from_utf8(bytes).map_err(|_| "it is no text in UTF-8".to_owned())?;
            SettingsLayer::of_text(SettingSource::Project(folder.join(PATH)), &text)
        });
        Some(Self { folder, digest, layer })
    }

    pub(super) fn path(&self) -> PathBuf {
        self.folder.join(PATH)
    }

    /// Returns what it sets, for people: a setting in a line each, harmless to a terminal.
    pub(super) fn lines(layer: &SettingsLayer) -> Vec<String> {
        let values = layer.values.iter().map(|(name, value)| format!("{name} = {}", value.shown()));
        let fields = layer.config.iter().map(|(name, value)| format!("config.{name} = {value}"));
        values.chain(fields).map(|line| brief(&line, WIDTH)).collect()
    }
}

/// Returns where a new file of that project would stand.
pub(super) fn place(workspace: &Workspace) -> PathBuf {
    let found = facts::project_file(workspace, PATH, MAX_BYTES).map(|(folder, _)| folder);
    found.as_deref().unwrap_or_else(|| Path::new(workspace.root())).join(PATH)
}
