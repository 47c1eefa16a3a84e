//! What the program prints, and what went wrong when it did. No key of the environment is in it.

use super::{exit::CliError, keys, style::harmless, terminal, wrap::wrapped};
use std::{
    borrow::Cow,
    io::{self, IsTerminal, Write, stdout},
    sync::{LazyLock, OnceLock},
};

/// The reason why standard output did not get all of the output.
static UNWRITTEN: OnceLock<io::Error> = OnceLock::new();

/// Prints a line to standard output, on a terminal a harmless one. What can't be written fails the
/// command at its end.
pub(super) fn say(line: &str) {
    let mut out = stdout().lock();
    note(writeln!(out, "{}", shown(line)).and_then(|()| out.flush()));
}

/// As [`say`], but harmless also where it is written to a file or a pipe: JSON, which means the
/// same with escapes in it, and what is only for people.
pub(super) fn say_escaped(line: &str) {
    say(&harmless(line));
}

/// The line as it may be written to standard output.
pub(super) fn shown(line: &str) -> Cow<'_, str> {
    static IS_TERMINAL: LazyLock<bool> = LazyLock::new(|| stdout().is_terminal());
    if *IS_TERMINAL { harmless(line) } else { Cow::Borrowed(line) }
}

/// Keeps the first failure to write. Nobody may be reading; that is no failure.
pub(super) fn note(written: io::Result<()>) {
    if let Err(error) = written
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        UNWRITTEN.get_or_init(|| error);
    }
}

/// The first failure to write.
pub(super) fn unwritten() -> Option<&'static io::Error> {
    UNWRITTEN.get()
}

/// Prints a line to standard error that somebody should know of.
pub(super) fn warn(line: &str) {
    terminal::tell(&format!("{}\n", wrapped(&harmless(line), terminal::columns())));
}

/// Prints what went wrong to standard error.
pub(super) fn complain(failure: &CliError) {
    let text = failure.to_string();
    let text = keys::of_environment().masked(&text).into_owned();
    terminal::tell(&format!("{}\n", wrapped(&harmless(&text), terminal::columns())));
}
