//! Skills: folders with instructions for one kind of task, in the open format of `SKILL.md`
//! (`docs/decisions.md#skills`). Here is what a session knows of them.

use alloc::{format, string::String, vec::Vec};
use innerloop_json::{FromJson, ToJson};

/// A skill that the model can use.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct SkillFacts {
    /// Its name, which `/name` and `$name` in an input call for.
    pub name: String,
    /// The sentence by which the model tells that a task needs it.
    pub description: String,
    /// The path of its `SKILL.md`, as the tools see it. If it begins with `~/`, no tool can read
    /// the file, and the model gets `body` in place of it. If it is empty, it is such a path.
    pub path: String,
    /// The instructions, without the front matter. Needed where no tool can read the file, and
    /// where skills are selected.
    #[json(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// The words of an input that speak for it.
    #[json(skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<String>,
    /// The words of an input that rule it out.
    #[json(skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    /// Words for the area that it belongs to, which speak less strongly for it.
    #[json(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The number of tokens that it counts for where skills are selected; a quarter of its bytes if
    /// that is more.
    #[json(skip_serializing_if = "crate::skills::is_zero")]
    pub max_tokens: u32,
}

impl SkillFacts {
    /// Returns the path by which the model knows it.
    #[must_use]
    pub fn place(&self) -> String {
        match self.path.as_str() {
            "" => format!("~/.agents/skills/{}/SKILL.md", self.name),
            path => path.into(),
        }
    }
}

pub(crate) const fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// The use that is made of skills.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum SkillUse {
    /// The system prompt names them, and the model reads those that it needs.
    #[default]
    Catalogue,
    /// Those whose words fit an input stand behind it. No others are shown.
    Selected,
    /// None.
    Off,
}

/// The people who read what the agent says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum AudienceKind {
    /// One person, who may know all that the documents say.
    #[default]
    Private,
    /// Several people: private documents are left out.
    Group,
}
