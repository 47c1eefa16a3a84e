//! What can be said to the program itself, in place of the agent.

/// The commands' names, for completion.
pub(super) const NAMES: [&str; 8] =
    ["/apply", "/approve", "/cost", "/diff", "/effort", "/help", "/model", "/quit"];

/// The answer to `/help`.
pub(super) const HELP: &str = "\
/model [NAME]    tell the model, or go on with another one of the provider
/effort LEVEL    low, medium, high, or what else the model knows
/approve WHICH   which calls run without a question: none, edits or all
/diff            show what was changed and is not applied yet
/apply           write the changes to the folder
/cost            what the conversation has come to
/quit            leave (Ctrl-D)

Enter            send; while the agent works, it reads that after its current calls
… && Enter       send when the agent is done
Alt-Enter, \\ Enter, Ctrl-J   another line
Esc, Ctrl-C      stop what goes on
@ Tab            the name of a file; a picture or a text goes along
Up, Down         what was said before
";

/// A command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    Help,
    Model(Option<String>),
    Effort(String),
    /// What is asked about from now on, as the configuration says it.
    Approve(&'static str),
    Diff,
    Apply,
    Cost,
    Quit,
}

/// The command that the text is; nothing if it is none, and what is wrong with one that is
/// misspelt.
pub(super) fn parse(text: &str) -> Option<Result<Command, String>> {
    let text = text.trim();
    let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let word = name.strip_prefix('/')?;
    // A path is no command.
    if word.is_empty() || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return None;
    }
    Some(command(name, rest.trim()))
}

fn command(name: &str, rest: &str) -> Result<Command, String> {
    let rest = Some(rest).filter(|rest| !rest.is_empty());
    let plain = |command| match rest {
        None => Ok(command),
        Some(_) => Err(format!("{name} takes nothing behind it")),
    };
    match (name, rest) {
        ("/help", _) => Ok(Command::Help),
        ("/model", rest) => Ok(Command::Model(rest.map(str::to_owned))),
        ("/effort", Some(level)) => Ok(Command::Effort(level.to_owned())),
        ("/effort", None) => Err("/effort takes a level, such as low or high".to_owned()),
        ("/approve", rest) => match rest {
            Some("none") => Ok(Command::Approve("changes")),
            Some("edits") => Ok(Command::Approve("programs")),
            Some("all") => Ok(Command::Approve("nothing")),
            _ => Err("/approve takes none, edits or all".to_owned()),
        },
        ("/diff", _) => plain(Command::Diff),
        ("/apply", _) => plain(Command::Apply),
        ("/cost", _) => plain(Command::Cost),
        ("/quit" | "/exit", _) => plain(Command::Quit),
        _ => Err(format!("there is no {name}; /help tells what there is")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_with_a_slash_is_a_command_or_a_path() {
        let told = |text| parse(text).map(|it| it.map_err(|why| why.len() > 10));
        assert_eq!(told("fix it"), None);
        assert_eq!(told("/usr/bin is gone"), None);
        assert_eq!(told("/"), None);
        assert_eq!(told(" /help "), Some(Ok(Command::Help)));
        assert_eq!(told("/model  x y"), Some(Ok(Command::Model(Some("x y".into())))));
        assert_eq!(told("/approve edits"), Some(Ok(Command::Approve("programs"))));
        for wrong in ["/approve", "/approve some", "/diff all", "/effort", "/modl"] {
            assert_eq!(told(wrong), Some(Err(true)), "{wrong}");
        }
        for name in NAMES.into_iter().filter(|name| *name != "/help") {
            assert!(HELP.contains(name), "{name}");
        }
    }
}
