//! The end of the program: the exit codes, and an error as a message with its code. The codes are
//! part of the interface; scripts rely on them.

use std::fmt;

/// The table for `--help`.
pub(super) const TABLE: &str = "\
Exit codes:
  0    done
  1    the run failed, its changes can't be applied, or the tool's result is an error
  2    usage: arguments, nobody to ask, workspace or output file
  3    configuration, authentication, or a recording that does not fit
  4    a limit was hit
  5    calls needed a yes that nobody was there to give, or a hook ended the run
  6    the last reply was cut: by the output limit, the context window, a filter
  7    the model, or a filter of its provider, refused
  129  the terminal was closed (SIGHUP)
  130  interrupted with Ctrl-C
  131  told to quit (SIGQUIT)
  143  asked to end (SIGTERM)";

/// The reason why the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExitReason {
    Done,
    Failed,
    Usage,
    Configuration,
    Limit,
    Denied,
    Incomplete,
    Refused,
    HungUp,
    Interrupted,
    Quit,
    Terminated,
    /// With the code of a program that was run.
    Program(u8),
}

impl ExitReason {
    pub(super) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Configuration => 3,
            Self::Limit => 4,
            Self::Denied => 5,
            Self::Incomplete => 6,
            Self::Refused => 7,
            Self::HungUp => 129,
            Self::Interrupted => 130,
            Self::Quit => 131,
            Self::Terminated => 143,
            Self::Program(code) => code,
        }
    }

    /// Returns the name in the last line of `--json`.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed | Self::Program(_) => "failed",
            Self::Usage => "usage",
            Self::Configuration => "configuration",
            Self::Limit => "limit",
            Self::Denied => "denied",
            Self::Incomplete => "incomplete",
            Self::Refused => "refused",
            Self::HungUp | Self::Interrupted | Self::Quit | Self::Terminated => "interrupted",
        }
    }
}

/// An error: the reason why the program ends, and the message for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CliError {
    pub(super) exit: ExitReason,
    pub(super) message: String,
}

impl CliError {
    pub(super) fn new(exit: ExitReason, message: impl fmt::Display) -> Self {
        // Further lines are indented, so that the error stays recognisable as one.
        let words: Vec<String> = message.to_string().lines().map(str::to_owned).collect();
        Self { exit, message: words.join("\n  ") }
    }

    /// Returns an error with the exit code of a program that was run. It has no message: the
    /// program has printed its own.
    pub(super) fn of_program(code: i32) -> Self {
        let exit = ExitReason::Program(u8::try_from(code & 0xff).unwrap_or(u8::MAX));
        Self { exit, message: String::new() }
    }

    pub(super) fn usage(message: impl fmt::Display) -> Self {
        Self::new(ExitReason::Usage, message)
    }

    pub(super) fn configuration(message: impl fmt::Display) -> Self {
        Self::new(ExitReason::Configuration, message)
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "innerloop: {}", self.message)
    }
}
