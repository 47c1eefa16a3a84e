//! Skills in the open format (`docs/decisions.md#skills`): where their files are, what a file says,
//! and which skills an input calls for. Hosts list folders and read files; what counts is decided
//! here.

mod catalogue;
mod front_matter;
pub(crate) mod reading;
pub(crate) mod selection;

pub(crate) use catalogue::catalogue;

use alloc::{format, string::String, vec::Vec};
use front_matter::{FrontField, fields, parts};
use innerloop_json::{IntoList, from_str, quoted};
use innerloop_types::skills::SkillFacts;

/// The folders of a workspace that hold skills, the one that goes before first. Those of the same
/// names in the user's home hold the user's.
pub const SKILL_FOLDERS: [&str; 2] = [".agents/skills", ".claude/skills"];

/// The number of folders below one of those that may be between it and a skill, with the skill's
/// own.
pub const MAX_SKILL_DEPTH: usize = 6;

/// The number of folders in which a host looks for skills.
pub const MAX_SKILL_FOLDERS: usize = 2_000;

/// The name of a skill's file.
pub const SKILL_FILE: &str = "SKILL.md";

/// The fields of front matter that the standard knows, the required ones first.
const FIELDS: [&str; 6] =
    ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];

/// The limits of the standard on some fields, in characters.
const LIMITS: [(&str, usize); 3] = [("name", 64), ("description", 1_024), ("compatibility", 500)];

/// The skills that are found.
#[derive(Clone, Debug, Default)]
pub struct SkillSet {
    /// Those that can be used.
    pub skills: Vec<SkillFacts>,
    /// The reasons why others can't be.
    pub warnings: Vec<String>,
}

impl SkillSet {
    /// Adds the skill whose file has that path and that text. Of equal names the first counts, so
    /// that the project's come before the user's.
    pub fn add(&mut self, path: &str, text: &str) {
        match read_skill(path, text) {
            Ok(skill) => self.put(skill),
            Err(why) => self.warn(path, why),
        }
    }

    /// Adds a skill, unless there is one of its name.
    pub fn put(&mut self, skill: SkillFacts) {
        if self.skills.iter().any(|known| known.name == skill.name) {
            self.warn(&skill.place(), "another skill of its name goes before it");
        } else {
            self.skills.push(skill);
        }
    }

    fn warn(&mut self, path: &str, why: &str) {
        self.warnings.push(format!("{path} is not used: {why}"));
    }
}

/// Returns the files of skills among those of a workspace, in the order in which they count.
#[must_use]
pub fn skill_files<'a>(paths: &[&'a str]) -> Vec<&'a str> {
    let found = SKILL_FOLDERS.iter().flat_map(|folder| {
        paths.iter().copied().filter(move |path| {
            let below = path.strip_prefix(folder).and_then(|path| path.strip_prefix('/'));
            let above = below.and_then(|path| path.strip_suffix(SKILL_FILE));
            // The path stands in a line of the prompt, where a line feed would add words of the
            // repository's to ours.
            above.is_some_and(|above| {
                let depth = above.matches('/').count();
                (1..=MAX_SKILL_DEPTH).contains(&depth)
                    && above.ends_with('/')
                    && !path.contains(char::is_control)
            })
        })
    });
    found.take(MAX_SKILL_FOLDERS).into_list()
}

/// Reads the file of a skill.
///
/// # Errors
/// The reason why there is no skill in it.
pub fn read_skill(path: &str, text: &str) -> Result<SkillFacts, &'static str> {
    let (head, body) = parts(text).ok_or("it does not begin with front matter")?;
    let fields = fields(head);
    let (name, description) = (text_of(&fields, "name"), text_of(&fields, "description"));
    if name.is_empty() || description.is_empty() {
        return Err("it has no name or no description");
    }
    let metadata = fields.iter().find(|field| field.key == "metadata");
    let own: &[FrontField] = metadata.map_or(&[], |field| &field.map);
    Ok(SkillFacts {
        name: one_line(name),
        description: one_line(description),
        path: path.into(),
        body: Some(body.trim().into()),
        keywords: list_of(own, "keywords"),
        exclude: list_of(own, "exclude"),
        tags: list_of(own, "tags"),
        max_tokens: from_str(text_of(own, "max-tokens")).unwrap_or_default(),
    })
}

/// Returns what the standard finds wrong with the file of a skill; we are more lenient.
#[must_use]
pub fn skill_faults(path: &str, text: &str) -> Vec<String> {
    let Some((head, _)) = parts(text) else { return Vec::from(["no front matter".into()]) };
    let mut faults = Vec::new();
    let fields = fields(head);
    for FrontField { key, .. } in &fields {
        if !FIELDS.contains(&key.as_str()) {
            faults.push(format!("{} is no field of the standard", quoted(key)));
        }
    }
    for key in FIELDS.iter().take(2) {
        if text_of(&fields, key).is_empty() {
            faults.push(format!("it has no {key}"));
        }
    }
    for (key, limit) in LIMITS {
        let length = text_of(&fields, key).chars().count();
        if length > limit {
            faults.push(format!("{key} has {length} characters, more than {limit}"));
        }
    }
    let name = text_of(&fields, "name");
    let is_part = |c: char| c == '-' || (c.is_alphanumeric() && !c.is_uppercase());
    let is_name = name.chars().all(is_part) && !name.starts_with('-') && !name.ends_with('-');
    if !is_name || name.contains("--") {
        faults.push("its name is not made of small letters, digits and single hyphens".into());
    }
    let folder = path.rsplit('/').nth(1).unwrap_or_default();
    if !name.is_empty() && folder != name {
        faults.push(format!("its folder is named {}", quoted(folder)));
    }
    faults
}

/// Returns the text of a field, empty if there is none.
fn text_of<'a>(fields: &'a [FrontField], key: &str) -> &'a str {
    let field = fields.iter().find(|field| field.key == key);
    field.map_or("", |field| field.value.trim())
}

fn list_of(fields: &[FrontField], key: &str) -> Vec<String> {
    let mut list = Vec::new();
    for text in text_of(fields, key).split(',').map(str::trim) {
        if !text.is_empty() {
            list.push(text.into());
        }
    }
    list
}

/// Returns a text as one line: it stands in one of the prompt.
fn one_line(text: &str) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        line.push_str(if line.is_empty() { "" } else { " " });
        line.extend(word.chars().filter(|c| !c.is_control()));
    }
    line
}

#[cfg(test)]
mod tests;
