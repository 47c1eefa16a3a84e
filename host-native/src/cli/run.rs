//! `innerloop run`: opens a session over a folder, drives it to its end, and shows it as it goes.

use super::{
    approval::Person,
    args::{OutputArgs, RunArgs},
    attach,
    console::say,
    exit::{Exit, Failure},
    interrupts::{Ending, Interrupts},
    report::Report,
    review::{self, Mode},
    setup,
    style::{Colour, Style, harmless},
    transcript::Transcript,
    work::{Asked, Audience, Work},
};
use crate::{
    host::News,
    recording::Recording,
    sandbox::{OnProgress, Workspace},
};
use innerloop_core::{
    event::{Event, EventKind},
    id::AgentId,
    input::Command,
    json::to_string,
    message::Part,
};
use std::{
    io::{IsTerminal, Stderr, Write, stderr, stdin, stdout},
    sync::Arc,
};
use tokio::task::spawn_blocking;

/// Runs the agent. With `--json` the last line is always the result.
pub(super) async fn run(args: RunArgs) -> Result<(), Failure> {
    let output = args.output;
    let report = match carry_out(args).await {
        Ok(report) => report,
        Err(failure) => Report::failed(failure),
    };
    if output.json {
        say(&report.record());
    }
    report.result()
}

async fn carry_out(args: RunArgs) -> Result<Report, Failure> {
    let output = args.output;
    let mut interrupts = Interrupts::new()?;
    let (work, said) = tokio::select! {
        begun = begin(args) => begun?,
        exit = interrupts.next() => {
            return Err(Failure::new(exit, "interrupted before the run began"));
        }
    };
    Ok(finish(work, said, output, interrupts).await)
}

/// A session that is ready to be driven, and what the user says to it.
async fn begin(args: RunArgs) -> Result<(Work, Vec<Part>), Failure> {
    let RunArgs { prompt, attach, session, output } = args;
    let is_attended = is_attended(output);
    let asked = Asked::read(session, is_attended).await?;
    let attached = attach::read(&attach)?;
    let prompt = setup::given(prompt, "the prompt").await?;
    let said = std::iter::once(Part::text(prompt)).chain(attached).collect();
    let (style, progress) = (Style::new(output.color), progress(output));
    let work = Work::begin(asked, Audience { is_attended, style, progress }).await?;
    Ok((work, said))
}

/// Drives the session to its end and shows what came of it.
async fn finish(
    mut work: Work,
    said: Vec<Part>,
    output: OutputArgs,
    interrupts: Interrupts,
) -> Report {
    let mut view = View::new(output, work.mode);
    let mut report = Report::new(&work.key, work.mode);
    let commands = work.host.commands();
    let ending = Ending::listen(interrupts, commands.clone());
    commands.send(Command::Submit { parts: said });
    let (person, judge) = (work.person, work.judge);
    let driven = work.host.run(|news| match news {
        News::Event(event) => {
            report.add(event);
            view.show(event);
            let is_end = matches!(event.kind, EventKind::ProcessingEnd { .. });
            if is_end && event.agent == AgentId::ROOT {
                commands.send(Command::Close);
            }
        }
        News::Asked(id, agent, ask) => judge.asked(id, agent, ask),
        News::Withdrawn(id) => judge.withdraw(id),
        // A close after the close is refused, and the session ends all the same.
        News::Rejected(_) => {}
    });
    let driven = tokio::select! {
        driven = driven => Some(driven),
        () = ending.hurry() => None,
    };
    ending.session_is_over();
    let signal = ending.signal().unwrap_or(Exit::Interrupted);
    report.interrupted_by(signal);
    match driven {
        Some(Ok(())) => {}
        Some(Err(error)) => report.fail(Failure::new(Exit::Failed, error)),
        None => report.fail(Failure::new(signal, "stopped at once")),
    }
    if let Some(Err(error)) = work.host.take_recording().map(Recording::finish) {
        report.fail(Failure::new(Exit::Failed, error));
    }
    let compared = ending.hold().await;
    report.compare(&work.workspace, &ending).await;
    drop(compared);
    let (mode, workspace) = (work.mode, &work.workspace);
    if let Some(signal) = ending.last_signal() {
        report.fail(Failure::new(signal, "stopped while the changes were compared"));
        // What the agent has made counts more than what is shown of it.
        settle(mode, workspace, None, &ending, &mut report).await;
        view.end(&report);
    } else {
        let shown = {
            let report = report.clone();
            spawn_blocking(move || {
                view.end(&report);
                view
            })
        };
        // Perhaps nobody reads it.
        let shown = tokio::select! {
            view = shown => view.ok(),
            () = ending.hurry() => None,
        };
        settle(mode, workspace, person.as_ref(), &ending, &mut report).await;
        shown.iter().for_each(|view| view.settled(&report));
    }
    report
}

/// Brings the changes where they belong, and notes what has become of them.
async fn settle(
    mode: Mode,
    workspace: &Workspace,
    person: Option<&Person>,
    ending: &Ending,
    report: &mut Report,
) {
    match review::settle(mode, workspace, person, report.has_changes(), ending).await {
        Ok(is_applied) => {
            report.applied(is_applied);
            report.ended_by(ending.last_signal());
        }
        Err(failure) => report.unsettled(failure),
    }
}

/// Whether a person sits there who can be asked: what is asked is written to standard error and
/// answered on standard input.
fn is_attended(output: OutputArgs) -> bool {
    let is_terminal = stdin().is_terminal() && stderr().is_terminal();
    is_terminal && !output.json && !output.quiet
}

/// Tells on standard error what takes long, where somebody may be reading.
fn progress(output: OutputArgs) -> Option<OnProgress> {
    let style = Style::new(output.color);
    let shown = !output.json && !output.quiet;
    let show = move |line: &str| {
        let line = harmless(line);
        drop(writeln!(stderr().lock(), "{}", style.paint(Colour::Dim, &line)));
    };
    shown.then(|| Arc::new(show) as OnProgress)
}

/// How a run is shown.
enum View {
    /// A transcript on standard error, the final message on standard output.
    Human(Transcript<Stderr>, Style),
    /// The final message only.
    Quiet,
    /// The diff only.
    Diff,
    /// Each event as a line of JSON.
    Json,
}

impl View {
    fn new(output: OutputArgs, mode: Mode) -> Self {
        let style = Style::new(output.color);
        match output {
            OutputArgs { json: true, .. } => Self::Json,
            OutputArgs { quiet: true, .. } if mode == Mode::Show => Self::Diff,
            OutputArgs { quiet: true, .. } => Self::Quiet,
            _ => Self::Human(Transcript::new(stderr(), style), style),
        }
    }

    fn show(&mut self, event: &Event) {
        match self {
            Self::Human(transcript, _) => transcript.show(event),
            Self::Quiet | Self::Diff => {}
            Self::Json => say(&to_string(event)),
        }
    }

    /// The final message, the diff, the counts.
    fn end(&mut self, report: &Report) {
        let text = report.text().trim_end();
        let diff = report.diff();
        match self {
            Self::Json => {}
            Self::Diff if diff.is_empty() => {}
            Self::Diff => say(diff.trim_end_matches('\n')),
            Self::Quiet if text.is_empty() => {}
            Self::Quiet => say(&harmless(text)),
            Self::Human(..) if !report.has_replies() => {}
            Self::Human(_, style) => {
                let mut err = stderr().lock();
                // On a terminal the transcript has just shown it.
                let shown = stdout().is_terminal() && stderr().is_terminal();
                if report.result().is_ok() && !text.is_empty() && !shown {
                    say(&harmless(text));
                }
                let space = if diff.is_empty() { "" } else { "\n" };
                let (notices, counts) = (report.notices(*style), report.counts(*style));
                drop(write!(err, "{space}{}\n{notices}{counts}\n", style.diff(diff)));
            }
        }
    }

    /// What has become of the changes.
    fn settled(&self, report: &Report) {
        if let Self::Human(_, style) = self
            && let Some(line) = report.fate()
        {
            drop(writeln!(stderr().lock(), "{}", style.paint(Colour::Dim, &line)));
        }
    }
}
