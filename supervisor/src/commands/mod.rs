//! The reader of what a person types: a command, an answer to what is pending, or a text for the
//! model. It is total and keeps no state, so that every host reads the same text alike.
//!
//! A command is a single line that begins with `/` and a word of letters, digits, `_` and `-`, in
//! any case. A path, `//x` and a text of several lines are texts. An unknown command is answered to
//! the person with a near name and is never a text: a misspelt `/stop` must not reach the model.

mod likeness;
mod table;
mod template;
#[cfg(test)]
mod tests;
mod word;

use alloc::{borrow::ToOwned as _, string::String, vec::Vec};
use innerloop_json::{FromJson, ToJson};
pub use word::CommandWord;

/// What waits for an answer of the person.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct PendingAsks {
    /// True if a call waits for an approval: bare words such as `yes` then answer it.
    pub approval: bool,
    /// True if the model waits for the answer to a question. Bare words may be meant for that, so
    /// that they approve nothing: `/yes` does.
    pub question: bool,
    /// True if a credential is wanted: all but commands is taken for it.
    pub credential: bool,
    /// The answers that a question names. A text that is one of them, in any case, is a text as
    /// the question spells it.
    pub choices: Vec<String>,
}

/// A command that a host or a user adds.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(deny_unknown_fields)]
pub struct CustomCommand {
    /// The name without the slash.
    pub name: String,
    /// The text that it becomes, with `$ARGUMENTS`, `$1` to `$9`, and `$$` for a dollar sign. The
    /// table's own words go before a command with a template. Without one it is the host's own
    /// word, [`CommandWord::Own`], and goes before the table.
    #[json(skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
}

/// The commands that a host has: those of the table, and its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct CommandTable {
    /// The commands that are added. Of equal names the first counts.
    pub custom: Vec<CustomCommand>,
    /// The names of the table that the host does not have: they are unknown there, unless it adds
    /// them itself.
    pub without: Vec<String>,
}

/// Returns the word that a text is, for a host that has the whole table and these commands.
#[must_use]
pub fn read(text: &str, pending: &PendingAsks, custom: &[CustomCommand]) -> CommandWord {
    read_with(text, pending, (custom, &[]))
}

impl CommandTable {
    /// Returns the word that a text is.
    #[must_use]
    pub fn read(&self, text: &str, pending: &PendingAsks) -> CommandWord {
        read_with(text, pending, (&self.custom, &self.without))
    }

    /// Returns whether a name without its slash stands in the table, or is a word of the host's
    /// own: a custom command of that name is never reached.
    #[must_use]
    pub fn is_taken(&self, name: &str) -> bool {
        let is_own = |own: &&CustomCommand| own.name.eq_ignore_ascii_case(name);
        table::row(&name.to_ascii_lowercase(), &self.without).is_some()
            || self.custom.iter().find(is_own).is_some_and(|own| own.template.is_none())
    }
}

/// Returns whether a command may have that name, which stands without the slash.
#[must_use]
pub fn is_name(name: &str) -> bool {
    let is_more = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'?') && bytes.all(is_more)
}

fn read_with(
    text: &str,
    pending: &PendingAsks,
    (custom, without): (&[CustomCommand], &[String]),
) -> CommandWord {
    let line = text.trim();
    if let Some((name, args)) = command(line) {
        let name = name.to_ascii_lowercase();
        return of_command(&name, args, (custom, without));
    }
    let as_typed = || CommandWord::Text { text: text.to_owned() };
    if line.is_empty() {
        return as_typed();
    }
    if pending.credential {
        return CommandWord::Secret;
    }
    if let Some(choice) = pending.choices.iter().find(|choice| choice.eq_ignore_ascii_case(line)) {
        return CommandWord::Text { text: choice.clone() };
    }
    let is_bare = pending.approval && !pending.question;
    Some(line).filter(|_| is_bare).and_then(answer).unwrap_or_else(as_typed)
}

/// Returns the name of a command, without its slash, and the text behind it.
fn command(line: &str) -> Option<(&str, &str)> {
    let (name, args) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let name = name.strip_prefix('/').filter(|name| is_name(name))?;
    // What was pasted may begin with a slash by chance: a command is typed, and is one line.
    (!line.contains(['\n', '\r'])).then(|| (name, args.trim()))
}

fn of_command<'a>(
    name: &str,
    args: &str,
    (custom, without): (&'a [CustomCommand], &'a [String]),
) -> CommandWord {
    let own = custom.iter().find(|own| own.name.eq_ignore_ascii_case(name));
    let row = table::row(name, without);
    match (own, row) {
        (Some(CustomCommand { name, template: None }), _) => {
            CommandWord::Own { name: name.clone(), args: args.to_owned() }
        }
        (_, Some(row)) => (row.word)(name, args).unwrap_or_else(|| CommandWord::Unknown {
            name: name.to_owned(),
            near: None,
            usage: Some(row.usage.to_owned()),
        }),
        (Some(CustomCommand { template: Some(template), .. }), None) => {
            CommandWord::Text { text: template::filled(template, args) }
        }
        (None, None) => {
            let names = custom.iter().map(|own| own.name.as_str()).chain(table::names(without));
            let near = likeness::nearest(name, names).map(str::to_owned);
            CommandWord::Unknown { name: name.to_owned(), near, usage: None }
        }
    }
}

/// Returns the approval or denial that bare words are.
fn answer(line: &str) -> Option<CommandWord> {
    let line = line.to_ascii_lowercase();
    let mut words = line.split_whitespace();
    match (words.next()?, words.next(), words.next()) {
        ("yes" | "y" | "approve" | "ok", None, _) => Some(CommandWord::Approve { always: false }),
        ("always" | "a", None, _) | ("yes" | "approve", Some("always"), None) => {
            Some(CommandWord::Approve { always: true })
        }
        ("no" | "n" | "deny" | "reject" | "cancel", None, _) => Some(CommandWord::Deny),
        _ => None,
    }
}
