//! `innerloop run`: opens a session over a folder, drives it to its end, and shows it as it goes.

use super::{
    approval::{Person, Seat},
    args::{OutputArgs, RunArgs},
    attach,
    console::say,
    exit::{Exit, Failure},
    header,
    interrupts::{Ending, Interrupts},
    report::Report,
    review::{self, Mode},
    sessions::Held,
    setup,
    spinner::{PAUSE, Spinner},
    style::{Colour, Style, harmless},
    terminal::{Screen, size},
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
    cell::RefCell,
    io::{IsTerminal, Write, stderr, stdin, stdout},
    sync::Arc,
};
use tokio::task::spawn_blocking;

/// Runs the agent on what the user says.
pub(super) async fn run(args: RunArgs) -> Result<(), Failure> {
    let output = args.output;
    to_the_end(output, begin(args)).await
}

/// Drives a session, with what is said to it first, to the end of its run. With `--json` the last
/// line is always the result.
pub(super) async fn to_the_end(
    output: OutputArgs,
    begun: impl Future<Output = Result<(Work, Vec<Command>), Failure>>,
) -> Result<(), Failure> {
    let report = match carry_out(output, begun).await {
        Ok(report) => report,
        Err(failure) => Report::failed(failure),
    };
    if output.json {
        say(&report.record());
    }
    report.result()
}

async fn carry_out(
    output: OutputArgs,
    begun: impl Future<Output = Result<(Work, Vec<Command>), Failure>>,
) -> Result<Report, Failure> {
    let mut interrupts = Interrupts::new()?;
    let (work, said) = tokio::select! {
        begun = begun => begun?,
        exit = interrupts.next() => {
            return Err(Failure::new(exit, "interrupted before the run began"));
        }
    };
    Ok(finish(work, said, output, interrupts).await)
}

/// A session that is ready to be driven, and what the user says to it.
async fn begin(args: RunArgs) -> Result<(Work, Vec<Command>), Failure> {
    let RunArgs { prompt, attach, session, output } = args;
    let asked = Asked::read(session, None, is_attended(output))?;
    let attached = attach::read(&attach)?;
    let prompt = setup::given(prompt, "the prompt").await?;
    let parts: Vec<Part> = std::iter::once(Part::text(prompt)).chain(attached).collect();
    let mut work = Work::begin(asked, audience(output)).await?;
    work.entitle(&parts);
    Ok((work, vec![Command::Submit { parts }]))
}

/// Drives the session to its end and shows what came of it.
async fn finish(
    mut work: Work,
    said: Vec<Command>,
    output: OutputArgs,
    interrupts: Interrupts,
) -> Report {
    let view = View::new(output, &work);
    let report = Report::new(&work.key, work.mode);
    let commands = work.host.commands();
    let ending = Ending::listen(interrupts, commands.clone());
    said.into_iter().for_each(|command| commands.send(command));
    let (person, judge) = (work.person, work.judge);
    let shown = RefCell::new((view, report));
    let driven = work.host.run(|news| match news {
        News::Event(event) => {
            let (view, report) = &mut *shown.borrow_mut();
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
    let ticking = async {
        loop {
            tokio::time::sleep(PAUSE).await;
            shown.borrow_mut().0.tick();
        }
    };
    let driven = tokio::select! {
        driven = driven => Some(driven),
        () = ending.hurry() => None,
        () = ticking => None,
    };
    let (mut view, mut report) = shown.into_inner();
    view.session_is_over();
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
        let session = work.held.as_ref().map(Held::short);
        shown.iter().for_each(|view| view.settled(&report, session));
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
pub(super) fn is_attended(output: OutputArgs) -> bool {
    let is_terminal = stdin().is_terminal() && stderr().is_terminal();
    is_terminal && !output.json && !output.quiet
}

/// Whoever sits there.
pub(super) fn audience(output: OutputArgs) -> Audience {
    let (style, screen) = (Style::new(output.color), Screen::default());
    let is_shown = !output.json && !output.quiet;
    let progress = is_shown.then(|| on_screen(&screen, style));
    let seat = is_attended(output).then(|| Seat::at(screen.clone()));
    Audience { seat, screen, style, progress }
}

/// Tells on the screen what takes long.
pub(super) fn on_screen(screen: &Screen, style: Style) -> OnProgress {
    let screen = screen.clone();
    Arc::new(move |line: &str| {
        let line = harmless(line);
        let line = format!("{}\n", style.paint(Colour::Dim, &line));
        drop(screen.clone().write_all(line.as_bytes()));
    })
}

/// How a run is shown.
enum View {
    /// A transcript on standard error, the final message on standard output.
    Human(Box<Human>),
    /// The final message only.
    Quiet,
    /// The diff only.
    Diff,
    /// Each event as a line of JSON.
    Json,
}

/// A run as a person sees it.
struct Human {
    transcript: Transcript<Screen>,
    screen: Screen,
    spinner: Spinner,
    style: Style,
}

impl View {
    fn new(output: OutputArgs, work: &Work) -> Self {
        match output {
            OutputArgs { json: true, .. } => Self::Json,
            OutputArgs { quiet: true, .. } if work.mode == Mode::Show => Self::Diff,
            OutputArgs { quiet: true, .. } => Self::Quiet,
            _ => Self::Human(Box::new(Human::new(work, Style::new(output.color)))),
        }
    }

    fn show(&mut self, event: &Event) {
        match self {
            Self::Human(human) => {
                human.transcript.show(event);
                human.spinner.set(human.transcript.activity());
            }
            Self::Quiet | Self::Diff => {}
            Self::Json => say(&to_string(event)),
        }
    }

    /// Time has passed.
    fn tick(&self) {
        if let Self::Human(human) = self {
            human.spinner.tick();
        }
    }

    /// Nothing goes on any more.
    fn session_is_over(&self) {
        if let Self::Human(human) = self {
            human.screen.end();
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
            Self::Human(human) => {
                let style = human.style;
                let mut err = stderr().lock();
                // On a terminal the transcript has just shown it.
                let shown = stdout().is_terminal() && stderr().is_terminal();
                if report.result().is_ok() && !text.is_empty() && !shown {
                    say(&harmless(text));
                }
                let space = if diff.is_empty() { "" } else { "\n" };
                let (notices, counts) = (report.notices(style), report.counts(style));
                drop(write!(err, "{space}{}\n{notices}{counts}\n", style.diff(diff)));
            }
        }
    }

    /// What has become of the changes, and how a session goes on whose run is not over.
    fn settled(&self, report: &Report, session: Option<&str>) {
        let Self::Human(human) = self else { return };
        let unfinished = session.filter(|_| report.run_result().is_err());
        let resume = unfinished.map(|id| format!("innerloop resume {id} goes on with the session"));
        for line in report.fate().into_iter().chain(resume) {
            drop(writeln!(stderr().lock(), "{}", human.style.paint(Colour::Dim, &line)));
        }
    }
}

impl Human {
    /// On a terminal there is a line for what goes on, and one above all that says what works
    /// where.
    fn new(work: &Work, style: Style) -> Self {
        let screen = work.screen.clone();
        if let Some(size) = size() {
            drop(writeln!(stderr().lock(), "{}", style.paint(Colour::Dim, &header::of(work))));
            screen.begin(size);
        }
        let transcript = Transcript::new(screen.clone(), style, work.words.clone());
        let spinner = Spinner::new(screen.clone(), style);
        Self { transcript, screen, spinner, style }
    }
}
