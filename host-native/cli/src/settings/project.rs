//! A project's own files: its settings, and the agents and skills that it describes. They may come
//! with a repository from anybody, so that reading them is bounded and their lines are escaped when
//! shown. They are trusted together or not at all.

use super::{
    hooks,
    layer::{SettingSource, SettingsLayer},
};
use crate::style::brief;
use innerloop_host::facts::{
    self,
    agent_files::{self, AgentFile},
    skill_files::{self, SkillFile},
};
use innerloop_workspace::{Workspace, digest::Digest};
use std::path::{Path, PathBuf};

/// The path of the file in the project's folder.
pub(super) const PATH: &str = ".innerloop/config.toml";

/// The most bytes of such a file.
const MAX_BYTES: u64 = 64 << 10;

/// The most characters of a line about it.
const WIDTH: usize = 200;

/// A project's files as they were found.
pub(super) struct ProjectFile {
    /// The folder that they belong to.
    pub(super) folder: PathBuf,
    pub(super) digest: Digest,
    /// The settings in the file, or the reason why they can't be used. Empty if there are only
    /// agents and skills.
    pub(super) layer: Result<SettingsLayer, String>,
    /// The files that describe agents.
    pub(super) agents: Vec<AgentFile>,
    /// The files that describe skills.
    pub(super) skills: Vec<SkillFile>,
    /// True if there is a file of settings.
    has_settings: bool,
}

impl ProjectFile {
    /// Finds the files of the workspace, or of the repository that it is in.
    pub(super) fn find(workspace: &Workspace) -> Option<Self> {
        let agents = agent_files::of_project(workspace);
        let skills = skill_files::of_project(workspace);
        let found = facts::project_file(workspace, PATH, MAX_BYTES);
        let has_settings = found.is_some();
        let (folder, bytes) = match found {
            Some(found) => found,
            None if agents.is_empty() && skills.is_empty() => return None,
            None => (workspace.root().to_owned(), Ok(Vec::new())),
        };
        let digest = digest(bytes.as_deref().unwrap_or_default(), &agents, &skills);
        let layer = bytes.map_err(|error| error.to_string()).and_then(|bytes| {
            let text = String::from_utf8(bytes).map_err(|_| "it is no text in UTF-8".to_owned())?;
            SettingsLayer::of_text(SettingSource::Project(folder.join(PATH)), &text)
        });
        Some(Self { folder, digest, layer, agents, skills, has_settings })
    }

    /// Returns the path of the settings or, if there are none, of the folder with the agents, or
    /// of the first skill.
    pub(super) fn path(&self) -> PathBuf {
        match (self.agents.first(), self.skills.first()) {
            _ if self.has_settings => self.folder.join(PATH),
            (Some(agent), _) => agent.folder().to_owned(),
            (None, Some(skill)) => self.folder.join(&skill.path),
            (None, None) => self.folder.join(PATH),
        }
    }

    /// Returns what they say, for people: a setting, agent or skill a line, harmless to a terminal.
    pub(super) fn lines(&self, layer: &SettingsLayer) -> Vec<String> {
        let agents = self.agents.iter().map(|file| match file.agent() {
            Ok((name, agent)) => format!("agent {name}: {}", agent.description),
            Err(why) => format!("{}: {why}", file.path.display()),
        });
        let values = layer.values.iter().map(|(name, value)| format!("{name} = {}", value.shown()));
        let fields = layer.config.iter().map(|(name, value)| format!("config.{name} = {value}"));
        let skills = skill_files::read(&self.skills);
        let known = skills.skills.iter().map(|it| format!("skill {}: {}", it.name, it.description));
        let skills = known.chain(skills.warnings.iter().cloned());
        let lines =
            values.chain(fields).chain(agents).chain(skills).map(|line| brief(&line, WIDTH));
        // Whole: nobody can trust the end of a command that is not shown.
        let hooks = layer.hooks.iter().map(|hook| {
            let (point, command) = (hooks::name(hook.point), hooks::shown(hook));
            let line = format!("hooks.{point} runs on this machine: {command}");
            brief(&line, hooks::MOST_COMMAND + 2 * WIDTH)
        });
        hooks.chain(lines).collect()
    }
}

/// Returns the digest of a project's files. Without agents and skills it is that of the settings
/// alone, as it was before there were any: what was trusted then still is.
fn digest(settings: &[u8], agents: &[AgentFile], skills: &[SkillFile]) -> Digest {
    let mut bytes = settings.to_vec();
    let agents = agents.iter().map(|AgentFile { path, text }| (path.as_path(), text));
    let skills = skills.iter().map(|SkillFile { path, text }| (Path::new(path), text));
    for (path, text) in agents.chain(skills) {
        // With lengths, so that no text can pass for another file.
        let head = format!("\n{} {}\n", text.len(), path.display());
        bytes.extend(head.bytes().chain(text.bytes()));
    }
    Digest::of(&bytes)
}

/// Returns the path of the project's file, or of a new one.
pub(super) fn place(workspace: &Workspace) -> PathBuf {
    let found = facts::project_file(workspace, PATH, MAX_BYTES).map(|(folder, _)| folder);
    found.as_deref().unwrap_or_else(|| Path::new(workspace.root())).join(PATH)
}
