//! The catalogue of skills in the system prompt: of each its name, description and path, about a
//! hundred tokens at most.

use alloc::{format, string::String};
use innerloop_types::{skills::SkillFacts, text::prefix};

/// The most bytes of one entry, and of all.
const ENTRY: usize = 400;
const ALL: usize = 32 * 1024;

/// What the model is told about them.
const INTRODUCTION: &str = "Each is a file of instructions for one kind of task. Before you begin \
                            a task that fits a description, read that file whole and do as it \
                            says. Other files that it names are in its folder.\n\n";

/// Returns the catalogue, empty without skills.
pub(crate) fn catalogue(skills: &[SkillFacts]) -> String {
    let mut out = String::new();
    for skill in skills {
        let SkillFacts { name, description, .. } = skill;
        let place = skill.place();
        let room = ENTRY.saturating_sub(name.len() + place.len());
        let shown = prefix(description, room);
        let rest = if shown.len() < description.len() { "…" } else { "" };
        let entry = format!("- {name}: {shown}{rest} ({place})\n");
        if out.len() + entry.len() > ALL {
            out.push_str("- and more, for which there is no room\n");
            break;
        }
        if out.is_empty() {
            out.push_str(INTRODUCTION);
        }
        out.push_str(&entry);
    }
    out
}
