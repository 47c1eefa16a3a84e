//! The output of the program: lines for standard output and standard error, and the failure to
//! write them. On a terminal every line is harmless; a broken standard output fails the command at
//! its end, a broken standard error never does.

use super::{exit::CliError, keys, style::harmless, terminal, wrap::wrapped};
use std::{
    borrow::Cow,
    io::{self, IsTerminal, Write, stdout},
    sync::{LazyLock, OnceLock},
};

/// The first failure to write to standard output.
static UNWRITTEN: OnceLock<io::Error> = OnceLock::new();

/// Prints a line to standard output, escaped on a terminal. A failure is kept and fails the command
/// at its end.
pub(super) fn say(line: &str) {
    let mut out = stdout().lock();
    note(writeln!(out, "{}", shown(line)).and_then(|()| out.flush()));
}

/// Prints a line as [`say`] does, but also escaped in a file or a pipe: for JSON, which means the
/// same with escapes in it, and for texts that only people read.
pub(super) fn say_escaped(line: &str) {
    say(&harmless(line));
}

/// Returns the line as it may be written to standard output.
pub(super) fn shown(line: &str) -> Cow<'_, str> {
    static IS_TERMINAL: LazyLock<bool> = LazyLock::new(|| stdout().is_terminal());
    // Programs that read a pipe get the bytes as they are, such as a patch or a tool's output.
    if *IS_TERMINAL { harmless(line) } else { Cow::Borrowed(line) }
}

/// Keeps the first failure to write. A closed pipe is not one: its reader, such as `head`, has read
/// enough.
pub(super) fn note(written: io::Result<()>) {
    if let Err(error) = written
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        UNWRITTEN.get_or_init(|| error);
    }
}

/// Returns the first failure to write.
pub(super) fn unwritten() -> Option<&'static io::Error> {
    UNWRITTEN.get()
}

/// Prints a warning or a notice to standard error.
pub(super) fn warn(line: &str) {
    terminal::tell(&format!("{}\n", wrapped(&harmless(line), terminal::columns())));
}

/// Prints an error to standard error. Keys are masked: a provider may repeat one in its message.
pub(super) fn complain(failure: &CliError) {
    let text = failure.to_string();
    let text = keys::of_environment().masked(&text).into_owned();
    terminal::tell(&format!("{}\n", wrapped(&harmless(&text), terminal::columns())));
}
