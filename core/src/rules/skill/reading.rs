//! Recognition of calls that read the file of a skill, by which the skill becomes active. As with
//! other folders, paths are compared as text.

use crate::rules::folder_instructions::InstructionScope;
use innerloop_types::{action::Action, path::resolved, skills::SkillFacts};

/// The beginnings of commands that print a file.
const PRINTERS: [&str; 4] = ["cat ", "sed -n ", "nl ", "head "];

/// Returns the skill whose file an action of an agent in `folder` shows as a whole.
pub(crate) fn read_by<'a>(
    action: &Action,
    folder: &str,
    skills: &'a [SkillFacts],
) -> Option<&'a SkillFacts> {
    let is_whole = match action {
        Action::Read { offset, limit, .. } => {
            // A limit may be the tool's own; the standard asks for no more lines than that.
            offset.is_none_or(|first| first < 2) && limit.is_none_or(|most| most >= 500)
        }
        Action::ReadMany { .. } => true,
        Action::Shell { command, .. } => PRINTERS.iter().any(|it| command.starts_with(it)),
        _ => false,
    };
    skills.iter().filter(|_| is_whole).find(|skill| {
        let to = resolved(folder, &skill.place());
        to.is_some_and(|to| InstructionScope { folder, to: &to }.is_gone_by(action, None))
    })
}
