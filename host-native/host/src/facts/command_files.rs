//! Commands that a person adds, from files: `.agents/commands/NAME.md` and
//! `.claude/commands/NAME.md` of a project and of the user's home. A file is the template of a
//! text; it may begin with front matter that describes it. Folders below these are not read.

use super::agent_files::{fields, in_home, in_project, parts};
use innerloop_workspace::Workspace;
use std::path::PathBuf;

/// The folders of such files, the one that goes before first.
const FOLDERS: [&str; 2] = [".agents/commands", ".claude/commands"];

/// A file that describes a command.
#[derive(Clone, Debug)]
pub struct CommandFile {
    /// The path of the file.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
}

/// A command as its file describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandTemplate {
    /// The command's name without the slash: that of the file.
    pub name: String,
    /// The description for people; empty if there is none.
    pub description: String,
    /// The arguments that it takes, for people; empty if nothing is said of them.
    pub argument_hint: String,
    /// The text that it becomes, with places for the arguments.
    pub template: String,
}

/// Returns the files of a project: those of the workspace or, if it has none, of the repository
/// that it is in. Links are not followed. A folder gives at most 64 files, in the order of their
/// names, each of at most 64 KiB.
#[must_use]
pub fn of_project(workspace: &Workspace) -> Vec<CommandFile> {
    let found = in_project(workspace, &FOLDERS).into_iter();
    found.map(|(path, text)| CommandFile { path, text }).collect()
}

/// Returns the user's own files, within the same bounds.
#[must_use]
pub fn of_user() -> Vec<CommandFile> {
    let found = FOLDERS.into_iter().flat_map(in_home);
    found.map(|(path, text)| CommandFile { path, text }).collect()
}

impl CommandFile {
    /// Returns the command that the file describes.
    #[must_use]
    pub fn command(&self) -> CommandTemplate {
        // Without front matter the whole file is the template: most such files have none.
        let (head, template) = parts(&self.text).unwrap_or(("", &self.text));
        let fields = fields(head);
        let value = |name: &str| {
            let found = fields.iter().find(|(key, _)| key == name);
            found.map(|(_, value)| value.clone()).unwrap_or_default()
        };
        let name = self.path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        CommandTemplate {
            name: name.unwrap_or_default(),
            description: value("description"),
            argument_hint: value("argument-hint"),
            template: template.trim().to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn m2_a_file_is_a_template_with_or_without_front_matter() {
        for (text, description, argument_hint, template) in [
            ("\nFix $1.\n", "", "", "Fix $1."),
            (
                "---\ndescription: \"Fixes: all\"\nargument-hint: [issue]\n---\n\nFix.\n---\nOn.",
                "Fixes: all",
                "[issue]",
                "Fix.\n---\nOn.",
            ),
            ("---\nmodel: x\n---\nFix.", "", "", "Fix."),
            ("---\ndescription: no end\nFix.", "", "", "---\ndescription: no end\nFix."),
        ] {
            let told = [description, argument_hint, template].map(str::to_owned);
            let [description, argument_hint, template] = told;
            let want = CommandTemplate { name: "fix".into(), description, argument_hint, template };
            let file = CommandFile { path: "commands/fix.md".into(), text: text.into() };
            assert_eq!(file.command(), want, "{text:?}");
        }
    }
}
