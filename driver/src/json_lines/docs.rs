//! The search for a project's instruction files and skills, for hosts that read files themselves.
//! The host names the files that there are and gets a list of those to read, until none is missing.
//! Nothing is kept between two requests: each has all texts that are known.

use alloc::{string::String, vec::Vec};
use innerloop_core::{
    config::{MAX_NESTED_DOCS, ProfileKind, ProjectDoc},
    doc_places, instructed_folder,
    skill::{SkillSet, skill_files},
    skills::SkillFacts,
    with_imports,
};
use innerloop_json::{FromJson, IntoList, Map, ToJson};

/// The facts that a host knows about a workspace's files.
#[derive(FromJson)]
#[json(deny_unknown_fields)]
pub(super) struct DocsRequest {
    profile: ProfileKind,
    paths: Vec<String>,
    /// The texts of those that were asked for; `None` where one cannot be read.
    #[json(default)]
    texts: Map<Option<String>>,
}

/// The instruction files and skills that are found, as far as texts are known.
#[derive(Debug, Default, ToJson)]
pub(super) struct DocsAnswer {
    /// Those of the workspace's topmost folder.
    project_docs: Vec<ProjectDoc>,
    /// Those of folders below.
    nested_docs: Vec<ProjectDoc>,
    /// The project's skills.
    skills: Vec<SkillFacts>,
    /// The reasons why other files of skills are not used.
    warnings: Vec<String>,
    /// The files whose texts are to be known first.
    missing: Vec<String>,
}

impl DocsAnswer {
    /// Finds the files that a model family reads, with what they import, as far as texts are known.
    pub(super) fn find(known: &DocsRequest) -> Self {
        let mut docs = Self::default();
        for place in doc_places(known.profile, "", "") {
            if known.paths.contains(&place) {
                let doc = docs.read(&place, known);
                docs.project_docs.extend(doc);
            }
        }
        let is_nested = |path: &&String| {
            let folder = instructed_folder(known.profile, path);
            // The path stands in a line of the prompt: a line feed in it would add words of the
            // repository to ours.
            folder.is_some_and(|folder| !folder.is_empty()) && !path.contains(char::is_control)
        };
        for path in known.paths.iter().filter(is_nested).take(MAX_NESTED_DOCS) {
            let doc = docs.read(path, known);
            docs.nested_docs.extend(doc);
        }
        let mut found = SkillSet::default();
        let paths: Vec<&str> = known.paths.iter().map(String::as_str).into_list();
        for path in skill_files(&paths) {
            docs.text(path, known).iter().for_each(|text| found.add(path, text));
        }
        (docs.skills, docs.warnings) = (found.skills, found.warnings);
        docs
    }

    fn read(&mut self, path: &str, known: &DocsRequest) -> Option<ProjectDoc> {
        let text = self.text(path, known)?;
        let text = with_imports(path, text, &mut |path| {
            // An import may name any file. What is in `.git` can hold passwords of remotes, and is
            // not even asked for; a file with a NUL is not text.
            let is_git = path.split('/').any(|name| name.eq_ignore_ascii_case(".git"));
            let text = (!is_git).then(|| self.text(path, known))?;
            text.filter(|text| !text.contains('\0'))
        });
        Some(ProjectDoc { path: path.into(), text, private: false })
    }

    fn text(&mut self, path: &str, known: &DocsRequest) -> Option<String> {
        match known.texts.get(path) {
            Some(text) => text.clone(),
            None => {
                if !self.missing.iter().any(|missing| missing == path) {
                    self.missing.push(path.into());
                }
                None
            }
        }
    }
}
