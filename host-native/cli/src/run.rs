//! `innerloop run`: opens a session over a folder, drives it to the end of one run, shows it, and
//! settles its changes. `resume` shares everything after the opening. A first signal ends the run
//! in order, a second one at once; in both cases changes are settled and, with `--json`, the result
//! record is printed.

use super::{
    answer_schema::AnswerSchema,
    approval::{InteractiveTerminal, PersonHandle},
    args::{LimitArgs, OutputArgs, RunArgs},
    attach::{self, MentionScope},
    auto_approval::ApprovalJudge,
    console::{say_escaped, warn},
    exit::{CliError, ExitReason},
    interrupts::{ShutdownHandle, SignalStream},
    limits::RunLimits,
    message_file::MessageFile,
    overlay_autosave::SaveMonitor,
    prompt_input,
    report::RunReport,
    review::{self, PendingChanges, ReviewOutcome},
    run_view::RunView,
    session_setup::{ActiveSession, SessionFrontend, SessionRequest},
    sessions::LockedSession,
    settings,
    spinner::PAUSE,
    stall_notice::SilenceMonitor,
    style::{OutputStyle, TextColour, harmless},
    terminal::Screen,
};
use innerloop_core::{
    event::EventKind,
    id::AgentId,
    input::{Command, TurnOptions},
    message::Part,
};
use innerloop_host::{
    host::{Host, HostEvent},
    journal::JournalError,
    recording::RecordingWriter,
};
use innerloop_sandbox::OnProgress;
use std::{
    cell::RefCell,
    io::{IsTerminal, stderr, stdin},
    path::Path,
    sync::Arc,
};
use tokio::task::spawn_blocking;

/// A session that is ready to be driven.
pub(super) struct PreparedRun {
    pub(super) work: ActiveSession,
    /// The commands that are sent to it first.
    pub(super) said: Vec<Command>,
    /// The file that also gets the final message.
    pub(super) file: Option<MessageFile>,
}

/// Runs the agent on the user's prompt.
pub(super) async fn run(mut args: RunArgs) -> Result<(), CliError> {
    args.output.color = settings::color(args.output.color, !args.session.settings.no_settings);
    let (output, limits) = (args.output, args.limits);
    to_the_end(output, limits, begin(args)).await
}

/// Drives a session to the end of its run. With `--json` the last line is always the result.
pub(super) async fn to_the_end(
    output: OutputArgs,
    limits: LimitArgs,
    begun: impl Future<Output = Result<PreparedRun, CliError>>,
) -> Result<(), CliError> {
    let report = match carry_out(output, limits, begun).await {
        Ok(report) => report,
        Err(failure) => RunReport::failed(failure),
    };
    if output.json {
        say_escaped(&report.record());
    }
    report.result()
}

async fn carry_out(
    output: OutputArgs,
    limits: LimitArgs,
    begun: impl Future<Output = Result<PreparedRun, CliError>>,
) -> Result<RunReport, CliError> {
    let limits = RunLimits::new(limits);
    let mut interrupts = SignalStream::new()?;
    let begun = tokio::select! {
        begun = begun => begun?,
        exit = interrupts.next() => {
            return Err(CliError::new(exit, "interrupted before the run began"));
        }
        limit = limits.time_out() => {
            return Err(CliError::new(ExitReason::Limit, format!("{limit} before the run began")));
        }
    };
    Ok(finish(begun, limits, output, interrupts).await)
}

/// Opens the session that the user wants.
async fn begin(args: RunArgs) -> Result<PreparedRun, CliError> {
    let RunArgs { prompt, attach, allow_path, result, limits, session, output } = args;
    let is_taken = session.tuning.config.as_deref() == Some(Path::new("-"));
    let asked = SessionRequest::read(session, None, is_attended(output)).await?;
    let attached = attach::read(&attach)?;
    let form = result.schema.as_deref().map(AnswerSchema::read).transpose()?;
    let file = result.file.as_deref().map(MessageFile::check).transpose()?;
    let prompt = prompt_input::prompt(prompt, is_taken).await?;
    let mut work = ActiveSession::begin(asked.with(form, limits), audience(output)).await?;
    // The agent must not write to the file that its final message will replace.
    file.iter().for_each(|file| work.workspace.reserve(file.path()));
    let mentioned = attach::mentions(&prompt.words, &work.workspace, MentionScope::Workspace);
    let is_told = !output.quiet && !output.json;
    let told = mentioned.attached.iter().filter(|_| is_told).chain(&mentioned.missed);
    told.for_each(|line| warn(line));
    let parts = [vec![Part::text(prompt.text())], attached, mentioned.parts].concat();
    work.entitle(&parts);
    let paths = (!allow_path.is_empty()).then_some(allow_path);
    let options =
        paths.map(|paths| Box::new(TurnOptions { paths: Some(paths), ..TurnOptions::default() }));
    Ok(PreparedRun { work, said: vec![Command::Submit { parts, options }], file })
}

/// Drives the session to its end, and shows and settles the result.
async fn finish(
    begun: PreparedRun,
    limits: RunLimits,
    output: OutputArgs,
    interrupts: SignalStream,
) -> RunReport {
    let PreparedRun { mut work, said, file } = begun;
    let mut view = RunView::new(output, &work);
    let mut report = RunReport::new(&work.key, work.mode)
        .with_words(&work.words)
        .with_firewall(work.host.driver().firewall());
    let commands = work.host.commands();
    let ending = ShutdownHandle::listen(interrupts, commands.clone());
    said.into_iter().for_each(|command| commands.send(command));
    let (person, judge) = (work.person.clone(), work.judge.clone());
    let is_told = !output.quiet;
    let saving = SaveMonitor::of(&work.workspace);
    let watching = RunObservers {
        view: &mut view,
        report: &mut report,
        limits: &limits,
        saving: saving.as_ref(),
        is_told,
    };
    let driven = drive(&mut work.host, &judge, watching, &ending).await;
    view.session_is_over();
    ending.session_is_over();
    person.iter().for_each(PersonHandle::session_is_over);
    drop(saving);
    report.stopped_by(limits.hit());
    let signal = ending.signal().unwrap_or(ExitReason::Interrupted);
    report.interrupted_by(signal);
    match driven {
        Some(Ok(())) => {}
        Some(Err(error)) => report.fail(CliError::new(ExitReason::Failed, error)),
        None => report.fail(CliError::new(signal, "stopped at once")),
    }
    if let Some(Err(error)) = work.host.take_recording().map(RecordingWriter::finish) {
        report.fail(CliError::new(ExitReason::Failed, error));
    }
    if let Some(refused) = work.workspace.refused() {
        report.fail(CliError::new(ExitReason::Failed, review::told_refused(&refused)));
    }
    // Held, so that a second signal still gets the changes compared, if only roughly.
    let compared = ending.hold().await;
    report.compare(&work.workspace, &ending).await;
    drop(compared);
    // After the comparison, in which the message's file would appear as a change of the agent.
    if let Some((file, message)) = file.zip(report.message())
        && let Err(failure) = file.write(message)
    {
        report.fail(failure);
    }
    show_end(&mut work, person.as_ref(), view, &ending, &mut report).await;
    report
}

/// Shows the result of the run, and settles its changes.
async fn show_end(
    work: &mut ActiveSession,
    person: Option<&PersonHandle>,
    mut view: RunView,
    ending: &ShutdownHandle,
    report: &mut RunReport,
) {
    if let Some(signal) = ending.last_signal() {
        report.fail(CliError::new(signal, "stopped while the changes were compared"));
        // The changes matter more than showing them, and the program has little time left.
        settle(work, None, ending, report).await;
        return view.end(report);
    }
    let shown = {
        let report = report.clone();
        spawn_blocking(move || {
            view.end(&report);
            view
        })
    };
    // Writing may block for ever if nobody reads the output: a signal ends the wait.
    let shown = tokio::select! {
        view = shown => view.ok(),
        () = ending.hurry() => None,
    };
    settle(work, person, ending, report).await;
    let session = work.held.as_ref().map(LockedSession::short);
    shown.iter().for_each(|view| view.settled(report, session));
}

/// The observers of a session while it is driven.
struct RunObservers<'a> {
    view: &'a mut RunView,
    report: &'a mut RunReport,
    limits: &'a RunLimits,
    /// The monitor of the overlay, if that should outlive the program.
    saving: Option<&'a SaveMonitor>,
    /// True if silent endpoints are reported.
    is_told: bool,
}

/// Drives the session to its end, or until a limit has closed it; returns none if the program
/// should end at once.
async fn drive(
    host: &mut Host,
    judge: &ApprovalJudge,
    watching: RunObservers<'_>,
    ending: &ShutdownHandle,
) -> Option<Result<(), JournalError>> {
    let RunObservers { view, report, limits, saving, is_told } = watching;
    let (commands, silence) = (host.commands(), SilenceMonitor::default());
    let view = RefCell::new(view);
    let driven = host.run(|news| {
        silence.add(&news);
        match news {
            HostEvent::Event(event) => {
                report.add(event);
                view.borrow_mut().show(event);
                judge.heard(event);
                saving.into_iter().for_each(|saving| saving.add(event));
                let is_end = matches!(event.kind, EventKind::ProcessingEnd { .. });
                if is_end && event.agent == AgentId::ROOT {
                    commands.send(Command::Close);
                }
            }
            HostEvent::Asked(id, agent, ask) => judge.asked(id, agent, ask),
            HostEvent::Withdrawn(id) => judge.withdraw(id),
            // A limit or a signal may close the session as well: a second close is refused, and the
            // session ends all the same.
            HostEvent::Rejected(_) | HostEvent::Http(..) => {}
        }
    });
    let ticking = async {
        loop {
            tokio::time::sleep(PAUSE).await;
            view.borrow().tick();
        }
    };
    tokio::select! {
        driven = driven => Some(driven),
        () = ending.hurry() => None,
        () = ticking => None,
        never = limits.run_out(&commands) => match never {},
        never = silence.told(|line| view.borrow_mut().warn(line)), if is_told => match never {},
    }
}

/// Settles the changes, and notes in the report what has become of them.
async fn settle(
    work: &mut ActiveSession,
    person: Option<&PersonHandle>,
    ending: &ShutdownHandle,
    report: &mut RunReport,
) {
    let pending = PendingChanges {
        mode: work.mode,
        workspace: &work.workspace,
        held: work.held.as_mut(),
        has_changes: report.has_changes(),
    };
    let ReviewOutcome { settled, failure } = review::settle(pending, person, ending).await;
    report.settled(settled);
    match failure {
        Some(failure) => report.unsettled(failure),
        None => report.ended_by(ending.last_signal()),
    }
}

/// Returns whether somebody can be asked: questions are written to standard error and answered on
/// standard input, so that both have to be terminals.
pub(super) fn is_attended(output: OutputArgs) -> bool {
    let is_terminal = stdin().is_terminal() && stderr().is_terminal();
    is_terminal && !output.json && !output.quiet
}

/// Returns the front end of a run: the person, if somebody can be asked, and the screen.
pub(super) fn audience(output: OutputArgs) -> SessionFrontend {
    let (style, screen) = (OutputStyle::new(output.color.unwrap_or_default()), Screen::default());
    let is_shown = !output.json && !output.quiet;
    let progress = is_shown.then(|| on_screen(&screen, style));
    let seat = is_attended(output).then(|| InteractiveTerminal::at(screen.clone()));
    SessionFrontend { seat, screen, style, progress }
}

/// Returns a function that shows progress on the screen.
pub(super) fn on_screen(screen: &Screen, style: OutputStyle) -> OnProgress {
    let screen = screen.clone();
    Arc::new(move |line: &str| {
        let line = harmless(line);
        screen.tell(&format!("{}\n", style.paint(TextColour::Dim, &line)));
    })
}
