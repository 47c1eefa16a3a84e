//! The table of commands: their names, how each is used, and the word that it is. A name that
//! stands here is known to every host that does not leave it out.

use super::word::CommandWord;
use alloc::{borrow::ToOwned as _, string::String};

/// A row of the table.
pub(super) struct TableRow {
    /// The names in small letters, without the slash.
    names: &'static [&'static str],
    /// How it is used, for people.
    pub(super) usage: &'static str,
    /// Returns the word, by the name that was typed and the text behind it; none if that text is
    /// wrong.
    pub(super) word: fn(&str, &str) -> Option<CommandWord>,
}

const TABLE: [TableRow; 31] = [
    row_of(&["undo"], "/undo [N] | /undo files", |_, args| match args {
        args if args.eq_ignore_ascii_case("files") => Some(CommandWord::UndoFiles),
        args => steps(args).map(|steps| CommandWord::Undo { steps }),
    }),
    row_of(&["redo"], "/redo [N]", |_, args| steps(args).map(|steps| CommandWord::Redo { steps })),
    row_of(&["clear"], "/clear", |_, args| alone(args, CommandWord::Clear)),
    row_of(&["compact"], "/compact [TEXT]", |_, args| {
        Some(CommandWord::Compact { instructions: given(args) })
    }),
    row_of(&["interrupt", "stop"], "/stop", |_, args| alone(args, CommandWord::Interrupt)),
    row_of(&["heartbeat"], "/heartbeat", |_, args| alone(args, CommandWord::Heartbeat)),
    row_of(&["summarize", "summary"], "/summarize", |_, args| alone(args, CommandWord::Summarize)),
    row_of(&["suggest"], "/suggest", |_, args| alone(args, CommandWord::Suggest)),
    row_of(&["new"], "/new", |_, args| alone(args, CommandWord::NewThread)),
    row_of(&["thread"], "/thread ID | /thread new", |_, args| match args {
        args if args.eq_ignore_ascii_case("new") => Some(CommandWord::NewThread),
        args => thread_id(args).map(|id| CommandWord::Thread { id }),
    }),
    row_of(&["threads"], "/threads", |_, args| alone(args, CommandWord::ListThreads)),
    row_of(&["resume"], "/resume [ID]", |_, args| match args {
        "" => Some(CommandWord::ListThreads),
        args => thread_id(args).map(|id| CommandWord::ResumeThread { id }),
    }),
    row_of(&["status"], "/status [ID]", |_, args| {
        at_most_one(args).map(|id| CommandWord::JobStatus { id })
    }),
    row_of(&["progress"], "/progress [ID]", |_, args| {
        at_most_one(args).map(|id| CommandWord::JobStatus { id })
    }),
    row_of(&["list"], "/list [WORDS]", |_, args| {
        Some(CommandWord::ListJobs { filter: given(args) })
    }),
    row_of(&["jobs"], "/jobs", |_, args| alone(args, CommandWord::ListJobs { filter: None })),
    row_of(&["job"], "/job TEXT", |_, args| {
        given(args).map(|text| CommandWord::CreateJob { text })
    }),
    row_of(&["create"], "/create TEXT", |_, args| {
        given(args).map(|text| CommandWord::CreateJob { text })
    }),
    row_of(&["cancel"], "/cancel ID", |_, args| {
        at_most_one(args)?.map(|id| CommandWord::CancelJob { id })
    }),
    row_of(&["help"], "/help [ID]", |name, args| match at_most_one(args)? {
        Some(id) => Some(CommandWord::HelpJob { id }),
        None => Some(system(name, "")),
    }),
    row_of(&["?"], "/?", |_, args| alone(args, system("help", ""))),
    row_of(&["version"], "/version", |name, args| alone(args, system(name, ""))),
    row_of(&["tools"], "/tools", |name, args| alone(args, system(name, ""))),
    row_of(&["skills"], "/skills | /skills search WORDS", |name, args| {
        let mut words = args.split_whitespace();
        let is_right = match words.next() {
            None => true,
            Some(verb) => verb.eq_ignore_ascii_case("search") && words.next().is_some(),
        };
        is_right.then(|| system(name, args))
    }),
    row_of(&["ping"], "/ping", |name, args| alone(args, system(name, ""))),
    row_of(&["debug"], "/debug", |name, args| alone(args, system(name, ""))),
    row_of(&["model"], "/model [NAME]", |name, args| Some(system(name, args))),
    row_of(&["quit", "exit", "shutdown"], "/quit", |_, args| alone(args, CommandWord::Quit)),
    row_of(&["approve", "yes", "y"], "/yes", |_, args| {
        alone(args, CommandWord::Approve { always: false })
    }),
    row_of(&["always", "a"], "/always", |_, args| {
        alone(args, CommandWord::Approve { always: true })
    }),
    row_of(&["deny", "no", "n"], "/no", |_, args| alone(args, CommandWord::Deny)),
];

/// Returns the row with that name, unless the host is without it.
pub(super) fn row(name: &str, without: &[String]) -> Option<&'static TableRow> {
    TABLE.iter().find(|row| row.names.contains(&name) && !is_among(without, name))
}

/// Returns the names of the table that the host has.
pub(super) fn names(without: &[String]) -> impl Iterator<Item = &str> {
    let names = TABLE.iter().flat_map(|row| row.names).map(|name| &**name);
    names.filter(|name| !is_among(without, name))
}

fn is_among(without: &[String], name: &str) -> bool {
    without.iter().any(|left_out| left_out.eq_ignore_ascii_case(name))
}

const fn row_of(
    names: &'static [&'static str],
    usage: &'static str,
    word: fn(&str, &str) -> Option<CommandWord>,
) -> TableRow {
    TableRow { names, usage, word }
}

fn system(name: &str, args: &str) -> CommandWord {
    CommandWord::System { name: name.to_owned(), args: args.to_owned() }
}

/// Returns the word if nothing stands behind it.
fn alone(args: &str, word: CommandWord) -> Option<CommandWord> {
    args.is_empty().then_some(word)
}

/// Returns the text if there is one.
fn given(args: &str) -> Option<String> {
    (!args.is_empty()).then(|| args.to_owned())
}

/// Returns the single word that stands there, if one does; an outer none if there are several.
fn at_most_one(args: &str) -> Option<Option<String>> {
    (!args.contains(char::is_whitespace)).then(|| given(args))
}

/// Returns the number of steps that is meant, at least one.
fn steps(args: &str) -> Option<u32> {
    if args.is_empty() {
        return Some(1);
    }
    args.parse().ok().filter(|steps| *steps > 0)
}

/// Returns a thread's id, or the beginning of one, in small letters. Anything else is most likely
/// not meant as one, and no thread could be found by it.
fn thread_id(args: &str) -> Option<String> {
    let is_right = |(at, b): (usize, u8)| match at {
        8 | 13 | 18 | 23 => b == b'-',
        _ => b.is_ascii_hexdigit(),
    };
    let is_id = (4..=36).contains(&args.len()) && args.bytes().enumerate().all(is_right);
    let is_without_dashes = args.len() == 32 && args.bytes().all(|b| b.is_ascii_hexdigit());
    (is_id || is_without_dashes).then(|| args.to_ascii_lowercase())
}
