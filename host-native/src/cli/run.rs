//! `innerloop run`: opens a session over a folder, drives it to its end, and shows it as it goes.

use super::{
    approval::Person,
    args::{OutputArgs, RunArgs, Where},
    attach,
    config::Plan,
    console::say,
    environment,
    exit::{Exit, Failure},
    interrupts::{Ending, Interrupts},
    judge::Judge,
    keys, own,
    preview::Preview,
    report::Report,
    review::{self, Mode},
    setup::{self, Choice},
    style::{Colour, Style, harmless},
    transcript::Transcript,
};
use crate::{
    environment::Environment,
    host::{Host, News, Parts},
    http::{Http, wall_time},
    journal::Journal,
    recording::{Recording, player},
    sandbox::{OnProgress, Workspace},
    tools::Tools,
};
use innerloop_core::{
    config::AskAbout,
    event::{Event, EventKind},
    id::AgentId,
    input::Command,
    json::to_string,
    message::Part,
};
use innerloop_driver::{
    Driver, Endpoints, Models, Parts as DriverParts, People, providers::Provider, traffic::Recorder,
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
    let work = tokio::select! {
        work = Work::begin(args) => work?,
        exit = interrupts.next() => {
            return Err(Failure::new(exit, "interrupted before the run began"));
        }
    };
    Ok(work.finish(output, interrupts).await)
}

/// A session that is ready to be driven.
struct Work {
    host: Host,
    said: Vec<Part>,
    /// Who is asked, if anybody is there.
    person: Option<Person>,
    judge: Judge,
    workspace: Workspace,
    /// Where its changes go.
    mode: Mode,
    /// The variables that may hold the provider's key.
    key: String,
}

impl Work {
    async fn begin(args: RunArgs) -> Result<Self, Failure> {
        let is_attended = is_attended(&args);
        let args = environment::settled(args, is_attended)?;
        let mode = Mode::of(&args, is_attended)?;
        // What the user typed is looked at before the environment.
        let folder = setup::workspace(&args.workspace, args.any_folder)?;
        let own = own::read(&args.guests.tools)?;
        let web = setup::web(&args.tuning.web)?;
        let attached = attach::read(&args.attach)?;
        let prompt = setup::given(args.prompt.clone(), "the prompt").await?;
        let said = std::iter::once(Part::text(prompt)).chain(attached).collect();
        let Choice { provider, because } = match args.files.replay {
            None => setup::provider(&args.model)?,
            Some(_) => setup::recorded_provider(&args.model)?,
        };
        let asks = match args.environment.env {
            _ if is_attended && mode == Mode::InPlace => AskAbout::Changes,
            Where::Local => AskAbout::Programs,
            Where::Sandbox => AskAbout::Nothing,
        };
        let specs = own.iter().map(|tool| tool.spec().clone()).collect();
        let plan = Plan::read(&provider, &args.model, &args.tuning, specs, asks).await?;
        let traffic = Traffic::of(&provider, &args)?;
        if let (Some(because), Some(tell)) = (because, progress(args.output)) {
            tell(&because);
        }
        let workspace = mode.workspace(folder)?;
        let sandbox = setup::sandbox(
            workspace.clone(),
            args.guests.programs.as_deref(),
            progress(args.output),
        )?
        .with_isolation(args.guests.isolation.isolation());
        own::prepare(&own, &sandbox).await?;
        let local = environment::open(&args.environment, &args.guests, &sandbox)?;
        let place: &dyn Environment = local.as_ref().map_or(&sandbox, |local| local);
        let config = plan.config(&workspace, sandbox.programs().facts(), place).await?;
        let journal = args.files.log.as_deref().map(Journal::create).transpose();
        let journal = journal.map_err(Failure::usage)?;
        let written = [&args.files.log, &args.files.record];
        written.into_iter().flatten().for_each(|file| workspace.reserve(file));
        let Traffic { endpoints, models, http, recording } = traffic;
        let approve = is_attended || local.is_none() && Judge::decides(&config);
        let people = People { approve, answer: is_attended, hooks: Vec::new() };
        let parts = DriverParts { endpoints, models, people, keeps_log: journal.is_some() };
        let driver = Driver::open(config, wall_time(), parts).map_err(|error| {
            Failure::configuration(format!("the configuration cannot work: config.{error}"))
        })?;
        let tools = Tools::new(sandbox.clone().without_keys(driver.keys()));
        // What a command line of the machine does is not known from reading it.
        let judged = if local.is_none() { Some(sandbox) } else { None };
        let local = local.map(|local| local.without_keys(driver.keys()));
        let tools = local.into_iter().fold(tools, Tools::with_environment);
        let tools = own.into_iter().fold(tools, Tools::with);
        let tools = web.into_iter().fold(tools, Tools::with_web_fetch);
        let config = driver.session().config().clone();
        let preview = Preview::new(&config, &workspace);
        let host = Host::new(driver, Parts { http, tools, journal, recording });
        let style = Style::new(args.output.color);
        let person = is_attended.then(|| Person::at_terminal(host.commands(), preview, style));
        let judge = Judge::new(&config, judged, host.commands(), person.clone());
        Ok(Self { host, said, person, judge, workspace, mode, key: keys::variables(&provider) })
    }

    /// Drives the session to its end and shows what came of it.
    async fn finish(mut self, output: OutputArgs, interrupts: Interrupts) -> Report {
        let mut view = View::new(output, self.mode);
        let mut report = Report::new(&self.key, self.mode);
        let commands = self.host.commands();
        let ending = Ending::listen(interrupts, commands.clone());
        commands.send(Command::Submit { parts: self.said });
        let (person, judge) = (self.person, self.judge);
        let driven = self.host.run(|news| match news {
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
        if let Some(Err(error)) = self.host.take_recording().map(Recording::finish) {
            report.fail(Failure::new(Exit::Failed, error));
        }
        let compared = ending.hold().await;
        report.compare(&self.workspace, &ending).await;
        drop(compared);
        let (mode, workspace) = (self.mode, &self.workspace);
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

/// Where model traffic goes and comes from.
struct Traffic {
    endpoints: Endpoints,
    models: Models,
    http: Option<Http>,
    recording: Option<Recording>,
}

impl Traffic {
    fn of(provider: &Provider, args: &RunArgs) -> Result<Self, Failure> {
        if let Some(path) = &args.files.replay {
            let player = player(path).map_err(Failure::configuration)?;
            let endpoint = setup::recorded_endpoint(provider, &args.model);
            let endpoints = endpoint.map_or_else(Endpoints::default, |endpoint| {
                Endpoints::default().with(provider.endpoint(), endpoint)
            });
            let models = Models::Replayed { player, pace_ms: 0 };
            return Ok(Self { endpoints, models, http: None, recording: None });
        }
        let endpoint = setup::endpoint_of(provider, &args.model)?;
        let endpoints = Endpoints::default().with(provider.endpoint(), endpoint);
        let http = Http::new(endpoints.are_loopback());
        let http = http.map_err(|failure| Failure::configuration(failure.message))?;
        let recording = args.files.record.as_deref().map(Recording::create).transpose();
        let recording = recording.map_err(Failure::usage)?;
        let models = match recording {
            Some(_) => Models::Recorded(Recorder::default()),
            None => Models::Live,
        };
        Ok(Self { endpoints, models, http: Some(http), recording })
    }
}

/// Whether a person sits there who can be asked: what is asked is written to standard error and
/// answered on standard input.
fn is_attended(args: &RunArgs) -> bool {
    let is_terminal = stdin().is_terminal() && stderr().is_terminal();
    is_terminal && !args.output.json && !args.output.quiet
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
