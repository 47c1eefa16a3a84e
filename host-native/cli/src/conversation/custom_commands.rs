//! The commands that a person adds by files: which of them can be used, and their lines in the
//! help.

use crate::style::brief;
use innerloop_host::facts::command_files::{CommandFile, CommandTemplate};
use innerloop_supervisor::commands::{CommandTable, CustomCommand, is_name};

/// The most characters of a description in the help.
const DESCRIPTION: usize = 200;

/// The most characters of the words for a command's arguments.
const HINT: usize = 40;

/// The commands of files.
#[derive(Debug, Default)]
pub(super) struct CustomCommands {
    all: Vec<CommandTemplate>,
    /// The names with their slashes, in the same order.
    names: Vec<String>,
}

impl CustomCommands {
    /// Returns the commands of files that can be used beside those of a table, and the reasons why
    /// others can't. Of equal names the first one counts, without a word: a project's own command
    /// stands in for the user's.
    pub(super) fn read(files: &[CommandFile], table: &CommandTable) -> (Self, Vec<String>) {
        let (mut found, mut warnings) = (Self::default(), Vec::new());
        for file in files {
            let command = file.command();
            let name = command.name.to_ascii_lowercase();
            let why = if !is_name(&name) {
                "its name is not made of letters, digits, - and _".to_owned()
            } else if table.is_taken(&name) {
                format!("/{name} is the program's own")
            } else if command.template.is_empty() {
                "it is empty".to_owned()
            } else {
                let name = format!("/{name}");
                if !found.names.contains(&name) {
                    found.names.push(name);
                    found.all.push(command);
                }
                continue;
            };
            warnings.push(format!("{} is not used: {why}", file.path.display()));
        }
        (found, warnings)
    }

    /// Returns the commands as the reader of texts knows them.
    pub(super) fn commands(&self) -> impl Iterator<Item = CustomCommand> {
        self.all.iter().map(|command| CustomCommand {
            name: command.name.clone(),
            template: Some(command.template.clone()),
        })
    }

    /// Returns the names with their slashes.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Returns the lines of the help: how each is used, and what it does.
    pub(super) fn lines(&self) -> impl Iterator<Item = (String, String)> {
        self.all.iter().zip(&self.names).map(|(command, name)| {
            let hint = brief(&command.argument_hint, HINT);
            let about = match command.description.is_empty() {
                true => &command.template,
                false => &command.description,
            };
            (format!("{name} {hint}").trim_end().to_owned(), brief(about, DESCRIPTION))
        })
    }
}
