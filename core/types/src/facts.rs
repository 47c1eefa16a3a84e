//! The facts about the place that an agent works in, as data: the host collects them, the core
//! never looks.

use crate::skills::{AudienceKind, SkillFacts};
use alloc::{string::String, vec::Vec};
use innerloop_json::{FromJson, ToJson};

/// The facts about the agent's environment that the system prompt states. Facts that are empty or
/// absent are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct EnvironmentFacts {
    /// The workspace, as the tools see it.
    pub working_directory: String,
    /// `linux`, `darwin`, `windows`, `wasm`.
    pub platform: String,
    /// The version of the operating system.
    pub os_version: String,
    /// The current date as `YYYY-MM-DD`.
    // Given, not read: the prompt must be the same in a replay, and a date that changed at midnight
    // would lose the provider's cache.
    pub date: String,
    /// The state of version control, if the workspace is under it.
    pub git: Option<GitFacts>,
    /// True if the workspace is known to be in no repository of git.
    pub no_git: bool,
    /// The model's knowledge cutoff.
    pub knowledge_cutoff: String,
    /// Programs that `run_program` can run. Without any, the tool is not offered.
    pub programs: Vec<ProgramFacts>,
    /// Instruction files of the project, root first.
    pub project_docs: Vec<ProjectDoc>,
    /// Instruction files of folders below the workspace's top, in any order. An agent reads those
    /// on the way to its folder and in it.
    pub nested_docs: Vec<ProjectDoc>,
    /// Skills that the model can use. Of those with equal names the first counts.
    #[json(skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<SkillFacts>,
    /// The people who read what the agent says.
    #[json(skip_serializing_if = "EnvironmentFacts::is_private")]
    pub audience: AudienceKind,
    /// The place that answers are delivered to by the host, such as a channel; the model is told to
    /// send none of them by a tool.
    #[json(skip_serializing_if = "Option::is_none")]
    pub reply_route: Option<String>,
}

impl EnvironmentFacts {
    /// Returns those of the documents that the audience may know.
    pub fn shown<'a>(&self, docs: &'a [ProjectDoc]) -> impl Iterator<Item = &'a ProjectDoc> {
        let is_group = self.audience == AudienceKind::Group;
        docs.iter().filter(move |doc| {
            let name = doc.path.rsplit(['/', '\\']).next().unwrap_or_default();
            !is_group || !(doc.private || name.eq_ignore_ascii_case("MEMORY.md"))
        })
    }

    fn is_private(audience: &AudienceKind) -> bool {
        *audience == AudienceKind::Private
    }
}

/// The state of version control when the session began.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct GitFacts {
    /// The name of the current branch.
    pub branch: String,
    /// The number of modified files, if the host knows it.
    pub modified: Option<u32>,
    /// The number of untracked files, if the host knows it.
    pub untracked: Option<u32>,
    /// Subjects of the newest commits, newest first.
    pub recent_commits: Vec<String>,
}

/// A program of the host's registry.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(deny_unknown_fields)]
pub struct ProgramFacts {
    /// The name under which it runs.
    pub name: String,
    /// A sentence that describes it and its usage.
    pub description: String,
}

/// The maximum number of instruction files of nested folders that a host passes on.
// The prompt names each of them, so that a repository with an instruction file in every folder
// would fill it.
pub const MAX_NESTED_DOCS: usize = 32;

/// An instruction file of the project.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(deny_unknown_fields)]
pub struct ProjectDoc {
    /// Its path as seen from the workspace.
    pub path: String,
    /// The text of the file.
    pub text: String,
    /// True if it is left out where a group reads along, as `MEMORY.md` always is.
    #[json(default, skip_serializing_if = "core::ops::Not::not")]
    pub private: bool,
}
