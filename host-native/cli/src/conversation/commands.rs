//! The commands of a conversation: what a person can type for the program itself rather than for
//! the agent, and the help about it. Carrying them out is `ui/slash_commands`.

use crate::{
    args::ApprovalLevel,
    style::{OutputStyle, TextStyle},
    wrap::{LineWrapper, Margin},
};
use clap::ValueEnum as _;

/// The commands' names, for completion.
pub(super) const NAMES: [&str; 17] = [
    "/apply", "/approve", "/attach", "/clear", "/compact", "/context", "/cost", "/diff", "/drop",
    "/effort", "/help", "/model", "/new", "/quit", "/redo", "/rewind", "/undo",
];

/// The words with which people leave a shell or another program.
const FAREWELLS: [&str; 4] = ["exit", "quit", ":q", "bye"];

/// The indentation of the second column of [`HELP`].
const INDENT: usize = 17;

/// The answer to `/help`, in two columns.
const HELP: &str = "\
/model [NAME]    tell the model, or go on with another one: NAME or PROVIDER/NAME
/effort [LEVEL]  tell how hard it thinks, or set low, medium, high or what else it knows
/approve [WHICH]  which calls run without a question from now on: none, edits or all
/attach FILE     send a picture, a PDF or a text from anywhere with what you say next
/diff            show what was changed and is not applied yet
/apply [over]    write the changes to the folder; over what else was changed there meanwhile
/apply ask       ask again after each turn, where that was answered with always
/drop            give up what was changed and is not applied
/undo [N]        take back the last step, or N steps; a step begins with what you say
/undo files      take back the files that undone steps have changed, where they are as left
/redo [N]        put steps back that were undone
/rewind [N]      list what you have said, newest first; go back to before the Nth, files too
/clear           have the agent forget what was said; /undo brings it back
/compact [TEXT]  sum the conversation up; TEXT says what matters
/context         what fills the context window: prompt, instructions, tools, what was said
/cost            what the conversation has come to
/new             begin another session; this one is kept
/quit            leave (Ctrl-D); exit does, too

Enter            send; while the agent works, it reads that after its current calls
… && Enter       send when the agent is done
Alt-Enter, \\ Enter, Ctrl-J   another line
Esc, Ctrl-C      stop what goes on
@ Tab            the name of a file; a picture or a text goes along, and a line says so
Up, Down         what was said before
";

/// Returns the words that may follow a command's name, if they are a fixed few.
pub(super) fn words(command: &str) -> Vec<String> {
    let words: &[&str] = match command {
        "/approve" => &["none", "edits", "all"],
        "/apply" => &["over", "ask"],
        "/undo" => &["files"],
        _ => &[],
    };
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Returns the answer to `/help` on a terminal of that many columns.
pub(super) fn help(columns: usize, style: OutputStyle) -> String {
    let mut flow = LineWrapper::new(style, Some(columns));
    for line in HELP.lines() {
        let (head, text) = line.split_once("  ").unwrap_or((line, ""));
        // The space after it keeps a head that fills its column apart from the text.
        let head = format!("{head:0$} ", INDENT - 1);
        flow.set_margin(Margin::new(head, " ".repeat(INDENT)).full());
        flow.text(text.trim_start(), TextStyle::PLAIN);
        flow.newline();
    }
    flow.take()
}

/// A command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SlashCommand {
    Help,
    Model(Option<String>),
    Effort(Option<String>),
    /// Which calls run without a question from now on, or do now.
    Approve(Option<ApprovalLevel>),
    Diff,
    /// Apply the changes; with `over`, also where something else has changed the files meanwhile.
    Apply {
        over: bool,
    },
    /// Ask after each turn again whether to apply the changes.
    AskToApply,
    /// Send a file with the next input.
    Attach(String),
    Drop,
    /// Undo that many steps.
    Undo(u32),
    /// Undo the changes to files of the steps that are undone.
    UndoFiles,
    Redo(u32),
    /// List the steps, or undo that many with their changes to files.
    Rewind(Option<u32>),
    Clear,
    /// Sum the conversation up.
    Compact(Option<String>),
    /// Tell what fills the context window.
    Context,
    Cost,
    /// Begin another session.
    New,
    Quit,
}

/// The reply to a line that was meant for a shell.
const NO_SHELL: &str = "no line for a shell is run here: Ctrl-Z leads to yours, and fg back; with \
                        a space before it, it goes to the agent";

/// Parses a command; returns none if the text is not a command, and an error for the person if it
/// is a wrong one.
pub(super) fn parse(text: &str) -> Option<Result<SlashCommand, String>> {
    // Before the text is trimmed: a space before the mark sends the line to the agent.
    if text.starts_with('!') {
        return Some(Err(NO_SHELL.to_owned()));
    }
    let text = text.trim();
    if FAREWELLS.contains(&text.to_lowercase().as_str()) {
        return Some(Ok(SlashCommand::Quit));
    }
    let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let word = name.strip_prefix('/')?;
    // A path such as `/etc/hosts` is a message to the agent, not a command.
    if word.is_empty() || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return None;
    }
    Some(command(name, rest.trim()))
}

fn command(name: &str, rest: &str) -> Result<SlashCommand, String> {
    let rest = Some(rest).filter(|rest| !rest.is_empty());
    let plain = |command| match rest {
        None => Ok(command),
        Some(_) => Err(format!("{name} takes nothing behind it")),
    };
    match (name, rest) {
        ("/help", _) => Ok(SlashCommand::Help),
        ("/model", rest) => Ok(SlashCommand::Model(rest.map(str::to_owned))),
        ("/effort", rest) => Ok(SlashCommand::Effort(rest.map(str::to_owned))),
        ("/approve", None) => Ok(SlashCommand::Approve(None)),
        ("/approve", Some(which)) => match ApprovalLevel::from_str(which, false) {
            Ok(which) => Ok(SlashCommand::Approve(Some(which))),
            Err(_) => Err("/approve takes none, edits or all".to_owned()),
        },
        ("/diff", _) => plain(SlashCommand::Diff),
        ("/apply", Some("over")) => Ok(SlashCommand::Apply { over: true }),
        ("/apply", None) => Ok(SlashCommand::Apply { over: false }),
        ("/apply", Some("ask")) => Ok(SlashCommand::AskToApply),
        ("/apply", Some(_)) => Err("/apply takes over, ask, or nothing behind it".to_owned()),
        ("/attach", Some(file)) => Ok(SlashCommand::Attach(file.to_owned())),
        ("/attach", None) => Err("/attach takes a file".to_owned()),
        ("/drop", _) => plain(SlashCommand::Drop),
        ("/undo", Some("files")) => Ok(SlashCommand::UndoFiles),
        ("/undo", rest) => {
            steps(rest).map(SlashCommand::Undo).ok_or("/undo takes a number, or files".to_owned())
        }
        ("/redo", rest) => {
            steps(rest).map(SlashCommand::Redo).ok_or("/redo takes a number".to_owned())
        }
        ("/rewind", None) => Ok(SlashCommand::Rewind(None)),
        ("/rewind", rest) => match steps(rest) {
            Some(steps) => Ok(SlashCommand::Rewind(Some(steps))),
            None => Err("/rewind takes a number of its list".to_owned()),
        },
        ("/clear", _) => plain(SlashCommand::Clear),
        ("/compact", rest) => Ok(SlashCommand::Compact(rest.map(str::to_owned))),
        ("/context", _) => plain(SlashCommand::Context),
        ("/cost", _) => plain(SlashCommand::Cost),
        ("/new", _) => plain(SlashCommand::New),
        ("/quit" | "/exit", _) => plain(SlashCommand::Quit),
        _ => Err(format!("there is no {name}; /help tells what there is")),
    }
}

/// Returns the number of steps that is meant, at least one.
fn steps(rest: Option<&str>) -> Option<u32> {
    rest.map_or(Ok(1), str::parse).ok().filter(|steps| *steps > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::ColourChoice;

    #[test]
    fn what_begins_with_a_slash_is_a_command_or_a_path() {
        let told = |text| parse(text).map(|it| it.map_err(|why| why.len() > 10));
        assert_eq!(told("fix it"), None);
        assert_eq!(told("/usr/bin is gone"), None);
        assert_eq!(told("/"), None);
        assert_eq!(told(" /help "), Some(Ok(SlashCommand::Help)));
        assert_eq!(told("/model  x y"), Some(Ok(SlashCommand::Model(Some("x y".into())))));
        assert_eq!(
            told("/approve edits"),
            Some(Ok(SlashCommand::Approve(Some(ApprovalLevel::Edits))))
        );
        assert_eq!(told("/apply"), Some(Ok(SlashCommand::Apply { over: false })));
        for text in ["exit", " quit ", "Exit", ":q", "/quit", "/exit"] {
            assert_eq!(told(text), Some(Ok(SlashCommand::Quit)), "{text}");
        }
        assert_eq!(told("exit the loop early"), None);
        assert_eq!(told("!ls"), Some(Err(true)));
        assert_eq!(told(" !important is not set"), None);
        assert_eq!(told("/apply ask"), Some(Ok(SlashCommand::AskToApply)));
        assert_eq!(told("/attach a b.png"), Some(Ok(SlashCommand::Attach("a b.png".into()))));
        assert_eq!(told("/apply over"), Some(Ok(SlashCommand::Apply { over: true })));
        assert_eq!(told("/undo"), Some(Ok(SlashCommand::Undo(1))));
        assert_eq!(told("/undo 3"), Some(Ok(SlashCommand::Undo(3))));
        assert_eq!(told("/undo files"), Some(Ok(SlashCommand::UndoFiles)));
        assert_eq!(told("/redo 2"), Some(Ok(SlashCommand::Redo(2))));
        assert_eq!(told("/rewind"), Some(Ok(SlashCommand::Rewind(None))));
        assert_eq!(told("/rewind 2"), Some(Ok(SlashCommand::Rewind(Some(2)))));
        for wrong in ["/undo 0", "/undo it", "/redo -1", "/rewind 0", "/clear all"] {
            assert_eq!(told(wrong), Some(Err(true)), "{wrong}");
        }
        assert_eq!(told("/context"), Some(Ok(SlashCommand::Context)));
        assert_eq!(told("/context all"), Some(Err(true)));
        for wrong in ["/approve some", "/diff all", "/modl", "/apply all", "/new one"] {
            assert_eq!(told(wrong), Some(Err(true)), "{wrong}");
        }
        for name in NAMES.into_iter().filter(|name| *name != "/help") {
            assert!(HELP.contains(name), "{name}");
        }
    }

    #[test]
    fn help_is_wrapped_with_its_columns() {
        let narrow = help(40, OutputStyle::new(ColourChoice::Never));
        assert!(narrow.lines().all(|line| line.chars().count() <= 40), "{narrow}");
        let begin =
            "/model [NAME]    tell the model, or go\n                 on with another one:\n";
        assert!(narrow.starts_with(begin), "{narrow}");
        let wide = help(200, OutputStyle::new(ColourChoice::Never));
        assert_eq!(wide.lines().count(), HELP.lines().count(), "{wide}");
    }
}
