//! `innerloop run`: opens a session over a folder, drives it to its end, and shows it as it goes.

use super::{
    approval::{Person, Seat},
    args::{LimitArgs, OutputArgs, RunArgs},
    attach::{self, Reach},
    console::{say_escaped, warn},
    exit::{Exit, Failure},
    form::Form,
    interrupts::{Ending, Interrupts},
    judge::Judge,
    limits::Limits,
    message_file::MessageFile,
    piped,
    report::Report,
    review::{self, Pending, Settlement},
    saving::Saving,
    sessions::Held,
    settings,
    silence::Silence,
    spinner::PAUSE,
    style::{Colour, Style, harmless},
    terminal::Screen,
    view::View,
    work::{Asked, Audience, Work},
};
use innerloop_core::{
    event::EventKind,
    id::AgentId,
    input::{Command, TurnOptions},
    message::Part,
};
use innerloop_host::{
    host::{Host, News},
    journal::JournalError,
    recording::Recording,
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
pub(super) struct Begun {
    pub(super) work: Work,
    /// What is said to it first.
    pub(super) said: Vec<Command>,
    /// Where the final message goes, too.
    pub(super) file: Option<MessageFile>,
}

/// Runs the agent on what the user says.
pub(super) async fn run(mut args: RunArgs) -> Result<(), Failure> {
    args.output.color = settings::color(args.output.color, !args.session.settings.no_settings);
    let (output, limits) = (args.output, args.limits);
    to_the_end(output, limits, begin(args)).await
}

/// Drives a session to the end of its run. With `--json` the last line is always the result.
pub(super) async fn to_the_end(
    output: OutputArgs,
    limits: LimitArgs,
    begun: impl Future<Output = Result<Begun, Failure>>,
) -> Result<(), Failure> {
    let report = match carry_out(output, limits, begun).await {
        Ok(report) => report,
        Err(failure) => Report::failed(failure),
    };
    if output.json {
        say_escaped(&report.record());
    }
    report.result()
}

async fn carry_out(
    output: OutputArgs,
    limits: LimitArgs,
    begun: impl Future<Output = Result<Begun, Failure>>,
) -> Result<Report, Failure> {
    let limits = Limits::new(limits);
    let mut interrupts = Interrupts::new()?;
    let begun = tokio::select! {
        begun = begun => begun?,
        exit = interrupts.next() => {
            return Err(Failure::new(exit, "interrupted before the run began"));
        }
        limit = limits.time_out() => {
            return Err(Failure::new(Exit::Limit, format!("{limit} before the run began")));
        }
    };
    Ok(finish(begun, limits, output, interrupts).await)
}

/// Opens the session that the user wants.
async fn begin(args: RunArgs) -> Result<Begun, Failure> {
    let RunArgs { prompt, attach, allow_path, result, limits, session, output } = args;
    let is_taken = session.tuning.config.as_deref() == Some(Path::new("-"));
    let asked = Asked::read(session, None, is_attended(output)).await?;
    let attached = attach::read(&attach)?;
    let form = result.schema.as_deref().map(Form::read).transpose()?;
    let file = result.file.as_deref().map(MessageFile::check).transpose()?;
    let prompt = piped::prompt(prompt, is_taken).await?;
    let mut work = Work::begin(asked.with(form, limits), audience(output)).await?;
    file.iter().for_each(|file| work.workspace.reserve(file.path()));
    let mentioned = attach::mentions(&prompt.words, &work.workspace, Reach::Workspace);
    let is_told = !output.quiet && !output.json;
    let told = mentioned.attached.iter().filter(|_| is_told).chain(&mentioned.missed);
    told.for_each(|line| warn(line));
    let parts = [vec![Part::text(prompt.text())], attached, mentioned.parts].concat();
    work.entitle(&parts);
    let paths = (!allow_path.is_empty()).then_some(allow_path);
    let options =
        paths.map(|paths| Box::new(TurnOptions { paths: Some(paths), ..TurnOptions::default() }));
    Ok(Begun { work, said: vec![Command::Submit { parts, options }], file })
}

/// Drives the session to its end and shows what came of it.
async fn finish(
    begun: Begun,
    limits: Limits,
    output: OutputArgs,
    interrupts: Interrupts,
) -> Report {
    let Begun { mut work, said, file } = begun;
    let mut view = View::new(output, &work);
    let mut report = Report::new(&work.key, work.mode).with_words(&work.words);
    let commands = work.host.commands();
    let ending = Ending::listen(interrupts, commands.clone());
    said.into_iter().for_each(|command| commands.send(command));
    let (person, judge) = (work.person.clone(), work.judge.clone());
    let is_told = !output.quiet;
    let saving = Saving::of(&work.workspace);
    let watching = Watching {
        view: &mut view,
        report: &mut report,
        limits: &limits,
        saving: saving.as_ref(),
        is_told,
    };
    let driven = drive(&mut work.host, &judge, watching, &ending).await;
    view.session_is_over();
    ending.session_is_over();
    person.iter().for_each(Person::session_is_over);
    drop(saving);
    report.stopped_by(limits.hit());
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
    if let Some(refused) = work.workspace.refused() {
        report.fail(Failure::new(Exit::Failed, review::told_refused(&refused)));
    }
    let compared = ending.hold().await;
    report.compare(&work.workspace, &ending).await;
    drop(compared);
    // It is none of the agent's changes.
    if let Some((file, message)) = file.zip(report.message())
        && let Err(failure) = file.write(message)
    {
        report.fail(failure);
    }
    show_end(&mut work, person.as_ref(), view, &ending, &mut report).await;
    report
}

/// Shows what came of the run, and brings its changes where they belong.
async fn show_end(
    work: &mut Work,
    person: Option<&Person>,
    mut view: View,
    ending: &Ending,
    report: &mut Report,
) {
    if let Some(signal) = ending.last_signal() {
        report.fail(Failure::new(signal, "stopped while the changes were compared"));
        // What the agent has made counts more than what is shown of it.
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
    // Perhaps nobody reads it.
    let shown = tokio::select! {
        view = shown => view.ok(),
        () = ending.hurry() => None,
    };
    settle(work, person, ending, report).await;
    let session = work.held.as_ref().map(Held::short);
    shown.iter().for_each(|view| view.settled(report, session));
}

/// Who watches a session while it is driven.
struct Watching<'a> {
    view: &'a mut View,
    report: &'a mut Report,
    limits: &'a Limits,
    /// Who saves what is changed, if that is to outlive the program.
    saving: Option<&'a Saving>,
    /// Whether it is told which endpoints are silent.
    is_told: bool,
}

/// Drives the session to its end, or until a limit has closed it; gives nothing if the program is
/// to end at once.
async fn drive(
    host: &mut Host,
    judge: &Judge,
    watching: Watching<'_>,
    ending: &Ending,
) -> Option<Result<(), JournalError>> {
    let Watching { view, report, limits, saving, is_told } = watching;
    let (commands, silence) = (host.commands(), Silence::default());
    let view = RefCell::new(view);
    let driven = host.run(|news| {
        silence.add(&news);
        match news {
            News::Event(event) => {
                report.add(event);
                view.borrow_mut().show(event);
                judge.heard(event);
                saving.into_iter().for_each(|saving| saving.add(event));
                let is_end = matches!(event.kind, EventKind::ProcessingEnd { .. });
                if is_end && event.agent == AgentId::ROOT {
                    commands.send(Command::Close);
                }
            }
            News::Asked(id, agent, ask) => judge.asked(id, agent, ask),
            News::Withdrawn(id) => judge.withdraw(id),
            // A close after the close is refused, and the session ends all the same.
            News::Rejected(_) | News::Http(..) => {}
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

/// Brings the changes where they belong, and notes what has become of them.
async fn settle(work: &mut Work, person: Option<&Person>, ending: &Ending, report: &mut Report) {
    let pending = Pending {
        mode: work.mode,
        workspace: &work.workspace,
        held: work.held.as_mut(),
        has_changes: report.has_changes(),
    };
    let Settlement { settled, failure } = review::settle(pending, person, ending).await;
    report.settled(settled);
    match failure {
        Some(failure) => report.unsettled(failure),
        None => report.ended_by(ending.last_signal()),
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
    let (style, screen) = (Style::new(output.color.unwrap_or_default()), Screen::default());
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
        screen.tell(&format!("{}\n", style.paint(Colour::Dim, &line)));
    })
}
