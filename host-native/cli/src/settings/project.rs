//! A project's own settings file: its place, its digest and its settings. It may come with a
//! repository from anybody, so that reading it is bounded and its lines are escaped when shown.

use super::{
    hooks,
    layer::{SettingSource, SettingsLayer},
};
use crate::style::brief;
use innerloop_host::facts;
use innerloop_workspace::{Workspace, digest::Digest};
use std::path::{Path, PathBuf};

/// The path of the file in the project's folder.
pub(super) const PATH: &str = ".innerloop/config.toml";

/// The most bytes of such a file.
const MAX_BYTES: u64 = 64 << 10;

/// The most characters of a line about it.
const WIDTH: usize = 200;

/// A project's file as it was found.
pub(super) struct ProjectFile {
    /// The folder that it belongs to.
    pub(super) folder: PathBuf,
    pub(super) digest: Digest,
    /// The settings in the file, or the reason why they can't be used.
    pub(super) layer: Result<SettingsLayer, String>,
}

impl ProjectFile {
    /// Finds the file of the workspace, or of the repository that it lies in.
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

    /// Returns what it sets, for people: one setting per line, harmless to a terminal.
    pub(super) fn lines(layer: &SettingsLayer) -> Vec<String> {
        let values = layer.values.iter().map(|(name, value)| format!("{name} = {}", value.shown()));
        let fields = layer.config.iter().map(|(name, value)| format!("config.{name} = {value}"));
        let lines = values.chain(fields).map(|line| brief(&line, WIDTH));
        // Whole: nobody can trust the end of a command that is not shown.
        let hooks = layer.hooks.iter().map(|hook| {
            let (point, command) = (hooks::name(hook.point), hooks::shown(hook));
            let line = format!("hooks.{point} runs on this machine: {command}");
            brief(&line, hooks::MOST_COMMAND + 2 * WIDTH)
        });
        hooks.chain(lines).collect()
    }
}

/// Returns the path of the project's file, or of a new one.
pub(super) fn place(workspace: &Workspace) -> PathBuf {
    let found = facts::project_file(workspace, PATH, MAX_BYTES).map(|(folder, _)| folder);
    found.as_deref().unwrap_or_else(|| Path::new(workspace.root())).join(PATH)
}
