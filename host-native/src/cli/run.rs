//! `innerloop run`: opens a session over a folder, drives it to its end, and shows it as it goes.

use super::{
    args::{LimitArgs, OutputArgs, RunArgs},
    exit::{Exit, Failure},
    interrupts::Interrupts,
    report::Report,
    say,
    setup::{self, Choice},
    style::{Colour, Style, harmless},
    transcript::Transcript,
};
use crate::{
    driver::{Commands, Driver, DriverError, News, OpenError, Parts},
    endpoints::{Endpoints, key_variables},
    facts,
    http::{Http, wall_time},
    journal::Journal,
    models::{Models, Recording, RecordingFile, player},
    sandbox::{Executor, OnProgress, Workspace},
    tools::Tools,
};
use innerloop_core::{
    config::{Limits, ModelConfig, SessionConfig},
    event::{Event, EventKind},
    id::{AgentId, SessionId},
    input::Command,
    message::Part,
    preset::Preset,
};
use innerloop_driver::providers::Provider;
use std::{
    hash::{BuildHasher, RandomState},
    io::{IsTerminal, Stderr, Write, stderr, stdout},
    process,
    sync::{Arc, OnceLock},
    time::Duration,
};
use tokio::sync::Notify;

/// How long the second Ctrl-C waits for the program to end in good order.
const LAST_WORDS: Duration = Duration::from_millis(500);

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
    driver: Driver,
    prompt: String,
    recording: Option<Arc<RecordingFile>>,
    /// The variables that may hold the provider's key.
    key: String,
}

impl Work {
    async fn begin(args: RunArgs) -> Result<Self, Failure> {
        if !args.apply {
            let folder = args.workspace.display();
            let why = "a run without it is not built yet";
            let message = format!("add --apply to let the agent change {folder} ({why})");
            return Err(Failure::usage(message));
        }
        // What the user typed is looked at before the environment.
        Workspace::open(&args.workspace).map_err(Failure::usage)?;
        let prompt = setup::given(args.prompt.clone(), "the prompt").await?;
        let Choice { provider, because } = match args.files.replay {
            None => setup::provider(&args.model)?,
            Some(_) => setup::recorded_provider(&args.model)?,
        };
        let model = setup::model(&provider, &args.model, &args.tuning)?;
        let (models, recording) = models(&provider, &args)?;
        if let (Some(because), Some(tell)) = (because, progress(args.output)) {
            tell(&because);
        }
        let sandbox =
            setup::sandbox(&args.workspace, args.programs.as_deref(), progress(args.output))
                .await?;
        let journal = args.files.log.as_deref().map(Journal::create).transpose();
        let config = config(model, &args.limits, &sandbox);
        let parts = Parts {
            models,
            tools: Tools::new(sandbox),
            journal: journal.map_err(Failure::usage)?,
            key: setup::key(&provider),
        };
        let driver = Driver::open(config, wall_time(), parts).map_err(|error| match error {
            OpenError::Config(_) => Failure::configuration(error),
            OpenError::Journal(_) => Failure::new(Exit::Failed, error),
        })?;
        Ok(Self { driver, prompt, recording, key: key_variables(&provider) })
    }

    /// Drives the session to its end and shows what came of it.
    async fn finish(mut self, output: OutputArgs, interrupts: Interrupts) -> Report {
        let mut view = View::new(output);
        let mut report = Report::new(&self.key);
        let commands = self.driver.commands();
        let hurry = Arc::new(Notify::new());
        let signal = Arc::new(OnceLock::new());
        let listening = tokio::spawn(listen(
            interrupts,
            commands.clone(),
            Arc::clone(&signal),
            Arc::clone(&hurry),
        ));
        commands.send(Command::Submit { parts: vec![Part::text(self.prompt)] });
        let driven = self.driver.run(|news| match news {
            News::Event(event) => {
                report.add(event);
                view.show(event);
                let is_end = matches!(event.kind, EventKind::ProcessingEnd { .. });
                if is_end && event.agent == AgentId::ROOT {
                    commands.send(Command::Close);
                }
            }
            // A close after the close is refused, and the session ends all the same.
            News::Rejected(_) => {}
        });
        let driven = tokio::select! {
            driven = driven => Some(driven),
            () = hurry.notified() => None,
        };
        let signal = signal.get().copied().unwrap_or(Exit::Interrupted);
        report.interrupted_by(signal);
        match driven {
            Some(Ok(())) => listening.abort(),
            Some(Err(DriverError::Journal(error))) => {
                listening.abort();
                report.fail(Failure::new(Exit::Failed, error));
            }
            None => report.fail(Failure::new(signal, "stopped at once")),
        }
        if let Some(Err(error)) = self.recording.map(|file| file.check()) {
            report.fail(Failure::new(Exit::Failed, error));
        }
        view.end(&report);
        report
    }
}

/// Where the answers come from.
fn models(
    provider: &Provider,
    args: &RunArgs,
) -> Result<(Models, Option<Arc<RecordingFile>>), Failure> {
    if let Some(path) = &args.files.replay {
        return Ok((Models::Replay(player(path).map_err(Failure::configuration)?), None));
    }
    let endpoint = setup::endpoint_of(provider, &args.model).map_err(Failure::configuration)?;
    let endpoints = Endpoints::default().with(provider.endpoint(), endpoint);
    let http = Http::new(endpoints).map_err(|failure| Failure::configuration(failure.message))?;
    let recording = args.files.record.as_deref().map(Recording::create).transpose();
    let recording = recording.map_err(Failure::usage)?;
    let file = recording.as_ref().map(Recording::file);
    Ok((Models::Live(Arc::new(http), recording), file))
}

fn config(model: ModelConfig, limits: &LimitArgs, sandbox: &Executor) -> SessionConfig {
    let programs = sandbox.programs().facts();
    SessionConfig {
        id: session_id(),
        facts: facts::collect(sandbox.workspace().root(), programs, model.profile),
        model,
        limits: Limits {
            max_turns: limits.max_turns,
            max_tool_rounds_per_input: limits.max_tool_rounds,
            ..Limits::default()
        },
        ..Preset::Modern.config()
    }
}

/// 128 bits that no other session has: the keys of the hashes are random.
fn session_id() -> SessionId {
    let random = || RandomState::new().hash_one((process::id(), wall_time()));
    SessionId(format!("{:016x}{:016x}", random(), random()))
}

/// The first Ctrl-C (or other signal) interrupts the run and closes the session; the second ends
/// the program.
async fn listen(
    mut interrupts: Interrupts,
    commands: Commands,
    signal: Arc<OnceLock<Exit>>,
    hurry: Arc<Notify>,
) {
    let first = interrupts.next().await;
    let exit = *signal.get_or_init(|| first);
    commands.send(Command::Interrupt);
    commands.send(Command::Close);
    interrupts.next().await;
    hurry.notify_one();
    tokio::time::sleep(LAST_WORDS).await;
    process::exit(i32::from(exit.code()));
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
    /// Each event as a line of JSON.
    Json,
}

impl View {
    fn new(output: OutputArgs) -> Self {
        let style = Style::new(output.color);
        match output {
            OutputArgs { json: true, .. } => Self::Json,
            OutputArgs { quiet: true, .. } => Self::Quiet,
            _ => Self::Human(Transcript::new(stderr(), style), style),
        }
    }

    fn show(&mut self, event: &Event) {
        match self {
            Self::Human(transcript, _) => transcript.show(event),
            Self::Quiet => {}
            Self::Json => say(&serde_json::to_string(event).unwrap_or_default()),
        }
    }

    /// The final message, the diff, the counts.
    fn end(&mut self, report: &Report) {
        let text = report.text().trim_end();
        match self {
            Self::Json => {}
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
                let diff = report.changes().unified();
                let space = if diff.is_empty() { "" } else { "\n" };
                let counts = report.counts(*style);
                drop(write!(err, "{space}{}\n{counts}\n", style.diff(&diff)));
            }
        }
    }
}
