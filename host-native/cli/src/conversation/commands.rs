//! The commands of a conversation: what a person can type for the program itself rather than for
//! the agent, and the help about it. What a text is, is read by the table that all hosts share, to
//! which the program adds words of its own. Carrying them out is `ui/slash_commands`.

use super::custom_commands::CustomCommands;
use crate::{
    args::ApprovalLevel,
    style::{OutputStyle, TextStyle, brief},
    wrap::{LineWrapper, Margin},
};
use clap::ValueEnum as _;
use innerloop_host::facts::command_files::CommandFile;
use innerloop_supervisor::commands::{CommandTable, CommandWord, CustomCommand, PendingAsks};

/// The commands' names, for completion.
const NAMES: [&str; 21] = [
    "/apply", "/approve", "/attach", "/clear", "/compact", "/context", "/cost", "/diff", "/drop",
    "/effort", "/help", "/model", "/new", "/quit", "/redo", "/rewind", "/status", "/stop",
    "/tools", "/undo", "/version",
];

/// The words that the program adds to the table.
const OWN: [&str; 9] =
    ["apply", "approve", "attach", "context", "cost", "diff", "drop", "effort", "rewind"];

/// The words of the table that are about threads and jobs, which a conversation does not have, and
/// others that it has no answer to.
const WITHOUT: [&str; 16] = [
    "heartbeat",
    "summarize",
    "summary",
    "suggest",
    "thread",
    "threads",
    "resume",
    "progress",
    "list",
    "jobs",
    "job",
    "create",
    "cancel",
    "skills",
    "ping",
    "debug",
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
/status          session, model, preset, state, tokens and cost
/tools           the tools that the agent has, and which of them need a yes
/stop            stop what goes on (Esc)
/version         the version of this program
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
pub(super) fn help(known: &ConversationCommands, columns: usize, style: OutputStyle) -> String {
    let mut flow = LineWrapper::new(style, Some(columns));
    let (commands, keys) = HELP.split_once("\n\n").unwrap_or((HELP, ""));
    let halves = |line: &'static str| line.split_once("  ").unwrap_or((line, ""));
    let own = |(head, text): (&str, &str)| (head.to_owned(), text.to_owned());
    let listed = commands.lines().map(halves).map(own).chain(known.custom.lines());
    for (head, text) in listed.chain([own(("", ""))]).chain(keys.lines().map(halves).map(own)) {
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
    /// Send a text that a custom command has made.
    Say(String),
    /// Answer the open question with that word.
    Reply(&'static str),
    Stop,
    Status,
    Tools,
    Version,
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

/// The most characters of an unknown name.
const NAME: usize = 40;

/// The reply to a line that was meant for a shell.
const NO_SHELL: &str = "no line for a shell is run here: Ctrl-Z leads to yours, and fg back; with \
                        a space before it, it goes to the agent";

/// The commands that a person can type in a conversation.
pub(super) struct ConversationCommands {
    table: CommandTable,
    custom: CustomCommands,
    /// The reasons why commands of files can't be used.
    pub(super) warnings: Vec<String>,
}

impl ConversationCommands {
    /// Returns the program's commands with those of files. Of equal names the first one counts.
    pub(super) fn new(files: &[CommandFile]) -> Self {
        let own = |name: &str| CustomCommand { name: name.to_owned(), template: None };
        let custom = OWN.into_iter().map(own).collect();
        let mut table = CommandTable { custom, without: WITHOUT.map(str::to_owned).to_vec() };
        let (custom, warnings) = CustomCommands::read(files, &table);
        table.custom.extend(custom.commands());
        Self { table, custom, warnings }
    }

    /// Returns the commands' names, for completion.
    pub(super) fn names(&self) -> Vec<&str> {
        NAMES.into_iter().chain(self.custom.names()).collect()
    }

    /// Parses a command; returns none if the text is not a command, and an error for the person if
    /// it is a wrong one.
    pub(super) fn parse(&self, text: &str) -> Option<Result<SlashCommand, String>> {
        // Before the text is trimmed: a space before the mark sends the line to the agent.
        if text.starts_with('!') {
            return Some(Err(NO_SHELL.to_owned()));
        }
        if FAREWELLS.contains(&text.trim().to_lowercase().as_str()) {
            return Some(Ok(SlashCommand::Quit));
        }
        // What is pending has a question on the screen, which reads its answers itself.
        let word = self.table.read(text, &PendingAsks::default());
        Some(match word {
            CommandWord::Text { text: said } if said == text => return None,
            CommandWord::Text { text: said } => Ok(SlashCommand::Say(said)),
            CommandWord::Unknown { name, usage: Some(usage), .. } => {
                Err(format!("/{name} is used so: {usage}"))
            }
            CommandWord::Unknown { name, near, .. } => Err(unknown(&name, near.as_deref())),
            CommandWord::Own { name, args } => own(&name, &args),
            CommandWord::System { name, args } => system(&name, &args),
            CommandWord::Undo { steps } => Ok(SlashCommand::Undo(steps)),
            CommandWord::UndoFiles => Ok(SlashCommand::UndoFiles),
            CommandWord::Redo { steps } => Ok(SlashCommand::Redo(steps)),
            CommandWord::Clear => Ok(SlashCommand::Clear),
            CommandWord::Compact { instructions } => Ok(SlashCommand::Compact(instructions)),
            CommandWord::Interrupt => Ok(SlashCommand::Stop),
            CommandWord::NewThread => Ok(SlashCommand::New),
            CommandWord::JobStatus { id: None } => Ok(SlashCommand::Status),
            CommandWord::JobStatus { id: Some(_) } => Err("/status takes nothing behind it".into()),
            CommandWord::HelpJob { .. } => Ok(SlashCommand::Help),
            CommandWord::Approve { always: false } => Ok(SlashCommand::Reply("yes")),
            CommandWord::Approve { always: true } => Ok(SlashCommand::Reply("always")),
            CommandWord::Deny => Ok(SlashCommand::Reply("no")),
            CommandWord::Quit => Ok(SlashCommand::Quit),
            // The names of these are left out of the table.
            CommandWord::Secret
            | CommandWord::Heartbeat
            | CommandWord::Summarize
            | CommandWord::Suggest
            | CommandWord::Thread { .. }
            | CommandWord::ListThreads
            | CommandWord::ResumeThread { .. }
            | CommandWord::CreateJob { .. }
            | CommandWord::ListJobs { .. }
            | CommandWord::CancelJob { .. } => return None,
        })
    }
}

/// Returns the answer to a command that there is not.
fn unknown(name: &str, near: Option<&str>) -> String {
    let near = near.map(|near| format!(", did you mean /{near}?")).unwrap_or_default();
    format!("there is no /{}{near}; /help tells what there is", brief(name, NAME))
}

/// Returns the command that one of the program's own words is.
fn own(name: &str, rest: &str) -> Result<SlashCommand, String> {
    let rest = Some(rest).filter(|rest| !rest.is_empty());
    let plain = |command| match rest {
        None => Ok(command),
        Some(_) => Err(format!("/{name} takes nothing behind it")),
    };
    match (name, rest) {
        ("effort", rest) => Ok(SlashCommand::Effort(rest.map(str::to_owned))),
        ("approve", None) => Ok(SlashCommand::Approve(None)),
        ("approve", Some(which)) => match ApprovalLevel::from_str(which, true) {
            Ok(which) => Ok(SlashCommand::Approve(Some(which))),
            Err(_) => Err("/approve takes none, edits or all".to_owned()),
        },
        ("diff", _) => plain(SlashCommand::Diff),
        ("apply", None) => Ok(SlashCommand::Apply { over: false }),
        ("apply", Some(word)) if word.eq_ignore_ascii_case("over") => {
            Ok(SlashCommand::Apply { over: true })
        }
        ("apply", Some(word)) if word.eq_ignore_ascii_case("ask") => Ok(SlashCommand::AskToApply),
        ("apply", Some(_)) => Err("/apply takes over, ask, or nothing behind it".to_owned()),
        ("attach", Some(file)) => Ok(SlashCommand::Attach(file.to_owned())),
        ("attach", None) => Err("/attach takes a file".to_owned()),
        ("drop", _) => plain(SlashCommand::Drop),
        ("rewind", None) => Ok(SlashCommand::Rewind(None)),
        ("rewind", Some(steps)) => match steps.parse().ok().filter(|steps| *steps > 0) {
            Some(steps) => Ok(SlashCommand::Rewind(Some(steps))),
            None => Err("/rewind takes a number of its list".to_owned()),
        },
        ("context", _) => plain(SlashCommand::Context),
        _ => plain(SlashCommand::Cost),
    }
}

/// Returns the command that a question to the program is.
fn system(name: &str, args: &str) -> Result<SlashCommand, String> {
    match name {
        "model" => Ok(SlashCommand::Model(Some(args.to_owned()).filter(|name| !name.is_empty()))),
        "tools" => Ok(SlashCommand::Tools),
        "version" => Ok(SlashCommand::Version),
        _ => Ok(SlashCommand::Help),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::ColourChoice;

    fn file(path: &str, text: &str) -> CommandFile {
        CommandFile { path: path.into(), text: text.into() }
    }

    #[test]
    fn what_begins_with_a_slash_is_a_command_or_a_path() {
        let known = ConversationCommands::new(&[]);
        let told = |text| known.parse(text).map(|it| it.map_err(|why| why.len() > 10));
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
            assert_ne!(told(name), Some(Err(false)), "{name}");
        }
    }

    #[test]
    fn j12_commands_are_read_in_any_case_and_unknown_ones_are_told_with_a_near_name() {
        let known = ConversationCommands::new(&[]);
        let told = |text| known.parse(text);
        for (text, command) in [
            ("/UNDO 2", SlashCommand::Undo(2)),
            ("/Undo FILES", SlashCommand::UndoFiles),
            ("/?", SlashCommand::Help),
            ("/Apply Over", SlashCommand::Apply { over: true }),
            ("/APPROVE Edits", SlashCommand::Approve(Some(ApprovalLevel::Edits))),
            ("/stop", SlashCommand::Stop),
            ("/status", SlashCommand::Status),
            ("/tools", SlashCommand::Tools),
            ("/version", SlashCommand::Version),
            ("/y", SlashCommand::Reply("yes")),
            ("/always", SlashCommand::Reply("always")),
            ("/deny", SlashCommand::Reply("no")),
        ] {
            assert_eq!(told(text), Some(Ok(command)), "{text}");
        }
        for (text, part) in [
            ("/modl", "there is no /modl, did you mean /model?"),
            ("/UNOD", "there is no /unod, did you mean /undo?"),
            ("/heartbeat", "there is no /heartbeat; /help tells"),
            ("/job build it", "there is no /job"),
            ("/resume", "there is no /resume"),
            ("/status 4", "/status takes nothing behind it"),
            ("/undo it", "/undo is used so: /undo [N] | /undo files"),
        ] {
            let why = told(text).unwrap().unwrap_err();
            assert!(why.starts_with(part), "{text}: {why}");
        }
        for text in ["/etc/hosts is wrong", "//x", "/undo\nthat", "yes", "/a.b", "cancel"] {
            assert_eq!(told(text), None, "{text}");
        }
    }

    #[test]
    fn m2_commands_of_files_are_read_completed_and_shown_in_the_help() {
        let known = ConversationCommands::new(&[
            file("a/fix.md", "---\ndescription: Fixes an issue\nargument-hint: ID\n---\nFix $1."),
            file("b/fix.md", "never"),
            file("b/job.md", "A job\nfor you."),
            file("b/Undo.md", "never"),
            file("b/diff.md", "never"),
            file("b/a b.md", "never"),
            file("b/empty.md", "---\ndescription: x\n---\n"),
        ]);
        assert_eq!(known.parse("/FIX 7"), Some(Ok(SlashCommand::Say("Fix 7.".into()))));
        assert_eq!(known.parse("/job"), Some(Ok(SlashCommand::Say("A job\nfor you.".into()))));
        assert_eq!(known.parse("/undo"), Some(Ok(SlashCommand::Undo(1))));
        assert_eq!(known.parse("/diff"), Some(Ok(SlashCommand::Diff)));
        let why = known.parse("/fxi").unwrap().unwrap_err();
        assert!(why.contains("did you mean /fix?"), "{why}");
        let names = known.names();
        assert_eq!(names.get(NAMES.len()..), Some(&["/fix", "/job"][..]));
        let shown = help(&known, 80, OutputStyle::new(ColourChoice::Never));
        assert!(shown.contains("\n/fix ID          Fixes an issue\n/job             A job for"));
        for (warning, part) in known.warnings.iter().zip([
            "b/Undo.md is not used: /undo is the program's own",
            "b/diff.md is not used: /diff is the program's own",
            "b/a b.md is not used: its name",
            "b/empty.md is not used: it is empty",
        ]) {
            assert!(warning.starts_with(part), "{warning}");
        }
        assert_eq!(known.warnings.len(), 4, "{:?}", known.warnings);
    }

    #[test]
    fn help_is_wrapped_with_its_columns() {
        let known = ConversationCommands::new(&[]);
        let help = |columns, style| help(&known, columns, style);
        let narrow = help(40, OutputStyle::new(ColourChoice::Never));
        assert!(narrow.lines().all(|line| line.chars().count() <= 40), "{narrow}");
        let begin =
            "/model [NAME]    tell the model, or go\n                 on with another one:\n";
        assert!(narrow.starts_with(begin), "{narrow}");
        let wide = help(200, OutputStyle::new(ColourChoice::Never));
        assert_eq!(wide.lines().count(), HELP.lines().count(), "{wide}");
    }
}
