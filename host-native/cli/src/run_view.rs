//! The view of a run: a transcript for a person, the final message or the diff alone, or JSON lines
//! for a program. Standard output holds only what a program may want to read; everything else goes
//! to standard error.

use super::{
    args::OutputArgs,
    console::{say, say_escaped, warn},
    header,
    report::RunReport,
    review::ChangeMode,
    session_setup::ActiveSession,
    spinner::Spinner,
    style::{OutputStyle, TextColour, TextStyle},
    terminal::{Screen, columns, size},
    transcript::Transcript,
    wrap::wrapped,
};
use innerloop_core::{event::Event, json::to_string};
use std::io::{IsTerminal as _, Write as _, stderr, stdout};

/// The form in which a run is shown.
pub(super) enum RunView {
    /// A transcript on standard error, the final message on standard output.
    Human(Box<TerminalView>),
    /// The final message only.
    Quiet,
    /// The diff only, if there is one; else the final message.
    Diff,
    /// Each event as a line of JSON.
    Json,
}

/// A run as a person sees it.
pub(super) struct TerminalView {
    transcript: Transcript<Screen>,
    screen: Screen,
    spinner: Spinner,
    style: OutputStyle,
}

impl RunView {
    pub(super) fn new(output: OutputArgs, work: &ActiveSession) -> Self {
        match output {
            OutputArgs { json: true, .. } => Self::Json,
            OutputArgs { quiet: true, .. } if work.mode == ChangeMode::Show => Self::Diff,
            OutputArgs { quiet: true, .. } => Self::Quiet,
            _ => Self::Human(Box::new(TerminalView::new(
                work,
                OutputStyle::new(output.color.unwrap_or_default()),
            ))),
        }
    }

    pub(super) fn show(&mut self, event: &Event) {
        match self {
            Self::Human(human) => {
                human.transcript.show(event);
                human.spinner.set(human.transcript.activity());
            }
            Self::Quiet | Self::Diff => {}
            Self::Json => say_escaped(&to_string(event)),
        }
    }

    /// Shows a warning to whoever watches the run.
    pub(super) fn warn(&mut self, line: &str) {
        match self {
            Self::Human(human) => human.transcript.tell(TextStyle::YELLOW, line),
            Self::Quiet | Self::Diff | Self::Json => warn(line),
        }
    }

    /// Moves the spinner.
    pub(super) fn tick(&self) {
        if let Self::Human(human) = self {
            human.spinner.tick();
        }
    }

    /// Removes the spinner, since the session is over.
    pub(super) fn session_is_over(&self) {
        if let Self::Human(human) = self {
            human.screen.end();
        }
    }

    /// Shows the final message, the diff and the counts.
    pub(super) fn end(&mut self, report: &RunReport) {
        let message = report.message();
        let diff = report.diff();
        match self {
            Self::Json => {}
            Self::Diff if !diff.is_empty() => {
                // Standard output is a patch for programs: the message goes to standard error.
                message.iter().for_each(|message| warn(message));
                say(diff.trim_end_matches('\n'));
            }
            Self::Quiet | Self::Diff => message.iter().for_each(|message| say_escaped(message)),
            Self::Human(..) if !report.has_replies() => {}
            Self::Human(human) => {
                let style = human.style;
                let mut err = stderr().lock();
                // On a terminal the transcript has just shown the message, unless it is an answer,
                // which is an argument of a call.
                let is_shown = stdout().is_terminal() && stderr().is_terminal();
                if let Some(message) = message.filter(|_| !is_shown || report.has_answer()) {
                    say_escaped(message);
                }
                let space = if diff.is_empty() { "" } else { "\n" };
                let notices = report.notices(style);
                let counts = wrapped(&report.counts(style), columns());
                drop(write!(err, "{space}{}\n{notices}{counts}\n", style.diff(diff)));
            }
        }
    }

    /// Shows what has become of the changes, and how to resume a session that has failed or holds
    /// changes.
    pub(super) fn settled(&self, report: &RunReport, session: Option<&str>) {
        let Self::Human(human) = self else { return };
        let resume = session.and_then(|id| match report.run_result() {
            // The error, which comes last, says it already.
            _ if report.is_unsettled() && report.has_kept() => None,
            Err(_) => Some(format!("innerloop resume {id} goes on with the session")),
            Ok(()) if report.has_kept() => {
                Some(format!("innerloop resume {id} --apply applies them"))
            }
            Ok(()) => None,
        });
        for line in report.fate().into_iter().chain(resume) {
            let line = wrapped(&line, columns());
            drop(writeln!(stderr().lock(), "{}", human.style.paint(TextColour::Dim, &line)));
        }
    }
}

/// Shows the changes that a session holds, and the notices about them, without a run.
pub(super) fn changes(
    report: &RunReport,
    output: OutputArgs,
    style: OutputStyle,
    mode: ChangeMode,
) {
    let diff = report.diff();
    match output {
        OutputArgs { json: true, .. } => {}
        OutputArgs { quiet: true, .. } if mode != ChangeMode::Show || diff.is_empty() => {}
        OutputArgs { quiet: true, .. } => say(diff.trim_end_matches('\n')),
        _ => {
            let notices = report.notices(style);
            drop(write!(stderr().lock(), "{}{notices}", style.diff(diff)));
        }
    }
}

impl TerminalView {
    /// Begins the view; a terminal gets a spinner and a header.
    fn new(work: &ActiveSession, style: OutputStyle) -> Self {
        let screen = work.screen.clone();
        let mut transcript = Transcript::new(screen.clone(), style, work.words.clone());
        transcript.out().wait(true);
        if let Some(size) = size() {
            screen.begin(size);
            transcript.tell(TextStyle::DIM, &header::of(work));
        }
        let spinner = Spinner::new(screen.clone(), style);
        Self { transcript, screen, spinner, style }
    }
}
