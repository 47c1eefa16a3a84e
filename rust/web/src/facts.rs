//! The facts about the environment in the model's prompt: the date, and the instruction files of
//! the project.

use crate::{clock::today, files::MemoryFiles};
use innerloop_core::{
    config::{EnvironmentFacts, MAX_NESTED_DOCS, ProfileKind, ProjectDoc},
    doc_places, instructed_folder,
    skill::{SkillSet, skill_files},
    skills::SkillFacts,
    with_imports,
};

/// Returns the facts of a page, without those from its files.
pub(crate) fn of_page() -> EnvironmentFacts {
    EnvironmentFacts {
        working_directory: "/".into(),
        platform: "wasm".into(),
        date: today(),
        ..EnvironmentFacts::default()
    }
}

/// Adds the instruction files that a model family reads, the skills among the files, and those that
/// are given.
pub(crate) fn with_docs(
    facts: EnvironmentFacts,
    family: ProfileKind,
    files: &MemoryFiles,
    given: &[SkillFacts],
) -> EnvironmentFacts {
    let doc = |path: &str| {
        let text = with_imports(path, files.text(path)?, &mut |path| files.text(path));
        Some(ProjectDoc { path: path.to_owned(), text, private: false })
    };
    let paths = files.paths();
    let is_nested =
        |path: &&String| instructed_folder(family, path).is_some_and(|folder| !folder.is_empty());
    let nested = paths.iter().filter(is_nested).take(MAX_NESTED_DOCS);
    let mut found = SkillSet::default();
    let names: Vec<&str> = paths.iter().map(String::as_str).collect();
    for path in skill_files(&names) {
        files.text(path).iter().for_each(|text| found.add(path, text));
    }
    given.iter().for_each(|skill| found.put(skill.clone()));
    EnvironmentFacts {
        skills: found.skills,
        project_docs: doc_places(family, "", "").iter().filter_map(|path| doc(path)).collect(),
        nested_docs: nested.filter_map(|path| doc(path)).collect(),
        ..facts
    }
}
