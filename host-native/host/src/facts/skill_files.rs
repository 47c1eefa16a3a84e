//! The files of skills (`docs/decisions.md#skills`): those of the workspace, whose tools read them
//! at their places, and the user's own, which no tool can read. The core says which folders hold
//! some and what a file means.

use super::plain_files::FolderHandle;
use innerloop_core::{
    config::{SessionConfig, SkillFacts, SkillUse},
    skill::{MAX_SKILL_DEPTH, MAX_SKILL_FOLDERS, SKILL_FILE, SKILL_FOLDERS, SkillSet, skill_files},
};
use innerloop_workspace::{EntryKind, Workspace, plain_file};
use std::{env, fs, path::PathBuf};

/// The most bytes of a user's file; those of projects have the same limit.
const MOST_BYTES: u64 = 64 << 10;

/// A file that describes a skill.
#[derive(Clone, Debug)]
pub struct SkillFile {
    /// Its path, as the model names it.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// Returns the files of a workspace. Links are not followed.
#[must_use]
pub fn of_project(workspace: &Workspace) -> Vec<SkillFile> {
    let top = FolderHandle::of(workspace);
    let list = |folder: &str| {
        let entries = top.list(folder).into_iter().flatten();
        entries.filter_map(|entry| Some((entry.name.into_string().ok()?, entry.kind))).collect()
    };
    let found = found(&list);
    found.into_iter().filter_map(|path| Some(SkillFile { text: top.text(&path)?, path })).collect()
}

/// Returns the user's own files.
#[must_use]
pub fn of_user() -> Vec<SkillFile> {
    let Some(home) = env::home_dir() else { return Vec::new() };
    // Links are followed here: people keep their settings elsewhere and link to them.
    let list = |folder: &str| {
        let entries = fs::read_dir(home.join(folder)).into_iter().flatten().flatten();
        let named = |entry: fs::DirEntry| {
            let is_folder = entry.path().is_dir();
            let kind = if is_folder { EntryKind::Folder } else { EntryKind::File };
            Some((entry.file_name().into_string().ok()?, kind))
        };
        entries.filter_map(named).collect()
    };
    let read = |path: String| {
        let text = plain_file::text(&home.join(&path), MOST_BYTES).ok()?;
        Some(SkillFile { path: format!("~/{path}"), text })
    };
    found(&list).into_iter().filter_map(read).collect()
}

/// Returns the paths of files below the folders that may hold skills; `list` returns what is in a
/// folder.
fn found(list: &dyn Fn(&str) -> Vec<(String, EntryKind)>) -> Vec<String> {
    let mut folders: Vec<(String, usize)> =
        SKILL_FOLDERS.iter().map(|folder| ((*folder).to_owned(), 0)).collect();
    let mut paths = Vec::new();
    let mut at = 0;
    while let Some((folder, depth)) = folders.get(at).cloned() {
        at += 1;
        let mut entries = list(&folder);
        entries.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        for (name, kind) in entries {
            let path = format!("{folder}/{name}");
            let has_room = depth < MAX_SKILL_DEPTH && folders.len() < MAX_SKILL_FOLDERS;
            match kind {
                EntryKind::Folder if has_room => folders.push((path, depth + 1)),
                EntryKind::File if name == SKILL_FILE => paths.push(path),
                _ => {}
            }
        }
    }
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    skill_files(&paths).into_iter().map(str::to_owned).collect()
}

impl SkillFile {
    /// Returns its path on the machine.
    #[must_use]
    pub fn place(&self, workspace: &Workspace) -> PathBuf {
        workspace.root().join(&self.path)
    }
}

/// Returns the skills that files describe; of equal names the first counts.
#[must_use]
pub fn read(files: &[SkillFile]) -> SkillSet {
    let mut set = SkillSet::default();
    files.iter().for_each(|file| set.add(&file.path, &file.text));
    set
}

/// Returns the skills of a session in a line each, for people: the name, the description and the
/// place.
#[must_use]
pub fn lines(config: &SessionConfig) -> Vec<String> {
    let skills: &[SkillFacts] = match config.skills {
        SkillUse::Off => &[],
        SkillUse::Catalogue | SkillUse::Selected => &config.facts.skills,
    };
    let line =
        |skill: &SkillFacts| format!("{}: {} ({})", skill.name, skill.description, skill.place());
    skills.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn n3_the_look_for_skills_is_bounded_in_depth_and_folders() {
        // Each folder has four more, without end.
        let looked = std::cell::Cell::new(0);
        let paths = found(&|folder| {
            looked.set(looked.get() + 1);
            let folders = (0..4).map(|n| (format!("{n}"), EntryKind::Folder));
            assert!(folder.split('/').count() <= 2 + MAX_SKILL_DEPTH, "{folder}");
            folders.chain([(SKILL_FILE.to_owned(), EntryKind::File)]).collect()
        });
        assert_eq!(looked.get(), MAX_SKILL_FOLDERS);
        assert!(paths[0] == ".agents/skills/0/SKILL.md" && paths.len() < MAX_SKILL_FOLDERS);
    }
}
